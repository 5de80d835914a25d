import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.automata.preferment import NAMES, ways
from tests.unit.runtime.pattern_search import Case, Drive, cases, expected, window_end

import ostinato as ost
from ostinato.algebra.pattern import Alternation, Repetition, Sequence, Variable
from ostinato.base.errors import BudgetError, DataError, StateError
from ostinato.expr.types import INT
from ostinato.program.analysis.live_registers import live_registers
from ostinato.program.opcodes import Op, Space, operand
from ostinato.program.ordered_nfa import VariableTest
from ostinato.program.scalar_code import Register, ScalarCode
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.threads import thread_matcher, thread_store
from ostinato.runtime.threads.thread_matcher import ThreadMatcher

A, B, C = (Variable(name) for name in NAMES)
COMPILED = not os.environ.get("NUMBA_DISABLE_JIT")
VALUE = operand(Space.SLOT, 0)
LAST, COUNT = operand(Space.REGISTER, 0), operand(Space.REGISTER, 1)
BUMPED = operand(Space.TEMP, 0)

# A: any value. B: above the value before, counted. C: the number of B rows so far is at most its value.
LINES = [
    [(Op.COPY, 0, 0, 0), (Op.STORE, VALUE, 0, 0)],
    [(Op.TEST_GT_INT, VALUE, LAST, 0), (Op.COUNT, COUNT, VALUE, 0), (Op.COPY, 0, 0, 0), (Op.STORE, VALUE, 0, 0), (Op.STORE, BUMPED, 0, 1)],
    [(Op.TEST_LE_INT, COUNT, VALUE, 0), (Op.COPY, 0, 0, 0), (Op.STORE, VALUE, 0, 0)],
]


def scalar(lines):
    flat = [line for block in lines for line in block]
    ends = list(np.cumsum([len(block) for block in lines]))
    blocks = tuple(zip([0, *ends[:-1]], ends, strict=True))
    columns = list(zip(*((int(op), a, b, c) for op, a, b, c in flat), strict=True))
    return ScalarCode(*map(tuple, columns), blocks=tuple((int(b), int(e)) for b, e in blocks))


REGISTERS = (Register("last", INT), Register("count", INT, counter=True))


def dynamic(case, lines=LINES, registers=REGISTERS):
    tests = tuple(VariableTest(bit, bit) for bit in range(3))
    return replace(case.compiled(), evaluation="threads", scalar=scalar(lines), registers=registers, tests=tests, slots=(INT,))


def holds(way, values):
    last, count = None, 0
    for name, value in zip(way, values, strict=False):
        if name == "B" and (last is None or value <= last):
            return False
        if name == "C" and count > value:
            return False
        count += name == "B"
        last = value
    return True


def expected_dynamic(case, values):
    found = {}
    for key in {row[0] for row in case.rows}:
        own = [i for i, row in enumerate(case.rows) if row[0] == key]
        times, sets = [case.rows[i][1] for i in own], [set(case.rows[i][2]) for i in own]
        start = 0
        while start < len(own):
            rest = [values[i] for i in own[start:]]
            all_ways = ways(case.pattern, sets[: window_end(case, times, start)], start, len(sets))
            way = next((way for way in all_ways if holds(way, rest)), None)
            if way is not None:
                found.setdefault(key, []).append((start, way))
            start += len(way) if way and case.skip == "past last row" else 1
    return found


def matcher(pattern, budget=Budget()):  # noqa: B008
    return ThreadMatcher(pattern, budget, StringPool())


def drive_in_pieces(pattern, case, data, slots):
    drive = Drive(matcher(pattern), slots=slots.shape[1])
    at = 0
    while at < len(case.rows):
        size = data.draw(st.integers(1, 8))
        piece = case.rows[at : at + size]
        watermark = data.draw(st.sampled_from([np.iinfo(np.int64).min, piece[-1][1]]))
        drive.push(piece, watermark, ahead=data.draw(st.integers(0, 1)), slots=slots[at : at + size])
        at += size
        if data.draw(st.booleans()):
            restored = matcher(pattern)
            restored.load(drive.matcher.state())
            drive.matcher = restored
    drive.push([], final=True)
    return drive


@settings(max_examples=60 if COMPILED else 20, deadline=None)
@given(cases(), st.data())
def test_without_registers_it_finds_what_the_plain_search_finds(case, data):
    pattern = replace(case.compiled(), evaluation="threads")
    assert drive_in_pieces(pattern, case, data, np.zeros((len(case.rows), 1), np.int64)).found == expected(case)


@settings(max_examples=120 if COMPILED else 30, deadline=None)
@given(cases(14), st.data())
def test_with_registers_the_best_way_that_fulfils_its_conditions_is_found(case, data):
    """With the smallest possible arrays, so that each of them has to grow."""
    values = data.draw(st.lists(st.integers(0, 3), min_size=len(case.rows), max_size=len(case.rows)))
    small = patch.multiple(thread_store, MIN_ROOM=1, MIN_NODES=1), patch.multiple(thread_matcher, MIN_MATCHES=1)
    with small[0], small[1]:
        drive = drive_in_pieces(dynamic(case), case, data, np.array(values, np.int64).reshape(-1, 1))
    assert drive.found == expected_dynamic(case, values)


def test_a_match_comes_as_soon_as_it_cannot_change():
    drive = Drive(matcher(dynamic(Case(Sequence((A, B)), ()))), slots=1)
    drive.push([(0, 0, frozenset("A")), (0, 1, frozenset("B"))], slots=np.array([[1], [2]]))
    assert drive.found == {0: [(0, ("A", "B"))]} and drive.matcher.idle(np.array([0]))[0]


