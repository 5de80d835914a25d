"""What a matcher reports: matches as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class Matches:
    """Match i belongs to partition `key[i]` and maps the rows `ordinals[offsets[i]:offsets[i+1]]` (positions within the partition,
    counted from its first row ever) to the variables `variables[...]` (numbers in the program's variable list), in row order.
    `ordinals` None: the rows are contiguous from `start[i]`. An empty match has no rows; `start[i]` is where it starts."""

    key: np.ndarray  # int64[m]
    start: np.ndarray  # int64[m]
    offsets: np.ndarray  # int64[m + 1]
    variables: np.ndarray  # uint8[total]
    ordinals: np.ndarray | None = None  # int64[total]

    def __len__(self) -> int:
        return len(self.key)

    @staticmethod
    def none() -> Matches:
        nothing = np.empty(0, np.int64)
        return Matches(nothing, nothing, np.zeros(1, np.int64), np.empty(0, np.uint8), nothing)
