"""How many events of each kind a window has, and how many combinations satisfy a test, from a sample of the rows that are held."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ostinato.kernels.scalar.scalar import Interpreter
from ostinato.kernels.tree.tree_samples import count_satisfied
from ostinato.program.tree import TreePattern, TreeTest
from ostinato.runtime.rows.pattern_rows import PatternRows

MOST_KEYS, MOST_ROWS = 64, 4096
TRIED = 256  # combinations per test
SEED = 1  # what is drawn follows from the rows: a session that is repeated chooses alike


@dataclass(frozen=True)
class EventRates:
    """`rates`, per variable of the tree: its events in a window; `satisfied`, per test: the share of combinations that satisfy it, where
    the sample has events of all its variables."""

    rates: dict[int, float]
    satisfied: dict[int, float] = field(default_factory=dict)


def all_alike(pattern: TreePattern) -> EventRates:
    """Before anything is known."""
    return EventRates(dict.fromkeys(range(len(pattern.tree)), 1.0))


def event_rates(pattern: TreePattern, rows: PatternRows, keys: np.ndarray, code: Interpreter) -> EventRates:
    keys = keys[rows.length[keys] > 0]
    keys = keys[:: -(-len(keys) // MOST_KEYS) or 1]
    if not len(keys):
        return all_alike(pattern)
    room = MOST_ROWS // len(keys)
    places = np.concatenate([np.arange(offset, offset + length, -(-length // room)) for offset, length in _regions(rows, keys)])
    words = rows.bits[places]
    window = float(np.mean([_window(pattern, rows.times[offset : offset + length]) for offset, length in _regions(rows, keys)]))
    bits = {variable.bit for variable in pattern.tree if variable.bit >= 0}
    events = {bit: places[((words >> words.dtype.type(bit)) & words.dtype.type(1)) == 1] for bit in bits} | {-1: places}
    rates = {number: window * len(events[variable.bit]) / len(places) for number, variable in enumerate(pattern.tree)}
    tried = {number: _share(pattern, test, rows, events, code) for number, test in enumerate(pattern.tests)}
    return EventRates(rates, {number: share for number, share in tried.items() if share is not None})


def _share(pattern: TreePattern, test: TreeTest, rows: PatternRows, events: dict[int, np.ndarray], code: Interpreter) -> float | None:
    variables = [pattern.tree[variable] for variable in test.variables]
    if not variables or any(variable.repeats or not len(events[variable.bit]) for variable in variables):
        return None
    if test.equal is not None:
        one, other = (_values(rows, events[pattern.tree[variable].bit], slot) for variable, slot in test.equal)
        return _alike(one, other) if len(one) and len(other) else None
    random = np.random.default_rng(SEED)
    drawn = np.stack([random.choice(events[variable.bit], TRIED) for variable in variables], axis=1)
    binds = np.array([_block(pattern, variable.first_block) for variable in variables], np.int64)
    registers = np.zeros((len(variables) + 1, len(pattern.registers)), np.int64)
    valid = np.zeros(registers.shape, np.uint8)
    valid[0] = [register.counter for register in pattern.registers]
    found = count_satisfied(
        binds, *_block(pattern, test.block), np.ascontiguousarray(drawn), code.code, code.scratch, code.scratch_valid, code.ranks,
        rows.slots, rows.slot_valid, registers, valid,
    )  # fmt: skip
    return max(float(found), 0.5) / TRIED


def _block(pattern: TreePattern, block: int) -> tuple[int, int]:
    return pattern.scalar.blocks[block] if block >= 0 else (0, 0)


def _values(rows: PatternRows, places: np.ndarray, slot: int) -> np.ndarray:
    return rows.slots[places, slot][rows.slot_valid[places, slot] == 1]


def _alike(one: np.ndarray, other: np.ndarray) -> float:
    """The share of pairs that are equal: not less than one in as many as were looked at, for a sample may miss the rare ones."""
    values, counts = np.unique(one, return_counts=True)
    others, other_counts = np.unique(other, return_counts=True)
    _, mine, theirs = np.intersect1d(values, others, assume_unique=True, return_indices=True)
    pairs = float((counts[mine] / len(one) * (other_counts[theirs] / len(other))).sum())
    return max(pairs, 1.0 / max(len(one), len(other)))


def _regions(rows: PatternRows, keys: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(rows.offset[keys].tolist(), rows.length[keys].tolist(), strict=True))


def _window(pattern: TreePattern, times: np.ndarray) -> float:
    """How many of these rows a window has."""
    if pattern.within < 0:
        return float(len(times))
    if pattern.within_unit == "events":
        return float(min(pattern.within, len(times)))
    span = int(times[-1]) - int(times[0])
    return float(len(times)) * min(1.0, pattern.within / span) if span > 0 else float(len(times))
