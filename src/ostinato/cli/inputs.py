"""Input streams as they are named on the command line: `name=path`, where the path may be a glob."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ostinato.base.errors import DataError
from ostinato.cli.failure import Usage


@dataclass(frozen=True)
class Input:
    name: str
    path: str
    files: tuple[Path, ...]


def read_inputs(given: Sequence[str]) -> list[Input]:
    """Check every `name=path` before anything runs."""
    inputs = [_read_input(one) for one in given]
    names = [one.name.lower() for one in inputs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Usage(
            f"the input {twice[0]!r} is given twice; to read several files as one stream use a glob such as {twice[0]}='data/*.parquet'"
        )
    return inputs


def _read_input(given: str) -> Input:
    name, equals, path = given.partition("=")
    if not equals:  # a path alone is called after its file
        name, path = Path(given).name.split(".")[0], given
    if not name.isidentifier():
        raise Usage(f"the input {given!r} needs a name that the query can use: -i NAME=PATH")
    files = _files(path)
    if not files:
        raise DataError(f"The input {name} does not exist: {path}", hint="Check the path; it is taken relative to the current directory.")
    empty = [file for file in files if file.is_file() and file.stat().st_size == 0]
    if empty:
        raise DataError(
            f"The input {name} is an empty file: {empty[0]}",
            hint="A Parquet file has a footer, a CSV file a line of column names, even without rows.",
        )
    return Input(name, path, files)


def _files(path: str) -> tuple[Path, ...]:
    if Path(path).exists():
        return (Path(path),)
    return tuple(Path(found) for found in sorted(glob.glob(path, recursive=True)))
