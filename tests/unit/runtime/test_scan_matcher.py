import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.automata.preferment import NAMES
from tests.unit.runtime.pattern_search import Case, Drive, cases, expected

from ostinato.algebra.pattern import Alternation, Repetition, Sequence, Variable
from ostinato.base.errors import BudgetError, StateError
from ostinato.kernels.scan import scan_memo
from ostinato.runtime.scan import backward_dfa, lazy_dfa, scan_matcher
from ostinato.runtime.scan.scan_matcher import ScanMatcher

A, B, C = (Variable(name) for name in NAMES)
STAR_B = Repetition(B, 0, None)
COMPILED = not os.environ.get("NUMBA_DISABLE_JIT")


@settings(max_examples=150 if COMPILED else 40, deadline=None)
@given(cases(), st.data())
def test_any_split_finds_what_the_plain_search_finds(case, data):
    drive = Drive(ScanMatcher(case.compiled()))
    at = 0
    while at < len(case.rows):
        size = data.draw(st.integers(1, 8))
        piece = case.rows[at : at + size]
        at += size
        watermark = data.draw(st.sampled_from([np.iinfo(np.int64).min, piece[-1][1]]))
        drive.push(piece, watermark, ahead=data.draw(st.integers(0, 2)))
        if data.draw(st.booleans()):
            restored = ScanMatcher(case.compiled())
            restored.load(drive.matcher.state())
            drive.matcher = restored
        if data.draw(st.booleans()):
            drive.push([], piece[-1][1] + data.draw(st.integers(0, 1)) if at >= len(case.rows) else watermark)
    drive.push([], final=True)
    assert drive.found == expected(case)


@settings(max_examples=100 if COMPILED else 20, deadline=None)
@given(cases())
def test_many_predicates_are_numbered_instead_of_used_directly(case):
    bits = (63, 5, 40)
    drive = Drive(ScanMatcher(case.compiled(bits)), bits=bits)
    drive.push(case.rows, final=True)
    assert drive.found == expected(case)


def rows_of(text, step=1):
    return tuple((0, step * i, frozenset(NAMES) if letter == "*" else frozenset(letter) - {"-"}) for i, letter in enumerate(text))


def test_rows_that_several_variables_may_have_are_given_to_the_preferred_ones():
    case = Case(Sequence((Repetition(A, 0, None), Repetition(Alternation((B, A)), 1, None, greedy=False), C)), rows_of("****"))
    drive = Drive(ScanMatcher(case.compiled()))
    drive.push(case.rows, final=True)
    assert drive.found == {0: [(0, ("A", "A", "B", "C"))]} == expected(case)


@pytest.mark.parametrize("within", [-1, 1_000_000, 50])
@pytest.mark.parametrize("last", ["-", "b"])
def test_long_attempts_that_fail_are_not_walked_again(within, last):
    """`A B* C` where every row is A and B and none is C: all starts run to the end, or to the end of the window."""
    steps = []
    for n in (1000, 2000):
        everything = tuple((0, i, frozenset("AB")) for i in range(n)) + ((0, n, frozenset("AB" if last == "b" else "")),)
        case = Case(Sequence((A, STAR_B, C)), everything, within)
        drive = Drive(ScanMatcher(case.compiled()))
        drive.push(case.rows, final=True)
        assert drive.found == {}
        steps.append(drive.matcher.metrics()["row_steps"])
    assert steps[0] < 40 * 1000 and steps[1] < 2.2 * steps[0]


THREES = Sequence((A, Repetition(Sequence((B, B, B)), 0, None), C))
SHORT_OR_LONG = Sequence((A, Repetition(Sequence((STAR_B, C)), 0, 1)))


@pytest.mark.parametrize(("pattern", "matches"), [(THREES, 0), (SHORT_OR_LONG, 800)])
def test_neither_are_attempts_that_pass_in_several_states_or_have_matched_before(pattern, matches):
    steps = []
    for n in (400, 800):
        case = Case(pattern, tuple((0, i, frozenset("AB")) for i in range(n)), 100)
        drive = Drive(ScanMatcher(case.compiled()))
        for row in case.rows:  # one at a time: what was remembered outlives a feed
            drive.push([row], row[1])
        drive.push([], final=True)
        steps.append(drive.matcher.metrics()["row_steps"])
    assert drive.found.get(0, []) == [(i, ("A",)) for i in range(matches)]
    assert steps[0] < 60 * 400 and steps[1] < 2.4 * steps[0]


