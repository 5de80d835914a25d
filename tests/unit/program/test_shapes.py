"""Programs that are equal up to constants: which queries meet, which do not, and why."""

from dataclasses import replace

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.program import serde
from ostinato.program.analysis.concerned_rows import concerned_rows
from ostinato.program.constants_table import constants_schema, packed
from ostinato.program.expansion import expanded
from ostinato.program.shapes.member import Member
from ostinato.program.shapes.shape import operator_name, program_of_shape, shaped
from ostinato.program.verification.verify import verify

SCHEMA = pa.schema(
    [
        ("ts", pa.int64()),
        ("k", pa.string()),
        ("x", pa.float64()),
        ("n", pa.int64()),
        ("at", pa.timestamp("us")),
        ("i", pa.int32()),
        ("d", pa.decimal128(9, 2)),
    ]
)


def shape_of(text: str, **options):
    return shaped(ost.compile(text, {"t": SCHEMA}, **options).program)


def sase(conditions: str, returned: str = "a.ts AS s", window: int = 9, names: str = "a b") -> str:
    one, two = names.split()
    return f"PATTERN SEQ(t {one}, t {two}) WHERE skip_till_next_match({one}, {two}) {{ {conditions} }} WITHIN {window} RETURN {returned}"


def row(condition: str, more: str = "PARTITION BY k ") -> str:
    return f"SELECT * FROM t MATCH_RECOGNIZE ({more}ORDER BY ts MEASURES A.ts AS s PATTERN (A B) DEFINE A AS {condition}, B AS x < PREV(x))"


BASE = sase("[k] and a.x > 5 and a.k = 'u' and b.x < a.x - 2")


@pytest.mark.parametrize(
    "other",
    [
        sase("[k] and a.x > 7.5 and a.k = 'v' and b.x < a.x - 3"),
        sase("[k] and a.k = 'v' and 7 < a.x and b.x < a.x - 3"),
        sase("[k] and p.x > 7 and p.k = 'v' and q.x < p.x - 3", "p.ts AS s", names="p q"),
    ],
)
def test_constants_their_order_and_names_of_variables_do_not_matter(other):
    one, two = shape_of(BASE), shape_of(other)
    assert one.shape is not None and two.shape is not None
    assert one.shape == two.shape and len(one.constants) == len(two.constants) == 3


def test_constants_of_negations_do_not_matter_either():
    text = "PATTERN SEQ(t a, ~(t c), t b) WHERE skip_till_next_match(a, c, b) {{ a.x > {} and c.x > a.x + {} }} WITHIN 9 RETURN a.ts AS s"
    one, two = shape_of(text.format(5, 2)), shape_of(text.format(7, 4))
    assert one.shape is not None and one.shape == two.shape
    assert sorted(one.constants) == [2.0, 5.0] and sorted(two.constants) == [4.0, 7.0]


@pytest.mark.parametrize(
    "other",
    [
        sase("[k] and a.x > 5 and a.k = 'u' and b.x < a.x - 2", window=10),
        sase("[k] and a.x >= 5 and a.k = 'u' and b.x < a.x - 2"),
        sase("[k] and a.n > 5 and a.k = 'u' and b.x < a.x - 2"),
        sase("[k] and a.x > 5 and a.k = 'u' and b.x < a.x - 2", "a.ts AS other"),
        sase("a.x > 5 and a.k = 'u' and b.x < a.x - 2"),
    ],
)
def test_what_else_differs_is_another_shape(other):
    one, two = shape_of(BASE), shape_of(other)
    assert one.shape is not None and two.shape is not None and one.shape.name != two.shape.name


def test_equal_constants_make_no_other_shape():
    assert shape_of(row("x BETWEEN 1 AND 2")).shape == shape_of(row("x BETWEEN 2 AND 2")).shape


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (row("i + 1 > 5 AND k = 'a'"), row("i + 100 > 7 AND k = 'b'")),
        (row("i * 1000 - 7 > n AND k = 'a'"), row("i * 2147483647 - 0 > n AND k = 'a'")),
        (sase("[k] and a.n > 5 and b.i < a.i - 2"), sase("[k] and a.n > 6 and b.i < a.i - 3")),
        (sase("[k] and a.n > 5 and b.i < 2", "b.i * 2 + a.i AS s"), sase("[k] and a.n > 6 and b.i < 3", "b.i * 4 + a.i AS s")),
        (row("ABS(d) + 2.5 > 5 AND k = 'a'"), row("ABS(d) + 3.5 > 7 AND k = 'b'")),
        (row("i % 10 = 5 AND n % 100 = 7"), row("i % 10 = 6 AND n % 100 = 9")),
    ],
)
def test_arithmetic_that_cannot_leave_64_bits(one, other):
    first, second = shape_of(one), shape_of(other)
    assert first.shape is not None and second.shape is not None, first.why_not
    assert first.shape == second.shape


