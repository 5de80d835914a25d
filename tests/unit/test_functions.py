"""Functions of users: how they are registered, and what queries of every language make of them."""

from __future__ import annotations

import json
import pickle

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.unit.registered_functions import DOUBLE, distance, doubled, forgotten_afterwards, register_all

import ostinato as ost
from ostinato.base.errors import (
    DataError,
    OstinatoError,
    QuerySyntaxError,
    SandboxError,
    SchemaError,
    StateError,
    TypeMismatchError,
    UnknownNameError,
    UnsupportedError,
)
from ostinato.kernels.scalar.compiled_functions import compiled
from ostinato.program import serde
from ostinato.program.functions_used import functions_of
from ostinato.tasks.shipped_program import ShippedFunctions

TICKS = pa.table({
    "ts": [1, 2, 3, 4, 5],
    "v": [1.0, 2.0, None, 4.0, 9.0],
    "s": ["a", "b", None, "B", "A"],
    "at": pa.array([0, 1_000_000, 2_000_000, 3_000_000, 4_000_000], pa.timestamp("us")),
})  # fmt: skip


@pytest.fixture(autouse=True)
def _registered():
    with forgotten_afterwards():
        register_all()
        yield


def sql(define: str, pattern: str = "A B", measures: str = "A.ts AS a, B.ts AS b", table: pa.Table = TICKS, **options) -> list[tuple]:
    text = f"""SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts MEASURES {measures}
        AFTER MATCH SKIP TO NEXT ROW PATTERN ({pattern}) DEFINE {define})"""
    return [tuple(row.values()) for row in ost.sql(text, ticks=table, **options).to_arrow().to_pylist()]


def events(text: str, **options) -> list[tuple]:
    return sorted(tuple(row.values()) for row in ost.match(text, ticks=TICKS, **options).to_arrow().to_pylist())


def test_a_condition_on_one_row_in_every_language():
    assert sql("A AS doubled(v) > 7", "A", "A.ts AS a") == [(4,), (5,)]
    assert events("PATTERN SEQ(ticks a) WHERE Doubled(a.v) > 7 WITHIN 10 RETURN a.ts") == [(4,), (5,)]
    assert events("PATTERN SEQ(ticks a, doubled(a.v) > 7) WITHIN 10 RETURN a.ts", language="neel") == [(4,), (5,)]
    assert events("SELECT doubled(v) AS d FROM FILTER {doubled(v) > 7} (ticks)", language="cel") == [(8.0, 4, 4), (18.0, 5, 5)]


def test_a_condition_over_the_match_in_event_languages():
    runs = "PATTERN SEQ(ticks a, ticks b) WHERE skip_till_any_match(a, b) { distance(a.v, b.v) >= 7 } WITHIN 10 RETURN a.ts, b.ts AS b"
    nested = "PATTERN SEQ(ticks a, ticks b, distance(a.v, b.v) >= 7) WITHIN 10 RETURN a.ts, b.ts AS b"
    assert events(runs) == events(nested, language="neel") == [(1, 5), (2, 5)]
    chain = "SELECT distance(v_1, v) AS d FROM ticks NEXT {distance($1.v, $2.v) >= 7} ticks"
    assert events(chain, language="cel") == [(7.0, 2, 5), (8.0, 1, 5)]


def test_a_condition_over_the_match_in_sql():
    assert sql("B AS distance(A.v, B.v) >= 5") == [(4, 5)]
    assert sql("X AS TRUE, B AS distance(A.v, B.v) >= 7", "A X* B") == [(1, 5), (2, 5)]
    assert sql("B AS distance(v, PREV(v)) = 5") == [(4, 5)]  # a neighbour is a column
    assert sql("B AS B.v > distance(SUM(A.v), 0)", "A+ B", "B.ts AS b") == [(5,), (5,), (5,), (5,)]


def test_running_values_are_arguments_too():
    assert sql("X AS distance(SUM(X.v), A.v) < 3, B AS distance(AVG(X.v), B.v) > 1.5", "A X+ B") == [(1, 4)]


def test_negations_and_measures():
    text = (
        "PATTERN SEQ(ticks a, !(ticks n), ticks b) WHERE skip_till_any_match(a, n, b) "
        "{ a.ts = 1 AND distance(a.v, n.v) > 2 } WITHIN 10 RETURN b.ts"
    )
    assert events(text) == [(2,), (3,), (4,)]
    assert sql("A AS v > 1", "A", "distance(A.v, 1) AS d, doubled(v) AS e, shouted(s) AS s") == [
        (1.0, 4.0, "B"),
        (3.0, 8.0, "B"),
        (8.0, 18.0, "A"),
    ]


