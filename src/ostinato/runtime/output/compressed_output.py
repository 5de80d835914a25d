"""All matches of one call as one Arrow value: their events once, and the graph that says which of them make a match.

`inspect.compressed` reads it. A node has the number of its event and of its variable, and in `before` the node that stands before it (-1:
the match starts with it). A node without event (-1) is a union: what is reached through `before` and through `other`. Roots are the last
nodes of matches, in the order of their events; matches that start with an event below `from` do not count for the root. Events stand
in their order in the stream."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ostinato.kernels.output.match_dag import BOUND_TO, EVENT, FIRST, NOTHING, OWNER, SECOND
from ostinato.program.pattern import Pattern
from ostinato.runtime.matches.match_dag import ANY_START, MatchDag, of_matches
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.output.default_output import default_schema, event_structs
from ostinato.runtime.output.measures import MatchView
from ostinato.runtime.rows.pattern_rows import PatternRows

COLUMN = "matches"
NUMBERS = pa.list_(pa.int32())
VARIABLES = pa.list_(pa.struct([("name", pa.string()), ("list", pa.bool_())]))


def compressed_schema(pattern: Pattern) -> pa.Schema:
    event = _event_type(pattern)
    value = pa.struct([
        ("variables", VARIABLES), ("time", pa.string()), ("events", pa.list_(event)),
        ("node_event", NUMBERS), ("node_variable", NUMBERS), ("node_before", NUMBERS), ("node_other", NUMBERS),
        ("root_node", NUMBERS), ("root_from", NUMBERS),
    ])  # fmt: skip
    return pa.schema([(COLUMN, value)])


def _event_type(pattern: Pattern) -> pa.StructType:
    shown = default_schema(pattern).field(3).type
    return shown.value_type if pa.types.is_list(shown) else shown


def compressed_output(view: MatchView, dag: Matches | MatchDag, schema: pa.Schema) -> pa.Table:
    """One row."""
    if isinstance(dag, Matches):
        dag = of_matches(dag)
    pattern, rows = view.pattern, view.rows
    is_event = dag.graph[:, EVENT] != NOTHING
    of_key, ordinal = dag.graph[is_event, OWNER], dag.graph[is_event, EVENT]
    row = rows.index_of(of_key, ordinal)
    place, first_of, number = np.unique(rows.positions[row], return_index=True, return_inverse=True)
    index = row[first_of]
    node_event = np.full(len(dag.graph), NOTHING, np.int64)
    node_event[is_event] = number.ravel()
    order = np.argsort(node_event[dag.roots[:, 0]], kind="stable")
    roots = dag.roots[order]
    lists = {
        "node_event": node_event,
        "node_variable": dag.graph[:, BOUND_TO],
        "node_before": dag.graph[:, FIRST],
        "node_other": dag.graph[:, SECOND],
        "root_node": roots[:, 0],
        "root_from": _first_events(dag, roots, rows, place, of_key, ordinal, node_event[is_event]),
    }
    value = schema.field(COLUMN).type
    variables = [{"name": name, "list": kleene} for name, kleene in zip(pattern.variables, pattern.kleene, strict=True)]
    time = pattern.reads.columns[pattern.reads.time].name if pattern.reads.time >= 0 else None
    events = event_structs(view, index, _event_type(pattern))
    arrays = [pa.array([variables], VARIABLES), pa.array([time], pa.string()), _one_list(events)]
    arrays += [_one_list(pa.array(numbers, pa.int32())) for numbers in lists.values()]
    return pa.table([pa.StructArray.from_arrays(arrays, fields=list(value))], schema=schema)


def _first_events(
    dag: MatchDag, roots: np.ndarray, rows: PatternRows, place: np.ndarray, of_key: np.ndarray, ordinal: np.ndarray, event: np.ndarray
) -> np.ndarray:
    """For each root the first event with which its matches may start: 0 where all may."""
    lowest = roots[:, 2]
    if (lowest == ANY_START).all():
        return np.zeros(len(roots), np.int64)
    clock = ordinal
    if dag.by_time:
        clock = rows.times[rows.index_of(of_key, ordinal)]
    by_clock = np.lexsort((clock, of_key))
    keys, begins = np.unique(of_key[by_clock], return_index=True)
    ends = np.append(begins[1:], len(by_clock))
    found = np.zeros(len(roots), np.int64)
    for key, begin, end in zip(keys, begins, ends, strict=True):
        own = by_clock[begin:end]
        asked = np.flatnonzero(roots[:, 1] == key)
        at = np.searchsorted(clock[own], lowest[asked])
        found[asked] = np.append(event[own], len(place))[at]
    return found


def _one_list(values: pa.Array) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)
