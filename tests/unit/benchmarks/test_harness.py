"""The harness measures what it says, and the page shows it."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from benchmarks import report, v_shape
from benchmarks.harness import Experiment, Options
from benchmarks.ticks import random_walk
from benchmarks.v_rivals import by_duckdb, by_numpy, by_polars, by_re, by_sorted_polars


def _experiment():
    return Experiment("example", "An example", "About it.", show=("keys",))


def test_contenders_run_in_turn_and_must_agree():
    calls = []
    case = _experiment().case("small", rows=10, keys=1)

    def contender(name):
        return lambda: calls.append(name) or [1, 2]

    case.compare({"ostinato": contender("ostinato"), "other": contender("other")}, Options(repeats=2), same=len)
    assert calls == ["ostinato", "other"] * 3
    assert case.measurements["other"].result == 2
    with pytest.raises(AssertionError, match="disagree"):
        case.compare({"a": lambda: [1], "b": list}, Options(repeats=1), same=len)


def test_results_and_page(tmp_path, monkeypatch):
    experiment = _experiment()
    case = experiment.case("small", rows=1_000_000, keys=7)
    case.record("ostinato", [0.5, 0.4])
    case.record("other", [0.8])
    assert case.target("ostinato", "other", at_least=2.0)
    assert not case.target("ostinato", "other", at_least=3.0)
    path = experiment.save(Options(results=tmp_path))
    assert json.loads(path.read_text())["cases"][0]["facts"] == {"keys": 7}
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(report, "PAGE", tmp_path / "page.md")
    report.main()
    page = (tmp_path / "page.md").read_text()
    assert "| small |  | other | 0.800 cpu | 1.25 | 2.00x |" in page.replace("|  |  | other", "| small |  | other")
    assert "ostinato at least 3x other | 2.00x | **no**" in page


def test_facts_are_shown_as_exactly_as_they_matter():
    assert [report._shown(value) for value in (1.0, 0.276, 391.4, 12_345, None, "runs")] == ["1", "0.28", "391", "12,345", "", "runs"]


def test_the_ratio_is_a_column_only_where_ostinato_is_among_the_contenders():
    case = _experiment().case("small", rows=10)
    case.record("basic", [1.0])
    case.record("backtrack", [2.0])
    shown = {"show": [], "cases": [case.as_json()]}
    assert "ratio" not in report.table(shown)
    case.record("ostinato", [0.5])
    assert "| backtrack | 2.000 cpu | 0.00 | 4.00x |" in report.table({**shown, "cases": [case.as_json()]})


def test_a_quick_run_leaves_nothing(tmp_path):
    assert _experiment().save(Options(quick=True, results=tmp_path)) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("rows", "keys"), [(5, 1), (60, 20), (3_000, 1), (5_000, 37)])
def test_rivals_agree(rows, keys):
    ticks = random_walk(rows, keys)
    found = []
    for rival in (v_shape.engine, by_re, by_numpy, by_duckdb, by_polars, by_sorted_polars):
        matches = rival(ticks).select(["key", "start_ts", "bottom", "end_ts"])
        columns = [column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column for column in matches.columns]
        found.append(sorted(zip(*(column.to_pylist() for column in columns), strict=True)))
    assert all(one == found[0] for one in found)
