"""What the saved state of row patterns must be: where each partition's attempt stands, and what it is in."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.output.state_links import path_lengths, spread_owners
from ostinato.kernels.scan import scan_dfa as dfa
from ostinato.kernels.threads import thread_layout as threads
from ostinato.runtime.snapshots.state_check import ANY, LIMIT, NOTHING, StateCheck


def check_scan(state: StateCheck, nfa_states: int) -> None:
    cursor = state.array("cursor", np.int64, ANY, dfa.CURSOR_WIDTH)
    ends = state.array("automaton_ends", np.int64, ANY)
    held = state.array("automaton_threads", np.int64, ANY)
    state.offsets(ends, len(held), "the ends of automaton states")
    state.index(held, nfa_states, "states of the automaton")
    state.index(cursor[:, dfa.AUTOMATON], len(ends), "automaton states of partitions")
    _check_attempts(state, cursor[:, dfa.START], cursor[:, dfa.AT], cursor[:, dfa.END])


def _check_attempts(state: StateCheck, start: np.ndarray, at: np.ndarray, end: np.ndarray) -> None:
    """A partition was not fed yet, or its attempt stands at retained rows and may end between its start and where it has come."""
    seen = start != NOTHING
    base, behind = (bound[seen] for bound in state.rows.bounds(len(start)))
    start, unseen_at, at, end = start[seen], at[~seen], at[seen], end[seen]
    state.require(bool((unseen_at == NOTHING).all()), "partitions that were not fed")
    state.between(start, base, behind, "attempts that start at retained rows")
    state.between(at, start, behind, "attempts at retained rows")
    state.require(bool(((end == NOTHING) | ((end >= start) & (end <= at))).all()), "ends inside of attempts")


def check_threads(state: StateCheck, nfa_states: int, variables: int, registers: int, texts: list[int]) -> None:
    cursor = state.array("cursor", np.int64, ANY, threads.CURSOR_WIDTH)
    held = state.array("threads", np.int64, ANY, 2)
    values = state.array("registers", np.int64, len(held), registers)
    valid = state.array("register_valid", np.uint8, len(held), registers)
    nodes = state.array("nodes", np.int64, ANY, 2)
    check_registers(state, values, valid, texts)
    start, at, end = cursor[:, threads.START], cursor[:, threads.AT], cursor[:, threads.END]
    _check_attempts(state, start, at, end)
    state.between(cursor[:, threads.MATCHES], 0, LIMIT, "numbers of matches")
    state.index(held[:, 0], nfa_states, "states of threads")
    state.index(held[:, 1], len(nodes), "paths of threads", or_nothing=True)
    repeats = nodes[:, 1] >> threads.REPEATS
    state.index(nodes[:, 1] - (repeats << threads.REPEATS), variables, "variables on paths")
    state.between(repeats, 0, int((state.rows.end - state.rows.base).max(initial=0)), "rows on paths")
    links = np.ascontiguousarray(nodes[:, :1])
    state.require(bool(spread_owners(links, np.full(len(nodes), NOTHING, np.int64))), "paths that lead back")
    length = np.zeros(len(nodes) + 1, np.int64)  # the last cell is where NOTHING leads
    path_lengths(np.ascontiguousarray(nodes[:, 0]), repeats + 1, length[:-1])
    first, count = cursor[:, threads.SAVED_AT], cursor[:, threads.SAVED_COUNT]
    state.between(count, 0, len(held), "numbers of threads")
    state.require(int(count.sum()) == len(held), "every thread in one partition")
    # what a match holds is written from its path: both must be of one length
    owner = np.repeat(np.arange(len(cursor)), count)
    state.require(bool((first[count > 0] == (np.cumsum(count) - count)[count > 0]).all()), "threads in the order of partitions")
    state.require(bool((length[held[:, 1]] == (at - start)[owner]).all()), "paths as long as their attempts")
    state.index(cursor[:, threads.END_NODE], len(nodes), "paths to ends", or_nothing=True)
    ended = end != NOTHING
    state.require(bool((length[cursor[ended, threads.END_NODE]] == (end - start)[ended]).all()), "paths as long as matches")


def check_registers(state: StateCheck, values: np.ndarray, valid: np.ndarray, texts: list[int]) -> None:
    """`texts` are the registers that hold codes of strings."""
    state.between(valid, 0, 1, "registers that are null or not")
    for register in texts:
        state.index(values[valid[:, register] == 1, register], state.rows.texts, "strings in registers")
