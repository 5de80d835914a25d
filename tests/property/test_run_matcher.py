"""The run matcher against a literal simulation of the moves: every selection, output and window, with equivalent runs merged or not,
runs found by join values, alternatives; any cut of the input, with the state saved and loaded in between."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.matcher_drive import MatcherDrive
from tests.property.simulation import Simulation

from ostinato.algebra.pattern import Alternation, Repetition, Sequence, Variable
from ostinato.expr.nodes import Aggregate, Anchor, Call, Field, Literal, Nav, current
from ostinato.expr.types import BOOL, INT
from ostinato.plan.elements import element_graph
from ostinato.plan.scalar.scalar_code import ScalarPlan
from ostinato.program.elements import Element
from ostinato.program.input import Input
from ostinato.program.pattern import EventPattern
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.runs.run_matcher import RunMatcher

BITS = 3
X = Field("x", type=INT)
SELECTIONS = ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match")
OUTPUTS = ("all", "count", "first", "nonoverlapping")


@dataclass(frozen=True)
class Event:
    key: int | None
    time: int
    bits: int
    x: int | None


@dataclass(frozen=True)
class Part:
    """An element: predicate bits, and which dynamic conditions it has."""

    at_least: int
    repeats: bool
    first_bit: int = -1
    later_bit: int = -1
    rising: bool = False  # later: x above the last x of the element
    above: int = -1  # first: x not below the last x of that earlier element
    same: int = -1  # first: x equal to the last x of that earlier element
    chained: bool = False  # later: x equal to the last x of the element
    short: bool = False  # leaving: at most two rows
    even: bool = False  # leaving: the sum of x is even


@dataclass(frozen=True)
class Query:
    parts: tuple[Part, ...]
    selection: str
    output: str
    within: int = -1
    unit: str = "time"
    epoch: bool = False
    merging: bool = True
    forks: tuple[int, ...] = ()  # parts that are an alternative of the next one
    names: tuple[str, ...] = field(default=("a", "b", "c", "d"))

    def compiled(self):
        plan = ScalarPlan(lambda name: frozenset((name,)), lambda nav: 0)
        graph = self.graph()
        elements = tuple(self._element(plan, i, part, graph.elements[i].after) for i, part in enumerate(self.parts))
        scalar, registers = plan.finish()
        return EventPattern(
            Input("events", (), time=0, keys=(0,), null_keys="never"), "runs", "", self.names[: len(self.parts)], selection=self.selection,
            output=self.output, ties="epoch" if self.epoch else "order", within=self.within, within_unit=self.unit,
            bits=BITS, slots=(INT,), elements=elements, initial=graph.initial.transitions, scalar=scalar, registers=registers,
            merging=self.merging,
        )  # fmt: skip

    def graph(self):
        leaves = [self._pattern(i, part) for i, part in enumerate(self.parts)]
        items = [Alternation((leaf, leaves[i + 1])) if i in self.forks else leaf for i, leaf in enumerate(leaves)]
        return element_graph(Sequence(tuple(item for i, item in enumerate(items) if i - 1 not in self.forks)))

    def _pattern(self, number, part):
        variable = Variable(self.names[number])
        if not part.repeats and part.at_least:
            return variable
        return Repetition(variable, part.at_least, None if part.repeats else 1)

    def _element(self, plan, number, part, after):
        name = self.names[number]
        rising = [call("gt", current(X), Nav(name, Anchor.LAST, 1, 0, X, type=INT))] if part.rising else []
        rising += [call("eq", Nav(name, Anchor.LAST, 1, 0, X, type=INT), current(X))] if part.chained else []
        above = [call("ge", current(X), Nav(self.names[part.above], Anchor.LAST, 0, 0, X, type=INT))] if part.above >= 0 else []
        above += [call("eq", current(X), Nav(self.names[part.same], Anchor.LAST, 0, 0, X, type=INT))] if part.same >= 0 else []
        leaving = [call("le", Aggregate("count", name, None, type=INT), Literal(2, type=INT))] if part.short else []
        if part.even:
            rest = Call("mod", (Aggregate("sum", name, X, type=INT), Literal(2, type=INT)), type=INT)
            leaving.append(call("eq", rest, Literal(0, type=INT)))
        blocks = (plan.block(name, above, "first"), plan.block(name, rising, "later"), plan.block(name, leaving, "leaving"))
        bits = part.first_bit, part.later_bit
        return Element(number, part.at_least, part.repeats, *bits, *blocks, after.transitions, after.completes, after.passed)


def call(name, *args):
    return Call(name, args, type=BOOL)


class RunSimulation(Simulation):
    def __init__(self, query, events):
        super().__init__(query, events)
        self.graph = query.graph()

    def after(self, run):
        return self.graph.elements[run[-1][1]].after if run else self.graph.initial

    def following(self, run):
        return self.after(run).transitions

    def repeats(self, run):
        return self.query.parts[run[-1][1]].repeats

    def takes(self, run, event):
        if not self.repeats(run) or not self.joins(run, event):
            return False
        part = self.query.parts[run[-1][1]]
        last, x = self.events[run[-1][0]].x, self.events[event].x
        known = None not in (last, x)
        rising, chained = not part.rising or (known and x > last), not part.chained or (known and x == last)
        return self.has(event, part.later_bit) and rising and chained

    def may_begin(self, run, event, begin):
        part = self.query.parts[begin.target]
        if not self.joins(run, event) or not self.has(event, part.first_bit) or not self.passes(run, begin.passed):
            return False
        x = self.events[event].x
        above, same = self.last(run, part.above), self.last(run, part.same)
        if part.above >= 0 and (None in (above, x) or x < above):
            return False
        return part.same < 0 or (None not in (same, x) and x == same)

    def last(self, run, element):
        bound = [self.events[e].x for e, c in run if c == element]
        return bound[-1] if bound else None

    def passes(self, run, passed):
        """The conditions about finished elements: the one that the run is in, and those left empty."""
        own = (run[-1][1],) if run else ()
        return all(self.finished(run, element) for element in (*own, *passed))

    def finished(self, run, element):
        part = self.query.parts[element]
        xs = [self.events[e].x for e, c in run if c == element]
        values = [x for x in xs if x is not None]
        return (not part.short or len(xs) <= 2) and (not part.even or (bool(values) and sum(values) % 2 == 0))

    def complete(self, run):
        after = self.after(run)
        return after.completes and self.passes(run, after.passed)


@pytest.fixture(autouse=True, scope="module")
def small_arrays():
    """So that they grow, and nodes are compacted, in the middle of a batch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ostinato.runtime.runs.run_store.FIRST_CAPACITY", 4)
        yield


