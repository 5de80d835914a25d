"""The run matcher's own business: budgets, growth, keys, saved state, errors. What it matches is tested in tests/property."""

import numpy as np
import pytest

from ostinato.base.errors import BudgetError, DataError, UnsupportedError
from ostinato.expr.nodes import Aggregate, Anchor, Call, Field, Literal, Nav, current
from ostinato.expr.types import BOOL, INT, STRING
from ostinato.plan.scalar.scalar_code import ScalarPlan
from ostinato.program.elements import Element, Transition
from ostinato.program.input import Input
from ostinato.program.pattern import EventPattern
from ostinato.runtime.limits.budget import Budget, Overflow
from ostinato.runtime.matcher import NEVER
from ostinato.runtime.rows.keyed_rows import KeyedRows
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.runs.run_matcher import RunMatcher

A, B = 1, 2
X = Field("x", type=INT)
S = Field("s", type=STRING)


def pattern(selection="skip_till_any_match", output="all", within=-1, unit="time", first="", later="", slots=(INT,), **options):
    """SEQ(A+ a[], B b); `later` and `first` are conditions on a[i] and b."""
    plan = ScalarPlan(lambda name: frozenset((name,)), lambda nav: 0)
    blocks = [plan.block("a", [], "first")]
    blocks += [plan.block("a", [later] if later else [], "later"), plan.block("b", [first] if first else [], "first")]
    scalar, registers = plan.finish()
    elements = (
        Element(0, 1, True, 0, 0, blocks[0], blocks[1], -1, (Transition(1, (), True),)),
        Element(1, 1, False, 1, -1, blocks[2], -1, -1, completes=True),
    )
    return EventPattern(
        Input("events", (), time=0), "runs", "", ("a", "b"), selection=selection, output=output, within=within, within_unit=unit, bits=2,
        slots=slots, elements=elements, initial=(Transition(0, (), True),), scalar=scalar, registers=registers, **options,
    )  # fmt: skip


class Feed:
    """Rows of some keys; `push` takes (key, bits, x) and feeds what is new."""

    def __init__(self, pattern, budget=None, pool=None):
        self.rows = KeyedRows({}, timed=True)
        self.fed = PatternRows(self.rows, "", len(pattern.slots))
        self.matcher = RunMatcher(pattern, budget or Budget(), pool or StringPool())
        self.time = 0

    def push(self, *events, watermark=NEVER, final=False):
        keys = np.array([key for key, _, _ in events], np.int64)
        self.rows.ensure_keys(int(keys.max()) + 1)
        grouping = self.rows.group(keys, len(events))
        times = np.arange(self.time, self.time + len(events))
        self.time += len(events)
        columns = {
            "bits": np.array([bits for _, bits, _ in events], np.uint64),
            "times": times,
            "positions": times.copy(),
            "slots": np.array([[x] for _, _, x in events], np.int64),
            "slot_valid": np.ones((len(events), 1), np.uint8),
        }
        self.rows.append(grouping, {name: (data, None) for name, data in columns.items()})
        return self.go_on(grouping.keys, watermark, final)

    def go_on(self, keys, watermark=NEVER, final=False):
        keys = np.asarray(keys, np.int64)
        matches = self.matcher.feed(self.fed, keys, (self.rows.base + self.rows.length)[keys], watermark, final)
        return [(int(matches.key[i]), matches.ordinals[matches.offsets[i] : matches.offsets[i + 1]].tolist()) for i in range(len(matches))]


def call(name, *args):
    return Call(name, args, type=BOOL)


def test_arrays_grow_with_the_runs_and_matches_come_in_order():
    feed = Feed(pattern(merging=False))
    assert feed.push(*[(0, A, 0)] * 9) == []
    assert feed.matcher.metrics()["runs"] == 2**9 - 1
    found = feed.push((0, B, 0))
    assert len(found) == 2**9 - 1
    assert [rows for _, rows in found] == sorted(rows for _, rows in found)


def test_counting_keeps_no_rows_and_no_nodes():
    feed = Feed(pattern(output="count"))
    assert feed.push(*[(0, A, 0)] * 5, (0, B, 0), final=True) == []
    assert feed.matcher.metrics()["matches"] == 31
    assert feed.matcher.metrics()["match_nodes"] == 0
    assert feed.matcher.keep_from(np.array([0])).tolist() == [6]


def test_equivalent_runs_are_counted_as_one():
    feed = Feed(pattern(output="count"))
    feed.push(*[(0, A, 0)] * 60, (0, B, 0))
    assert feed.matcher.metrics()["matches"] == 2**60 - 1
    assert feed.matcher.metrics()["peak_runs"] == 1
    feed = Feed(pattern(output="count", within=4, unit="events"))
    feed.push(*[(0, A, 0)] * 60, (0, B, 0), (0, B, 0))
    assert feed.matcher.metrics()["matches"] == (2**3 - 1) + (2**2 - 1)


def test_more_matches_than_can_be_counted_are_an_error():
    feed = Feed(pattern(output="count"))
    with pytest.raises(BudgetError, match="the count does not fit 64 bits"):
        feed.push(*[(0, A, 0)] * 65, (0, B, 0))


def test_rows_are_kept_from_the_first_event_of_any_run():
    feed = Feed(pattern("skip_till_next_match", within=3))
    feed.push((0, 0, 0), (0, A, 0), (1, A, 0), (0, 0, 0))
    assert feed.matcher.keep_from(np.array([0, 1])).tolist() == [1, 0]
    assert feed.matcher.idle(np.array([0, 1])).tolist() == [False, False]
    feed.go_on([0, 1], watermark=5)  # the window of the run that started at 1 ended at 4
    assert feed.matcher.keep_from(np.array([0, 1])).tolist() == [3, 0]
    feed.go_on([0, 1], watermark=6)
    assert feed.matcher.idle(np.array([0, 1])).tolist() == [True, True]


