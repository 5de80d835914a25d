"""What is linked at the rows of a nested pattern: the latest event of each kind, and events with equal values."""

from __future__ import annotations

from ostinato.program.tree import TreePattern


def linked_columns(pattern: TreePattern) -> tuple[str, ...]:
    """The tables beside the rows. How many columns they have follows from the steps that are taken."""
    links = any(variable.bit >= 0 for variable in pattern.tree)
    chains = any(test.equal is not None for test in pattern.tests)
    return (("links",) if links else ()) + (("chains",) if chains else ())
