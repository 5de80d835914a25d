"""The automaton of an event pattern: the paper's section 3.2 and Fig. 2."""

from dataclasses import replace
from xml.etree import ElementTree

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.algebra.pattern import Alternation, Repetition, Sequence, Variable
from ostinato.base.errors import OstinatoError
from ostinato.expr.typing.arrow_types import usable_schema
from ostinato.inspect.automaton.automaton import event_automaton
from ostinato.inspect.automaton.picture import LETTER, to_svg
from ostinato.inspect.automaton.text import to_text
from ostinato.lang import sase

STOCK = pa.schema([("ts", pa.timestamp("us")), ("symbol", pa.string()), ("price", pa.float64()), ("volume", pa.int64())])
EVENTS = pa.schema([
    ("ts", pa.timestamp("us")), ("kind", pa.string()), ("tag_id", pa.int64()), ("type", pa.string()), ("site", pa.string()),
    ("origin", pa.string()), ("target", pa.string()),
])  # fmt: skip
QUERY_1 = "PATTERN SEQ(Shelf a, ~(Register b), Exit c) WHERE skip_till_next_match(a, b, c) { [tag_id] } WITHIN 12 hours"
QUERY_2 = """PATTERN SEQ(Alert a, Shipment+ b[ ])
    WHERE skip_till_any_match(a, b[ ]) { a.type = 'contaminated' and b[1].origin = a.site and b[i].origin = b[i-1].target }
    WITHIN 3 hours"""
QUERY_3 = """PATTERN SEQ(Stock+ a[ ], Stock b)
    WHERE skip_till_next_match(a[ ], b) {
        [symbol] and a[1].volume > 1000 and a[i].price > avg(a[..i-1].price) and b.volume < 80%*a[a.LEN].volume }
    WITHIN 1 hour"""
ENDS = """PATTERN SEQ(A? a, B* b[ ], ~(D d), ~(SEQ(C e, D f)), C c, A? g, ~(B h))
    WHERE partition_contiguity(a, b[ ], d, e, f, c, g, h) { [tag_id] and b.LEN != 1 and c.tag_id > 3 } WITHIN 10 events"""


def lowered(text, ties=None):
    by_type = "Stock" not in text
    streams = {"events": usable_schema(EVENTS)} if by_type else {"stock": usable_schema(STOCK)}
    return sase.lower(sase.parse(text), streams, type_by="kind" if by_type else None, time="ts", ties=ties)


def alternatives():
    """a (b c* | d) e"""
    query = lowered("PATTERN SEQ(A a, B b, C+ c[ ], D d, A e) WHERE skip_till_next_match(a, b, c[ ], d, e) { c[i].tag_id > a.tag_id }")
    branches = Alternation((Sequence((Variable("b"), Repetition(Variable("c"), 0, None))), Variable("d")))
    return replace(query, pattern=Sequence((Variable("a"), branches, Variable("e"))))


def lines(query):
    return to_text(event_automaton(query)).splitlines()


def test_query_3_is_figure_2():
    assert lines(lowered(QUERY_3)) == [
        "(a) structure, skip_till_next_match",
        "  > a[1]  begin -> a[i]",
        "    a[i]  take -> a[i], ignore -> a[i], proceed -> b",
        "    b     begin -> F, ignore -> b",
        "    F     a match",
        "(b) formulas on edges",
        "    θa[1]_begin   = a[1].volume > 1000",
        "    θa[i]_take    = a[i].symbol = a[1].symbol ∧ a[i].price > avg(a[..i-1].price)",
        "    θa[i]_ignore  = ¬(a[i].symbol = a[1].symbol ∧ a[i].price > avg(a[..i-1].price))",
        "    θa[i]_proceed = True",
        "    θb_begin      = b.symbol = a[1].symbol ∧ b.volume < 0.8 * a[a.LEN].volume ∧ b.ts ≤ a[1].ts + 1 hour",
        "    θb_ignore     = ¬(b.symbol = a[1].symbol ∧ b.volume < 0.8 * a[a.LEN].volume)",
        "(c) formulas after optimisation: the window on every edge, proceed only to what can begin",
        "    θ*a[i]_take    = θa[i]_take ∧ a[i].ts ≤ a[1].ts + 1 hour",
        "    θ*a[i]_ignore  = θa[i]_ignore ∧ a[i].ts ≤ a[1].ts + 1 hour",
        "    θ*a[i]_proceed = θb_begin ∨ (¬θ*a[i]_take ∧ ¬θ*a[i]_ignore)",
        "    θ*b_ignore     = θb_ignore ∧ b.ts ≤ a[1].ts + 1 hour",
    ]


def test_query_1_shows_what_must_be_absent():
    shown = lines(lowered(QUERY_1))
    assert shown[1:4] == ["  > a  begin -> c", "    c  begin -> F, ignore -> c   [~(b)]", "    F  a match"]
    assert shown[-1] == "    θb_absent = b.kind = 'Register' ∧ b.tag_id = a.tag_id   ~(b) before c"


