"""The searches of a row pattern as the tables that the kernel reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ostinato.kernels.scalar.scalar import Interpreter
from ostinato.kernels.search import search_index as index
from ostinato.kernels.threads import thread_jumps as jumps
from ostinato.program.analysis.comparisons import EQ, BlockTests, block_tests
from ostinato.program.analysis.searches import Search, searched_transitions
from ostinato.program.pattern import RowPattern
from ostinato.runtime.search.search_code import SearchCode


@dataclass(frozen=True)
class SearchPlan:
    """`searched`, `bounds` and `columns` are tables of `kernels.threads.thread_jumps`, `kernels.search.search_bounds` and
    `kernels.search.search_index`; `waits` are the automaton states in which threads wait."""

    interpreter: Interpreter
    searched: np.ndarray
    bounds: np.ndarray
    columns: np.ndarray
    waits: frozenset[int]


def search_plan(pattern: RowPattern) -> SearchPlan:
    assert pattern.nfa is not None
    found = {} if pattern.timeouts else searched_transitions(pattern)  # what gives up early does not tell what its window ended
    code = SearchCode(pattern.scalar, (comparison for search in found.values() for comparison in search.comparisons))
    searched = np.full((len(pattern.nfa.transitions), jumps.SEARCHED_WIDTH), -1, np.int64)
    columns: list[tuple[int, ...]] = []
    for number, search in found.items():
        if search.comparisons or pattern.tests[search.variable].bit >= 0:
            column = _column(search, code)
            if column not in columns:
                columns.append(column)
            searched[number, : jumps.EXACT] = (columns.index(column), *code.bound_all(search.comparisons))
        searched[number, jumps.EXACT] = _is_exact(search, block_tests(pattern.scalar, pattern.tests[search.variable].block))
    first = pattern.nfa.first
    waits = frozenset(state for state in range(len(first) - 1) if any(m in found for m in range(first[state], first[state + 1])))
    table = np.array(columns, np.int64).reshape(-1, index.COLUMN_WIDTH)
    for line in (index.LINKED, index.ORDERED):
        wanted = table[:, line] == 1
        table[:, line] = np.where(wanted, np.cumsum(wanted) - 1, -1)
    return SearchPlan(code.interpreter, searched, code.bounds, table, waits)


def _is_exact(search: Search, tests: BlockTests) -> bool:
    """Whether a row is taken if and only if it has the variable's bits and its value lies in the interval."""
    return not tests.others and len(search.comparisons) == len(tests.comparisons)


def _column(search: Search, code: SearchCode) -> tuple[int, ...]:
    valued = len(search.comparisons) > 0
    value = code.value_of(search.comparisons) if valued else (0, 0, 0, 0)
    equality = not search.loop and any(comparison.relation == EQ for comparison in search.comparisons)
    return (*value, int(valued), search.variable, int(search.loop), int(equality), int(search.is_band))
