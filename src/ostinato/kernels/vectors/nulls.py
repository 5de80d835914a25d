"""Which rows of a result are null, and which could not be computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ostinato.kernels.vectors.vector import Failure, Vector


def common_length(vectors: Sequence[Vector]) -> int:
    """Of columns, some of which may have one row that stands for all, even for none."""
    lengths = [len(vector) for vector in vectors]
    return max(lengths) if min(lengths) else 0


def joint_valid(*masks: np.ndarray | None) -> np.ndarray | None:
    """Valid where all are; None where that is everywhere."""
    found = None
    for mask in masks:
        if mask is not None:
            found = mask if found is None else found & mask
    return found


def all_valid(vectors: Iterable[Vector]) -> np.ndarray | None:
    found = None
    for vector in vectors:
        if vector.valid is not None:
            found = vector.valid if found is None else found & vector.valid
    return found


def true_rows(vector: Vector) -> np.ndarray:
    return vector.data if vector.valid is None else vector.data & vector.valid


def false_rows(vector: Vector) -> np.ndarray:
    return ~vector.data if vector.valid is None else ~vector.data & vector.valid


def failing(rows: np.ndarray, valid: np.ndarray | None, message: str, hint: str | None = None) -> Failure | None:
    """A failure at those of `rows` that are not null, if there are any."""
    if not rows.any():
        return None
    rows = rows if valid is None else rows & valid
    return Failure(rows, message, hint) if rows.any() else None


def joint_failure(*failures: Failure | None) -> Failure | None:
    found = None
    for failure in failures:
        if failure is not None:
            found = failure if found is None else found.at(found.rows | failure.rows)
    return found


def narrowed(failure: Failure | None, rows: np.ndarray) -> Failure | None:
    """The failure where `rows` hold."""
    return None if failure is None else failure.at(failure.rows & rows)
