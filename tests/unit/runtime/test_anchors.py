"""`^` and `$` in both strategies: what rows that come later change, and where a partition begins."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tests.unit.automata.preferment import NAMES
from tests.unit.runtime.pattern_search import Case, Drive, expected

import ostinato as ost
from ostinato.algebra.pattern import Alternation, PartitionEnd, PartitionStart, Repetition, Sequence, Variable
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.scan.scan_matcher import ScanMatcher
from ostinato.runtime.session import idle_keys
from ostinato.runtime.threads.thread_matcher import ThreadMatcher

A, B, C = (Variable(name) for name in NAMES)
FIRST, LAST = PartitionStart(), PartitionEnd()
MANY_A, MANY_B = Repetition(A, 1, None), Repetition(B, 0, None)


@pytest.fixture(params=["scan", "threads"])
def opened(request):
    def drive(case: Case) -> Drive:
        pattern = replace(case.compiled(), evaluation=request.param)
        return Drive(ScanMatcher(pattern) if request.param == "scan" else ThreadMatcher(pattern, Budget(), StringPool()))

    return drive


def rows_of(*texts: str):
    return tuple((0, i, frozenset(text) - {"-"}) for i, text in enumerate(texts))


def test_a_match_at_the_end_waits_for_the_end_however_much_time_has_passed(opened):
    drive = opened(Case(Sequence((MANY_A, LAST)), (), 10))
    drive.push(rows_of("A", "A"))
    drive.push([], watermark=1000)
    assert drive.found == {} and not drive.matcher.idle(np.array([0]))[0]
    drive.push([], final=True)
    assert drive.found == {0: [(0, ("A", "A"))]}


def test_a_row_that_comes_outside_of_the_window_is_a_later_row_too(opened):
    drive = opened(Case(Sequence((A, LAST)), (), 10))
    drive.push(rows_of("A"))
    drive.push([], watermark=1000)
    drive.push([(0, 2000, frozenset("B"))])
    drive.push([], final=True)
    assert drive.found == {}


def test_a_window_in_events_waits_for_the_end_as_well(opened):
    drive = opened(Case(Sequence((A, B, LAST)), (), 2, "events"))
    drive.push(rows_of("A", "B"))
    assert drive.found == {}
    drive.push([], final=True)
    assert drive.found == {0: [(0, ("A", "B"))]}


@pytest.mark.parametrize(("more", "variable"), [((), "A"), (((0, 1, frozenset()),), "B")])
def test_the_same_row_may_have_another_variable_if_it_is_the_last(opened, more, variable):
    drive = opened(Case(Alternation((Sequence((A, LAST)), B)), ()))
    drive.push(rows_of("AB"))
    assert drive.found == {}
    drive.push(more)
    drive.push([], final=True)
    assert drive.found == {0: [(0, (variable,))]}


def test_what_does_not_depend_on_the_end_comes_at_once(opened):
    drive = opened(Case(Sequence((A, B, Repetition(LAST, 0, 1))), ()))
    drive.push(rows_of("A", "B"))
    assert drive.found == {0: [(0, ("A", "B"))]}


def test_the_first_row_of_a_partition_stays_the_first(opened):
    drive = opened(Case(Sequence((FIRST, Repetition(A, 1, 2))), (), skip="to next row"))
    for row in rows_of("A", "A", "A", "A"):
        drive.push([row])
        loaded = opened(Case(Sequence((FIRST, Repetition(A, 1, 2))), (), skip="to next row"))
        loaded.matcher.load(drive.matcher.state())
        drive.matcher = loaded.matcher
    drive.push([], final=True)
    assert drive.found == {0: [(0, ("A", "A"))]}


def test_an_empty_match_before_the_first_row_only(opened):
    drive = opened(Case(Alternation((FIRST, B)), ()))
    drive.push(rows_of("A", "B", "A"), final=True)
    assert drive.found == {0: [(0, ()), (1, ("B",))]}


LONG = [
    Sequence((FIRST, A, MANY_B, C)),
    Sequence((A, MANY_B, LAST)),
    Sequence((A, MANY_B, Alternation((C, LAST)))),
    Sequence((Repetition(FIRST, 0, 1), A, MANY_B, C, Repetition(LAST, 0, 1))),
    Alternation((Sequence((FIRST, A, A, MANY_B, LAST)), Sequence((A, MANY_B, C)), Sequence((B, Repetition(A, 0, 9), LAST)))),
]


@pytest.mark.parametrize("pattern", LONG)
@pytest.mark.parametrize("within", [-1, 40])
def test_long_partitions(opened, pattern, within):
    """Beyond the first block of marked rows, with walks that are remembered."""
    random = np.random.default_rng(7)
    chances = {"A": 0.7, "B": 0.97, "C": 0.02}
    rows = tuple((0, i, frozenset(name for name in NAMES if random.random() < chances[name])) for i in range(300))
    case = Case(pattern, rows, within)
    drive = opened(case)
    drive.push(rows, final=True)
    assert drive.found == expected(case)


def test_attempts_that_fail_at_the_end_are_not_walked_again():
    steps = []
    for n in (1000, 2000):
        rows = (*((0, i, frozenset("AB")) for i in range(n)), (0, n, frozenset()))
        drive = Drive(ScanMatcher(Case(Sequence((A, MANY_B, LAST)), rows).compiled()))
        for at in range(0, n + 1, 100):
            drive.push(rows[at : at + 100])
        drive.push([], final=True)
        assert drive.found == {}
        steps.append(drive.matcher.metrics()["row_steps"])
    assert steps[0] < 40 * 1000 and steps[1] < 2.2 * steps[0]


@pytest.mark.parametrize("rest", ["PATTERN (^ A) DEFINE A AS TRUE", "PATTERN (A) DEFINE A AS MATCH_NUMBER() = 1"])
def test_a_key_that_comes_back_is_no_new_partition(monkeypatch, rest):
    monkeypatch.setattr(idle_keys, "FORGET_FROM", 4)
    text = f"SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY p ORDER BY k MEASURES FIRST(k) AS k {rest})"
    session = ost.compile(text, {"t": pa.schema([("p", pa.int64()), ("k", pa.int64())])}).open()
    found = []
    for k in range(3):
        found += session.push(pa.table({"p": list(range(9)), "k": [k] * 9})).to_pylist()
    found += session.close().to_pylist()
    assert [row["k"] for row in found] == [0] * 9
