"""The command `ostinato`: its subcommands, and how it ends."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from importlib import metadata
from typing import Annotated

import typer

from ostinato.cli.demo_command import demo
from ostinato.cli.explain_command import explain
from ostinato.cli.failure import TERMINATED, interrupt, reported
from ostinato.cli.run_command import run

app = typer.Typer(
    name="ostinato",
    help="Find patterns of events: MATCH_RECOGNIZE, SASE+, NEEL, CEL and TPStream over Parquet, CSV and streams, in process or on Spark.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (run, explain, demo):
    app.command()(reported(command))


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ostinato {metadata.version('ostinato')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.", callback=_show_version, is_eager=True)] = False,
) -> None:
    """Find patterns of events."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the console script."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # so that unfinished files are removed then, too
    signal.signal(signal.SIGINT, interrupt)
    app(args=arguments)


if __name__ == "__main__":
    main()
