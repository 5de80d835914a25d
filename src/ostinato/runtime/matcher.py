"""What every evaluation strategy offers to the session that drives it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ostinato.program.pattern import EventPattern
from ostinato.runtime.matches.match_dag import MatchDag
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.rows.opaque_values import OpaqueValues
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.reorder import NEVER
from ostinato.runtime.snapshots.state_check import StateCheck
from ostinato.runtime.workers import Workers

__all__ = [
    "NEVER",
    "Matcher",
    "PassesOver",
    "Places",
    "RemembersStrings",
    "RemembersValues",
    "SharesBeginning",
    "SharesWork",
    "SumsUp",
]


class Matcher(Protocol):
    """State per partition (key number 0..n-1), advanced over rows that only ever grow at the end."""

    def feed(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> Matches | MatchDag:
        """Go on over the partitions `keys`, each up to (not including) ordinal `ready[i]`, and return what is decided.

        No row with time < watermark will come any more; `final` says that no row will come at all. Called again with the same
        `ready` and a later watermark, it decides what only time decides."""
        ...

    def feed_in_parts(
        self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool
    ) -> Iterator[Matches | MatchDag]:
        """The same, in pieces that take a bounded part of the budget however many matches there are. Nothing else is asked of the matcher
        until they are all taken. Per partition they come in order, but those of one completing event may be cut apart: then each
        piece is in order."""
        yield self.feed(rows, keys, ready, watermark, final)

    def look_at_all(self, asked: EventPattern) -> None:
        """Whoever feeds it in parts, for the query `asked`, goes through all of them and hands on few or none: how many there are is
        charged to the budget before. Called before the first row, if at all."""

    def keep_from(self, keys: np.ndarray) -> np.ndarray:
        """For each of `keys` the first ordinal whose row may still be needed (the next unread one if none is)."""
        ...

    def idle(self, keys: np.ndarray) -> np.ndarray:
        """Which of `keys` hold no state beyond how far they have read, so that they may be forgotten."""
        ...

    def renumber(self, old_of_new: np.ndarray) -> None:
        """Keys were renumbered: the state of new key i is that of old key `old_of_new[i]`."""
        ...

    def metrics(self) -> dict[str, int]: ...

    def state(self) -> dict[str, np.ndarray]:
        """All state as named arrays, for a snapshot."""
        ...

    def check(self, state: StateCheck) -> None:
        """Refuse arrays that are no state of this matcher; called before `load` where they come from outside."""
        ...

    def load(self, state: dict[str, np.ndarray]) -> None: ...


@runtime_checkable
class RemembersStrings(Protocol):
    """A matcher whose partial matches hold codes of strings."""

    def codes(self) -> list[np.ndarray]: ...

    def recode(self, new_of_old: np.ndarray) -> None:
        """Strings have other codes now."""
        ...


Places = tuple[np.ndarray, np.ndarray]  # an array that holds positions among opaque values, and where in it there are some


@runtime_checkable
class RemembersValues(Protocol):
    """A matcher whose partial matches hold positions among opaque values."""

    def places_in(self, heap: OpaqueValues) -> list[Places]:
        """Where those among these are held: they may be changed there."""
        ...


@runtime_checkable
class PassesOver(Protocol):
    """A matcher that need not be fed rows of which is known that nothing begins there."""

    def pass_over(self, keys: np.ndarray, ordinals: np.ndarray) -> None:
        """These keys, which are idle, go on at these ordinals."""
        ...


@runtime_checkable
class SharesWork(Protocol):
    """A matcher that can divide its work among threads."""

    def share_with(self, workers: Workers) -> None: ...


@runtime_checkable
class SharesBeginning(Protocol):
    """A matcher whose beginning another one follows, for others as well."""

    @property
    def shared(self) -> int:
        """How many partial matches are followed there."""
        ...


@runtime_checkable
class SumsUp(Protocol):
    """A matcher that aggregates all matches by itself, and reports none."""

    def totals(self) -> list[tuple[int, Any]]:
        """As in `match_totals`."""
        ...
