"""Sets with shapes: how queries get there, and what is said about them."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.learned_texts import literals_of
from ostinato.program.shapes.shape import shaped
from ostinato.runtime.session.session import RunningProgram
from ostinato.runtime.session.set_session import SetSession
from ostinato.runtime.snapshots import snapshot

SCHEMA = pa.schema([("ts", pa.int64()), ("k", pa.string()), ("x", pa.float64()), ("n", pa.int64())])
TEXT = """PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) {{ [k] and a.k = '{k}' and a.x > {x} and b.x < a.x - {d} }}
    WITHIN 9 RETURN a.ts AS s"""
TEMPLATE = TEXT.replace("'{k}'", "${{k}}").replace("{x}", "${{x}}").replace("{d}", "${{d}}").replace("{{", "{").replace("}}", "}")


def rows(count: int, first: int = 0) -> pa.Table:
    generator = np.random.default_rng(first)
    keys = [f"k{n}" for n in generator.integers(0, 5, count)]
    return pa.table(
        {"ts": np.arange(first, first + count), "k": keys, "x": generator.integers(0, 9, count) / 2.0, "n": generator.integers(0, 9, count)}
    )


def texts(count: int) -> list[str]:
    return [TEXT.format(k=f"k{n % 6}", x=n % 7, d=f"{n % 3}.5") for n in range(count)]


def queries(count: int, **told) -> ost.QuerySet:
    made = ost.QuerySet({"t": SCHEMA}, **told)
    for number, text in enumerate(texts(count)):
        made.add(f"q{number}", text)
    return made


def test_few_go_by_themselves_and_many_as_one():
    assert "apart, since fewer than 4" in queries(3).explain()
    many = queries(30)
    assert "30 queries, constants (string, double, double), evaluated as one" in many.explain()
    session = many.open()
    assert len(session.graph.operators) == 1 and session.queries == tuple(f"q{n}" for n in range(30))
    many.add("other", "PATTERN SEQ(t a) WHERE skip_till_next_match(a) { a.x > a.n }")
    assert "other: by itself, for it has no constants" in many.explain()


def test_equal_queries_are_evaluated_once_and_reported_under_every_name():
    made = queries(8)
    for number in range(5):
        made.add(f"same {number}", texts(1)[0])
    session = made.open()
    session.push("t", rows(200))
    (source,) = session.graph.inputs
    assert len(source.queries) == 8 and source.queries.query_count == 13
    found = ost.match_all(made, t=rows(200))
    assert found["q0"].num_rows > 0 and all(found[f"same {n}"].equals(found["q0"]) for n in range(5))
    made.remove("q0")
    assert "q0" not in ost.match_all(made, t=rows(200)) and ost.match_all(made, t=rows(200))["same 1"].equals(found["q0"])


@pytest.mark.parametrize("sign", ["{} = {} AND {} = {}", "{2} = {3} AND {0} = {1}"])
def test_queries_are_found_by_two_equalities_at_once(sign):
    """Also those whose constants came first, and events that have one of the two alone, or neither, or null."""
    text = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES A.ts AS s PATTERN (A) DEFINE A AS {})"
    made = ost.QuerySet({"t": SCHEMA})
    wanted = {(k, n): [] for k in ("a", "b", "c") for n in (3, 1, 2)}
    for k, n in wanted:
        made.add(f"{k}{n}", text.format(sign.format("k", f"'{k}'", "n", n)))
    assert "9 queries, constants" in made.explain()
    events = [(k, n) for k in ("a", "b", "c", "d", None) for n in (1, 2, 3, 4, None)] * 2
    for at, event in enumerate(events):
        if event in wanted:
            wanted[event].append({"s": at})
    columns = {"ts": range(len(events)), "k": [k for k, _ in events], "x": [0.5] * len(events), "n": [n for _, n in events]}
    found = ost.match_all(made, t=pa.table(columns, schema=SCHEMA))
    assert {name: table.to_pylist() for name, table in found.items()} == {f"{k}{n}": expected for (k, n), expected in wanted.items()}


def test_what_a_set_is_asked_for():
    made = queries(20)
    assert made["q3"].text == texts(4)[3] and made["q3"].open().push(rows(5)).num_rows >= 0
    assert len(made) == 20 and "q7" in made and "q77" not in made
    with pytest.raises(ost.UnknownNameError, match="no query 'q77'"):
        made["q77"]
    with pytest.raises(ost.OstinatoError, match="already"):
        made.add("q7", texts(1)[0])
    with pytest.raises(ost.OstinatoError, match='there is no "everything" to leave out'):
        ost.QuerySet({"t": SCHEMA}, without=("everything",))
    session = made.open()
    session.push("t", rows(100))
    counted = session.metrics()
    assert counted["shapes"] == 1 and counted["shaped_queries"] == 20 and 0 < counted["pairs"] < 2_000


def test_a_query_that_comes_sees_what_comes_from_then_on():
    made = queries(6)
    session = made.open()
    session.push("t", rows(50))
    graph = session.graph
    operators = list(graph.operators)
    made.add("late", texts(1)[0])
    assert graph.operators == operators  # nothing was made anew
    alone = made["late"].open()
    found = [session.push("t", rows(50, 50)), session.close()]
    expected = [alone.push(rows(50, 50)), alone.close()]
    assert pa.concat_tables([one["late"] for one in found if "late" in one]).to_pylist() == pa.concat_tables(expected).to_pylist()


@pytest.mark.parametrize("without", [(), ("query_index",), ("shapes",), ("learned_texts",)])
def test_every_way_finds_the_same(without):
    found = ost.match_all(queries(25, without=without), t=rows(300))
    expected = {
        name: table
        for name, query in ((f"q{n}", text) for n, text in enumerate(texts(25)))
        if (table := ost.match(query, t=rows(300)).to_arrow()).num_rows
    }
    assert {name: table.to_pylist() for name, table in found.items()} == {name: table.to_pylist() for name, table in expected.items()}


def test_snapshots_hold_the_queries():
    made = queries(12)
    session = made.open()
    found = [session.push("t", rows(60))]
    made.remove("q4")
    made.add("new", texts(5)[4])
    session = made.open(snapshot=session.snapshot())
    assert sorted(session.queries) == sorted(made)
    found += [session.push("t", rows(60, 60)), session.close()]
    alone = made["q1"].open()
    expected = [alone.push(rows(60)), alone.push(rows(60, 60)), alone.close()]
    assert pa.concat_tables([one["q1"] for one in found if "q1" in one]).to_pylist() == pa.concat_tables(expected).to_pylist() != []
    with pytest.raises(ost.StateError, match="'new' is not the same"):
        made.open(snapshot=queries(12).open().snapshot())


@pytest.mark.parametrize(
    ("name", "forge"),
    [
        ("input0.queries", lambda array: array[:, :-1]),
        ("input0.queries", lambda array: array - 1),
        ("input0.queries", lambda array: array + 7),
        ("input0.arrival", lambda array: array - 5),
        ("input0.arrival", lambda array: np.zeros(0, np.int64)),
        ("input0.keys.column0", lambda array: np.concatenate([array[:1], array[1:] + 99])),
    ],
)
def test_forged_snapshots_are_refused(name, forge):
    session = queries(12).open()
    session.push("t", rows(60))
    program = session.members.current(session.program)
    session.program = program
    scalars, arrays, blobs = snapshot.unpack(program, RunningProgram.snapshot(session))
    whole = snapshot.pack(program, scalars, arrays, blobs)
    assert SetSession(program, snapshot=whole).queries == session.queries
    arrays[name] = forge(arrays[name])
    with pytest.raises(ost.StateError):
        SetSession(program, snapshot=snapshot.pack(program, scalars, arrays, blobs))


def test_texts_that_are_alike_are_compiled_no_more():
    compiled = []
    made = queries(10)
    own = made._texts._compile
    made._texts._compile = lambda text, options: compiled.append(text) or own(text, options)
    made._compiled = lambda text, options: compiled.append(text) or own(text, options)
    for number in range(50):
        made.add(f"more {number}", TEXT.format(k=f"it''s {number}", x=100 + number, d=f"{number + 200}.5"))
    assert not compiled
    for number in (0, 49):
        known, full = made._queries[f"more {number}"].member, shaped(own(made._queries[f"more {number}"].said.text, {}).program)
        assert known.shape.name == full.shape.name and repr(known.constants) == repr(full.constants)


@pytest.mark.parametrize(
    "changed",
    [
        lambda text: text.replace("WITHIN 9", "WITHIN 8"),
        lambda text: text.replace("a.x > 3", "a.x > 3.0"),
        lambda text: text.replace("a.x > 3", "a.x > (3)"),
        lambda text: text.replace("a.x > 3", "a.x > 99999999999999999999"),
        lambda text: text.replace("a.x > 3", "a.x > n'3'"),
        lambda text: text + " -- it's",
    ],
)
def test_what_is_not_alike_is_compiled(changed):
    """And what it is, or is wrong with it, is what compiling says."""
    made, text = queries(10), changed(TEXT.format(k="k1", x=3, d="1.5"))
    try:
        expected = repr(ost.compile(text, {"t": SCHEMA}).program)
    except ost.OstinatoError as error:
        expected = str(error)
    try:
        made.add("new", text)
        found = repr(made["new"].program)
    except ost.OstinatoError as error:
        found = str(error)
    assert found == expected


def test_literals_of_a_text():
    assert literals_of("a.k = 'it''s' and a.x1 > 2.50 and b > 7") == (
        "a.k = \0s and a.x1 > \x002 and b > \x000",
        ("'it''s'", "2.50", "7"),
    )
    assert literals_of('a."k 1" = 5') is None and literals_of("a > 5 -- 6") is None and literals_of("a > '5") is None
    assert literals_of("a[1..3] > .5") == ("a[1..3] > .5", ())


def parameters(count: int) -> pa.Table:
    return pa.table(
        {
            "id": [f"p{n}" for n in range(count)],
            "k": [f"k{n % 6}" for n in range(count)],
            "x": [float(n % 7) for n in range(count)],
            "d": [n % 3 - 1.5 for n in range(count)],
        }
    )


@pytest.mark.parametrize("count", [3, 60])
def test_a_template_with_a_table_of_values(count):
    made, one_by_one = ost.QuerySet({"t": SCHEMA}), ost.QuerySet({"t": SCHEMA}, without=("shapes",))
    made.add_all(TEMPLATE, parameters(count))
    for row in parameters(count).to_pylist():
        one_by_one.add(row["id"], TEXT.format(k=row["k"], x=row["x"], d=f"({row['d']})"))
    assert list(made) == list(one_by_one)
    assert {name: table.to_pylist() for name, table in ost.match_all(made, t=rows(300)).items()} == {
        name: table.to_pylist() for name, table in ost.match_all(one_by_one, t=rows(300)).items()
    }
    assert "a.x > 2.0e0" in made["p2"].text


def test_a_parameter_that_is_more_than_a_constant():
    made = ost.QuerySet({"t": SCHEMA})
    table = pa.table({"name": [f"w{n}" for n in range(12)], "w": [3 + n % 2 for n in range(12)], "k": ["k1"] * 12})
    text = "PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) { a.k = ${k} and b.k = 'k2' } WITHIN ${w} RETURN b.ts AS s"
    made.add_all(text, table, id="name")
    assert made.explain().count("6 queries") == 2 and made["w1"].text.endswith("WITHIN 4 RETURN b.ts AS s")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table({"id": ["a"], "k": ["u"], "x": [1.0]}), "no column 'd'"),
        (
            pa.table(
                {"id": ["a"], "k": [None], "x": [1.0], "d": [1.0]},
                schema=pa.schema([("id", pa.string()), ("k", pa.string()), ("x", pa.float64()), ("d", pa.float64())]),
            ),
            "'k' is missing",
        ),
        (pa.table({"id": ["a", "a"], "k": ["u", "v"], "x": [1.0, 2.0], "d": [1.0, 1.0]}), "same name"),
        (pa.table({"id": list("abcdefgh"), "k": ["u"] * 7 + ["\\"], "x": [1.0] * 8, "d": [2.0] * 8}), "has a backslash"),
        (pa.table({"id": ["a"], "k": [b"u"], "x": [1.0], "d": [1.0]}), "is a bytes"),
    ],
)
def test_tables_that_do_not_fit_a_template(table, message):
    made = queries(5)
    with pytest.raises(ost.OstinatoError, match=message):
        made.add_all(TEMPLATE, table)
    assert len(made) == 5


def test_memory_follows_the_batch_and_not_the_stream():
    """Every batch begins something for more queries than there is room for at first."""
    made = ost.QuerySet({"t": SCHEMA})
    made.add_all(
        "PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) { a.n >= ${n} and b.x < ${x} } WITHIN 2 RETURN a.ts AS s",
        pa.table({"id": [f"q{n}" for n in range(600)], "n": [0] * 600, "x": np.arange(600) * -1.0 - 1}),
    )
    session = made.open()
    session.push("t", rows(20))
    tracemalloc.start()
    try:
        for first in range(20, 420, 20):
            session.push("t", rows(20, first))
        assert tracemalloc.get_traced_memory()[1] < 1 << 26
    finally:
        tracemalloc.stop()
    assert session.metrics()["pairs"] > 20 * 4096


def test_the_budget_is_that_of_all_inputs_together():
    following = "PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) {{ a.n >= {n} and b.x < -1.0 }} WITHIN 90000 RETURN a.ts AS s"
    other = following.replace("a.n", "[k] and a.n")
    kinds = {"one": [following], "other": [other], "both": [following, other]}
    held = {}
    for name, texts_of in kinds.items():
        made = ost.QuerySet({"t": SCHEMA})
        for number, text in enumerate(text.format(n=n) for text in texts_of for n in range(8)):
            made.add(f"q{number}", text)
        for megabytes in (1, 2, 3, 4, 6, 8):
            session = made.open(budget=ost.Budget(bytes=megabytes << 20))
            try:
                for first in range(0, 3000, 500):
                    session.push("t", rows(500, first))
            except ost.BudgetError:
                continue
            held[name] = megabytes
            break
    assert held["both"] > max(held["one"], held["other"])