def test_larger_constants_are_no_part_of_the_shape():
    """A text like others, with a constant that their arithmetic would not bear."""
    queries = ost.QuerySet({"t": SCHEMA})
    for number in range(8):
        queries.add(f"q{number}", sase(f"[k] and a.n > {number} and b.i * {number + 2} > 5"))
    queries.add("large", sase("[k] and a.n > 3 and b.i * 99999999999 > 5"))
    template = sase("[k] and a.n > ${n} and b.i * ${m} > 5")
    queries.add_all(template, pa.table({"id": [f"t{n}" for n in range(8)], "n": range(20, 28), "m": [*range(50, 57), 10**12]}))
    explained = queries.explain()
    assert "15 queries" in explained
    assert [line.partition(":")[0] for line in explained.splitlines() if "by itself" in line] == ["large", "t7"]


def test_members_are_the_same_with_the_same_constants_of_one_shape():
    def member(text: str) -> Member:
        found = shape_of(text)
        assert found.shape is not None
        return Member(found.shape, found.constants)

    assert member(row("x > 5")).is_same(member(row("x > 5")))
    assert not member(row("x > 5")).is_same(member(row("x > 6")))
    assert not member(row("x > 0e0")).is_same(member(row("x > -0e0")))
    assert not member(row("x > 5")).is_same(member(row("x >= 5")))


def test_constants_are_held_as_values_are():
    found = shape_of(row("at > TIMESTAMP '1970-01-01 00:00:01' AND n > 4.5 AND x > 3 AND k = 'it''s'"))
    assert sorted(map(repr, found.constants)) == sorted(map(repr, ("it's", 1_000_000, 4, 3.0)))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (row("x < PREV(x) AND x > 5"), "rows around a match"),
        (row("x > n"), "no constants"),
        (row("k LIKE 'a%'"), "no constants"),
        (row("k > 'a'"), "compared with no constant"),
        (row("n + 1 > 5"), "may fail"),
        (row("i * 4294967296 > 5 AND k = 'a'"), "may fail"),
        (row("i * i * 2 > 5 AND k = 'a'"), "may fail"),
        (sase("[k] and a.n > 5 and b.n < a.n - 2"), "an error of its own"),
        (sase("[k] and b.x > 5"), "any row may begin"),
        (BASE.replace("skip_till_next_match", "strict_contiguity"), "every row of the stream"),
        (BASE.partition(" RETURN")[0] + " OUTPUT count", "more than a row per match"),
        ("PATTERN SEQ(~(t m), t a) WHERE skip_till_next_match(m, a) { a.x > 5 and m.x > 3 } WITHIN 5", "before a match"),
        (
            BASE.partition(" RETURN")[0] + " RETURN P(a.x AS x); PATTERN SEQ(P v) WHERE skip_till_next_match(v) { v.x > 1 }",
            "several steps",
        ),
    ],
)
def test_why_a_query_goes_by_itself(text, reason):
    found = shape_of(text)
    assert found.shape is None and reason in found.why_not


def test_what_an_index_is_asked():
    """Equalities and ranges of what begins a match; where something is begun, what any part of it asks for."""
    found = shape_of(BASE)
    assert found.shape is not None
    concerned = concerned_rows(expanded(found.shape.body))
    assert [sorted(comparison.relation for comparison in begin) for begin in concerned.initial] == [["eq", "gt"]]
    assert concerned.follows is None  # any row of the partition may be b
    single = shape_of("PATTERN SEQ(t a) WHERE skip_till_next_match(a) { a.x > 5 } RETURN a.ts AS s").shape
    assert single is not None and concerned_rows(expanded(single.body)).follows == ()


def forged(**changes):
    found = shape_of(BASE)
    assert found.shape is not None
    table = pa.table([[["q"]], ["u"], [2.0], [5.0]], schema=constants_schema(found.shape.parameters))
    program = program_of_shape(found.shape, packed(table), operator_name(found.shape.name))
    return replace(program, inputs=(replace(program.inputs[0], **changes),)), table


def test_programs_of_shapes_are_written_and_read():
    program, _ = forged()
    assert serde.loads(serde.dumps(program)) == program
    verify(program)


@pytest.mark.parametrize(
    "table",
    [
        lambda table: packed(table)[:-20],
        lambda table: b"nothing",
        lambda table: packed(table.rename_columns(["ids", "?0", "?1", "?7"])),
        lambda table: packed(pa.table([[["q", "q"]], ["u"], [2.0], [5.0]], schema=table.schema)),
        lambda table: packed(pa.concat_tables([table, table])),
        lambda table: packed(table.set_column(1, "?0", pa.array([1]))),
    ],
)
def test_forged_tables_are_refused(table):
    _, held = forged()
    program, _ = forged(queries=table(held))
    with pytest.raises(ost.StateError):
        verify(program)


def test_constants_without_a_shape_are_refused():
    with pytest.raises(ost.StateError):
        verify(forged(shape="")[0])
    with pytest.raises(ost.StateError):
        verify(forged(parameters=())[0])
