"""The query that a command was given: its text, and the language it is written in."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ostinato.base.errors import DataError, QuerySyntaxError
from ostinato.cli.failure import Usage

if TYPE_CHECKING:
    from ostinato.lang.language import Language


@dataclass(frozen=True)
class QueryFile:
    text: str
    language: Language[Any]
    name: str


def read_query(path: str, language: str | None) -> QueryFile:
    """Read a file, or standard input for `-`. The suffix names the language unless it is given."""
    # Late: `ostinato --help` needs no language.
    from ostinato.lang.registry import language_of, languages, recognised

    known = [language.name for language in languages()]
    if language is not None and any(one.strip() not in known for one in language.lower().split(";")):
        raise Usage(f"unknown language {language!r}: choose {' or '.join(known)}")
    if len(path.split()) > 1 and recognised(path) is not None:
        hint = "Write it into a file and name that, or pipe it in: echo 'SELECT ...' | ostinato run - --input t=t.csv"
        raise DataError("This is a query, where the name of its file is wanted.", hint=hint)
    text = sys.stdin.read() if path == "-" else _contents(Path(path))
    if not text.strip():
        raise QuerySyntaxError(f"The query {path} is empty.", hint="Write the query into the file, or name another one.")
    return QueryFile(text, language_of(text, language.lower()) if language else _language_of(path, text), path)


def _contents(path: Path) -> str:
    if not path.exists():
        raise DataError(f"There is no query file {path}.", hint="Check the path; it is taken relative to the current directory.")
    if path.is_dir():
        raise DataError(f"The query {path} is a directory.", hint="Name the file that holds the query.")
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"The query {path} is not UTF-8 text.", detail=str(error), hint="Save it as UTF-8.") from error


def _language_of(path: str, text: str) -> Language[Any]:
    """By the suffix, else by the text. What is no query that anyone knows is a statement as any other, for the host to execute."""
    from ostinato.lang.registry import language_of_suffix, languages, recognised

    return language_of_suffix(Path(path).suffix) or recognised(text) or next(one for one in languages() if one.is_statement)
