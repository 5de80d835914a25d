"""Steps under construction: the arrays that the kernels read, written one step at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ostinato.kernels.tree import tree_layout as layout

Step = list[int]
ENDS = (layout.MATCH, layout.FOUND, layout.STORE)


class StepList:
    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._terms: list[int] = []
        self._tests: list[tuple[int, int]] = []
        self._open: Step | None = None  # the last step of the list that is being written, which goes on with the next one

    def add(self, kind: int, context: int) -> Step:
        step = [0] * layout.STEP_WIDTH
        step[layout.KIND], step[layout.CONTEXT] = kind, context
        step[layout.LINK] = step[layout.CHAIN] = step[layout.CUTS] = -1
        if self._open is not None:
            self._open[layout.NEXT] = len(self._steps)
        self._steps.append(step)
        self._open = None if kind in ENDS else step
        return step

    @property
    def last(self) -> int:
        """The number of the step that was added last."""
        return len(self._steps) - 1

    @property
    def open(self) -> Step | None:
        """The step that the next one follows, if it follows any."""
        return self._open

    @contextmanager
    def apart(self) -> Iterator[int]:
        """A list of its own, with which no step goes on by itself: where it begins."""
        before, self._open = self._open, None
        yield len(self._steps)
        self._open = before

    def terms(self, variables: Iterable[int]) -> tuple[int, int]:
        begin = len(self._terms)
        self._terms += list(variables)
        return begin, len(self._terms)

    def test(self, step: Step, blocks: Iterable[tuple[int, int]]) -> None:
        step[layout.TESTS] = len(self._tests)
        self._tests += list(blocks)
        step[layout.TESTS_END] = len(self._tests)

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return table(self._steps, layout.STEP_WIDTH), np.array(self._terms or [0], np.int64), table(self._tests, 2)


def table(rows: list[Any], width: int) -> np.ndarray:
    return np.array(rows, np.int64).reshape(-1, width)
