"""The streams that a query of a text can read: those that were given, and the events of the queries before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import pyarrow as pa

from ostinato.expr.typing.arrow_types import usable_schema
from ostinato.expr.typing.schema import Schema


class StatementHost(Protocol):
    """Who executes the SQL around clauses, asked about columns alone."""

    def schema_of(self, query: Any, statement: Any) -> pa.Schema:
        """The columns of a query that is part of the statement, or of all of it with the clauses replaced."""

    def add(self, name: str, schema: pa.Schema) -> None:
        """A relation that later queries may name."""


@dataclass(frozen=True)
class KnownStreams:
    """`given` are their columns by name, `composites` the time columns of those that are events of earlier queries. `host` knows the rows
    that are no stream: what a statement selects before it matches. `typed` are columns of which the types are known already."""

    given: Mapping[str, pa.Schema]
    composites: Mapping[str, str] = field(default_factory=dict)
    host: StatementHost | None = None
    typed: Mapping[str, Schema] = field(default_factory=dict)

    @cached_property
    def schemas(self) -> dict[str, Schema]:
        """The columns with the types that expressions have."""
        return {name: self.typed[name] if name in self.typed else usable_schema(schema) for name, schema in self.given.items()}
