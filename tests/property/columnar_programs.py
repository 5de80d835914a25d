"""Random event patterns whose conditions look at one event alone, a literal simulation of them, and a drive for their matchers."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from tests.property.matcher_drive import MatcherDrive
from tests.property.simulation import Simulation

from ostinato.algebra.pattern import Alternation, Repetition, Sequence, Variable, variables_of
from ostinato.plan.elements import element_graph
from ostinato.program.elements import Element
from ostinato.program.input import Input
from ostinato.program.pattern import EventPattern
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.strategies import open_matcher

BITS = 3
SELECTIONS = ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match")
OUTPUTS = ("all", "count", "first", "nonoverlapping")
WINDOWS = [(-1, "time"), (0, "time"), (2, "time"), (5, "time"), (1, "events"), (2, "events"), (4, "events")]
FORMS = {"": None, "+": (1, None), "*": (0, None), "?": (0, 1)}


@dataclass(frozen=True)
class Event:
    key: int | None
    time: int
    bits: int


@dataclass(frozen=True)
class Columnar:
    """`tests` are the first and the later bit of each element."""

    pattern: object
    tests: tuple[tuple[int, int], ...]
    selection: str
    output: str
    within: int = -1
    unit: str = "time"
    epoch: bool = False

    def compiled(self, evaluation: str) -> EventPattern:
        graph = element_graph(self.pattern)
        elements = tuple(
            Element(i, c.at_least, c.repeats, *self.tests[i], -1, -1, -1, c.after.transitions, c.after.completes, c.after.passed)
            for i, c in enumerate(graph.elements)
        )
        return EventPattern(
            Input("events", (), time=0, keys=(0,), null_keys="never"), evaluation, "", variables_of(self.pattern), selection=self.selection,
            output=self.output, ties="epoch" if self.epoch else "order", within=self.within, within_unit=self.unit, bits=BITS,
            elements=elements, initial=graph.initial.transitions,
        )  # fmt: skip


class ColumnarSimulation(Simulation):
    def __init__(self, query: Columnar, events: list[Event]) -> None:
        super().__init__(query, events)
        pattern = query.compiled("runs")
        self.elements, self.initial = pattern.elements, pattern.initial

    def following(self, run):
        return self.elements[run[-1][1]].transitions if run else self.initial

    def repeats(self, run):
        return self.elements[run[-1][1]].repeats

    def takes(self, run, event):
        return self.repeats(run) and self.joins(run, event) and self.has(event, self.elements[run[-1][1]].later_bit)

    def may_begin(self, run, event, begin):
        return self.joins(run, event) and self.has(event, self.elements[begin.target].first_bit)

    def complete(self, run):
        return self.elements[run[-1][1]].completes


class Drive(MatcherDrive):
    def __init__(self, query: Columnar, events: list[Event], evaluation="compact", reload=False, reverse=False, budget=None) -> None:
        pattern = query.compiled(evaluation)
        key_count = max([1, *(1 + event.key for event in events if event.key is not None)])
        super().__init__(pattern, events, key_count, lambda: open_matcher(pattern, budget or Budget(), StringPool()), reload, reverse)


@st.composite
def patterns(draw, most=5):
    """Sequences of x, x+, x*, x? and alternatives of such."""
    count = iter(range(most))

    def element(mandatory=False):
        form = draw(st.sampled_from(("", "+") if mandatory else tuple(FORMS)))
        variable = Variable("abcdefgh"[next(count)])
        return variable if FORMS[form] is None else Repetition(variable, *FORMS[form])

    def item(left):
        if left < 2 or draw(st.integers(0, 3)):
            return element(), left - 1
        sides = [draw(st.integers(1, 2)) if left > 3 else 1 for _ in range(2)]
        made = [[element(mandatory=place == 0) for place in range(size)] for size in sides]
        return Alternation(tuple(side[0] if len(side) == 1 else Sequence(tuple(side)) for side in made)), left - sum(sides)

    items, left = [], draw(st.integers(1, most))
    while left > 0:
        made, left = item(left)
        items.append(made)
    return Sequence(tuple(items))


@st.composite
def columnar_queries(draw, outputs=OUTPUTS, selections=SELECTIONS, epochs=False):
    pattern = draw(patterns())
    output = draw(st.sampled_from(outputs))
    selection = draw(st.sampled_from([s for s in selections if output != "first" or s != "skip_till_any_match"]))
    bit = st.integers(-1, BITS - 1)
    tests = tuple((draw(bit), draw(bit)) for _ in variables_of(pattern))
    return Columnar(pattern, tests, selection, output, *draw(st.sampled_from(WINDOWS)), epochs and draw(st.integers(0, 3)) == 0)


@st.composite
def event_lists(draw, most=9):
    keys = draw(st.sampled_from([(0,), (0,), (0, 1), (0, 1, 2, None)]))
    steps = draw(st.lists(st.tuples(st.sampled_from(keys), st.integers(0, 2), st.integers(0, 7)), max_size=most))
    time, events = 0, []
    for key, step, bits in steps:
        time += step
        events.append(Event(key, time, bits))
    return events
