"""What the tables of a row pattern say about each transition of its automaton, side by side."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.scan.scan_dfa import ACCEPTS
from ostinato.kernels.search import search_index as index
from ostinato.kernels.threads import thread_jumps as jumps
from ostinato.kernels.threads import thread_layout as layout
from ostinato.runtime.search.search_plan import SearchPlan


def ways_table(transitions: np.ndarray, masks: np.ndarray, tests: np.ndarray, marks: np.ndarray, plan: SearchPlan) -> np.ndarray:
    """See `kernels.threads.thread_layout`; a transition that accepts, and maps no row, has a variable below zero and nothing else."""
    table = np.zeros((len(transitions), layout.WAYS_WIDTH), np.int64)
    table[:, layout.WAY_VARIABLE], table[:, layout.WAY_COLUMN] = transitions[:, 0], plan.searched[:, jumps.COLUMN]
    for way, (variable, target), search in zip(table, transitions, plan.searched, strict=True):
        if variable < 0:
            continue
        way[layout.WAY_TARGET], way[layout.WAY_MASK] = target, masks[variable].view(np.int64)
        way[[layout.WAY_START, layout.WAY_END]] = tests[variable, [layout.BLOCK_START, layout.BLOCK_END]]
        way[[layout.WAY_PLAIN, layout.WAY_COPIES]] = tests[variable, [layout.PLAIN, layout.COPIES]]
        way[[layout.WAY_OPEN, layout.WAY_READS]] = marks[target, [layout.OPEN, layout.READS]]
        way[layout.WAY_ACCEPTS] = marks[target, layout.ACCEPTING] == ACCEPTS
        way[layout.WAY_EXACT] = search[jumps.EXACT] == 1
        way[[layout.WAY_BOUND_FROM, layout.WAY_BOUND_TO]] = search[[jumps.BOUND_FROM, jumps.BOUND_TO]]
        if search[jumps.COLUMN] >= 0:
            column = plan.columns[search[jumps.COLUMN]]
            way[[layout.WAY_VALUED, layout.WAY_KIND, layout.WAY_FAILS]] = column[[index.VALUED, index.KIND, index.FAILS]]
            way[[layout.WAY_VALUE_START, layout.WAY_VALUE_END, layout.WAY_VALUE_AT]] = column[
                [index.VALUE_START, index.VALUE_END, index.VALUE_AT]
            ]
    return table
