"""What the queries of a shape have found together, as tables of their own."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ostinato.program.expansion import QUERY
from ostinato.runtime.queries.query_table import QueryTable

MATCH_ID, SEQ = "match_id", "seq"  # of the default output


def split(found: pa.Table, queries: QueryTable, numbers_matches: bool) -> dict[str, pa.Table]:
    """By the names of queries, each in its order; those that are gone have none. `numbers_matches`: the output is the default one, whose
    numbers are those of the query alone."""
    place = found.schema.get_field_index(QUERY)
    numbers = found.column(place).to_numpy()
    shown = found.remove_column(place)
    order = np.argsort(numbers, kind="stable")
    numbers = numbers[order]
    first = np.flatnonzero(np.concatenate([[True], numbers[1:] != numbers[:-1]])) if len(numbers) else order
    counts = np.diff(np.concatenate([first, [len(numbers)]]))
    shown = shown.take(pa.array(order)).combine_chunks()
    if numbers_matches:
        shown = _numbered(shown, queries, numbers, first, counts)
    queries.emitted[numbers[first]] += counts
    ids = queries.ids
    return {
        query: shown.slice(begin, count)
        for begin, count, number in zip(first.tolist(), counts.tolist(), numbers[first].tolist(), strict=True)
        for query in ids[number]
    }


def _numbered(shown: pa.Table, queries: QueryTable, numbers: np.ndarray, first: np.ndarray, counts: np.ndarray) -> pa.Table:
    """As if each query were alone: its matches counted, and the rows since it is there."""
    place = np.arange(len(numbers)) - np.repeat(first, counts)
    ids = pa.array(queries.emitted[numbers] + place + 1, pa.int64())
    shown = shown.set_column(shown.schema.get_field_index(MATCH_ID), shown.schema.field(MATCH_ID), ids)
    before = queries.before[numbers]
    if before.any():
        for number, field in enumerate(shown.schema):
            if pa.types.is_struct(field.type) or pa.types.is_list(field.type):
                shown = shown.set_column(number, field, _moved(shown.column(number).combine_chunks(), before))
    return shown


def _moved(events: pa.Array, before: np.ndarray) -> pa.Array:
    """Events, or lists of them, whose places are counted from another row on."""
    if pa.types.is_struct(events.type):
        arrays = [events.field(i) for i in range(events.type.num_fields)]
        place = events.type.get_field_index(SEQ)
        arrays[place] = pa.array(np.asarray(arrays[place]) - before, pa.int64())
        return pa.StructArray.from_arrays(arrays, fields=list(events.type), mask=events.is_null())
    lengths = np.diff(np.asarray(events.offsets))
    return pa.ListArray.from_arrays(events.offsets, _moved(events.flatten(), np.repeat(before, lengths)), type=events.type)
