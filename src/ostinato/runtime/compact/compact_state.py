"""What the saved state of the strategy "compact" must be, where it lists matches and where it sums up."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.aggregation import aggregation_window as window
from ostinato.kernels.compact import compact as kernel
from ostinato.kernels.compact import start_heaps as graph
from ostinato.kernels.output.state_links import greatest_below, longest_paths
from ostinato.runtime.snapshots.state_check import ANY, LIMIT, NOTHING, StateCheck


def check_compact(state: StateCheck, states: int, elements: int) -> None:
    nodes = state.array("nodes", np.int64, ANY, graph.NODE_COLUMNS)
    partitions = state.array("partitions", np.int64, ANY, graph.PARTITION_COLUMNS)
    live = state.array("live", np.int64, ANY)
    roots = state.array("roots", np.int32, len(live), states)
    state.counters("header", kernel.HEADER_CELLS)
    state.counters("counters", 2)
    state.counters("latest", 1)
    state.read_up_to("read")
    active = partitions[:, graph.ACTIVE]
    state.between(active, 0, (1 << states) - 1, "known states of partitions")
    state.require(np.array_equal(live, np.flatnonzero(active)), "the partitions with partial matches")
    base, end = state.rows.bounds(len(partitions))
    state.between(partitions[live, graph.LOW], base[live], end[live], "retained rows that partial matches need")
    state.between(partitions[live, graph.STEPS], 0, LIMIT, "numbers of events")
    occupied = (active[live, None] >> np.arange(states)) & 1 == 1
    used = roots[occupied].astype(np.int64)
    state.index(used, len(nodes), "heaps of partitions")
    owner = np.full(len(nodes), NOTHING, np.int64)
    keys = np.broadcast_to(live[:, None], occupied.shape)[occupied]
    owner[used] = keys
    state.require(bool((owner[used] == keys).all()), "heaps of one partition")
    links = _check_heaps(state, nodes, owner, elements)
    longest, heaps = np.zeros(len(nodes), np.int64), np.zeros(len(nodes), np.int64)
    longest_paths(links, longest, heaps)
    state.require(bool((heaps[used] <= partitions[keys, graph.STEPS]).all()), "the lengths of partial matches")


def _check_heaps(state: StateCheck, nodes: np.ndarray, owner: np.ndarray, elements: int) -> np.ndarray:
    links = np.ascontiguousarray(nodes[:, [graph.BEFORE, graph.LEFT, graph.RIGHT]])
    state.nodes(links, nodes[:, graph.ORDINAL], owner, np.ones(len(nodes), np.bool_), "nodes")
    state.index(nodes[:, graph.KIND] % graph.RANK, elements, "elements of nodes")
    # the last cells are where NOTHING leads
    rank = np.append(nodes[:, graph.KIND] // graph.RANK, 0)
    newest = np.append(nodes[:, graph.NEWEST], np.iinfo(np.int64).min)
    left, right = nodes[:, graph.LEFT], nodes[:, graph.RIGHT]
    state.between(rank[:-1], 1, graph.MOST_COPIES, "heaps of a size that can be")
    state.require(bool((rank[:-1] == 1 + rank[right]).all() and (rank[left] >= rank[right]).all()), "leftist heaps")
    state.require(bool((newest[:-1] >= np.maximum(newest[left], newest[right])).all()), "heaps with the newest start on top")
    latest = np.full(len(nodes) + 1, np.iinfo(np.int64).min, np.int64)
    greatest_below(np.ascontiguousarray(nodes[:, graph.ORDINAL]), np.ascontiguousarray(links[:, 1:]), latest[:-1])
    state.require(bool((latest[links[:, 0]] < nodes[:, graph.ORDINAL]).all()), "events behind those before them")
    return links


def check_aggregation(state: StateCheck, states: int, accumulators: int, mask: int) -> None:
    size = states * accumulators
    partitions = state.array("partitions", np.int64, ANY, window.PARTITION_COLUMNS)
    state.array("total", np.int64, accumulators)
    for name in ("current", "later"):
        state.array(name, np.int64, len(partitions) * size)
    state.counters("header", window.HEADER_CELLS)
    back = state.array("back", np.int64, ANY, window.BACK_COLUMNS)
    state.array("back_values", np.int64, len(back), accumulators)
    state.between(state.array("back_valid", np.uint8, len(back), accumulators), 0, 1, "values that are null or not")
    front, matrices = state.array("front", np.int64, ANY), state.array("matrices", np.int64, ANY)
    width = size + window.FRONT_EXTRA
    state.require(len(front) % width == 0 and len(matrices) % (states * size) == 0, "whole entries of the window")
    state.between(partitions[:, window.ACTIVE], 0, (1 << states) - 1, "known states of partitions")
    state.read_up_to("read")
    learned = state.array("symbols", np.int64, ANY)
    state.require(len(np.unique(learned)) == len(learned), "symbols that differ")
    state.require(bool((learned & ~mask == 0).all()), "known conditions in symbols")
    _check_window(state, partitions, back, front.reshape(-1, width)[:, size:], len(matrices) // (states * size), len(learned))


def _check_window(state: StateCheck, partitions: np.ndarray, back: np.ndarray, front: np.ndarray, matrices: int, symbols: int) -> None:
    in_back = state.chains(partitions[:, window.BACK], back[:, window.NEXT], None, "windows") != NOTHING
    state.chains(partitions[:, window.FRONT], front[:, window.FRONT_NEXT], None, "fronts of windows")
    state.index(back[in_back, window.SYMBOL], symbols, "known symbols in windows")
    matrix = partitions[:, window.MATRIX]
    state.index(matrix, matrices, "matrices of windows", or_nothing=True)
    held = matrix[matrix != NOTHING]
    state.require(len(np.unique(held)) == len(held), "a matrix in one window")
    state.require(bool(((matrix == NOTHING) == (partitions[:, window.FRONT] == NOTHING)).all()), "a matrix where there is a front")