def test_a_window_of_events_ends_by_itself():
    feed = Feed(pattern("skip_till_next_match", within=2, unit="events"))
    assert feed.push((0, A, 0), (0, B, 0)) == [(0, [0, 1])]
    assert feed.matcher.idle(np.array([0])).tolist() == [True]


def test_strict_runs_end_when_the_stream_goes_on_elsewhere():
    feed = Feed(pattern("strict_contiguity"))
    feed.push((0, A, 0))
    assert not feed.matcher.idle(np.array([0])).any()
    assert feed.push((1, A, 0)) == []
    assert feed.matcher.idle(np.array([0, 1])).tolist() == [True, False]
    assert feed.push((1, B, 0)) == [(1, [0, 1])]


def test_a_budget_of_runs_is_an_error_or_sheds_the_oldest():
    with pytest.raises(BudgetError) as caught:
        Feed(pattern(merging=False), Budget(runs=100)).push(*[(0, A, 0)] * 20)
    assert "100" in caught.value.message and caught.value.hint
    feed = Feed(pattern("skip_till_next_match"), Budget(runs=16, overflow=Overflow.SHED_OLDEST))
    for key in range(40):
        feed.push((key, A, 0))
    metrics = feed.matcher.metrics()
    assert metrics["runs"] <= 17 and metrics["shed_runs"] == 40 - metrics["runs"]
    idle = feed.matcher.idle(np.arange(40))
    assert idle[:20].all() and not idle[30:].any()
    assert feed.push((39, B, 0)) == [(39, [0, 1])]


def test_a_budget_of_bytes():
    with pytest.raises(BudgetError):
        Feed(pattern(merging=False), Budget(bytes=2000)).push(*[(0, A, 0)] * 8)
    feed = Feed(pattern("skip_till_next_match"), Budget(bytes=2000, overflow=Overflow.SHED_OLDEST))
    feed.push(*[(key, A, 0) for key in range(64)])
    assert feed.matcher.metrics()["state_bytes"] <= 2000
    assert feed.matcher.metrics()["shed_runs"] > 0


def test_nodes_that_nobody_reaches_are_given_back():
    feed = Feed(pattern("partition_contiguity"))
    for _ in range(40):
        feed.push(*[(0, A, 0), (0, 0, 0)] * 100)
    assert len(feed.matcher._store.nodes) < 3000
    assert feed.push((0, A, 0), (0, A, 0), (0, B, 0))[-1] == (0, [8001, 8002])


def test_state_goes_on_in_another_matcher():
    wanted = pattern(later=call("gt", current(X), Nav("a", Anchor.LAST, 1, 0, X, type=INT)))
    feed = Feed(wanted)
    feed.push((0, A, 1), (1, A, 5), (0, A, 3))
    state = {name: array.copy() for name, array in feed.matcher.state().items()}
    before = feed.matcher.metrics()
    feed.matcher = RunMatcher(wanted, Budget(), StringPool())
    feed.matcher.load(state)
    assert feed.matcher.metrics()["runs"] == before["runs"] == 3
    assert feed.push((0, A, 2), (0, B, 0)) == [(0, [0, 1, 3]), (0, [0, 2, 3]), (0, [0, 3]), (0, [1, 3]), (0, [2, 3])]


def test_keys_are_renumbered():
    feed = Feed(pattern("skip_till_next_match"))
    feed.push((0, A, 0), (1, 0, 0), (2, A, 0))
    old_of_new = np.array([2, 0])
    feed.matcher.renumber(old_of_new)
    feed.rows.renumber(old_of_new)
    assert feed.push((0, B, 0)) == [(0, [0, 1])]
    assert feed.push((2, A, 0), (2, B, 0)) == [(2, [0, 1])]


def test_an_overflow_that_matters_is_an_error():
    total = call("gt", Aggregate("sum", "a", X, type=INT), Literal(0, type=INT))
    feed = Feed(pattern("skip_till_next_match", first=total))
    feed.push((0, A, 2**62), (0, A, 2**62))
    with pytest.raises(DataError) as caught:
        feed.push((0, B, 0))
    assert caught.value.hint


def test_strings_are_compared_by_their_order_in_the_session():
    pool = StringPool()
    apple, pear = pool.codes(["pear", "apple"])[::-1].tolist()
    own = Nav("a", Anchor.LAST, 0, 0, S, type=STRING)
    condition = Call("and", (call("lt", own, current(S)), call("ne", own, Literal("fig", type=STRING))), type=BOOL)
    feed = Feed(pattern("skip_till_next_match", first=condition, slots=(STRING,)), pool=pool)
    fig = int(pool.codes(["fig"])[0])
    feed.push((0, A, fig), (1, A, apple), (2, A, pear))
    assert feed.push((0, B, pear), (1, B, fig), (2, B, fig)) == [(1, [0, 1])]


def test_one_match_per_start_has_no_meaning_under_skip_till_any():
    with pytest.raises(UnsupportedError):
        RunMatcher(pattern(output="first"), Budget(), StringPool())


def test_the_highest_predicate_bit_and_no_scalar_code():
    element = Element(0, 1, False, 63, -1, -1, -1, -1, completes=True)
    single = EventPattern(
        Input("events", ()), "runs", "", ("a",), selection="skip_till_next_match", bits=64, slots=(INT,), elements=(element,),
        initial=(Transition(0, (), True),),
    )  # fmt: skip
    assert Feed(single).push((0, 1 << 63, 0), (0, 1, 0), (1, 1 << 63, 0)) == [(0, [0]), (1, [0])]
