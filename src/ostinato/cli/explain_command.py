"""`ostinato explain`: how a query is understood and evaluated, stage by stage."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from ostinato.cli.inputs import Input, read_inputs
from ostinato.cli.query_file import QueryFile, read_query
from ostinato.cli.settings import MatchSettings
from ostinato.compiler import compile as compile_query
from ostinato.hosts.embedded.inputs import schema_of


class Stage(StrEnum):
    syntax = "syntax"
    algebra = "algebra"
    automaton = "automaton"
    plan = "plan"
    program = "program"


def explain(
    query: Annotated[str, typer.Argument(help="File with the query (.sql or .sase), or - for standard input.")],
    inputs: Annotated[
        list[str],
        typer.Option("--input", "-i", metavar="NAME=PATH", help="A stream: a Parquet or CSV file, or a glob; only its columns are read."),
    ],
    stage: Annotated[Stage, typer.Option(help="Which stage to print.")] = Stage.plan,
    language: Annotated[str | None, typer.Option(help="sql or sase; by default from the file's suffix.")] = None,
    time: Annotated[str | None, typer.Option(help="SASE+: the column with the event time, where it is not ts.")] = None,
    type_by: Annotated[str | None, typer.Option(help="SASE+: the column that holds the event type.")] = None,
    matches: Annotated[str | None, typer.Option("--output", help="SASE+: which matches: all, nonoverlapping, first or count.")] = None,
) -> None:
    """Print how a query is understood (syntax, algebra) and evaluated (automaton, plan, program)."""
    text = read_query(query, language)
    settings = MatchSettings.of(text, time=time, type_by=type_by, output=matches)
    typer.echo(explain_text(text, read_inputs(inputs), settings, stage.value))


def explain_text(query: QueryFile, streams: Sequence[Input], settings: MatchSettings, stage: str) -> str:
    schemas = {stream.name: schema_of(stream.path) for stream in streams}
    return compile_query(query.text, schemas, language=query.language, **settings.given).explain(stage)
