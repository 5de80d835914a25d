"""What is linked at the rows of a nested pattern: the latest event of each kind, and events with equal values."""

from __future__ import annotations

import numpy as np

from ostinato.program.tree import TreePattern


def link_bits(pattern: TreePattern) -> np.ndarray:
    """The predicate bits of its variables."""
    return np.array(sorted({variable.bit for variable in pattern.tree if variable.bit >= 0}), np.int64)


def linked_columns(pattern: TreePattern) -> dict[str, int]:
    """The tables beside the rows, and how many columns they have: a link per bit, and where matches are
    counted how many events it has seen; a chain per event and value that is compared."""
    values = {
        (pattern.tree[variable].bit, slot) for test in pattern.tests if test.equal is not None for variable, slot in test.equal
    }  # fmt: skip
    links = len(link_bits(pattern))
    widths = {"links": 2 * links if pattern.output == "count" else links, "chains": len(values)}
    return {name: width for name, width in widths.items() if width}