def test_aggregates_over_values_of_functions():
    found = sql("A AS TRUE", "A+ $", "SUM(doubled(A.v)) AS d, MAX(distance(A.v, 0)) AS m")
    assert found[0] == (32.0, 9.0)


def test_a_function_over_columns_of_one_earlier_event():
    """Strings cannot be compiled: where null gives null, the value of the earlier event is computed as a column."""
    assert sql("X AS TRUE, B AS shouted(A.s) = shouted(B.s)", "A X* B") == [(1, 5), (2, 4)]
    with pytest.raises(UnsupportedError, match=r"doubled\(\) takes columns") as caught:
        sql("B AS doubled(A.v) < B.v")
    assert "compiled=True" in caught.value.hint and caught.value.position == (2, 64)


def test_what_a_function_over_columns_is_given():
    given = []

    @ost.functions.register("kept", takes=[DOUBLE, pa.int64()], returns=pa.bool_())
    def kept(x, n):
        given.append((x.type, x.to_pylist(), n.to_pylist()))
        return pc.is_null(x)

    assert sql("A AS kept(v, 7)", "A", "A.ts AS a") == [(3,)]
    assert given[0] == (pa.float64(), [1.0, 2.0, None, 4.0, 9.0], [7] * 5)
    assert kept(pa.array([None, 1.0]), pa.array([1, 2])).to_pylist() == [True, False]


def test_times_are_integers_for_compiled_functions_and_arrow_for_others():
    ost.functions.register("micros", lambda t: t, takes=[pa.timestamp("us")], returns=pa.int64(), compiled=True)
    ost.functions.register(
        "later", lambda t: pc.add(t, pa.scalar(1, pa.duration("s"))), takes=[pa.timestamp("us")], returns=pa.timestamp("us")
    )
    assert sql("A AS micros(at) = 3000000", "A", "A.ts AS a") == [(4,)]
    assert sql("B AS B.at = later(PREV(at)) AND micros(A.at) = 0") == [(1, 2)]


def test_what_a_compiled_function_returns_as_none_is_null():
    ost.functions.register("positive", lambda x: x if x > 2 else None, takes=[DOUBLE], returns=DOUBLE, compiled=True)
    assert sql("A AS positive(v) IS NULL", "A", "A.ts AS a") == [(1,), (2,), (3,)]
    assert sql("B AS positive(A.v) IS NULL AND B.ts > 2") == [(2, 3), (3, 4)]


def test_arguments_are_converted_where_nothing_is_lost():
    assert sql("A AS distance(ts, 1.5) < 1", "A", "A.ts AS a") == [(1,), (2,)]
    assert sql("A AS doubled(NULL) IS NULL", "A", "A.ts AS a")[0] == (1,)
    with pytest.raises(TypeMismatchError, match="do not go together in `distance`"):
        sql("A AS distance(s, 1) < 1", "A", "A.ts AS a")
    ost.functions.register("half", lambda n: n // 2, takes=[pa.int64()], returns=pa.int64(), compiled=True)
    with pytest.raises(TypeMismatchError, match="`half` takes integer, not double") as caught:
        sql("A AS half(v) < 1", "A", "A.ts AS a")
    assert caught.value.hint == "CAST it to integer"
    with pytest.raises(QuerySyntaxError, match="`half` takes 1 argument, not 2"):
        sql("A AS half(ts, ts) < 1", "A", "A.ts AS a")


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (lambda x: x.to_numpy(zero_copy_only=False), "returned a numpy.ndarray"),
        (lambda x: x.slice(1), "returned 4 rows for 5"),
        (lambda x: pc.cast(x, pa.string()), "returned values of the type string"),
        (lambda x: 1.0, "returned a builtins.float"),
    ],
)
def test_a_function_that_does_not_keep_its_word(returned, said):
    ost.functions.register("odd", returned, takes=[DOUBLE], returns=DOUBLE)
    with pytest.raises(TypeMismatchError, match=said):
        sql("A AS odd(v) > 1", "A", "A.ts AS a")


def test_an_error_inside_is_ours_and_keeps_its_cause():
    def failing(x):
        raise KeyError("rates")

    ost.functions.register("failing", failing, takes=[DOUBLE], returns=DOUBLE)
    with pytest.raises(DataError, match="The function failing failed: KeyError: 'rates'") as caught:
        sql("A AS failing(v) > 1", "A", "A.ts AS a")
    assert isinstance(caught.value.__cause__, KeyError) and "`v`" in caught.value.detail


