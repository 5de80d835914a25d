"""What a result gives, and how it shows itself."""

import builtins
import datetime as dt

import matplotlib
import pyarrow as pa
import pytest

from ostinato.base.errors import OstinatoError, UnknownNameError
from ostinato.hosts.embedded.result import Result

matplotlib.use("Agg")

TABLE = pa.table({"name": ["a", None, "<ü>"], "n": [1, 2, 3]})


def test_conversions():
    result = Result(TABLE, {"rows": 9})
    assert result.to_arrow() is TABLE
    assert result.to_pandas()["n"].tolist() == [1, 2, 3]
    assert result.to_polars()["name"].to_list() == ["a", None, "<ü>"]
    assert (len(result), result.columns, result.schema, result.metrics) == (3, ["name", "n"], TABLE.schema, {"rows": 9})
    assert list(result) == TABLE.to_pylist()


def test_text():
    assert repr(Result(TABLE)) == "name  n\na     1\nnull  2\n<ü>   3\n[3 rows]"
    assert repr(Result(TABLE.slice(0, 0))) == "name  n\n[0 rows]"
    assert repr(Result(TABLE.slice(0, 1))).endswith("[1 row]")


def test_columns_of_one_name_are_all_shown():
    twice = Result(pa.table([pa.array([1, 2]), pa.array(["x", None])], names=["n", "n"]))
    assert repr(twice) == "n  n\n1  x\n2  null\n[2 rows]"
    assert twice._repr_html_().count("<td>") == 4


def test_long_results_are_cut():
    shown = repr(Result(pa.table({"x": ["y" * 100] * 3000}))).splitlines()
    assert len(shown) == 22
    assert shown[1] == "y" * 59 + "…"
    assert shown[-1] == "[3,000 rows, the first 20 shown]"


def test_html():
    html = Result(TABLE)._repr_html_()
    assert "<th>name</th><th>n</th>" in html
    assert "<td>&lt;ü&gt;</td><td>3</td>" in html
    assert "<p>[3 rows]</p>" in html


def test_plot_spans():
    start = dt.datetime(2024, 1, 1)
    table = pa.table({"match_id": [1, 2], "start_ts": [start, start], "end_ts": [start, start + dt.timedelta(1)]})
    axes = Result(table).plot()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time", "match")
    assert len(axes.collections[0].get_segments()) == 2


def test_plot_columns():
    table = pa.table({"s": ["a"], "x": [1], "y": [2.0], "ts": [dt.datetime(2024, 1, 1)]})
    axes = Result(table).plot()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("ts", "x")
    axes = Result(table).plot(x="x", y="y", ax=axes)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x", "y")


def test_plot_refuses():
    with pytest.raises(OstinatoError, match="nothing to draw"):
        Result(pa.table({"s": ["a"]})).plot()
    with pytest.raises(UnknownNameError, match="no column `z`"):
        Result(TABLE).plot(x="z")


@pytest.mark.parametrize(("library", "use"), [("matplotlib", lambda r: r.plot()), ("polars", lambda r: r.to_polars())])
def test_missing_libraries_are_named(monkeypatch, library, use):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.partition(".")[0] == library:
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(OstinatoError, match="needs") as caught:
        use(Result(TABLE))
    assert caught.value.hint == f"pip install {library}"