class Drive(MatcherDrive):
    strategy = RunMatcher
    slots = 1

    def __init__(self, query, events, reload=False, reverse=False):
        pattern = query.compiled()
        super().__init__(pattern, events, 3, lambda: self.strategy(pattern, Budget(), StringPool()), reload, reverse)

    def columns(self, events):
        values = np.array([[e.x or 0] for e in events], np.int64)
        return {**super().columns(events), "slots": values, "slot_valid": np.array([[e.x is not None] for e in events], np.uint8)}


@st.composite
def parts(draw):
    """Half of them without dynamic conditions: then equivalent runs are counted as one."""
    chosen = []
    dynamic = draw(st.booleans())
    bit = st.integers(-1, BITS - 1)
    for number in range(draw(st.integers(1, 4))):
        at_least, repeats = draw(st.sampled_from([(1, False), (1, True), (0, True), (0, False)]))
        above, same = (draw(st.integers(-1, number - 1)) if dynamic and draw(st.booleans()) else -1 for _ in range(2))
        flags = [dynamic and draw(st.integers(0, 3)) == 3 for _ in range(4)]
        first_bit, later_bit = draw(bit), draw(bit)
        chosen.append(
            Part(at_least, repeats, first_bit, later_bit, repeats and flags[0], above, same, repeats and flags[3], flags[1], flags[2])
        )
    return tuple(chosen)


@st.composite
def forked(draw, chosen):
    """Some neighbours become alternatives; each must select an event."""
    forks = [i for i in range(0, len(chosen) - 1, 2) if draw(st.integers(0, 3)) == 0]
    chosen = [replace(part, at_least=1) if i in forks or i - 1 in forks else part for i, part in enumerate(chosen)]
    return tuple(chosen), tuple(forks)


@st.composite
def queries(draw):
    output = draw(st.sampled_from(OUTPUTS))
    selection = draw(st.sampled_from(SELECTIONS[:3] if output == "first" else SELECTIONS))
    within, unit = draw(st.sampled_from([(-1, "time"), (0, "time"), (2, "time"), (5, "time"), (1, "events"), (2, "events"), (4, "events")]))
    chosen, forks = draw(forked(draw(parts())))
    return Query(chosen, selection, output, within, unit, draw(st.integers(0, 3)) == 0, draw(st.integers(0, 3)) > 0, forks)


@st.composite
def streams(draw):
    keys = draw(st.sampled_from([(0,), (0, 1), (0, 1, 2, None)]))
    step = st.tuples(st.sampled_from(keys), st.integers(0, 2), st.integers(0, 7), st.sampled_from([0, 1, 2, 3, None]))
    steps = draw(st.lists(step, max_size=10))
    time, events = 0, []
    for key, step, bits, x in steps:
        time += step
        events.append(Event(key, time, bits, x))
    return events


@settings(max_examples=500, deadline=None)
@given(queries(), streams(), st.lists(st.integers(0, 9), max_size=4), st.booleans(), st.booleans())
def test_runs_make_exactly_the_moves(query, events, cuts, reload, reverse):
    wanted = RunSimulation(query, events).matches()
    drive = Drive(query, events, reload, reverse)
    found = drive.run([split_statement for split_statement in cuts if split_statement <= len(events)])
    if query.output == "count":
        assert drive.matcher.metrics()["matches"] == len(wanted)
        assert found == []
    else:
        assert found == wanted
        assert drive.matcher.metrics()["matches"] == len(wanted)


A_STAR_B_C = (Part(1, False, 0), Part(0, True, 1, 1), Part(1, False, 2))


@pytest.mark.parametrize(
    ("selection", "output", "wanted"),
    [
        ("skip_till_next_match", "all", ["a1 b1 c1", "a2 c1", "a1 b1 b2 c2", "a2 b2 c2"]),
        ("skip_till_next_match", "first", ["a1 b1 c1", "a2 c1"]),
        ("skip_till_next_match", "nonoverlapping", ["a1 b1 c1"]),
    ],
)
def test_worked_example(selection, output, wanted):
    names = ["a1", "b1", "a2", "c1", "b2", "c2"]
    events = [Event(0, i, 1 << "abc".index(name[0]), None) for i, name in enumerate(names)]
    found = Drive(Query(A_STAR_B_C, selection, output), events).run([2, 3])
    assert [" ".join(names[event] for event, _ in run) for run in found] == wanted


def test_skip_till_any_has_nine_matches():
    events = [Event(0, i, 1 << "abc".index(name), None) for i, name in enumerate("abacbc")]
    assert len(Drive(Query(A_STAR_B_C, "skip_till_any_match", "all"), events).run([])) == 9
