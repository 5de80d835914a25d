"""The printed listing of a nested pattern."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.program.tree import Branch, Group, Limit, NegatedBranch, TreePattern


def tree_lines(pattern: TreePattern) -> Iterator[str]:
    names = [*pattern.variables, *(f"!{name}" for name in pattern.negated)]
    for name, variable in zip(names, pattern.tree, strict=True):
        parts = [f"bit {variable.bit}"] if variable.bit >= 0 else []
        parts += [
            f"{kind} block {block}" for kind, block in (("first", variable.first_block), ("later", variable.later_block)) if block >= 0
        ]
        yield f"variable {name}{'+' if variable.repeats else ''}: {', '.join(parts) or 'any row'}"
    for number, test in enumerate(pattern.tests):
        equal = ", an equality" if test.equal is not None else ""
        yield f"test {number} of {', '.join(names[variable] for variable in test.variables) or 'nothing'}: block {test.block}{equal}"
    for number, branch in enumerate(pattern.branches):
        yield f"branch {number}:"
        yield from _branch(branch, names, "  ")


def _branch(branch: Branch, names: list[str], indent: str) -> Iterator[str]:
    yield indent + "events " + ", ".join(names[variable] for variable in branch.variables)
    if branch.follows:
        yield indent + "in time " + ", ".join(f"{names[a]} < {names[b]}" for a, b in branch.follows)
    if branch.tests:
        yield indent + "tests " + ", ".join(map(str, branch.tests))
    for group in branch.groups:
        yield indent + "nested " + _group(group, names)
    for negation in branch.negations:
        yield from _negation(negation, names, indent)


def _group(group: Group, names: list[str]) -> str:
    inside = "".join(f" {_group(one, names)}" for one in group.groups)
    return "(" + ", ".join(names[variable] for variable in group.variables) + inside + ")"


def _negation(negation: NegatedBranch, names: list[str], indent: str) -> Iterator[str]:
    yield f"{indent}absent {_limit(negation.left, names, 'from', 'behind')} {_limit(negation.right, names, 'to', 'before')}:"
    if negation.asked:
        yield indent + "  asking of " + ", ".join(names[variable] for variable in negation.asked)
    yield from _branch(negation.branch, names, indent + "  ")


def _limit(limit: Limit, names: list[str], at: str, beyond: str) -> str:
    if limit.is_window:
        return f"{at} the end of the window"
    shown = ", ".join(names[variable] for variable in limit.variables)
    return f"{at} {shown}" if limit.includes else f"{beyond} {shown}"