ANY = Repetition(Alternation((A, B)), 0, None)


def test_threads_with_the_same_future_are_one():
    """Every row may be A or B in two ways; only what is read later keeps threads apart: here the last value, the same for all."""
    lines = [LINES[0], [(Op.COPY, 0, 0, 0), (Op.COUNT, COUNT, VALUE, 0), (Op.STORE, BUMPED, 0, 1)], [(Op.TEST_LT_INT, VALUE, LAST, 0)]]
    pattern = dynamic(Case(Sequence((ANY, C)), ()), lines)
    assert live_registers(pattern.nfa, pattern.tests, pattern.scalar, 2).tolist() == [[1, 0], [1, 0], [0, 0]]
    drive = Drive(matcher(pattern), slots=1)
    drive.push([(0, i, frozenset("AB")) for i in range(50)], slots=np.ones((50, 1), np.int64))
    assert drive.matcher.metrics()["threads"] <= 2


def test_what_cannot_be_merged_has_a_budget():
    """Each way has its own number of B rows, and C asks for it; the values are such that every sum of powers of two occurs."""
    total = operand(Space.REGISTER, 0)
    lines = [[], [(Op.SUM_INT, total, VALUE, 0), (Op.COPY, 0, 0, 0), (Op.STORE, BUMPED, 0, 0)], [(Op.TEST_EQ_INT, VALUE, total, 0)]]
    pattern = dynamic(Case(Sequence((ANY, C)), ()), lines, (Register("total", INT),))
    drive = Drive(matcher(pattern, Budget(runs=500)), slots=1)
    with pytest.raises(BudgetError, match="alternatives") as error:
        drive.push([(0, i, frozenset("AB")) for i in range(20)], slots=2 ** np.arange(20).reshape(-1, 1))
    assert error.value.hint
    waiting = Drive(matcher(pattern, Budget(runs=5)), slots=1)
    with pytest.raises(BudgetError):
        waiting.push([(key, 0, frozenset("AB")) for key in range(6)], slots=np.ones((6, 1), np.int64))
    heavy = Drive(matcher(pattern, Budget(bytes=1000)), slots=1)
    with pytest.raises(BudgetError, match="bytes"):
        heavy.push([(0, 0, frozenset("AB"))], slots=np.ones((1, 1), np.int64))


def test_an_overflow_in_a_condition_is_an_error():
    lines = [LINES[0], [(Op.ADD_INT, VALUE, LAST, 0), (Op.TEST, BUMPED, 0, 0)], LINES[2]]
    drive = Drive(matcher(dynamic(Case(Sequence((A, B)), ()), lines)), slots=1)
    with pytest.raises(DataError, match="64 bits"):
        drive.push([(0, 0, frozenset("A")), (0, 1, frozenset("B"))], slots=np.full((2, 1), np.iinfo(np.int64).max))


def test_paths_that_nobody_is_on_are_given_up():
    drive = Drive(matcher(dynamic(Case(Sequence((A, Repetition(Alternation((B, A)), 0, None), C)), (), 20))), slots=1)
    rng = np.random.default_rng(1)
    for at in range(0, 3000, 10):
        rows = [(0, at + i, frozenset("AB")) for i in range(10)]
        drive.push(rows, watermark=at, slots=rng.integers(0, 50, (10, 1)))
    metrics = drive.matcher.metrics()
    assert len(drive.matcher.state()["nodes"]) < 500 and metrics["path_nodes"] < 5000


def test_keys_keep_their_state_when_they_are_renumbered():
    drive = Drive(matcher(dynamic(Case(Sequence((A, B)), ()))), slots=1)
    drive.push([(key, 0, frozenset("A")) for key in range(3)], slots=np.array([[1], [5], [9]]))
    for each in (drive.matcher, drive.rows):
        each.renumber(np.array([2, 0]))
    drive.push([(0, 1, frozenset("B")), (1, 1, frozenset("B"))], slots=np.array([[5], [5]]))
    assert drive.found == {1: [(0, ("A", "B"))]}


def test_a_snapshot_of_another_query_is_refused():
    drive = Drive(matcher(dynamic(Case(Sequence((A, B)), ()))), slots=1)
    drive.push([(0, 0, frozenset("A"))], slots=np.ones((1, 1), np.int64))
    with pytest.raises(StateError):
        matcher(replace(Case(Sequence((A, B)), ()).compiled(), evaluation="threads")).load(drive.matcher.state())


@pytest.mark.skipif(not COMPILED, reason="this is the run without the compiler")
def test_the_kernels_mean_the_same_without_the_compiler():
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", __file__, "-k", "registers"]
    finished = subprocess.run(
        command, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stdout


def test_alternatives_that_are_followed_for_long_end_in_a_budget_error():
    """Sums tell more and more threads apart, which all have to be compared."""
    rows = pa.table({"ts": range(40), "v": [n % 7 for n in range(40)]})
    text = """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES COUNT(*) AS n PATTERN (((A | B)+ (A | C)+)+ D)
        DEFINE A AS SUM(A.v) >= 0, B AS SUM(B.v) >= 0, C AS SUM(C.v) >= 0, D AS D.v < 0)"""
    with pytest.raises(BudgetError, match=r"alternatives of the preferred match are followed, and it takes too long"):
        ost.compile(text, {"t": rows.schema}).open(budget=Budget(steps=1)).push(rows)