@pytest.mark.parametrize("fruitless", [(0, 1), (1, 0)], ids=["first", "last"])
def test_what_was_remembered_of_one_partition_says_nothing_about_another(fruitless):
    """Both are walked far and in vain at first. One ends so, the other has a C that only attempts from its middle reach."""
    in_vain, fruitful = fruitless
    letters = {in_vain: [frozenset("AB")] * 100 + [frozenset()], fruitful: [frozenset("AB")] * 150 + [frozenset("C")]}
    rows = tuple((key, time, names) for key in (0, 1) for time, names in enumerate(letters[key]))
    case = Case(Sequence((A, STAR_B, C)), rows, 100)
    drive = Drive(ScanMatcher(case.compiled()))
    drive.push(case.rows, final=True)
    assert drive.found == {fruitful: [(50, ("A", *"B" * 99, "C"))]}
    assert drive.matcher.metrics()["remembered_walks"] > 20


def test_partitions_with_long_walks_in_vain_keep_apart_when_there_are_many():
    """Windows end attempts at different states, so that entries of one partition would mislead the attempts of another."""
    rng = np.random.default_rng(11)
    lengths = rng.integers(60, 160, 40)
    rows = [(key, time, frozenset("AB")) for key, length in enumerate(lengths) for time in range(length)]
    rows += [(key, int(length), frozenset("C" if key % 3 else "")) for key, length in enumerate(lengths)]
    for skip in ("past last row", "to next row"):
        drive = Drive(ScanMatcher(Case(Sequence((A, STAR_B, C)), (), 50, skip=skip).compiled()))
        for part in range(0, 160, 32):
            drive.push([row for row in rows if part <= row[1] < part + 32])
        drive.push([], final=True)
        last = 1 if skip == "past last row" else 50
        wanted = {
            key: [(at, ("A", *"B" * (length - at - 1), "C")) for at in range(length - 50, length - 50 + last)]
            for key, length in enumerate(lengths.tolist())
            if key % 3
        }
        assert drive.found == wanted


def test_what_is_remembered_fills_at_most_half_of_its_table(monkeypatch):
    """Whoever looks for an entry that is not there stops at a free place."""
    monkeypatch.setattr(scan_matcher, "MIN_MEMO", 2)
    drive = Drive(ScanMatcher(Case(THREES, (), 100).compiled()))
    for time in range(0, 300, 10):
        drive.push([(key, time + i, frozenset("AB")) for key in range(3) for i in range(10)])
        memo = drive.matcher._memo
        assert 2 * (memo[:, scan_memo.REGION] != scan_memo.FREE).sum() <= len(memo)
    assert len(memo) > 2


FOUR_AND_FOUR = Sequence((A, Repetition(B, 4, None), Repetition(C, 4, None)))


def drive_over(pattern, text, **given):
    case = Case(pattern, rows_of(text), **given)
    drive = Drive(ScanMatcher(case.compiled()))
    drive.push(case.rows, final=True)
    assert drive.found == expected(case)
    return drive.matcher.metrics()["row_steps"]


def test_rows_at_which_no_match_can_start_are_not_attempted():
    """All rows are A, so that every one would be walked from: three steps and more before it turns out that too few B follow."""
    rows = tuple((0, i, frozenset({"A", letter})) for i, letter in enumerate("ABBBC" * 400))
    case = Case(FOUR_AND_FOUR, rows)
    drive = Drive(ScanMatcher(case.compiled()))
    drive.push(case.rows, final=True)
    assert drive.found == {}
    assert drive.matcher.metrics()["row_steps"] < 1.2 * len(rows)


@pytest.mark.parametrize("most", [2, 3, backward_dfa.MOST_STATES])
def test_an_automaton_that_would_grow_too_large_is_given_up(monkeypatch, most):
    monkeypatch.setattr(backward_dfa, "MOST_STATES", most)
    steps = drive_over(FOUR_AND_FOUR, "AABBBBCCCCABBBBBCCCCC--BBBBACCCC" * 40)
    assert steps > 0


