"""Queries of a set that an error has stopped: the others go on without them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ostinato.base.errors import (
    BudgetError,
    DataError,
    OstinatoError,
    SandboxError,
    SchemaError,
    StateError,
    TypeMismatchError,
    UnknownNameError,
    UnsupportedError,
)
from ostinato.program.program import Program
from ostinato.program.query_graphs import STEP

POLICIES = ("quarantine", "raise")
KINDS = {
    kind.__name__: kind
    for kind in (
        BudgetError,
        DataError,
        OstinatoError,
        SandboxError,
        SchemaError,
        StateError,
        TypeMismatchError,
        UnknownNameError,
        UnsupportedError,
    )
}


class QueryFailures(OstinatoError):
    """What evaluates several queries at once cannot go on with some of them: `errors` by their names. The others are not touched by it."""

    def __init__(self, errors: Mapping[str, OstinatoError]) -> None:
        super().__init__("; ".join(f"{query}: {error.message}" for query, error in errors.items()))
        self.errors = dict(errors)


def check_policy(on_error: str) -> str:
    if on_error not in POLICIES:
        hint = "It is 'quarantine' (a query that fails is put aside, the others go on) or 'raise' (an error stops the session)"
        raise OstinatoError(f"on_error={on_error!r} is unknown", hint=hint)
    return on_error


class Quarantine:
    """`takes`: a query that fails is put aside; otherwise its error is that of the call. `errors` are those of queries that are in it;
    `has_changed`: there are some that the others still have to be parted from."""

    def __init__(self, takes: bool) -> None:
        self.takes = takes
        self.has_changed = False
        self.errors: dict[str, OstinatoError] = {}

    def take(self, query: str, error: OstinatoError) -> None:
        """The first error is the one that is kept."""
        for name, own in error.errors.items() if isinstance(error, QueryFailures) else ((query, error),):
            self.errors.setdefault(name, own)
        self.has_changed = True

    def release(self, queries: Iterable[str]) -> None:
        for query in queries:
            self.errors.pop(query, None)

    def operators(self, program: Program) -> set[int]:
        """Those of the queries in it, by their numbers."""
        if not self.errors:
            return set()
        return {number for number, operator in enumerate(program.operators) if query_of(operator.name) in self.errors}

    def state(self) -> dict[str, Any]:
        """As JSON."""
        return {query: [type(error).__name__, error.message, error.detail, error.hint] for query, error in self.errors.items()}

    def load(self, stored: Any, queries: Collection[str]) -> None:
        """What `state` gave; whatever else it is, is refused."""
        for query, told in stored.items():
            kind, message, detail, hint = told
            if query not in queries or not isinstance(message, str) or not all(isinstance(one, str | None) for one in (detail, hint)):
                raise ValueError("queries in quarantine, with their errors, expected")
            self.errors[query] = KINDS.get(kind, OstinatoError)(message, detail=detail, hint=hint)


def query_of(operator: str) -> str:
    """The query that an operator belongs to, by its name."""
    return operator.partition(STEP)[0]
