"""The options of a query that stand outside its text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from ostinato.cli.failure import Usage
from ostinato.cli.query_file import QueryFile
from ostinato.runtime.limits.budget import Budget, Overflow

SHOWN = {"budget": "a budget"}  # the others are options of the same name


class OverflowPolicy(StrEnum):
    """What happens when a query outgrows its budget."""

    error = "error"
    shed = "shed"


def budget_of(runs: int | None, bytes: int | None, overflow: OverflowPolicy | None) -> Budget | None:
    """None where nothing was said, so that the engine's own limit holds."""
    if runs is None and bytes is None and overflow is None:
        return None
    policy = Overflow.SHED_OLDEST if overflow is OverflowPolicy.shed else Overflow.ERROR
    usual = Budget()
    return replace(usual, runs=usual.runs if runs is None else runs, bytes=usual.bytes if bytes is None else bytes, overflow=policy)


@dataclass(frozen=True)
class MatchSettings:
    time: str | dict[str, str] | None = None
    type_by: str | None = None
    output: str | None = None
    latency: str | None = None
    strategy: str | None = None
    budget: Budget | None = None
    sandbox: bool = False

    @staticmethod
    def of(
        query: QueryFile,
        *,
        time: str | None,
        type_by: str | None,
        output: str | None,
        latency: str | None = None,
        strategy: str | None = None,
        budget: Budget | None = None,
    ) -> MatchSettings:
        """What the language does not offer is refused: SQL says all of this in its text."""
        given = {"time": time, "type_by": type_by, "output": output, "latency": latency, "strategy": strategy, "budget": budget}
        unused = next((name for name, value in given.items() if value is not None and name not in query.language.options), None)
        if unused is not None:
            shown = SHOWN.get(unused, f"--{unused.replace('_', '-')}")
            raise Usage(f"{shown} {query.language.instead}: {query.language.instead_hint}")
        return MatchSettings(_times(time), type_by, output, latency, strategy, budget)

    @property
    def given(self) -> dict[str, Any]:
        """Only what was said about the query, so that the defaults stay with the engine."""
        return {name: value for name, value in vars(self).items() if value is not None and name not in ("budget", "sandbox")}


def _times(given: str | None) -> str | dict[str, str] | None:
    """A column, or `orders=placed,trades=at` for streams whose times are called differently."""
    if given is None or "=" not in given:
        return given
    pairs = [pair.partition("=") for pair in given.split(",")]
    wrong = next((stream for stream, _, column in pairs if not stream.strip() or not column.strip()), None)
    if wrong is not None:
        raise Usage(f"--time {given}: write a column, or STREAM=COLUMN for each stream, between commas")
    return {stream.strip(): column.strip() for stream, _, column in pairs}
