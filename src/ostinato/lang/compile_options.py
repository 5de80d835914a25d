"""What is said about a query beside its text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class CompileOptions:
    """`language` None: it is recognised. `type_by`, `time` (of all streams, or a mapping from streams to columns), `output`, `ties` and
    `latency` are for the languages that offer them; `dialect` is that of the SQL around clauses. `without` names rewrites to leave out,
    "merging" (of equivalent runs) or "search" (by the values that conditions compare), `strategy` forces a way to evaluate the query: both
    are for comparison. `sandboxed`: the text is that of somebody else, and calls only functions that are registered for such."""

    language: str | None = None
    type_by: str | None = None
    time: str | Mapping[str, str] | None = None
    output: str | None = None
    ties: str | None = None
    dialect: str = "duckdb"
    without: tuple[str, ...] = ()
    strategy: str | None = None
    sandboxed: bool = False
    latency: str | None = None