def test_an_error_matters_only_where_the_value_does():
    def picky(x):
        if pc.any(pc.equal(x, 2.0)).as_py():
            raise ValueError("two")
        return pc.multiply(x, 1.0)

    ost.functions.register("picky", picky, takes=[DOUBLE], returns=DOUBLE)
    assert sql("A AS v <> 2 AND picky(v) > 1", "A", "A.ts AS a") == [(4,), (5,)]
    assert sql("A AS v <> 1 AND reciprocal(v - 1) > 0", "A", "A.ts AS a") == [(2,), (4,), (5,)]
    with pytest.raises(DataError, match="picky failed: ValueError: two"):
        sql("A AS picky(v) > 1", "A", "A.ts AS a")
    with pytest.raises(DataError, match="reciprocal failed: ZeroDivisionError") as caught:
        sql("A AS reciprocal(v - 1) > 0", "A", "A.ts AS a")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("strategy", ["sql", "runs", "nested", "instances"])
def test_an_error_in_a_condition_over_the_match(strategy):
    queries = {
        "sql": lambda: sql("B AS reciprocal(B.v - A.v - 1) < 5"),
        "runs": lambda: events("PATTERN SEQ(ticks a, ticks b) WHERE reciprocal(b.v - a.v - 1) < 5 WITHIN 10"),
        "nested": lambda: events("PATTERN SEQ(ticks a, ticks b, reciprocal(b.v - a.v - 1) < 5) WITHIN 10", language="neel"),
        "instances": lambda: events("SELECT v FROM ticks NEXT {reciprocal($2.v - $1.v - 1) < 5} ticks", language="cel"),
    }
    with pytest.raises(DataError, match="The function reciprocal failed: ZeroDivisionError") as caught:
        queries[strategy]()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert sql("B AS A.v <> 1 AND NOT reciprocal(B.v - A.v - 1) < 5 IS NULL AND B.v - A.v <> 1") == [(4, 5)]


def test_an_overflow_beside_a_function_is_told_as_one():
    table = TICKS.append_column("n", pa.array([2**62] * 5))
    with pytest.raises(DataError, match="an integer calculation went beyond 64 bits"):
        sql("B AS (A.v <> 1 AND reciprocal(B.v - A.v - 1) < 5) OR A.n + B.n + B.n > 0", table=table)


def test_explained_and_rendered():
    query = ost.compile(
        "PATTERN SEQ(ticks a, ticks b) WHERE skip_till_any_match(a, b) { doubled(a.v) > 1 AND distance(a.v, b.v) > 1 } WITHIN 10",
        ticks=TICKS.schema,
    )
    program = query.explain("program")
    assert "c1 = doubled(c0)  -- doubled(double) -> double, over columns : double" in program
    assert "t2 = call distance t0 t1" in program
    assert "distance(" in query.explain("syntax") and "doubled(" in query.explain("algebra")
    assert "doubled(" in query.explain("plan")
    assert query.pattern.reads.prefilter == ""  # nothing of it is said in the SQL of a host


def test_other_conditions_are_still_pushed_down_to_hosts():
    query = ost.compile("PATTERN SEQ(ticks a) WHERE doubled(a.v) > 1 AND a.ts > 2 WITHIN 10", ticks=TICKS.schema)
    assert "doubled" not in query.pattern.reads.prefilter and "`ts` > 2" in query.pattern.reads.prefilter


@pytest.mark.parametrize(
    ("error", "names"),
    [
        ("means something", ("upper", "SUM", "prev", "now", "select", "classifier", "seq", "like")),
        ("already", ("distance", "DISTANCE")),
        ("no name", ("a b", "", 3, "é")),
    ],
)
def test_names_that_are_refused(error, names):
    for name in names:
        with pytest.raises(OstinatoError, match=error):
            ost.functions.register(name, doubled, takes=[DOUBLE], returns=DOUBLE)


def test_types_that_are_refused():
    def register(takes, returns=DOUBLE, body=doubled, **options):
        ost.functions.register("other", body, takes=takes, returns=returns, **options)

    with pytest.raises(SchemaError, match=r"cannot take or return large_string"):
        register([pa.large_string()])
    with pytest.raises(SchemaError, match="is no type"):
        register([float])
    with pytest.raises(UnsupportedError, match="takes or returns list"):
        register([pa.list_(pa.int64())])
    with pytest.raises(UnsupportedError, match="takes 0 arguments"):
        register([], body=lambda: 1)
    with pytest.raises(UnsupportedError, match="string, and is to be compiled"):
        register([pa.string()], compiled=True)
    with pytest.raises(OstinatoError, match="does not take 2 arguments"):
        register([DOUBLE, DOUBLE])
    with pytest.raises(UnsupportedError, match="not asked about null"):
        register([DOUBLE], compiled=True, strict=False)
    with pytest.raises(OstinatoError, match="is a float"):
        register([DOUBLE], body=1.0)


