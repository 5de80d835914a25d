"""`ostinato explain`: how a query is understood and evaluated, stage by stage."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ostinato.cli.inputs import Input, read_inputs
from ostinato.cli.outputs import whole_file
from ostinato.cli.query_file import QueryFile, read_query
from ostinato.cli.settings import MatchSettings
from ostinato.cli.warned import said_elsewhere


class Stage(StrEnum):
    syntax = "syntax"
    algebra = "algebra"
    automaton = "automaton"
    plan = "plan"
    pattern = "program"


def explain(
    query: Annotated[str, typer.Argument(help="File with the query, such as query.sql or query.sase, or - for standard input.")],
    inputs: Annotated[
        list[str], typer.Option("--input", "-i", metavar="NAME=PATH", help="A stream: files by path or glob; only their columns are read.")
    ],
    stage: Annotated[Stage, typer.Option(help="Which stage to print.")] = Stage.plan,
    language: Annotated[str | None, typer.Option(help="The language of the query; by default from the file's suffix.")] = None,
    time: Annotated[
        str | None, typer.Option(help="Events: the column with the event time, where it is not ts; or STREAM=COLUMN,... for each.")
    ] = None,
    type_by: Annotated[str | None, typer.Option(help="Events: the column that holds the event type.")] = None,
    matches: Annotated[str | None, typer.Option("--output", help="Events: which matches: all, nonoverlapping, first, count, ...")] = None,
    latency: Annotated[str | None, typer.Option(help="Situations: when a match is reported: earliest or final.")] = None,
    strategy: Annotated[str | None, typer.Option(help="Events: how to evaluate, for comparison: runs, compact or backtrack.")] = None,
    sandbox: Annotated[
        bool, typer.Option("--sandbox", help="For a query of somebody else: only the inputs, no files, no network.")
    ] = False,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Events: draw the automaton into this file.")] = None,
) -> None:
    """Print how a query is understood (syntax, algebra) and evaluated (automaton, plan, program)."""
    text = read_query(query, language)
    settings = MatchSettings.of(text, time=time, type_by=type_by, output=matches, latency=latency, strategy=strategy)
    settings = replace(settings, sandbox=sandbox)
    if svg is None:
        typer.echo(explain_text(text, read_inputs(inputs), settings, stage.value))
        return
    drawn = explain_text(text, read_inputs(inputs), settings, Stage.automaton.value, "svg")
    with whole_file(svg) as stream:
        stream.write(drawn.encode())


def explain_text(query: QueryFile, streams: Sequence[Input], settings: MatchSettings, stage: str, format: str = "text") -> str:
    """A SQL statement may have several clauses: each is explained by itself."""
    # Late: `ostinato --help` needs neither compiler nor engine.
    from ostinato.hosts.embedded import compile as compile_query
    from ostinato.hosts.embedded.inputs import sources_of

    schemas = {source.name: source.schema for source in sources_of({stream.name: stream.path for stream in streams}).values()}
    with said_elsewhere() if stage == Stage.plan else nullcontext():
        return compile_query(query.text, schemas, language=query.language.name, sandbox=settings.sandbox, **settings.given).explain(
            stage, format
        )
