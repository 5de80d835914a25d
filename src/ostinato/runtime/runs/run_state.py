"""What the saved state of runs, and of backtracking, must be."""

from __future__ import annotations

import numpy as np

from ostinato.expr.types import Kind
from ostinato.kernels.backtrack import backtrack_table as waits
from ostinato.kernels.output.match_nodes import BEFORE, BOUND_TO, ORDINAL
from ostinato.kernels.output.state_links import path_lengths
from ostinato.kernels.runs import run_nodes
from ostinato.kernels.runs import run_table as table
from ostinato.program.pattern import EventPattern, Pattern
from ostinato.runtime.scan.attempt_state import check_registers
from ostinato.runtime.snapshots.state_check import ANY, LIMIT, NOTHING, StateCheck


def text_registers(pattern: Pattern) -> list[int]:
    return [number for number, register in enumerate(pattern.registers) if register.type.kind is Kind.STRING]


def check_runs(state: StateCheck, pattern: EventPattern, keeps_matches: bool, per_key_width: int) -> None:
    runs = state.array("runs", np.int64, ANY, table.RUN_COLUMNS)
    state.require(len(runs) >= table.RESERVED, "the reserved runs")
    _check_registers(state, pattern, len(runs))
    per_key = state.array("per_key", np.int64, ANY, per_key_width)
    state.counters("header", table.HEADER_CELLS)
    state.counters("shed", 1)
    state.counters("latest", 1)
    state.read_up_to("read")
    alive = runs[table.RESERVED :]
    state.index(alive[:, table.ELEMENT], len(pattern.elements), "elements of runs")
    state.index(alive[:, table.KEY], len(per_key), "keys of runs")
    base, end = state.rows.bounds(len(per_key))
    for column in (table.FIRST_ORDINAL, table.OLDEST):  # compared with others; the rows may be gone
        state.between(alive[:, column], 0, end[alive[:, table.KEY]], "runs that start at known rows")
    state.between(per_key[:, table.KEEP], base, end, "retained rows that are kept for runs")
    _check_run_lists(state, runs, per_key)
    nodes = state.array("nodes", np.int64, ANY, run_nodes.NODE_COLUMNS)
    if not keeps_matches:
        state.between(alive[:, table.NODE], 1, LIMIT, "numbers of equivalent runs")
        return
    state.index(alive[:, table.NODE], len(nodes), "nodes of runs")
    _check_run_nodes(state, nodes, alive, len(pattern.elements))


def _check_registers(state: StateCheck, pattern: EventPattern, count: int) -> None:
    values = state.array("registers", np.int64, count, len(pattern.registers))
    valid = state.array("register_valid", np.uint8, count, len(pattern.registers))
    check_registers(state, values, valid, text_registers(pattern))


def _check_run_lists(state: StateCheck, runs: np.ndarray, per_key: np.ndarray) -> None:
    """The runs of each key, by start, in both directions."""
    count = len(runs) - table.RESERVED
    holder = state.chains(per_key[:, table.FIRST_RUN], runs[:, table.LATER], count, "runs of keys")
    state.require(bool((holder[: table.RESERVED] == NOTHING).all()), "reserved runs in no list")
    state.require(bool((holder[table.RESERVED :] == runs[table.RESERVED :, table.KEY]).all()), "runs in the lists of their keys")
    backwards = state.chains(per_key[:, table.LAST_RUN], runs[:, table.EARLIER], count, "runs of keys backwards")
    state.require(bool((backwards == holder).all()), "the same runs in both directions")
    numbers = np.arange(table.RESERVED, len(runs))
    later = runs[numbers, table.LATER]
    linked = later != NOTHING
    state.require(bool((runs[later[linked], table.EARLIER] == numbers[linked]).all()), "lists of runs that agree in both directions")
    alive = np.bincount(runs[table.RESERVED :, table.KEY], minlength=len(per_key))
    state.require(bool((per_key[:, table.ALIVE] == alive).all()), "the number of runs of each key")


def _check_run_nodes(state: StateCheck, nodes: np.ndarray, alive: np.ndarray, elements: int) -> None:
    union = nodes[:, BOUND_TO] == run_nodes.UNION
    state.index(nodes[~union, BOUND_TO], elements, "elements of nodes")
    state.require(bool((nodes[union, BEFORE] >= 0).all() and (nodes[union, run_nodes.OTHER] >= 0).all()), "unions of two nodes")
    links = np.stack([nodes[:, BEFORE], np.where(union, nodes[:, run_nodes.OTHER], NOTHING)], axis=1)
    owner = np.full(len(nodes), NOTHING, np.int64)
    owner[alive[:, table.NODE]] = alive[:, table.KEY]
    state.require(bool((owner[alive[:, table.NODE]] == alive[:, table.KEY]).all()), "nodes of one key")
    state.nodes(links, nodes[:, ORDINAL], owner, ~union, "nodes")


def check_backtrack(state: StateCheck, pattern: EventPattern) -> None:
    waiting = state.array("waiting", np.int64, ANY, waits.WAITING_COLUMNS)
    _check_registers(state, pattern, len(waiting))
    head = state.array("head", np.int64, ANY)
    nodes = state.array("nodes", np.int64, ANY, waits.NODE_COLUMNS)
    state.counters("header", waits.HEADER_CELLS)
    state.counters("shed", 1)
    state.counters("latest", 1)
    state.read_up_to("read")
    alive = np.flatnonzero(waiting[:, waits.STATE] != NOTHING)
    runs = waiting[alive]
    state.index(runs[:, waits.STATE], len(pattern.elements), "elements of runs")
    state.index(runs[:, waits.KEY], len(head), "keys of runs")
    _, end = state.rows.bounds(len(head))
    state.between(runs[:, waits.FIRST_ORDINAL], 0, end[runs[:, waits.KEY]], "runs that start at known rows")
    holder = state.chains(head, waiting[:, waits.NEXT], len(alive), "runs of keys")
    state.require(bool((holder[alive] == runs[:, waits.KEY]).all()), "runs in the lists of their keys")
    if pattern.output == "count":
        return
    state.index(runs[:, waits.NODE], len(nodes), "nodes of runs")
    state.index(nodes[:, BOUND_TO], len(pattern.elements), "elements of nodes")
    owner = np.full(len(nodes), NOTHING, np.int64)
    owner[runs[:, waits.NODE]] = runs[:, waits.KEY]
    state.nodes(nodes[:, BEFORE : BEFORE + 1], nodes[:, ORDINAL], owner, np.ones(len(nodes), np.bool_), "nodes")
    length = np.zeros(len(nodes), np.int64)
    path_lengths(np.ascontiguousarray(nodes[:, BEFORE]), np.ones(len(nodes), np.int64), length)
    state.require(bool((length == nodes[:, waits.LENGTH]).all()), "the lengths of matches")
