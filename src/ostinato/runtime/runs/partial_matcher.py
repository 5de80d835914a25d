"""What the strategies that follow single partial matches have in common: how they are fed, and what they do beyond the budget."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from ostinato.base.errors import BudgetError, OstinatoError
from ostinato.kernels.rows.key_regions import greatest
from ostinato.kernels.runs import run_layout as layout
from ostinato.kernels.scalar.arithmetic import TOO_MANY
from ostinato.program.pattern import EventPattern
from ostinato.runtime.limits.budget import Budget, Overflow, over_budget, too_many_matches
from ostinato.runtime.matcher import NEVER, Matcher
from ostinato.runtime.matches.listing import Listing
from ostinato.runtime.matches.match_dag import MatchDag
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.register_matcher import SHED_LATER, SHED_PART, RegisterMatcher, RegisterStore
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.runs.run_plan import run_plan


class PartialStore(RegisterStore, Protocol):
    """The arrays in which a strategy keeps its partial matches."""

    @property
    def live_runs(self) -> int: ...

    @property
    def has_doubled(self) -> bool:
        """Whether it is time to look for nodes that nobody reaches."""
        ...

    def collect_garbage(self) -> None: ...


class PartialMatcher(RegisterMatcher, Matcher):
    """The part of a matcher that does not depend on the order in which partial matches are followed."""

    _store: PartialStore

    def __init__(self, pattern: EventPattern, budget: Budget, strings: StringPool) -> None:
        self._plan = run_plan(pattern, budget.runs)
        super().__init__(pattern, budget, strings, self._plan.interpreter)
        self._pattern = pattern
        self._listing = Listing(pattern, budget, strings)
        self._strict = (
            pattern.selection == "strict_contiguity" and pattern.look_ahead == 0
        )  # rows that wait for neighbours are not passed by
        self._variable_of = np.array([element.variable for element in pattern.elements], np.uint8)

    @abstractmethod
    def _follow(self, rows: PatternRows, keys: np.ndarray, begin: np.ndarray, end: np.ndarray, ordinal: np.ndarray) -> None:
        """Call the kernel until it is through with the rows [begin[i], end[i]) of each key, the first of which has `ordinal[i]`."""

    @abstractmethod
    def _matches(self) -> Matches | MatchDag:
        """The matches found by this call."""

    def _parts(self) -> Iterator[Matches | MatchDag]:
        """The same in pieces."""
        yield self._matches()

    def feed(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> Matches | MatchDag:
        self._process(rows, keys, ready, watermark, final)
        matches = self._matches()
        self._within_budget()
        return matches

    def feed_in_parts(
        self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool
    ) -> Iterator[Matches | MatchDag]:
        self._process(rows, keys, ready, watermark, final)
        yield from self._parts()
        self._within_budget()

    def _process(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> None:
        keys = np.ascontiguousarray(keys, np.int64)
        self._ensure_keys(greatest(keys) + 1)
        if self._strict:
            keys, ready = self._with_waiting(keys, ready)
        settings = self._plan.settings
        settings[layout.WATERMARK], settings[layout.HAS_WATERMARK], settings[layout.FINAL] = watermark, watermark != NEVER, final
        self._bind_strings()
        ordinal, begin, end, taken_in = rows.unread(keys, ready, self._read)
        self._listing.begin(taken_in)
        self._steps.begin(taken_in)
        if self._strict:
            fed = end > begin
            settings[layout.LATEST] = max(int(settings[layout.LATEST]), int(rows.positions[end[fed] - 1].max(initial=-1)))
        self._follow(rows, keys, begin, end, ordinal)
        self._read[keys] = np.maximum(ordinal, ready)

    def _with_waiting(self, keys: np.ndarray, ready: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Under strict contiguity only the partition of the latest event can have runs. If the stream goes on in another one, they
        are over, although their own partition receives nothing."""
        waiting = np.setdiff1d(np.flatnonzero(self._store.busy), keys)
        return np.concatenate([keys, waiting]), np.concatenate([ready, self._read[waiting]])

    def _refuse_too_many(self) -> None:
        """Where the budget wants an error and not that runs are shed."""
        limit = self._budget.runs
        if limit is not None and self._store.live_runs > limit and self._budget.overflow is Overflow.ERROR:
            raise over_budget(
                self._pattern,
                f"the query follows more than {limit} partial matches",
                "shorten WITHIN, add conditions, choose a stricter selection strategy, take OUTPUT count, or raise the budget's runs",
            )

    def _refuse_too_large(self) -> None:
        """Where the budget wants an error; or in the middle of a call, where nothing can be shed, and it is far too much."""
        self._check_size(self._store.bytes, "partial matches take", later=SHED_LATER)

    def _limit_steps(self, so_far: int) -> None:
        """So many were made before this call."""
        self._plan.settings[layout.STEP_LIMIT] = so_far + self._steps.left

    def _too_long(self) -> BudgetError:
        return self._steps.exceeded(f"{self._store.live_runs:,} partial matches are followed, and it takes too long")

    def _failed(self, error: int) -> OstinatoError:
        """What stopped the kernel."""
        if error == TOO_MANY:
            return too_many_matches(self._pattern)
        return self._interpreter.error(error)

    def _within_budget(self) -> None:
        self._within_bytes()

    def _within_bytes(self) -> None:
        """After a batch: nodes that nobody reaches any more are no reason to complain."""
        store, limit = self._store, self._budget.bytes
        is_over = limit is not None and store.bytes > limit
        if is_over or store.has_doubled:
            store.collect_garbage()
        while is_over and limit is not None and store.bytes > limit:
            self._refuse_too_large()
            store.shed_oldest(max(1, store.live_runs // SHED_PART))
            store.collect_garbage()

    def look_at_all(self, asked: EventPattern) -> None:
        self._listing.look_at_all(asked)

    def state(self) -> dict[str, np.ndarray]:
        return {**super().state(), "latest": self._plan.settings[layout.LATEST : layout.LATEST + 1].copy()}

    def load(self, state: dict[str, np.ndarray]) -> None:
        super().load(state)
        self._plan.settings[layout.LATEST] = state["latest"][0]
