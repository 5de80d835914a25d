"""What has to be known about the events around a negation before it can be looked for."""

from __future__ import annotations

from ostinato.program.tree import NegatedBranch, TreePattern


def wanted_by(negation: NegatedBranch, pattern: TreePattern) -> set[int]:
    """The variables around a negation that have to be bound before it is looked for."""
    own = {variable for branch in negation.branch.walk() for variable in branch.variables}
    wanted = {*negation.left.variables, *negation.right.variables, *negation.asked}
    for branch in negation.branch.walk():
        wanted |= {variable for test in branch.tests for variable in pattern.tests[test].variables}
        wanted |= {variable for inner in branch.negations for variable in (*inner.left.variables, *inner.right.variables, *inner.asked)}
    return wanted - own


def depends_on(negation: NegatedBranch, pattern: TreePattern) -> tuple[tuple[int, int], ...]:
    """The values around a negation by which it is decided, beside its own interval: (variable, slot) of what is compared by equality,
    (variable, -1) where the event itself matters."""
    own = {variable for branch in negation.branch.walk() for variable in branch.variables}
    found: dict[tuple[int, int], None] = {(variable, -1): None for variable in negation.asked}
    for branch in negation.branch.walk():
        for number in branch.tests:
            test = pattern.tests[number]
            sides = test.equal if test.equal is not None else tuple((variable, -1) for variable in test.variables)
            found |= dict.fromkeys(side for side in sides if side[0] not in own)
        for inner in branch.negations:
            found |= dict.fromkeys((variable, -1) for variable in inner.asked if variable not in own)
            limits = [limit for limit, outer in ((inner.left, negation.left), (inner.right, negation.right)) if limit != outer]
            found |= dict.fromkeys((variable, -1) for limit in limits for variable in limit.variables if variable not in own)
    return tuple(found)


def begins_only(negation: NegatedBranch, variable: int, pattern: TreePattern) -> bool:
    """Whether a variable around a negation says where its interval begins, and nothing else about it."""
    if variable not in negation.left.variables or variable in (*negation.right.variables, *negation.asked):
        return False
    tested = {one for branch in negation.branch.walk() for test in branch.tests for one in pattern.tests[test].variables}
    inner = [one for branch in negation.branch.walk() for one in branch.negations]
    return variable not in tested and not any(variable in (*one.left.variables, *one.right.variables, *one.asked) for one in inner)
