"""Patterns over one stream of rows: the bodies of operators that find matches."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.expr.types import Type
from ostinato.program.column_code import ColumnCode
from ostinato.program.elements import Element, Transition
from ostinato.program.input import Input
from ostinato.program.measure_code import MeasureCode
from ostinato.program.negation import Negation
from ostinato.program.ordered_nfa import OrderedNfa, VariableTest
from ostinato.program.scalar_code import Register, ScalarCode


@dataclass(frozen=True)
class Pattern:
    """What the bodies of operators have in common. `evaluation` is the way in which matches are found, `reason` why this one."""

    reads: Input
    evaluation: str
    reason: str
    variables: tuple[str, ...]
    within: int = -1
    within_unit: str = "time"
    rows: ColumnCode = ColumnCode()  # results: one boolean column per bit, then one column per slot
    bits: int = 0  # how many of its results are predicate bits
    slots: tuple[Type, ...] = ()  # the further results: values that scalar code reads at the current row
    look_back: int = 0  # how many rows before the current one `shift` reads, in conditions and in measures
    look_ahead: int = 0  # and behind it
    scalar: ScalarCode = ScalarCode()
    registers: tuple[Register, ...] = ()
    measures: MeasureCode = MeasureCode((), None)
    kleene: tuple[bool, ...] = ()  # per variable, whether it is shown as a list
    search: bool = True  # whether rows and runs are searched by the values that conditions compare

    @property
    def output(self) -> str:
        """Which matches are reported, and as what."""
        return "all"

    @property
    def negations(self) -> tuple[Negation, ...]:
        """What kills matches."""
        return ()

    @property
    def leads(self) -> bool:
        """Whether what lies before a match, within its window, decides about it."""
        return any(negation.leads for negation in self.negations)

    @property
    def trails(self) -> bool:
        """Whether what lies behind a match, within its window, decides about it."""
        return any(negation.trails for negation in self.negations)

    @property
    def prefilter_bits(self) -> tuple[int, ...]:
        """Rows with none of these bits cannot matter; none at all: every row may."""
        return ()

    @property
    def selects_events(self) -> bool:
        """Whether events are selected one by one, so that a match lists its rows; else they follow one another."""
        return False

    @property
    def is_timed(self) -> bool:
        """Whether the times of rows decide something, so that each has one: events are in no order but that of time."""
        return self.within >= 0 or self.selects_events

    @property
    def rows_per_match(self) -> str:
        """Whether a match is one row of the result, or all of its rows are shown."""
        return "one"

    @property
    def timeouts(self) -> bool:
        """Whether partial matches that their window ended are reported beside the matches."""
        return False

    @property
    def is_keyed(self) -> bool:
        """Whether the rows of one key decide its matches, whatever those of other keys are."""
        return bool(self.reads.keys)

    @property
    def neighbours(self) -> range:
        """How far from a row, or from a row of a match, code may look."""
        return range(-self.look_back, self.look_ahead + 1)

    @property
    def hidden_variables(self) -> int:
        """How many of the variables, the last ones, are twins for rows that are not shown."""
        return 0

    @property
    def shown_variables(self) -> tuple[int, ...]:
        """Those of the default output, in its order."""
        return tuple(range(len(self.variables)))

    @property
    def numbers(self) -> range:
        """The numbers under which code knows variables and unions of them."""
        return range(len(self.variables))

    def members(self, number: int) -> tuple[int, ...]:
        """The variables that a number stands for."""
        return (number,)

    def member_names(self, number: int) -> str:
        return " | ".join(dict.fromkeys(self.variables[member] for member in self.members(number)))

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the variables, twins told apart."""
        shown = len(self.variables) - self.hidden_variables
        return (*self.variables[:shown], *(f"hidden {name}" for name in self.variables[shown:]))

    @property
    def is_decided_by_time(self) -> bool:
        """Whether time that passes may decide something where no rows come."""
        return self.timed_window >= 0

    @property
    def decides_moments(self) -> bool:
        """Whether results of all partitions come in the order of time, as far as it is known to have passed: that rows of a partition come
        in order does not tell so much."""
        return False

    @property
    def timed_window(self) -> int:
        """The length of WITHIN where it is a length of time, else -1."""
        return self.within if self.within_unit == "time" else -1


@dataclass(frozen=True)
class RowPattern(Pattern):
    """Preferred matches of an ordered automaton over rows that follow one another. `evaluation` is "scan" (every predicate is a bit of the
    row) or "threads" (the same with registers)."""

    nfa: OrderedNfa = OrderedNfa((0,), ())
    tests: tuple[VariableTest, ...] = ()  # per variable
    hidden: tuple[int, ...] = ()  # the last of the variables are twins of these, for rows inside of exclusions
    unions: tuple[tuple[int, ...], ...] = ()  # sets of variables under one name
    skip: str = "past last row"
    skip_to: int = -1  # the variable or union of "to first" and "to last"
    rows_per_match: str = "one"
    timeouts: bool = False  # partial matches that their window ended are reported too, and a column tells which are

    @property
    def hidden_variables(self) -> int:
        return len(self.hidden)

    @property
    def numbers(self) -> range:
        return range(len(self.variables) + len(self.unions))

    def members(self, number: int) -> tuple[int, ...]:
        """With their twins: numbers from the count of variables on are unions."""
        named = (number,) if number < len(self.variables) else self.unions[number - len(self.variables)]
        first_twin = len(self.variables) - len(self.hidden)
        return (*named, *(first_twin + i for i, original in enumerate(self.hidden) if original in named))


@dataclass(frozen=True)
class EventPattern(Pattern):
    """Events selected one by one, by a selection strategy. `evaluation` is "runs", "compact" or "backtrack"."""

    selection: str = "skip_till_any_match"
    elements: tuple[Element, ...] = ()
    initial: tuple[Transition, ...] = ()  # the elements with which a run may start
    negations: tuple[Negation, ...] = ()
    output: str = "all"
    ties: str = "order"
    prefilter_bits: tuple[int, ...] = ()  # rows with none of these bits cannot matter (selection may skip them)
    merging: bool = True  # whether equivalent runs are followed as one
    one_at_a_time: bool = False  # a start has one match after another; of these a negation may leave the first that is reported

    @property
    def selects_events(self) -> bool:
        return True

    @property
    def is_keyed(self) -> bool:
        return bool(self.reads.keys) and self.selection != "strict_contiguity"

    @property
    def by_epoch(self) -> bool:
        """Whether simultaneous events do not follow one another."""
        return self.ties == "epoch" and self.reads.time >= 0
