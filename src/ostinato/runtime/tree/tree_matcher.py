"""The evaluations of nested patterns: every event that can complete a match starts a search among those before it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ostinato.kernels.scalar.scalar import Interpreter
from ostinato.kernels.tree import tree_advance as kernel
from ostinato.kernels.tree import tree_layout as layout
from ostinato.program.analysis.event_sequence import event_sequence
from ostinato.program.tree import TreePattern
from ostinato.runtime.limits.budget import MOST_COUNTED, Budget, in_words, over_budget, too_many_matches
from ostinato.runtime.limits.steps import Steps
from ostinato.runtime.matcher import Matcher
from ostinato.runtime.matches.held_matches import check_held
from ostinato.runtime.matches.listing import Listing
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.rows.array_growth import grown
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.snapshots.state_check import StateCheck
from ostinato.runtime.tree.decided_matches import DecidedMatches
from ostinato.runtime.tree.evaluation_choice import Chosen, EvaluationChoice
from ostinato.runtime.tree.evaluation_costs import SEQUENCES
from ostinato.runtime.tree.event_links import EventLinks
from ostinato.runtime.tree.found_matches import FoundMatches
from ostinato.runtime.tree.nested_caches import NestedCaches
from ostinato.runtime.tree.search_stack import SearchStack
from ostinato.runtime.tree.sequence_matches import SequenceMatches
from ostinato.runtime.tree.step_arrays import KeptOf
from ostinato.runtime.tree.tree_state import check_tree

NO_EVENTS, NO_VARIABLES = np.zeros(1, np.int64), np.zeros(1, np.uint8)


class TreeMatcher(Matcher):
    """`in_order`: matches come in the order of their ends over all calls, also where some are decided late."""

    def __init__(self, pattern: TreePattern, budget: Budget, pool: StringPool, in_order: bool = False) -> None:
        self._pattern = pattern
        self._budget = budget
        self._pool = pool
        self._code = Interpreter(pattern.scalar)
        self._choice = EvaluationChoice(pattern, budget.bytes)
        self._links = EventLinks(pattern)
        self._links.change(self._choice.arrays)
        self._stack = SearchStack(pattern)
        self._caches = NestedCaches(self._choice.arrays.members)
        sequence = event_sequence(pattern)
        self._sequence = None if isinstance(sequence, str) else SequenceMatches(sequence, budget, pool)
        self._listing = Listing(pattern, budget, pool)
        self._steps = Steps(pattern, budget)
        self._counts = pattern.output == "count" and not pattern.trails
        self._found = FoundMatches(self._listing)
        self._decided = DecidedMatches(pattern, in_order and pattern.output != "count")
        self._next = np.zeros(0, np.int64)  # per key, the next row that may complete matches
        self._keep = np.zeros(0, np.int64)  # per key, the first row that may still be needed
        self._read = np.zeros(0, np.int64)  # per key, the rows that were offered
        control = self._stack.control
        control[layout.WITHIN], control[layout.BY_EVENTS] = pattern.within, pattern.within_unit == "events"
        control[layout.WAITS] = in_order or pattern.sees_last_instant
        control[layout.COUNTS] = self._counts
        self._matches = 0
        self._loaded = False

    def feed(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> Matches:
        self._begin(rows, keys, ready, watermark, final)
        for _ in self._found_in(rows, keys, ready, in_parts=False):
            pass
        return self._finish(rows, keys, watermark, final)

    def feed_in_parts(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> Iterator[Matches]:
        self._begin(rows, keys, ready, watermark, final)
        for _ in self._found_in(rows, keys, ready, in_parts=not self._decided.holds_back):
            yield self._released(rows, watermark, final)
        yield self._finish(rows, keys, watermark, final)

    def _begin(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> None:
        self._ensure_keys(int(np.max(keys, initial=-1)) + 1)
        self._read[keys] = np.maximum(self._read[keys], ready)
        control = self._stack.control
        control[layout.WATERMARK], control[layout.FINAL] = watermark, final
        if self._code.strings or self._code.ranked:
            self._code.bind(self._pool.codes(self._code.strings), self._pool.ranks() if self._code.ranked else None)
        taken_in = int(np.maximum(ready - self._next[keys], 0).sum())
        if self._choice.reconsider(taken_in, rows, keys, self._code):
            self._links.change(self._choice.arrays)
            self._caches.forget(control, self._choice.arrays.members)
            if self._sequence is not None:
                self._sequence.forget()
        self._steps.begin(taken_in)
        self._listing.begin(taken_in)
        control[layout.STEP_LIMIT] = min(int(control[layout.STEPS]) + self._steps.left, 1 << 62)
        if self._follows:
            self._links.let_go(rows)
        else:
            self._links.link_again(rows, keys, self._next, self._stack.control)

    @property
    def _follows(self) -> bool:
        """Whether it is a sequence of events that is followed, and not searched."""
        return self._choice.pattern.evaluation == SEQUENCES

    def _found_in(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, in_parts: bool) -> Iterator[None]:
        """What the rows complete is found; where matches are handed on in parts, it stops whenever there are some."""
        if not self._follows:
            yield from self._advance(rows, keys, ready, in_parts)
            return
        assert self._sequence is not None
        control = self._stack.control
        given = rows, keys, ready, self._next, int(control[layout.WATERMARK]), bool(control[layout.FINAL])
        if self._counts:
            self._matches += self._sequence.count(*given)
            if self._matches > MOST_COUNTED:
                raise too_many_matches(self._pattern)
        for matches in () if self._counts else self._sequence.feed(*given, in_parts):
            if len(matches):
                self._decided.add(rows, matches, np.zeros(len(matches), np.int64))
                if in_parts:
                    yield
        self._next[keys] = np.maximum(self._next[keys], ready)

    def _advance(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, in_parts: bool) -> Iterator[None]:
        """Search the rows."""
        arrays, links, control = self._choice.arrays, self._links, self._stack.control
        control[layout.AT_KEY], control[layout.AT_PLAN], control[layout.LEVEL] = 0, 0, -1
        keys, ready = np.ascontiguousarray(keys, np.int64), np.ascontiguousarray(ready, np.int64)
        while True:
            status = kernel.advance(
                *self._searched(rows, NO_EVENTS, NO_VARIABLES), arrays.plans, arrays.mask, arrays.link_bits, arrays.chains, links.before,
                rows.bits.view(np.int64), keys, ready, rows.offset, rows.base, links.linked, self._next,
            )  # fmt: skip
            if status == layout.DONE:
                break
            if status == layout.OUTPUT_FULL and in_parts:
                self._admit(rows)
                yield
            else:
                self._make_room(status, rows)
        self._admit(rows)

    def _searched(self, rows: PatternRows, given: np.ndarray, given_variables: np.ndarray) -> tuple[np.ndarray, ...]:
        arrays, code, stack = self._choice.arrays, self._code, self._stack
        return (
            arrays.steps, arrays.terms, arrays.tests, code.code, code.scratch, code.scratch_valid, code.ranks, rows.times, rows.slots,
            rows.slot_valid, self._links.links(rows), self._links.chains(rows), self._links.heads, stack.levels, stack.registers,
            stack.register_valid, stack.bound, stack.contexts(arrays.contexts), stack.control, *self._caches.arrays,
            arrays.group_plans, given, given_variables, *self._found.arrays,
        )  # fmt: skip

    def _make_room(self, status: int, rows: PatternRows) -> None:
        control = self._stack.control
        if status == layout.OUTPUT_FULL:
            self._found.grow(control)
        elif status == layout.STACK_FULL:
            self._stack.grow()
        elif status == layout.HEADS_FULL:
            self._links.grow(rows, control)
            self._within_bytes(self._links.bytes, "links between the events of a window")
        elif status == layout.CACHES_FULL:
            self._caches.grow(control)
            self._within_bytes(self._caches.bytes, "matches of nested expressions")
        elif status == layout.OVER_STEPS:
            raise self._steps.exceeded(f"{int(control[layout.MATCHES]):,} matches were found, and looking for more takes too long")
        else:
            raise self._code.error(int(control[layout.ERROR]))

    def _within_bytes(self, size: int, what: str) -> None:
        limit = self._budget.bytes
        if limit is not None and size > limit:
            said = f"{what} take {in_words(size)}, and the budget is {in_words(limit)}"
            raise over_budget(self._pattern, said, "shorten WITHIN, or raise the budget: ost.Budget(bytes=...)")

    def _admit(self, rows: PatternRows) -> None:
        """What was found is decided, or waits for what comes behind it."""
        control = self._stack.control
        if self._counts:
            self._matches += int(control[layout.MATCHES])
            control[layout.MATCHES] = 0
            return
        matches, plans = self._found.take(control)
        if len(matches):
            branch = np.array(self._choice.arrays.plan_branches, np.int64)[plans]
            self._decided.add(rows, matches, branch)

    def _finish(self, rows: PatternRows, keys: np.ndarray, watermark: int, final: bool) -> Matches:
        self._confirm(rows, keys, watermark, final)
        released = self._released(rows, watermark, final)
        out = np.empty(len(keys), np.int64)
        kernel.needed_from(
            np.ascontiguousarray(keys, np.int64), self._next, rows.offset, rows.base, rows.length, rows.times, self._pattern.within,
            watermark, self._pattern.within_unit == "events", out,
        )  # fmt: skip
        self._keep[keys] = np.minimum(out, self._next[keys])
        self._caches.purge(rows, self._keep, control=self._stack.control)
        self._decided.within_budget(self._budget)
        return released

    def _confirm(self, rows: PatternRows, keys: np.ndarray, watermark: int, final: bool) -> None:
        """Matches whose window has passed: what must not come behind them did, or did not."""
        due = self._decided.due(keys, len(self._next), watermark, final)
        if not len(due):
            return
        waiting = self._decided.waiting.take(due)
        if self._loaded:
            check_held(waiting, rows)
        firsts = np.array(self._choice.arrays.confirmations, np.int64)[self._decided.branches[due]]
        ends = rows.times[rows.index_of(waiting.key, waiting.last)]
        control = self._stack.control
        control[layout.AT_KEY], control[layout.AT_PLAN], control[layout.LEVEL], control[layout.COUNTS] = 0, 0, -1, 0
        variables = np.ascontiguousarray(waiting.variables)
        while True:
            status = kernel.confirm(
                *self._searched(rows, np.ascontiguousarray(waiting.listed), variables), firsts, waiting.key, waiting.offsets, rows.offset,
                rows.base, self._links.linked, ends,
            )  # fmt: skip
            if status == layout.DONE:
                break
            self._make_room(status, rows)
        control[layout.COUNTS] = self._counts
        _, places = self._found.take(control)
        self._decided.settle(due, due[places])

    def _released(self, rows: PatternRows, watermark: int, final: bool) -> Matches:
        released = self._decided.release(rows, watermark, final)
        self._matches += len(released)
        return Matches.none() if self._pattern.output == "count" else released

    def _ensure_keys(self, count: int) -> None:
        if count > len(self._next):
            count = max(count, 2 * len(self._next), 1)
            self._next, self._keep, self._read = grown(self._next, count), grown(self._keep, count), grown(self._read, count)
        self._links.ensure_keys(len(self._next))

    def keep_from(self, keys: np.ndarray) -> np.ndarray:
        self._ensure_keys(int(np.max(keys, initial=-1)) + 1)
        return np.minimum(self._keep[keys], self._decided.earliest(keys, len(self._next)))

    def idle(self, keys: np.ndarray) -> np.ndarray:
        return (self.keep_from(keys) >= self._read[keys]) & (self._next[keys] >= self._read[keys])

    def renumber(self, old_of_new: np.ndarray) -> None:
        self._ensure_keys(int(np.max(old_of_new, initial=-1)) + 1)
        new_of_old = np.full(len(self._next), -1, np.int64)
        new_of_old[old_of_new] = np.arange(len(old_of_new))
        self._decided.renumber(new_of_old)
        self._next, self._keep, self._read = self._next[old_of_new], self._keep[old_of_new], self._read[old_of_new]
        self._links.forget()
        self._caches.forget(self._stack.control, self._choice.arrays.members)
        if self._sequence is not None:
            self._sequence.renumber(old_of_new)

    @property
    def chosen(self) -> Chosen:
        """The evaluation that is taken, and why."""
        return self._choice.chosen

    def kept(self) -> tuple[tuple[KeptOf, ...], np.ndarray, np.ndarray]:
        """Which nested expressions something is kept of; what: entries and results, see `kernels.tree.tree_layout`."""
        _, entries, results = self._caches.arrays
        return self._choice.arrays.kept, entries[: self._stack.control[layout.ENTRIES]], results

    def codes(self) -> list[np.ndarray]:
        """Strings are remembered by their rows."""
        return []

    def recode(self, new_of_old: np.ndarray) -> None:
        self._links.forget()
        self._caches.forget(self._stack.control, self._choice.arrays.members)

    def metrics(self) -> dict[str, int]:
        control = self._stack.control
        return {
            "matches": self._matches,
            "triggers": int(control[layout.TRIGGERS]),
            "visited_events": int(control[layout.STEPS]),
            "waiting_matches": len(self._decided.waiting),
            "linked_values": int(control[layout.HEADS]),
            "kept_results": int(control[layout.RESULTS]),
            "kept_intervals": self._caches.intervals(control),
            "cache_hits": int(control[layout.CACHE_HITS]),
            "cache_loads": int(control[layout.CACHE_LOADS]),
            "state_bytes": self._links.bytes + self._decided.bytes + self._caches.bytes + (self._sequence.bytes if self._sequence else 0),
        }

    def state(self) -> dict[str, np.ndarray]:
        own = {"next": self._next, "keep": self._keep, "read": self._read, "matches": np.array([self._matches], np.int64)}
        return own | self._decided.state()

    def check(self, state: StateCheck) -> None:
        check_tree(state, self._pattern)

    def load(self, state: dict[str, np.ndarray]) -> None:
        self._loaded = True
        self._next, self._keep, self._read = state["next"].copy(), state["keep"].copy(), state["read"].copy()
        self._matches = int(state["matches"][0])
        self._decided.load(state)
        self._links.ensure_keys(len(self._next))
        self._links.forget()
        if self._sequence is not None:
            self._sequence.forget()
