"""The variables of found matches, for automata whose predicates are bits."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from ostinato.kernels.output.match_stretches import spread_stretches
from ostinato.kernels.scan.scan_spans import assign_variables, fill_only_ways
from ostinato.kernels.scan.scan_stretches import find_stretches
from ostinato.program.analysis.stretches import stretch_order
from ostinato.program.ordered_nfa import OrderedNfa
from ostinato.runtime.matches.matches import Stretches
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.scan.lazy_dfa import accepting_flag

MAX_WAYS = 1 << 16  # cells of the table of only ways


class Assignment:
    """Where every row of a span allows one transition only, a table gives its variable; else the best way is searched. Where variables have
    stretches (see `stretch_order`), they are numbered in their order here, and `order` tells them from outside."""

    def __init__(self, nfa: OrderedNfa, masks: np.ndarray) -> None:
        self.states = len(nfa.first) - 1
        order = stretch_order(nfa, len(masks))
        self.order = None if order is None else np.array(order, np.uint8)
        self._starts = np.array([nfa.start, nfa.start_of_partition], np.int64)
        self._first = np.array(nfa.first, np.int32)
        self._transitions = np.array(nfa.transitions, np.int32).reshape(-1, 2)
        self._masks = masks
        if order is not None:
            reads = self._transitions[:, 0] >= 0
            self._transitions[reads, 0] = np.argsort(order)[self._transitions[reads, 0]]
            self._masks = masks[list(order)]
        self._mask = np.uint64(np.bitwise_or.reduce(masks)) if len(masks) else np.uint64(0)
        self._accepting = np.array([accepting_flag(nfa, state) for state in range(self.states)], np.uint8)
        self._width = int(self._mask) + 1
        self._ways = np.empty(self.states * self._width if self.states * self._width <= MAX_WAYS else 0, np.int32)
        if len(self._ways):
            fill_only_ways(self._first, self._transitions, self._masks, self._width, self._ways)
        self._tables = (
            self._mask, self._width if len(self._ways) else 0, self._ways, self._masks, self._first, self._transitions, self._accepting,
            self._starts,
        )  # fmt: skip

    def variables(self, rows: PatternRows, found: np.ndarray, places: np.ndarray) -> np.ndarray:
        """For the first columns (key, first ordinal, ordinal behind the last) of `found`; match i has its rows from places[i] to
        places[i+1] of the result."""
        assert self.order is None
        variables = np.empty(places[-1], np.uint8)

        def assign(done: int, room: int) -> int:
            return assign_variables(
                found, done, len(places) - 1, places, rows.offset, rows.base, rows.length, rows.bits, *self._tables, *self._scratch(room),
                variables,
            )  # fmt: skip

        _with_growing_room(found, len(places) - 1, assign)
        return variables

    def ends(self, rows: PatternRows, found: np.ndarray, count: int) -> np.ndarray:
        """Of the variables in their order, see `kernels.scan.scan_stretches`."""
        ends = np.zeros((len(self._masks), count), np.int32)

        def find(done: int, room: int) -> int:
            return find_stretches(
                found, done, count, rows.offset, rows.base, rows.length, rows.bits, *self._tables, *self._scratch(room),
                np.empty(room, np.uint8), ends,
            )  # fmt: skip

        _with_growing_room(found, count, find)
        return ends

    def _scratch(self, room: int) -> tuple[np.ndarray, np.ndarray]:
        """To search the best way through so many rows."""
        return np.empty((room, 2), np.int64), np.empty((room, (self.states + 63) // 64), np.uint64)


def _with_growing_room(found: np.ndarray, count: int, search: Callable[[int, int], int]) -> None:
    """`search(done, room)` goes on behind the first matches that are done, as far as one has room for: most need none."""
    done = room = 0
    while (done := search(done, room)) < count:
        room = max(2 * room, int(found[2, done] - found[1, done]) + 2)


class SpanVariables:
    """The variables of matches that were found, assigned when somebody asks for them."""

    def __init__(self, assignment: Assignment, rows: PatternRows, found: np.ndarray, places: np.ndarray) -> None:
        self._assignment = assignment
        self._rows = rows
        self._found = found
        self._places = places

    def of_rows(self) -> np.ndarray:
        stretches = self.stretches()
        if stretches is None:
            return self._assignment.variables(self._rows, self._found, self._places)
        variables = np.zeros(self._places[-1], np.uint8)
        spread_stretches(stretches.ends, stretches.order, self._places, variables)
        return variables

    def stretches(self) -> Stretches | None:
        return self._stretches

    @cached_property
    def _stretches(self) -> Stretches | None:
        order = self._assignment.order
        if order is None:
            return None
        return Stretches(self._assignment.ends(self._rows, self._found, len(self._places) - 1), order)
