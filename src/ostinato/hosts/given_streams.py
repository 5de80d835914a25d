"""What the calls of every host take: streams by name beside options, which have names, too."""

from __future__ import annotations

import datetime as dt
import os
import re
from collections.abc import Mapping
from typing import Any

from ostinato.base.errors import OstinatoError, UnknownNameError
from ostinato.base.query_text import check_name
from ostinato.lang.language import Language
from ostinato.lang.registry import language_of
from ostinato.runtime.limits.budget import Budget

OPTIONS: dict[str, tuple[tuple[type, ...], str]] = {
    "dialect": ((str,), 'a name, "duckdb" or "spark"'),
    "language": ((str,), "the name of a language"),
    "output": ((str,), 'a word, such as "first"'),
    "type_by": ((str,), "the name of a column"),
    "time": ((str, Mapping), "the name of a column, or a mapping from streams to names"),
    "ties": ((str,), 'a word, "order" or "epoch"'),
    "latency": ((str,), 'a word, "earliest" or "final"'),
    "strategy": ((str,), "a word"),
    "lateness": ((int, float, str, dt.timedelta), "a time or a number"),
    "budget": ((Budget,), "ost.Budget(...)"),
    "late": ((str,), 'a word, "count" or "keep"'),
    "buckets": ((int,), "a whole number"),
    "on_error": ((str,), 'a word, "quarantine" or "raise"'),
    "path": ((str,), "a word"),
    "rule_log": ((str, os.PathLike), "a directory"),
    "tail_of": ((str,), "the directory of a checkpoint"),
    "keys": ((str, list, tuple), "names of columns"),
    "writes": ((bool,), "True or False"),
    "stage": ((str,), "a word"),
    "lazy": ((bool,), "True or False"),
    "threads": ((int,), "a whole number"),
}
TAKE_PATHS = ("path", "lateness", "rule_log", "tail_of")  # texts that may look like the path of a stream
FILES = re.compile(r"[/\\*]|\.(parquet|pq|csv|tsv|json|jsonl|ndjson)(\.gz|\.zst)?$", re.IGNORECASE)


def named_streams(unnamed: tuple[object, ...], streams: Mapping[str, Any] | None, named: Mapping[str, Any]) -> dict[str, Any]:
    """All streams of a call by name. `streams` is for names that are those of options, or no Python names at all."""
    if unnamed:
        raise UnknownNameError(
            f"A {_kind(unnamed[0])} was passed without a name",
            detail="Streams are known by the names that the query uses.",
            hint='Pass it by its name, such as ticks=...; or several in streams={"ticks": ...}',
        )
    if streams is not None and not isinstance(streams, Mapping):
        raise OstinatoError(
            f"streams= is a {_kind(streams)}, not a mapping from names to streams",
            hint='Write streams={"ticks": ...}; a stream that is itself called streams is passed as streams={"streams": ...}',
        )
    for name in streams or {}:
        if not isinstance(name, str):
            raise OstinatoError(f"streams= has the name {name!r}, which is no text", hint='Write streams={"ticks": ...}')
    for name in (*(streams or {}), *named):
        check_name(name, "The name of a stream")
    for name, value in named.items():
        _check_no_option(name, value)
    twice = sorted(set(streams or {}) & set(named))
    if twice:
        raise UnknownNameError(f"The stream `{twice[0]}` is given twice", hint="Pass it by its name, or in streams=")
    return {**(streams or {}), **named}


def _check_no_option(name: str, value: object) -> None:
    """An option that another call has arrives as a stream."""
    words = value if isinstance(value, list | tuple) else (value,)
    if name in (*OPTIONS, "without") and all(isinstance(word, str | bool) and not FILES.search(str(word)) for word in words):
        raise OstinatoError(
            f"{name}= is no option of this call, and {value!r} is no stream",
            hint="What a query is compiled with is said to ost.compile or to QuerySet.add; a file is named with its ending or folder",
        )


def check_options(**given: object) -> None:
    """A stream whose name is that of an option arrives as the option."""
    for name, value in given.items():
        kinds, said = OPTIONS[name]
        if isinstance(value, str):
            check_name(value, f"{name}=")
        if value is None or (isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool)) and not _is_path(name, value)):
            continue
        shown = repr(value) if isinstance(value, str) else f"a {_kind(value)}"
        raise OstinatoError(
            f"{name}= is an option, {said}, and got {shown}",
            hint=f'A stream that is called {name} is passed as streams={{"{name}": ...}}',
        )


def chosen_language(text: str, name: str | None, **options: object) -> Language[Any]:
    """The language of the text, which offers what of these options was said."""
    language = language_of(text, name)
    language.refuse(options)
    return language


def _is_path(name: str, value: object) -> bool:
    return isinstance(value, str) and name not in TAKE_PATHS and FILES.search(value) is not None


def _kind(value: object) -> str:
    if isinstance(value, str | os.PathLike):
        return "text" if isinstance(value, str) else "path"
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__.partition('.')[0]} {kind.__name__}"
