"""Verifies row patterns: the ordered automaton, the tests of variables, and what is shown of a match."""

from __future__ import annotations

from ostinato.program.ordered_nfa import ACCEPT, ACCEPT_AT_END, OrderedNfa
from ostinato.program.pattern import RowPattern
from ostinato.program.verification.requirement import require, require_known
from ostinato.program.verification.scalar_check import is_block

POLICIES = {
    "evaluation": ("scan", "threads"),
    "skip": ("past last row", "to next row", "to first", "to last"),
    "rows_per_match": ("one", "all", "all, omit empty matches", "all, with unmatched rows"),
}


def check_row_pattern(pattern: RowPattern) -> None:
    require_known(pattern, POLICIES)
    _variables(pattern)
    fits = pattern.within >= 0 and pattern.rows_per_match == "one" and pattern.skip_to < 0
    require(not pattern.timeouts or fits, "a row pattern with a window for its timeouts")
    require(len(pattern.tests) == len(pattern.variables), "an automaton and a test for every variable")
    _nfa(pattern.nfa, len(pattern.variables))
    for test in pattern.tests:
        require(-1 <= test.bit < pattern.bits and is_block(pattern, test.block, binding=True), "tests with known bits and blocks")
        require(test.block < 0 or pattern.evaluation == "threads", "threads for conditions over several rows")


def _variables(pattern: RowPattern) -> None:
    variables = len(pattern.variables)
    require(all(0 <= original < variables - len(pattern.hidden) for original in pattern.hidden), "twins of known variables")
    require(len(set(pattern.hidden)) == len(pattern.hidden), "one twin of a variable")
    require(all(0 <= member < variables for union in pattern.unions for member in union), "unions of known variables")
    require(all(len(union) > 0 for union in pattern.unions), "unions with members")
    reached = pattern.numbers if pattern.skip in ("to first", "to last") else (-1,)
    require(pattern.skip_to in reached, "a known variable to skip to")


def _nfa(nfa: OrderedNfa, variables: int) -> None:
    states = len(nfa.first) - 1
    require(states > 0 and 0 <= nfa.start < states and 0 <= nfa.start_of_partition < states, "a known state to start in")
    require(
        nfa.first[0] == 0 and nfa.first[-1] == len(nfa.transitions) and list(nfa.first) == sorted(nfa.first), "transitions for every state"
    )
    for state in range(states):
        for place, (variable, target) in enumerate(transitions := nfa.transitions_of(state), 1):
            accepts = place == len(transitions) and (variable, target) in (ACCEPT, ACCEPT_AT_END)
            require(accepts or (0 <= variable < variables and 0 <= target < states), "transitions to known states")