def test_a_match_comes_as_soon_as_it_cannot_change():
    case = Case(Sequence((A, B)), ())
    drive = Drive(ScanMatcher(case.compiled()))
    drive.push(rows_of("AB"))
    assert drive.found == {0: [(0, ("A", "B"))]}
    greedy = Drive(ScanMatcher(Case(Repetition(A, 1, None), (), 10).compiled()))
    greedy.push(rows_of("AA"))
    assert greedy.found == {} and not greedy.matcher.idle(np.array([0]))[0]
    greedy.push([], watermark=10)
    assert greedy.found == {}
    greedy.push([], watermark=11)
    assert greedy.found == {0: [(0, ("A", "A"))]} and greedy.matcher.idle(np.array([0]))[0]
    counted = Drive(ScanMatcher(Case(Repetition(A, 1, None), (), 2, "events").compiled()))
    counted.push(rows_of("AA"))
    assert counted.found == {0: [(0, ("A", "A"))]}


def test_rows_that_wait_for_their_neighbours_still_belong_to_the_window():
    drive = Drive(ScanMatcher(Case(Repetition(A, 1, None), (), 10).compiled()))
    drive.push(rows_of("AAA"), watermark=100, ahead=1)
    assert drive.found == {}
    drive.push([(0, 50, frozenset())], watermark=100, ahead=1)
    assert drive.found == {0: [(0, ("A", "A", "A"))]}


def test_times_may_be_as_far_apart_as_there_are_numbers():
    low, high = np.iinfo(np.int64).min + 1, np.iinfo(np.int64).max
    drive = Drive(ScanMatcher(Case(Repetition(A, 1, None), (), 10).compiled()))
    drive.push([(0, low, frozenset("A")), (0, high, frozenset("A"))], watermark=high)
    assert drive.found == {0: [(0, ("A",))]}


def test_keys_keep_their_state_when_they_are_renumbered():
    drive = Drive(ScanMatcher(Case(Sequence((A, B)), ()).compiled()))
    drive.push([(0, 0, frozenset("A")), (1, 0, frozenset("B")), (2, 0, frozenset("A"))])
    assert list(drive.matcher.idle(np.arange(3))) == [False, True, False]
    for each in (drive.matcher, drive.rows):
        each.renumber(np.array([2, 0]))
    drive.push([(0, 1, frozenset("B")), (1, 1, frozenset("A")), (2, 1, frozenset("A"))])
    assert drive.found == {0: [(0, ("A", "B"))]}
    assert list(drive.matcher.keep_from(np.arange(3))) == [2, 1, 0]


EXPLOSIVE = Sequence((Repetition(Alternation((A, B)), 0, None), A, Repetition(Alternation((A, B)), 7, 7), C))


def test_states_that_nobody_is_in_are_forgotten(monkeypatch):
    monkeypatch.setattr(lazy_dfa, "MAX_CELLS", 1 << 10)
    rng = np.random.default_rng(3)
    letters = "".join(rng.choice(list("AB"), 300)) + "C" + "".join(rng.choice(list("AB"), 300))
    case = Case(EXPLOSIVE, rows_of(letters), 40)
    drive = Drive(ScanMatcher(case.compiled()))
    for at in range(0, len(case.rows), 50):
        drive.push(case.rows[at : at + 50])
    drive.push([], final=True)
    assert drive.found == expected(case)
    assert drive.matcher.metrics()["automaton_states"] <= 256


def test_too_many_states_in_use_are_refused(monkeypatch):
    monkeypatch.setattr(lazy_dfa, "MAX_CELLS", 1 << 7)
    rng = np.random.default_rng(3)
    rows = tuple((key, i, frozenset(rng.choice(["A", "B"]))) for i in range(12) for key in range(200))
    with pytest.raises(BudgetError, match="too many automaton states") as error:
        drive = Drive(ScanMatcher(Case(EXPLOSIVE, ()).compiled()))
        drive.push(rows)
    assert error.value.hint


def test_a_snapshot_of_another_query_is_refused():
    drive = Drive(ScanMatcher(Case(Sequence((A, B, C)), ()).compiled()))
    drive.push(rows_of("AB"))
    with pytest.raises(StateError):
        ScanMatcher(Case(A, ()).compiled()).load(drive.matcher.state())


@pytest.mark.skipif(not COMPILED, reason="this is the run without the compiler")
def test_the_kernels_mean_the_same_without_the_compiler():
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", __file__, "-k", "split or numbered"]
    finished = subprocess.run(
        command, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stdout