def test_query_2_ignores_everything():
    shown = lines(lowered(QUERY_2))
    assert "    b[i]  take -> b[i], ignore -> b[i], proceed -> F" in shown
    assert "    θb[i]_ignore  = True" in shown
    assert "    θb[i]_take    = b[i].kind = 'Shipment' ∧ b[i].origin = b[i-1].target" in shown
    assert "    θb[i]_proceed = b[b.LEN].ts ≤ a.ts + 3 hours" in shown


@pytest.mark.parametrize(
    ("strategy", "ignored"),
    [
        ("strict_contiguity", "False"),
        ("partition_contiguity", "¬(b.tag_id = a.tag_id)"),
        ("skip_till_next_match", "¬(b.kind = 'B' ∧ b.tag_id = a.tag_id)"),
        ("skip_till_any_match", "True"),
    ],
)
def test_the_strategy_decides_the_ignore_edge(strategy, ignored):
    shown = lines(lowered(f"PATTERN SEQ(A a, B b) WHERE {strategy}(a, b) {{ [tag_id] }}"))
    assert f"    θb_ignore = {ignored}" in shown
    without_partition = lines(lowered("PATTERN SEQ(A a, B b) WHERE partition_contiguity(a, b) { a.tag_id > 0 }"))
    assert "    θb_ignore = False" in without_partition


def test_a_run_passes_by_what_may_be_empty_and_ends_behind_what_must_not():
    shown = lines(lowered(ENDS))
    assert shown[1:7] == [
        "  > a     begin -> b[1], proceed -> b[1], proceed -> c",
        "    b[1]  begin -> b[i], proceed -> c, ignore -> b[1]",
        "    b[i]  take -> b[i], ignore -> b[i], proceed -> c",
        "    c     begin -> g, ignore -> c   [~(d)]   [~(e, f)]",
        "    g     begin -> F, proceed -> F, ignore -> g",
        "    F     a match   [~(h)]",
    ]
    assert "    θa_proceed→c    = b.LEN <> 1" in shown
    assert "    θ*b[i]_proceed   = θb[i]_proceed ∧ θ*c_begin" in shown
    assert "    θg_proceed      = events from first to last of the partition ≤ 10" in shown


def test_alternatives_are_waited_for_together():
    shown = lines(alternatives())
    assert "    b | d  begin -> c[1], begin -> e, ignore -> b | d" in shown
    assert "    θ(b | d)_ignore = ¬((b.kind = 'B') ∨ (d.kind = 'D'))" in shown
    assert "    θ*c[1]_proceed = θe_begin" in shown


def test_an_absence_behind_alternatives():
    text = "PATTERN SEQ(A a, (SEQ(B b, C+ c[ ]) | D d), ~(E e), F f) WHERE skip_till_any_match(a, b, c[ ], d, e, f) { [tag_id] }"
    shown = lines(lowered(text))
    assert "    f      begin -> F, ignore -> f   [~(e)]" in shown
    assert shown[-1] == "    θe_absent = e.kind = 'E' ∧ e.tag_id = a.tag_id   ~(e) before f"


def test_simultaneous_events_do_not_follow_one_another():
    shown = lines(lowered("PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { [tag_id] }", ties="epoch"))
    assert "    θb_begin  = b.kind = 'B' ∧ b.tag_id = a.tag_id ∧ b.ts > previous.ts" in shown


@pytest.mark.parametrize("query", [lowered(QUERY_1), lowered(QUERY_2), lowered(QUERY_3), lowered(ENDS), alternatives()])
def test_no_label_of_the_picture_lies_on_another(query):
    automaton = event_automaton(query)
    root = ElementTree.fromstring(to_svg(automaton))
    boxes = []
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        width = LETTER * len(text.text)
        left = float(text.get("x")) - (width / 2 if text.get("class") else 0)
        boxes.append((left, float(text.get("y")) - 9, left + width, float(text.get("y")) + 3, text.text))
    assert {state.name for state in automaton.structure.states} <= {box[4] for box in boxes}
    for i, one in enumerate(boxes):
        assert one[0] >= 0 and one[2] <= float(root.get("width")) and one[3] <= float(root.get("height"))
        for other in boxes[i + 1 :]:
            apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            assert apart, f"{one[4]} lies on {other[4]}"


def test_a_query_explains_and_draws_its_automaton():
    query = ost.compile(QUERY_3, {"stock": STOCK})
    assert query.explain("automaton").splitlines() == lines(lowered(QUERY_3))
    assert query.explain("automaton", format="svg") == to_svg(event_automaton(query.algebra))
    assert "prefers-color-scheme:dark" in query.explain("automaton", format="svg")
    with pytest.raises(OstinatoError, match="not drawn"):
        query.explain("plan", format="svg")
    with pytest.raises(OstinatoError, match="no format"):
        query.explain("automaton", format="png")


def test_the_automaton_of_a_row_pattern_is_not_drawn():
    text = "SELECT * FROM stock MATCH_RECOGNIZE (ORDER BY ts MEASURES A.price AS p PATTERN (A B+) DEFINE B AS price > 1)"
    query = ost.compile(text, {"stock": STOCK})
    assert "A -> " in query.explain("automaton")
    with pytest.raises(ost.UnsupportedError, match="only the automaton of an event pattern"):
        query.explain("automaton", format="svg")
