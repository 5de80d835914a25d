"""Errors of DuckDB as errors of Ostinato that point into the text of the user."""

from __future__ import annotations

import json
from difflib import get_close_matches
from typing import Any

import duckdb

from ostinato.base.errors import DataError, OstinatoError, QuerySyntaxError, TypeMismatchError, UnknownNameError
from ostinato.base.span import Span
from ostinato.lang.sql import Clause, Spliced

MISSING = ("MISSING_ENTRY", "COLUMN_NOT_FOUND")


def translated(
    error: duckdb.Error, sql: Spliced | None = None, clauses: tuple[Clause, ...] = (), tables: tuple[str, ...] = ()
) -> OstinatoError:
    """`sql` is what DuckDB was given, if the user wrote (parts of) it; `tables` are those that may be named in it."""
    told = _told(error)
    message = str(told.get("exception_message", error)).strip()
    for clause in clauses:
        message = message.replace(clause.placeholder, "SITUATIONS OF" if clause.derived else "MATCH_RECOGNIZE")
    first, _, rest = message.partition("\n")
    span = None if sql is None else _span(told, sql)
    kind = _kind(error, told)
    detail = None if kind is DataError else "DuckDB executes the SQL around the clauses."
    hint = rest.replace("\n", " ").strip() or None
    if told.get("type") == "Table":  # DuckDB would propose one of its own
        hint = _tables_hint(str(told.get("name", "")), tables)
    return kind(first.rstrip("!"), detail=detail, hint=hint, span=span)


def _tables_hint(name: str, tables: tuple[str, ...]) -> str:
    close = get_close_matches(name.lower(), [table.lower() for table in tables], 1)
    if close:
        return f"Did you mean {close[0]}?"
    return f"Pass it by name: sql(..., {name}=...)" + (f"; given are {', '.join(tables)}" if tables else "")


def _told(error: duckdb.Error) -> dict[str, Any]:
    text = str(error)
    start = text.find("{")
    if start < 0:
        return {}
    try:
        found = json.loads(text[start:])
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _kind(error: duckdb.Error, told: dict[str, Any]) -> type[OstinatoError]:
    if told.get("error_subtype") in MISSING or isinstance(error, duckdb.CatalogException):
        return UnknownNameError
    if isinstance(error, duckdb.ParserException | duckdb.SyntaxException):
        return QuerySyntaxError
    if isinstance(error, duckdb.BinderException):
        return TypeMismatchError
    return DataError


def _span(told: dict[str, Any], sql: Spliced) -> Span | None:
    if "position" not in told:
        return None
    start, length = int(told["position"]), 1
    if "location" in told:
        start, length = json.loads(told["location"])
    data = sql.text.encode()  # DuckDB counts bytes
    begin = len(data[:start].decode(errors="ignore"))
    end = len(data[: start + max(length, 1)].decode(errors="ignore"))
    return sql.origin(begin).to(sql.origin(max(begin, end - 1)))
