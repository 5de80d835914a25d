"""`ostinato run`: a query over files, its matches into a file or onto the terminal."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer
from rich.console import Console

from ostinato.cli.engines import EngineName, evaluate, write_as_found
from ostinato.cli.explain_command import explain_text
from ostinato.cli.failure import Usage, completed
from ostinato.cli.inputs import read_inputs
from ostinato.cli.outputs import WRITERS, check_output, write
from ostinato.cli.query_file import QueryFile, read_query
from ostinato.cli.settings import MatchSettings, OverflowPolicy, budget_of
from ostinato.cli.terminal import show_table, standard_output
from ostinato.cli.warned import said_elsewhere


class Shown(StrEnum):
    """How matches go to standard output."""

    table = "table"
    csv = "csv"
    json = "json"
    jsonl = "jsonl"


def run(
    query: Annotated[str, typer.Argument(help="File with the query, such as query.sql or query.sase, or - for standard input.")],
    inputs: Annotated[
        list[str],
        typer.Option("--input", "-i", metavar="NAME=PATH", help="A stream: a Parquet or CSV file, or a glob. Repeat for several."),
    ],
    output: Annotated[Path | None, typer.Option("--out", "-o", help="Write matches to this .parquet, .csv, .json or .jsonl file.")] = None,
    engine: Annotated[EngineName, typer.Option(help="Where to evaluate.")] = EngineName.embedded,
    explain: Annotated[bool, typer.Option("--explain", help="Also show on stderr how the query is evaluated.")] = False,
    language: Annotated[str | None, typer.Option(help="The language of the query; by default from the file's suffix.")] = None,
    time: Annotated[
        str | None, typer.Option(help="Events: the column with the event time, where it is not ts; or STREAM=COLUMN,... for each.")
    ] = None,
    type_by: Annotated[
        str | None, typer.Option(help="Events: the column that holds the event type, for one stream of several types.")
    ] = None,
    matches: Annotated[str | None, typer.Option("--output", help="Events: which matches: all, nonoverlapping, first, count, ...")] = None,
    latency: Annotated[str | None, typer.Option(help="Situations: when a match is reported: earliest or final.")] = None,
    strategy: Annotated[str | None, typer.Option(help="Events: how to evaluate, for comparison: runs, compact or backtrack.")] = None,
    budget_runs: Annotated[int | None, typer.Option(min=1, help="Events: how many partial matches may be followed at a time.")] = None,
    budget_bytes: Annotated[int | None, typer.Option(min=1, help="Events: how many bytes partial matches may take.")] = None,
    overflow: Annotated[OverflowPolicy | None, typer.Option(help="Beyond the budget: stop with an error, or shed the oldest.")] = None,
    sandbox: Annotated[
        bool,
        typer.Option("--sandbox", help="For a query of somebody else: only the inputs, no files, no network; time and memory are limited."),
    ] = False,
    lazy: Annotated[bool, typer.Option("--lazy", help="Events: write matches as they are found, also more than fit into memory.")] = False,
    shown: Annotated[Shown, typer.Option("--format", help="What to print where no output file is given.")] = Shown.table,
    limit: Annotated[int, typer.Option(min=1, help="Rows of the printed table.")] = 20,
) -> None:
    """Run a query over files and write its matches."""
    errors = Console(stderr=True)
    text = read_query(query, language)
    budget = budget_of(budget_runs, budget_bytes, overflow)
    if overflow is OverflowPolicy.shed and engine is EngineName.spark:
        raise Usage("matches would be missing unseen: --overflow shed is for the embedded engine")
    settings = MatchSettings.of(text, time=time, type_by=type_by, output=matches, latency=latency, strategy=strategy, budget=budget)
    settings = replace(settings, sandbox=sandbox)
    if output is not None:
        check_output(output)
    streams = read_inputs(inputs)
    if explain:
        errors.print(explain_text(text, streams, settings, "plan"), markup=False, highlight=False, soft_wrap=True)
    with said_elsewhere() if explain else nullcontext():
        if lazy:
            output = _lazy_output(output, engine, text)
            _say_written(write_as_found(text, streams, settings, output, errors), output, errors)
            return
        found = evaluate(engine, text, streams, settings, errors)
    _deliver(found, output, shown, limit, errors)


def _lazy_output(output: Path | None, engine: EngineName, query: QueryFile) -> Path:
    if output is None or engine is EngineName.spark or "lazy" not in query.language.options:
        raise Usage("--lazy writes the matches of an event pattern to a file (-o FILE.parquet), by the embedded engine")
    return output


def _say_written(rows: int, output: Path, errors: Console) -> None:
    written = f"{rows:,} {'row' if rows == 1 else 'rows'} written to {output}"
    errors.print(written, markup=False, highlight=False, soft_wrap=True)


def _deliver(found: pa.Table, output: Path | None, shown: Shown, limit: int, errors: Console) -> None:
    if output is not None:
        write(found, output)
        _say_written(found.num_rows, output, errors)
    elif shown is Shown.table:
        show_table(found, standard_output(), limit)
        completed()
    elif not hasattr(sys.stdout, "buffer"):
        raise Usage("standard output takes text only here: write to a file with -o")
    else:
        WRITERS[shown.value](found, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        completed()
