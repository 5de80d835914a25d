"""Opaque values that neither rows nor instances refer to any more are forgotten, so that an endless supply of them needs bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ostinato.expr.types import Kind
from ostinato.expr.typing.arrow_types import to_arrow
from ostinato.runtime.matcher import Places, RemembersValues
from ostinato.runtime.rows.opaque_values import OpaqueValues

if TYPE_CHECKING:
    from ostinato.runtime.session.input_rows import InputRows
    from ostinato.runtime.session.pattern_operator import PatternOperator


def sweep_values(source: InputRows, readers: Sequence[PatternOperator], at_once: bool = False) -> None:
    """Where they have become many, or large, since the last time. `at_once`: also where it is not worth the work yet."""
    for heap in source.rows.heaps:
        if at_once or heap.due():
            _sweep(heap, [*source.rows.places_in(heap), *(place for reader in readers for place in _held_by(reader, heap))])


def _held_by(reader: PatternOperator, heap: OpaqueValues) -> list[Places]:
    """In registers, and in the slots of rows that it may still read. Of rows that were not evaluated yet, slots hold anything."""
    if not isinstance(reader.matcher, RemembersValues):
        return []
    _, index = reader.source.rows.retained()
    found = list(reader.matcher.places_in(heap))
    for number, type_ in enumerate(reader.pattern.slots):
        if type_.kind is Kind.OPAQUE and to_arrow(type_) == heap.type:
            slots = reader.rows.slots[:, number]
            known = (slots[index] >= 0) & (slots[index] < len(heap))
            found.append((slots, index[known]))
    return found


def _sweep(heap: OpaqueValues, places: Sequence[Places]) -> None:
    ends = np.cumsum([len(index) for _, index in places])
    held = [positions[index] for positions, index in places]
    moved = heap.keep(np.concatenate(held) if held else np.empty(0, np.int64))
    for (positions, index), now in zip(places, np.split(moved, ends[:-1]), strict=True):
        positions[index] = now