def test_what_cannot_be_compiled_says_why():
    with pytest.raises(UnsupportedError, match="cannot be compiled") as caught:
        ost.functions.register("opened", lambda x: float(input("x")), takes=[DOUBLE], returns=DOUBLE, compiled=True)
    assert "input" in caught.value.detail and len(caught.value.detail) <= 300
    with pytest.raises(UnsupportedError, match="cannot be compiled") as caught:
        ost.functions.register("whole", lambda x: x + 0.5, takes=[DOUBLE], returns=pa.int64(), compiled=True)
    assert caught.value.detail == "it returns float64, and int64 was said"


def test_unregistered():
    query = ost.compile("PATTERN SEQ(ticks a) WHERE doubled(a.v) > 7 WITHIN 10", ticks=TICKS.schema)
    ost.functions.unregister("DOUBLED")
    with pytest.raises(UnknownNameError, match="There is no function doubled"):
        events("PATTERN SEQ(ticks a) WHERE doubled(a.v) > 7 WITHIN 10")
    session = query.open()
    assert session.push(TICKS).num_rows + session.close().num_rows == 2  # what is compiled keeps it
    with pytest.raises(UnknownNameError, match="There is no function doubled of yours"):
        ost.functions.unregister("doubled")
    with pytest.raises(UnknownNameError, match="There is no function distanze") as caught:
        sql("A AS distanze(v, 1) > 1", "A", "A.ts AS a")
    assert caught.value.hint == "Did you mean distance?"


def test_a_program_carries_names_and_signatures_alone():
    query = ost.compile("PATTERN SEQ(ticks a, ticks b) WHERE doubled(a.v) > 1 AND distance(a.v, b.v) > 1 WITHIN 10", ticks=TICKS.schema)
    data = serde.dumps(query.program)
    functions = functions_of(query.program)
    assert set(functions) == {"distance", "doubled"}
    assert serde.loads(data, functions) == query.program and serde.dumps(serde.loads(data)) == data
    with pytest.raises(StateError, match=r"needs the function doubled\(double\) -> double, over columns, which is not registered here"):
        serde.loads(data, {"distance": functions["distance"]})
    with pytest.raises(StateError, match="and here it is distance"):
        serde.loads(data, functions | {"doubled": functions["distance"]})
    with pytest.raises(StateError, match="which is not registered here"):
        ost.Session(serde.loads(data))


def test_snapshots():
    query = ost.compile("PATTERN SEQ(ticks a, ticks b) WHERE distance(a.v, b.v) >= 7 WITHIN 10 RETURN a.ts, b.ts AS b", ticks=TICKS.schema)
    session = query.open()
    session.push(TICKS.slice(0, 2))
    snapshot = session.snapshot()
    assert b"distance" not in snapshot
    ost.functions.unregister("distance")
    again = query.open(snapshot=snapshot)
    assert len(again.push(TICKS.slice(2))) + len(again.close()) == 2
    ost.functions.register("distance", lambda x, y: abs(x - y), takes=[DOUBLE, DOUBLE], returns=DOUBLE, compiled=True)
    changed = ost.compile(query.text, ticks=TICKS.schema).open(snapshot=snapshot)  # the same signature: it may be repaired
    assert len(changed.push(TICKS.slice(2))) + len(changed.close()) == 2


def test_sets_and_their_snapshots():
    rules = ost.QuerySet({"ticks": TICKS.schema})
    rules.add("far", "PATTERN SEQ(ticks a, ticks b) WHERE distance(a.v, b.v) >= 7 WITHIN 10 RETURN a.ts, b.ts AS b")
    session = rules.open()
    session.push("ticks", TICKS.slice(0, 2))
    snapshot = session.snapshot()
    again = rules.open(snapshot=snapshot)
    assert again.push("ticks", TICKS.slice(2))["far"].num_rows == 2
    with pytest.raises(
        StateError, match=r"needs the function distance\(double, double\) -> double, compiled, which is not registered here"
    ):
        ost.QuerySet({"ticks": TICKS.schema}).open(snapshot=snapshot)


