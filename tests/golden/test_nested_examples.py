"""The examples of the NEEL paper step by step: what is found, and what is kept after every step.

Events are written as there, `r1` for a Recycle at time 1. The paper's interval [1, 8], between r1 and d8, is here that in which events may
lie: from time 2 to the last event before d8."""

from __future__ import annotations

from datetime import datetime

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.inspect.kept_matches import kept_matches
from ostinato.plan.planner import TREE_EVALUATIONS

TOOLS = {"r": "Recycle", "a": "Other", "w": "Wash", "y": "Dry", "s": "Sharpen", "d": "Disinfect", "o": "Operate", "c": "Check"}
STEPS = ("r1 w2 y3 s5 d8 w9 y11 s13 o14", "d15 o26", "o30")
SCHEMA = pa.schema([("ts", pa.int64()), ("kind", pa.string()), ("id", pa.int64()), ("ins_type", pa.string())])


def stream(text: str, tool: int = 1) -> pa.Table:
    """`o8/2` is of tool 2."""
    events = [event.partition("/") for event in text.split()]
    rows = [{"ts": int(at[1:]), "kind": TOOLS[at[0]], "id": int(own or tool), "ins_type": "surgery"} for at, _, own in events]
    return pa.Table.from_pylist(rows, SCHEMA)


def opened(pattern: str, strategy: str | None) -> ost.Session:
    return ost.compile(f"PATTERN {pattern}", {"events": SCHEMA}, language="neel", type_by="kind", strategy=strategy).open()


def shown(table: pa.Table) -> list[str]:
    rows = [[event for event in row.values() if isinstance(event, dict)] for row in table.to_pylist()]
    letters = {kind: letter for letter, kind in TOOLS.items()}
    return [" ".join(f"{letters[event['kind']]}{event['ts']}" for event in sorted(row, key=lambda one: one["ts"])) for row in rows]


def step(session: ost.Session, events: str) -> tuple[list[str], str, tuple[int, int]]:
    """What is found, what is kept, and how often it was looked up and loaded so far."""
    batch = stream(events)
    found = shown(session.push(batch)) + shown(session.advance(batch["ts"][-1].as_py() + 1))
    metrics = session.metrics()
    return found, kept_matches(session), (metrics["cache_hits"], metrics["cache_loads"])


FIGURE_3 = "SEQ(Recycle r, SEQ(Wash w, Dry dr, Sharpen s), Disinfect d, Operate o) WITHIN 100"
FOUND = (
    ["r1 w2 y3 s5 d8 o14"],
    ["r1 w2 y3 s5 d8 o26", "r1 w2 y3 s5 d15 o26", "r1 w2 y3 s13 d15 o26", "r1 w2 y11 s13 d15 o26", "r1 w9 y11 s13 d15 o26"],
    ["r1 w2 y3 s5 d8 o30", "r1 w2 y3 s5 d15 o30", "r1 w2 y3 s13 d15 o30", "r1 w2 y11 s13 d15 o30", "r1 w9 y11 s13 d15 o30"],
)
OBJECTS = (
    ("(w, dr, s)\n  matches: w@2 dr@3 s@5\n  rightBound 5\n", (0, 1)),
    ("(w, dr, s)\n  matches: w@2 dr@3 s@5; w@9 dr@11 s@13; w@2 dr@11 s@13; w@2 dr@3 s@13\n  rightBound 14\n", (1, 2)),
    ("(w, dr, s)\n  matches: w@2 dr@3 s@5; w@9 dr@11 s@13; w@2 dr@11 s@13; w@2 dr@3 s@13\n  rightBound 14\n", (3, 2)),
)
FIRST = "(w, dr, s)\n  [2, 5]: w@2 dr@3 s@5\n"
BOTH = FIRST + "  [2, 14], behind those of [2, 5]: w@9 dr@11 s@13; w@2 dr@11 s@13; w@2 dr@3 s@13\n"
INTERVALS = ((FIRST, (0, 1)), (BOTH, (1, 2)), (BOTH, (3, 2)))


@pytest.mark.parametrize("strategy", TREE_EVALUATIONS)
def test_figure_3_under_every_evaluation(strategy: str) -> None:
    session = opened(FIGURE_3, strategy)
    assert tuple(step(session, events)[0] for events in STEPS) == FOUND


def test_example_1_an_interval_is_computed_once() -> None:
    """r1 a2 w3 c4 d5 c6 o7 o8: both o7 and o8 ask for what lies between r1 and d5."""
    session = opened(FIGURE_3, "semantic cache")
    assert step(session, "r1 a2 w3 c4 d5 c6 o7") == ([], "(w, dr, s)\n  [2, 4]: nothing\n", (0, 1))
    assert step(session, "o8") == ([], "(w, dr, s)\n  [2, 4]: nothing\n", (1, 1))


def test_example_2_an_object_cache_is_extended_to_the_right() -> None:
    session = opened(FIGURE_3, "object cache")
    for events, found, (kept, looked_up) in zip(STEPS, FOUND, OBJECTS, strict=True):
        assert step(session, events) == (found, kept, looked_up)


def test_example_3_an_interval_goes_on_from_another() -> None:
    session = opened(FIGURE_3, "semantic cache")
    for events, found, (kept, looked_up) in zip(STEPS, FOUND, INTERVALS, strict=True):
        assert step(session, events) == (found, kept, looked_up)


