"""What the meaning of situations promises: the earliest mode against the final one, both against Allen's relations."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.property.tpstream_meaning import lowered, meaning
from tests.property.tpstream_texts import OF_VALUES, Written, written

from ostinato.algebra.allen import Compare, Relation, Side
from ostinato.algebra.policies import Latency
from ostinato.lang.tpstream.parse import parse
from ostinato.lang.tpstream.render import render
from ostinato.reference.intervals import interval_rows


def _key(row: dict[str, Any]) -> str:
    """Which situations are in a match: by the ids of their first events. Those of several streams may have the same ids."""
    return repr([value for name, value in row.items() if name.endswith("_id")] + [row["start_ts"]])


@settings(max_examples=150, deadline=None)
@given(written())
def test_rendered_texts_mean_the_same(case: Written) -> None:
    tree = parse(case.text)
    assert parse(render(tree)) == tree
    schemas = {name: table.schema for name, table in case.tables.items()}
    assert lowered(render(tree), schemas, **case.options) == lowered(case.text, schemas, **case.options)


@settings(max_examples=150, deadline=None)
@given(written())
def test_every_final_match_is_reported_once_and_never_later(case: Written) -> None:
    final, earliest = (meaning(case.text, case.tables, language="tpstream", latency=mode) for mode in ("final", "earliest"))
    assert all(row["end_ts"] == row["detected_ts"] for row in final)
    known = {_key(row): row for row in earliest}
    for row in final:
        assert known[_key(row)]["detected_ts"] <= row["detected_ts"]


@settings(max_examples=100, deadline=None)
@given(written(read=(("s",),), conditions=OF_VALUES))
def test_without_window_and_open_ends_both_modes_find_the_same(case: Written) -> None:
    (table,) = case.tables.values()
    assume(table.num_rows)
    query = replace(lowered(case.text, {"s": table.schema}, **case.options), within=None)
    earliest, final = (interval_rows(replace(query, latency=mode), _all_ended(case)) for mode in Latency)
    assert sorted(map(_key, earliest)) == sorted(map(_key, final))


@settings(max_examples=150, deadline=None)
@given(written(read=(("s",),), conditions=OF_VALUES))
def test_what_is_reported_early_is_refuted_by_no_relation_and_no_duration(case: Written) -> None:
    """Whatever is reported within a window is a match when everything has ended, but for the window; and it is reported once."""
    (table,) = case.tables.values()
    assume(table.num_rows)
    query = lowered(case.text, {"s": table.schema}, **case.options)
    reported = [_key(row) for row in interval_rows(replace(query, latency=Latency.EARLIEST), table.to_pylist())]
    assert len(set(reported)) == len(reported)
    complete = interval_rows(replace(query, latency=Latency.FINAL, within=None), _all_ended(case))
    assert set(reported) <= set(map(_key, complete))


def _all_ended(case: Written) -> list[dict[str, Any]]:
    """The rows, and in each partition one behind them whose values are all unknown: it ends what is open."""
    (table,) = case.tables.values()
    rows = table.to_pylist()
    last = max(row["ts"] for row in rows) + (1 if case.integers else datetime.timedelta(seconds=1))
    keys = dict.fromkeys((row["k"], row["s"]) for row in rows)
    return rows + [dict.fromkeys(table.column_names) | {"ts": last, "k": k, "s": s} for k, s in keys]


@given(st.lists(st.integers(0, 6), min_size=4, max_size=4))
def test_one_relation_holds_between_two_intervals(ends: list[int]) -> None:
    a_start, a_length, b_start, b_length = ends
    at = {Side.A_START: a_start, Side.A_END: a_start + a_length + 1, Side.B_START: b_start, Side.B_END: b_start + b_length + 1}
    turned = {Side.A_START: at[Side.B_START], Side.A_END: at[Side.B_END], Side.B_START: at[Side.A_START], Side.B_END: at[Side.A_END]}
    (found,) = [relation for relation in Relation if _holds(relation, at)]
    assert [relation for relation in Relation if _holds(relation, turned)] == [found.inverse]
    assert found.inverse.inverse is found


def _holds(relation: Relation, at: dict[Side, int]) -> bool:
    return all(at[a] < at[b] if compare is Compare.LESS else at[a] == at[b] for a, compare, b in relation.comparisons)
