"""A nested pattern as the arrays that the kernels read, see `kernels.tree.tree_layout`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ostinato.kernels.tree import tree_layout as layout


@dataclass(frozen=True)
class KeptOf:
    """A nested expression of which something is kept: its matches, or, where it `is_negated`, whether there are any. `by`: the (variable,
    slot) whose value keeps its matches apart."""

    variables: tuple[int, ...]
    is_negated: bool = False
    by: tuple[int, int] | None = None


@dataclass(frozen=True)
class StepArrays:
    """What the kernels read. `plans` begin with an event that completes a match; `confirmations` are, per branch, the first step that looks
    again at a match which waited (-1: none of its negations look behind it). `group_plans` find the matches of nested expressions that are
    kept: the first step, and the link of the completing event."""

    steps: np.ndarray
    terms: np.ndarray
    tests: np.ndarray
    plans: np.ndarray
    plan_branches: tuple[int, ...]
    confirmations: tuple[int, ...]
    group_plans: np.ndarray
    link_bits: np.ndarray
    numbers_links: bool  # whether events are counted by their links
    chains: np.ndarray
    contexts: int
    mask: int  # bits of which an event that completes a match has one; -1: it needs none
    members: int  # the most events that a nested expression has whose matches are kept
    orders: tuple[tuple[int, ...], ...]  # of the plans, the variables as they are bound
    kept: tuple[KeptOf, ...]  # by GROUP of the steps

    @property
    def linked_columns(self) -> dict[str, int]:
        """How many numbers stand at each row: memory that is written row by row is what a large window costs."""
        links = len(self.link_bits) * (2 if self.numbers_links else 1)
        return {"links": links, "chains": int(self.chains[:, layout.CHAIN_AT].max(initial=-1)) + 1}