def test_a_name_is_one_function_in_a_set():
    rules = ost.QuerySet({"ticks": TICKS.schema})
    rules.add("one", "PATTERN SEQ(ticks a) WHERE doubled(a.v) > 1 WITHIN 10 RETURN a.ts")
    ost.functions.unregister("doubled")
    ost.functions.register("doubled", lambda x: x, takes=[DOUBLE], returns=DOUBLE)
    with pytest.raises(OstinatoError, match="different functions are called doubled"):
        rules.add("other", "PATTERN SEQ(ticks a) WHERE doubled(a.v) > 1 WITHIN 10 RETURN a.ts")
    assert "other" not in rules


def test_texts_that_are_alike_know_the_functions_of_their_time():
    rules = ost.QuerySet({"ticks": TICKS.schema})
    text = "PATTERN SEQ(ticks a) WHERE doubled(a.v) > {} WITHIN 10 RETURN a.ts"
    for limit in range(3, 7):
        rules.add(f"above {limit}", text.format(limit))
    found = {name: table.num_rows for name, table in ost.match_all(rules, ticks=TICKS).items()}
    assert found == {"above 3": 3, "above 4": 2, "above 5": 2, "above 6": 2}
    ost.functions.unregister("doubled")
    with pytest.raises(UnknownNameError, match="There is no function doubled"):
        rules.add("above 7", text.format(7))
    ost.functions.register("doubled", lambda x: pc.multiply(x, 1.0), takes=[DOUBLE], returns=DOUBLE)
    with pytest.raises(OstinatoError, match="different functions are called doubled"):
        rules.add("above 7", text.format(7))
    for limit in range(3, 7):
        rules.remove(f"above {limit}")
        if limit < 6:
            with pytest.raises(OstinatoError, match="different functions are called doubled"):
                rules.add("above 7", text.format(7))  # one that is left still calls the other one
    rules.add("above 7", text.format(7))
    assert ost.match_all(rules, ticks=TICKS)["above 7"].num_rows == 1


def test_the_sandbox_lets_in_what_is_registered_for_it():
    text = "PATTERN SEQ(ticks a) WHERE doubled(a.v) > 7 WITHIN 10 RETURN a.ts"
    with pytest.raises(SandboxError, match="The function doubled is not let into the sandbox") as caught:
        events(text, sandbox=True)
    assert caught.value.position == (1, 28)
    for run in (
        lambda: sql("A AS doubled(v) > 7", "A", "A.ts AS a", sandbox=True),
        lambda: ost.compile(text, ticks=TICKS.schema, sandbox=True),
    ):
        with pytest.raises(SandboxError, match="doubled is not let"):
            run()
    ost.functions.unregister("doubled")
    ost.functions.register("doubled", doubled, takes=[DOUBLE], returns=DOUBLE, sandbox=True)
    assert events(text, sandbox=True) == [(4,), (5,)]
    assert sql("A AS doubled(v) > 7", "A", "A.ts AS a", sandbox=True) == [(4,), (5,)]


def test_nothing_of_a_function_runs_while_a_text_is_compiled():
    def never(x):
        raise AssertionError("it was called")

    ost.functions.register("never", never, takes=[DOUBLE], returns=DOUBLE)
    ost.compile("PATTERN SEQ(ticks a) WHERE never(1) > 7 WITHIN 10", ticks=TICKS.schema)


def test_compiled_once_and_called_by_threads():
    function = functions_of(ost.compile("PATTERN SEQ(ticks a) WHERE distance(a.v, 1) > 7 WITHIN 10", ticks=TICKS.schema).program)[
        "distance"
    ]
    assert compiled(function) is compiled(function) and compiled(function).address != 0


def test_a_worker_without_the_module_says_so():
    data = pickle.dumps(
        functions_of(ost.compile("PATTERN SEQ(ticks a) WHERE doubled(a.v) > 7 WITHIN 10", ticks=TICKS.schema).program)["doubled"]
    )
    assert ShippedFunctions((("doubled", data),)).unpacked()["doubled"].body is doubled
    missing = data.replace(b"tests.unit.registered_functions", b"tests.unit.registered_elsewhere")
    with pytest.raises(UnsupportedError, match="the function doubled cannot be loaded by this worker") as caught:
        ShippedFunctions((("doubled", missing),)).unpacked()
    assert "registered_elsewhere" in caught.value.detail


def test_a_program_in_json_has_no_more_than_the_signature():
    query = ost.compile("PATTERN SEQ(ticks a) WHERE distance(a.v, 1) > 7 WITHIN 10", ticks=TICKS.schema)
    (signature,) = {json.dumps(serde._plain(f)) for f in functions_of(query.program).values()}
    assert set(json.loads(signature)["$FunctionSignature"]) == {"name", "takes", "returns", "compiled", "strict"}
    assert distance(1.0, 3.0) == 2.0
