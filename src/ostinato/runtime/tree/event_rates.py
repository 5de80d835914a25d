"""How many events of each kind a window has, and which conditions combinations of them satisfy, from a sample of the rows that are held."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ostinato.kernels.scalar.scalar import Interpreter
from ostinato.kernels.tree.tree_samples import try_condition
from ostinato.program.tree import TreePattern, TreeTest
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.tree.drawn_combinations import Drawn, Sample, drawn_combinations

MOST_KEYS, MOST_ROWS = 64, 4096
SEED = 1  # what is drawn follows from the rows: a session that is repeated chooses alike
SEEN = 16  # of the combinations that were drawn: if fewer have an equal value, all pairs of values are counted instead


@dataclass(frozen=True)
class Tried:
    """Of combinations that were drawn: whether they satisfy a test, and which of them say something about it."""

    satisfied: np.ndarray
    counts: np.ndarray


@dataclass(frozen=True)
class EventRates:
    """`rates`, per variable of the tree: its events in a window; `satisfied`, per test: the share of combinations that satisfy it, where
    the sample has events of all its variables. `tried`, per branch and test: which of the same combinations do."""

    rates: dict[int, float]
    satisfied: dict[int, float] = field(default_factory=dict)
    tried: tuple[dict[int, Tried], ...] = ()


def all_alike(pattern: TreePattern) -> EventRates:
    """Before anything is known."""
    return EventRates(dict.fromkeys(range(len(pattern.tree)), 1.0))


def event_rates(pattern: TreePattern, rows: PatternRows, keys: np.ndarray, code: Interpreter) -> EventRates:
    keys = keys[rows.length[keys] > 0]
    keys = keys[:: -(-len(keys) // MOST_KEYS) or 1]
    if not len(keys):
        return all_alike(pattern)
    sample, window = _sample(pattern, rows, keys)
    rates = {number: window * len(sample.events[variable.bit]) / len(sample.places) for number, variable in enumerate(pattern.tree)}
    random = np.random.default_rng(SEED)
    tried: list[dict[int, Tried]] = []
    satisfied: dict[int, float] = {}
    for branch in pattern.branches:
        numbers = {number for one in branch.walk() for number in one.tests}
        if not numbers:
            continue
        drawn = drawn_combinations(pattern, branch, sample, random)
        flags = {number: _tried(pattern, pattern.tests[number], rows, drawn, code) for number in sorted(numbers)}
        tried.append({number: one for number, one in flags.items() if one is not None})
        shares = {number: _share(pattern.tests[number], one, pattern, rows, sample) for number, one in tried[-1].items()}
        satisfied = shares | satisfied
    return EventRates(rates, satisfied, tuple(tried))


def _sample(pattern: TreePattern, rows: PatternRows, keys: np.ndarray) -> tuple[Sample, float]:
    """Rows of these keys, and how many of all rows a window has."""
    room = MOST_ROWS // len(keys)
    regions = list(zip(rows.offset[keys].tolist(), rows.length[keys].tolist(), strict=True))
    parts = [np.arange(offset, offset + length, -(-length // room)) for offset, length in regions]
    places, lengths = np.concatenate(parts), np.array([len(part) for part in parts])
    words = rows.bits[places]
    window = float(np.mean([_window(pattern, rows.times[offset : offset + length]) for offset, length in regions]))
    bits = {variable.bit for variable in pattern.tree if variable.bit >= 0}
    events = {bit: np.flatnonzero((words >> words.dtype.type(bit)) & words.dtype.type(1)) for bit in bits} | {-1: np.arange(len(places))}
    ends = np.cumsum(lengths)
    drawn = window * len(places) / sum(length for _, length in regions)
    return Sample(places, np.repeat(ends - lengths, lengths), np.repeat(ends, lengths), events, drawn), window


def _tried(pattern: TreePattern, test: TreeTest, rows: PatternRows, drawn: Drawn, code: Interpreter) -> Tried | None:
    """Which combinations satisfy a test."""
    if not test.variables or any(variable not in drawn.lines for variable in test.variables):
        return None
    places = drawn.places(test.variables)
    binds = np.array([_block(pattern, pattern.tree[variable].first_block) for variable in test.variables], np.int64)
    registers = np.zeros((len(test.variables) + 1, len(pattern.registers)), np.int64)
    valid = np.zeros(registers.shape, np.uint8)
    valid[0] = [register.counter for register in pattern.registers]
    out = np.zeros(len(places), np.bool_)
    try_condition(
        binds, *_block(pattern, test.block), places, code.code, code.scratch, code.scratch_valid, code.ranks, rows.slots, rows.slot_valid,
        registers, valid, out,
    )  # fmt: skip
    return Tried(out, drawn.in_order(test.variables))


def _share(test: TreeTest, tried: Tried, pattern: TreePattern, rows: PatternRows, sample: Sample) -> float:
    found, among = int(np.count_nonzero(tried.satisfied & tried.counts)), int(np.count_nonzero(tried.counts))
    if test.equal is not None and found < SEEN:
        one, other = (_values(rows, sample.places[sample.events[pattern.tree[variable].bit]], slot) for variable, slot in test.equal)
        return _alike(one, other) if len(one) and len(other) else 0.5 / among
    return max(float(found), 0.5) / among


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


def _window(pattern: TreePattern, times: np.ndarray) -> float:
    """How many of these rows a window has."""
    if pattern.within < 0:
        return float(len(times))
    if pattern.within_unit == "events":
        return float(min(pattern.within, len(times)))
    span = int(times[-1]) - int(times[0])
    return float(len(times)) * min(1.0, pattern.within / span) if span > 0 else float(len(times))
