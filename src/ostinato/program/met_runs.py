"""Event patterns whose events are compared with run after run, although none may take them.

Under skip till next match a run waits until an event satisfies it. What takes an event is paid for: a run moves on as often as its
pattern is long. But where runs neither wait by the value of an equality nor in the order of a bound, or where a condition is left
beside that, an event meets runs that refuse it, and without a window they stay."""

from __future__ import annotations

from ostinato.program.comparisons import EQ, BlockTests, block_tests
from ostinato.program.joins import Join, join_of, moves_of
from ostinato.program.program import Program
from ostinato.program.searches import RunOrder, order_of


def met_in_vain(program: Program) -> int | None:
    """A variable for which an event can be compared with all runs that wait, in vain; None if there is none, or nobody wants to know."""
    if program.strategy != "runs" or program.selection != "skip_till_next_match" or not program.search:
        return None
    for state, waiting in enumerate(program.components):
        join = join_of(program, state)
        order = None if join is not None else order_of(program, state)
        for target, taken in moves_of(waiting, state):
            component = program.components[target]
            tests = block_tests(program.scalar, component.later_block if taken else component.first_block)
            if tests.asks and not _meets_takers(tests, target, taken, join, order):
                return component.variable
    return None


def _meets_takers(tests: BlockTests, target: int, taken: bool, join: Join | None, order: RunOrder | None) -> bool:
    """Whether the runs that an event meets are those that take it."""
    if tests.unknown:
        return False
    if join is not None:
        asked = (*tests.comparisons, *tests.wider)
        return target in join.slots and len(asked) == 1 and asked[0].relation == EQ
    return order is not None and (order.target, order.taken) == (target, taken) and (
        len(order.comparisons) == len(tests.comparisons) + len(tests.wider)
    )  # fmt: skip
