"""What the saved rows and keys of a session must be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ostinato.expr.types import Kind, Type
from ostinato.kernels.rows.grouping import ranges
from ostinato.runtime.snapshots.state_check import ANY, LIMIT, NOTHING, HeldRows, StateCheck

if TYPE_CHECKING:
    from ostinato.runtime.session.input_rows import InputRows
    from ostinato.runtime.session.pattern_operator import PatternOperator


def check_rows(state: StateCheck, source: InputRows) -> HeldRows:
    """What the rest of the snapshot may refer to."""
    base = state.array("base", np.int64, ANY)
    least = 1 if source.keys is None else 0  # all keys may be idle, and forgotten
    state.require(int(state.counters("key_count", 1)[0]) == len(base) and len(base) >= least, "a number for every partition")
    state.between(base, 0, LIMIT, "ordinals of first rows")
    live = state.array("live", np.int64, ANY)
    state.index(live, len(base), "known partitions with rows")
    state.ascending(live, "partitions with rows in order")
    length = state.array("length", np.int64, len(live))
    state.between(length, 1, LIMIT, "rows of partitions")
    total = sum(length.tolist())  # whole numbers: the sum may leave 64 bits
    for name, held in source.rows.arena.saved.items():
        state.array("data." + name, held.dtype.type, total, *held.shape[1:])
        if "valid." + name in state:
            state.array("valid." + name, np.bool_, total)
    end = base.copy()
    end[live] += length
    return HeldRows(base, end, state.rows.texts)


def check_texts(state: StateCheck, source: InputRows) -> None:
    """Codes of strings in rows."""
    for name, type_ in source.stored.items():
        if type_.kind is Kind.STRING:
            held = source.rows.held_as(name)
            codes = state["data." + held]
            state.index(codes[state["valid." + held]] if "valid." + held in state else codes, state.rows.texts, f"strings of {name}")


def check_slots(state: StateCheck, operator: PatternOperator, evaluated: np.ndarray) -> None:
    """Codes of strings that row code has made; the rows are loaded already. Of rows that were not evaluated yet, slots hold anything, and
    nobody reads them."""
    slots = [number for number, type_ in enumerate(operator.pattern.slots) if type_.kind is Kind.STRING]
    if slots:
        rows = operator.rows
        live, index = rows.shared.retained()
        length = rows.length[live]
        is_evaluated = ranges(rows.base[live], length) < np.repeat(evaluated[live], length)
        valid = (rows.slot_valid[index][:, slots] == 1) & is_evaluated[:, None]
        state.index(rows.slots[index][:, slots][valid], state.rows.texts, "strings of rows", or_nothing=True)


def check_keys(state: StateCheck, types: tuple[Type, ...], room: int) -> None:
    """The values of every key column by number, behind the number of null; then the pairs of numbers."""
    counts = []
    for number, type_ in enumerate(types):
        column = state.array(f"column{number}", np.int64, ANY)
        state.require(len(column) >= 1, "the number of null")
        null, values = int(column[0]), column[1:]
        state.require(NOTHING <= null < len(values), "a number of null that is one of a value")
        given = values if null == NOTHING else np.delete(values, null)
        state.require(len(np.unique(given)) == len(given), "values of keys that differ")
        if type_.kind is Kind.STRING:
            state.index(given, state.rows.texts, "strings of keys")
        counts.append(len(values))
    known = counts[0]
    for number, count in enumerate(counts[1:]):
        pairs = state.array(f"pair{number}", np.int64, ANY)
        state.index(pairs >> 32, known, "pairs of known keys")
        state.index(pairs & 0xFFFFFFFF, count, "pairs of known values")
        state.require(len(np.unique(pairs)) == len(pairs), "pairs that differ")
        known = len(pairs)
    state.require(known <= room, "room for the rows of all partitions")