def test_figure_7_how_intervals_overlap() -> None:
    """Each operation asks for what lies between the recycling of its own tool and a disinfection."""
    session = opened("SEQ(Recycle r, SEQ(Wash w, Sharpen s), Disinfect d, Operate o, r.id = o.id) WITHIN 100", "semantic cache")
    first = "(w, s)\n  [2, 6]: w@2 s@3; w@5 s@6; w@2 s@6\n"
    assert step(session, "r1/1 w2 s3 r4/2 w5 s6 d7 o8/1")[1:] == (first, (0, 1))
    assert step(session, "o9/2")[1:] == (first, (1, 1)), "contained: [5, 6] in [2, 6]"
    behind = "  [5, 11], behind those of [2, 6]: w@10 s@11; w@5 s@11\n"
    assert step(session, "w10 s11 d12 o13/2")[1:] == (first + behind, (2, 2)), "overlaps: [5, 11] goes on behind [2, 6]"
    wider = "  [2, 11], behind those of [2, 6]: w@10 s@11; w@5 s@11; w@2 s@11\n"
    assert step(session, "o14/1")[1:] == (first + wider + behind, (3, 3)), "overlapped: nothing of [5, 11] can be taken for [2, 11]"
    apart = "  [16, 17]: w@16 s@17\n"
    assert step(session, "r15/3 w16 s17 d18 o19/3")[1:] == (first + wider + behind + apart, (3, 4)), "disjoint"


def test_an_interval_moves_with_the_window() -> None:
    """Where nothing of the match stands before it, the interval begins with the window, and goes on from the last one."""
    session = opened("SEQ(SEQ(Wash w, Sharpen s), Disinfect d) WITHIN 10", "semantic cache")
    assert step(session, "w2 s3 d7")[1:] == ("(w, s)\n  [-3, 3]: w@2 s@3\n", (0, 1))
    found, kept, looked_up = step(session, "w9 s10 d11")
    assert found == ["w2 s3 d11", "w2 s10 d11", "w9 s10 d11"] and looked_up == (0, 2)
    assert kept == "(w, s)\n  [-3, 3]: w@2 s@3\n  [1, 10], behind those of [-3, 3]: w@9 s@10; w@2 s@10\n"


def test_a_flag_says_something_about_other_intervals() -> None:
    """An interval in an empty one is empty, one around another that is not empty is not."""
    session = opened("SEQ(Recycle r, !SEQ(Wash w, Sharpen s), Disinfect d, Operate o, r.id = o.id) WITHIN 100", "semantic cache")
    assert step(session, "r1/1 w2 r3/2 w4 d5 o6/1") == (["r1 d5 o6"], "!(w, s)\n  [2, 4]: empty\n", (0, 1))
    assert step(session, "o7/2") == (["r3 d5 o7"], "!(w, s)\n  [2, 4]: empty\n", (1, 1)), "[4, 4] lies in [2, 4]"
    both = "!(w, s)\n  [2, 4]: empty\n  [4, 8]: not empty\n"
    assert step(session, "s8 d9 o10/2") == (["r3 d5 o10"], both, (2, 2))
    assert step(session, "o11/1") == (["r1 d5 o11"], both, (4, 2)), "[4, 8] lies in [2, 8]"


def test_a_negated_expression_keeps_flags_alone() -> None:
    """Section IV.D: one flag per interval, and no match."""
    session = opened(FIGURE_3.replace("SEQ(Wash", "!SEQ(Wash"), "semantic cache")
    assert step(session, "r1 w2 y3 d6 s7 d8 o14") == (["r1 d6 o14"], "!(w, dr, s)\n  [2, 3]: empty\n  [2, 7]: not empty\n", (0, 2))
    assert step(session, "o15") == (["r1 d6 o15"], "!(w, dr, s)\n  [2, 3]: empty\n  [2, 7]: not empty\n", (2, 2))
    assert session.metrics()["kept_results"] == 0


def test_nothing_is_kept_without_a_cache() -> None:
    session = opened(FIGURE_3, "iterative")
    assert [step(session, events)[1] for events in STEPS] == ["", "", ""]


TOOLS_QUERY = """SEQ(Recycle r, Wash w, !AND(Sharpen s, Disinfect d, Check c, s.id = d.id = c.id = o.id), Operate o,
    r.id = w.id AND w.id = o.id AND o.ins_type = 'surgery') WITHIN 60"""


@pytest.mark.parametrize("strategy", TREE_EVALUATIONS)
def test_surgical_tools(strategy: str) -> None:
    """A tool that was washed and is used without being sharpened, disinfected and checked, in whatever order."""
    session = opened(TOOLS_QUERY, strategy)
    alarms = shown(
        session.push(pa.concat_tables([stream("r1 w2 c3 s4 d5 o6"), stream("r7 w8 s9 d10 o11", tool=2), stream("c12 o13", tool=2)]))
    )
    assert alarms + shown(session.close()) == ["r7 w8 o11"]


MARKET_QUERY = """PATTERN SEQ(Amazon a, AND(Dell d, Lenovo l, Apple ap, d.drop > 0, l.drop > 0, ap.drop > 0), a.drop > 0) WITHIN 1 hour"""


@pytest.mark.parametrize("strategy", TREE_EVALUATIONS)
def test_market_hypothesis(strategy: str) -> None:
    """Figure 1: a falling price of Amazon is followed by falling prices of laptop brands, in whatever order."""
    prices = "Amazon/1 Apple/2 Dell/3 Amazon/-1 Lenovo/-2 Lenovo/1 Apple/1 Dell/0"
    rows = [
        {"ts": datetime(2026, 1, 1, 9, 5 * number), "name": name, "drop": int(drop)}
        for number, (name, drop) in enumerate(price.split("/") for price in prices.split())
    ]
    found = ost.match(MARKET_QUERY, language="neel", type_by="name", strategy=strategy, stocks=pa.Table.from_pylist(rows)).to_arrow()
    minutes = [[row[name]["ts"].minute // 5 for name in ("a", "d", "l", "ap")] for row in found.to_pylist()]
    assert minutes == [[0, 2, 5, 1], [0, 2, 5, 6]]
