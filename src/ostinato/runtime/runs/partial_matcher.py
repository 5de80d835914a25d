"""What the strategies that follow single partial matches have in common: how they are fed, and what they do beyond the budget."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from ostinato.base.errors import BudgetError, OstinatoError
from ostinato.expr.types import Kind
from ostinato.kernels.rows.key_regions import greatest
from ostinato.kernels.runs import run_layout as layout
from ostinato.kernels.scalar.arithmetic import IS_VALUE, TOO_MANY
from ostinato.program.pattern import EventPattern
from ostinato.runtime.limits.budget import Budget, Overflow, in_words, over_budget, too_many_matches
from ostinato.runtime.limits.steps import Steps
from ostinato.runtime.matcher import NEVER, Matcher
from ostinato.runtime.matches.listing import Listing
from ostinato.runtime.matches.match_dag import MatchDag
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.rows.array_growth import grown
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.runs.run_plan import run_plan

SHED_LATER = 64  # times the budget: more may be shed at the end of a call
SHED_PART = 16  # shedding a sixteenth at once keeps its cost per event constant


class PartialStore(Protocol):
    """The arrays in which a strategy keeps its partial matches."""

    registers: np.ndarray
    register_valid: np.ndarray

    @property
    def key_count(self) -> int: ...

    @property
    def busy(self) -> np.ndarray:
        """Per key, whether it has partial matches."""
        ...

    @property
    def alive(self) -> np.ndarray:
        """The places of partial matches in `registers`."""
        ...

    @property
    def live_runs(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def has_doubled(self) -> bool:
        """Whether it is time to look for nodes that nobody reaches."""
        ...

    def ensure_keys(self, count: int) -> None: ...

    def renumber(self, old_of_new: np.ndarray) -> None: ...

    def collect_garbage(self) -> None: ...

    def shed_oldest(self, count: int) -> None: ...

    def state(self) -> dict[str, np.ndarray]: ...

    def load(self, state: dict[str, np.ndarray]) -> None: ...


class PartialMatcher(Matcher):
    """The part of a matcher that does not depend on the order in which partial matches are followed."""

    _store: PartialStore

    def __init__(self, pattern: EventPattern, budget: Budget, strings: StringPool) -> None:
        self._pattern = pattern
        self._budget = budget
        self._strings = strings
        self._plan = run_plan(pattern, budget.runs)
        self._listing = Listing(pattern, budget, strings)
        self._steps = Steps(pattern, budget)
        self._interpreter = self._plan.interpreter
        self._read = np.zeros(0, np.int64)  # per key, the next unread ordinal
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

    def _bind_strings(self) -> None:
        """Codes are asked for again each time: a session that is restored has other ones than it had when it was made."""
        code = self._interpreter
        if code.strings or code.ranked:
            code.bind(self._strings.codes(code.strings), self._strings.ranks() if code.ranked else None)

    def _with_waiting(self, keys: np.ndarray, ready: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Under strict contiguity only the partition of the latest event can have runs. If the stream goes on in another one, they
        are over, although their own partition receives nothing."""
        waiting = np.setdiff1d(np.flatnonzero(self._store.busy), keys)
        return np.concatenate([keys, waiting]), np.concatenate([ready, self._read[waiting]])

    def _ensure_keys(self, count: int) -> None:
        self._store.ensure_keys(count)
        self._read = grown(self._read, self._store.key_count)

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
        limit, size = self._budget.bytes, self._store.bytes
        if limit is not None and size > (limit if self._budget.overflow is Overflow.ERROR else SHED_LATER * limit):
            raise over_budget(self._pattern, f"partial matches take {in_words(size)}, and the budget is {in_words(limit)}")

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

    def idle(self, keys: np.ndarray) -> np.ndarray:
        self._ensure_keys(greatest(keys) + 1)
        return ~self._store.busy[keys]

    def renumber(self, old_of_new: np.ndarray) -> None:
        self._ensure_keys(int(np.max(old_of_new, initial=-1)) + 1)
        self._store.renumber(old_of_new)
        self._read = self._read[old_of_new]

    def codes(self) -> list[np.ndarray]:
        """The codes of strings that runs remember."""
        return [self._store.registers[places, register] for register, places in self._texts()]

    def recode(self, new_of_old: np.ndarray) -> None:
        """Strings have other codes now."""
        for register, places in self._texts():
            self._store.registers[places, register] = new_of_old[self._store.registers[places, register]]

    def _texts(self) -> list[tuple[int, np.ndarray]]:
        """Registers that hold strings, with the runs in which they have a value."""
        texts = [i for i, register in enumerate(self._pattern.registers) if register.type.kind is Kind.STRING]
        alive = self._store.alive if texts else np.empty(0, np.int64)
        return [(register, alive[self._store.register_valid[alive, register] == IS_VALUE]) for register in texts]

    def state(self) -> dict[str, np.ndarray]:
        return {**self._store.state(), "read": self._read, "latest": self._plan.settings[layout.LATEST : layout.LATEST + 1].copy()}

    def load(self, state: dict[str, np.ndarray]) -> None:
        self._store.load(state)
        self._plan.settings[layout.LATEST] = state["latest"][0]
        self._read = state["read"].copy()
