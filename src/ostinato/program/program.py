"""The contract between compiling and executing: everything a worker needs, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field

from ostinato.expr.typing.types import Type
from ostinato.program.column_code import ColumnCode

VERSION = 5
EVENT_STRATEGIES = ("runs", "compact", "backtrack")  # ways to evaluate event patterns; all of them read `components`
ACCEPT, ACCEPT_AT_END = (-1, -1), (-2, -1)  # moves of an automaton that read no row


@dataclass(frozen=True)
class Column:
    """A column of the stream that the program reads; or, if it has a `root`, the field of that column to which the name is the path."""

    name: str
    type: Type
    root: str = ""


@dataclass(frozen=True)
class Point:
    """A row of a match that measures look at; see `expr.nodes.Nav`. `variable` is a number (see `Program.members`), -1 any. `final`
    matters where a measure is computed at every row of a match."""

    variable: int
    anchor: str  # "FIRST" | "LAST"
    offset: int
    shift: int
    final: bool = False


@dataclass(frozen=True)
class MatchAggregate:
    """An aggregate over the rows of a match. `value` is a result of `MeasureCode.rows` (-1: count rows). `final` as in `Point`."""

    function: str
    variable: int
    value: int
    type: Type
    final: bool = False


@dataclass(frozen=True)
class MeasureCode:
    """How the output columns are computed, a whole batch of matches at a time.

    `rows` is evaluated over the rows of the matches; its inputs are named "column:COLUMN" (of the stream), "classifier" and
    "match_number". `code` is evaluated over matches, or over their rows where all of them are shown; its inputs are
    named "point:P:COLUMN" (stream column COLUMN at `points[P]`), "exists:P" (whether there is such a row), "aggregate:A",
    "match_number", "classifier:P" (null for a row outside of the match), "partition:COLUMN". Without `code` (None)
    the default output is built: match_id, start_ts, end_ts, a column per variable."""

    names: tuple[str, ...]
    code: ColumnCode | None
    points: tuple[Point, ...] = ()
    aggregates: tuple[MatchAggregate, ...] = ()
    rows: ColumnCode = ColumnCode()


@dataclass(frozen=True)
class ScalarCode:
    """Code over one row and the registers of one run; opcodes in `program.opcodes`. Parallel arrays, a block per condition."""

    op: tuple[int, ...] = ()
    a: tuple[int, ...] = ()
    b: tuple[int, ...] = ()
    c: tuple[int, ...] = ()
    ints: tuple[int, ...] = ()  # constants
    floats: tuple[float, ...] = ()
    strings: tuple[str, ...] = ()  # constants, given session codes when a session opens
    blocks: tuple[tuple[int, int], ...] = ()  # [start, end) of each block


@dataclass(frozen=True)
class Register:
    """A value that a run carries. At first it is 0 for a counter, the number of the match for `number`, null otherwise."""

    name: str
    type: Type
    counter: bool = False
    number: bool = False


@dataclass(frozen=True)
class OrderedNfa:
    """An epsilon-free automaton with ordered moves, for preferred matches. The moves of state s are
    `moves[first[s]:first[s+1]]`, best first; each is (variable, target), or ACCEPT for accepting here, or ACCEPT_AT_END for accepting
    here if the partition ends here. Only the last move of a state is one of these two. An attempt begins in `start`, at the first row
    of a partition in `start_of_partition`; the two are the same unless the pattern has an anchor `^`."""

    first: tuple[int, ...]
    moves: tuple[tuple[int, int], ...]
    start: int = 0
    start_of_partition: int = 0

    @property
    def looks_at_start(self) -> bool:
        """Whether the first row of a partition is different from others."""
        return self.start_of_partition != self.start

    @property
    def looks_at_end(self) -> bool:
        """Whether it matters which row is the last of a partition."""
        return ACCEPT_AT_END in self.moves

    def numbers_of(self, state: int) -> range:
        return range(self.first[state], self.first[state + 1])

    def moves_of(self, state: int) -> tuple[tuple[int, int], ...]:
        return self.moves[self.first[state] : self.first[state + 1]]


@dataclass(frozen=True)
class Begin:
    """A component that a run may begin next. `passed` are the components that it leaves empty by that, `nearest` says that the
    component stands next in the pattern: under skip till next match an event that can begin it is not ignored."""

    target: int
    passed: tuple[int, ...]
    nearest: bool


@dataclass(frozen=True)
class Component:
    """A component of a pattern, for runs. Blocks are numbers into `ScalarCode.blocks`, -1 none; bits are numbers of
    columnar predicates, -1 none. A row may be bound as the first of the component if bit `first_bit` holds and block
    `first_block` is true, as a later one with `later_*`. The same blocks update the run's registers after they are true.
    `leaving_block` is tested when a run in the component, or one that leaves it empty, begins another or is reported.
    `begins` are the components that may come next, nearest first, alternatives in their order; `completes` says that nothing mandatory
    follows, and `passed_at_end` are the components behind it that a match reported here leaves empty."""

    variable: int
    at_least: int  # 0 or 1
    repeats: bool
    first_bit: int
    later_bit: int
    first_block: int
    later_block: int
    leaving_block: int
    begins: tuple[Begin, ...] = ()
    completes: bool = False
    passed_at_end: tuple[int, ...] = ()


@dataclass(frozen=True)
class VariableTest:
    """For the scan strategy: a row may be mapped to the variable if bit `bit` holds (-1: always) and `block` is true (-1: none);
    the block also updates the thread's registers."""

    bit: int
    block: int


@dataclass(frozen=True)
class EventPoint:
    """A row that the conditions of forbidden events look at: the event bound to item `item` of the negation, moved by `shift` rows."""

    item: int
    shift: int


@dataclass(frozen=True)
class Forbidden:
    """A row is a forbidden event if bit `bit` holds (-1: any row) and `test` is true (None: nothing more is asked). `test` has one
    result and is evaluated over (match, row) pairs; its inputs are "match:M" (result M of the negation's `given`), "event:E:COLUMN"
    (stream column COLUMN at `points[E]`) and "there:E" (whether there is such a row). `join` is an equality that `test` implies: this
    column of the row and this result of `given`."""

    bit: int
    test: ColumnCode | None = None
    points: tuple[EventPoint, ...] = ()
    join: tuple[str, int] | None = None


@dataclass(frozen=True)
class Negation:
    """Kills a match whose gap here holds rows for `items`, in this order and by the program's selection. The gap lies behind the rows of
    the variables with numbers below `before`. `leads` and `trails`: it can stand before the first or behind the last row of a match.
    `given` computes what the tests want of the match. `chained`: a test looks at an earlier item."""

    before: int
    items: tuple[Forbidden, ...]
    leads: bool
    trails: bool
    given: MeasureCode
    chained: bool = False

    @property
    def is_static(self) -> bool:
        """Whether its events are known by their rows alone."""
        return all(item.test is None for item in self.items)


@dataclass(frozen=True)
class Program:
    """`strategy` is "scan" (ordered NFA, all predicates columnar), "threads" (the same with registers) or one for event patterns."""

    strategy: str
    reason: str
    stream: str
    columns: tuple[Column, ...]
    variables: tuple[str, ...]
    hidden: tuple[int, ...] = ()  # the last of the variables are twins of these, for rows inside of exclusions
    time: int = -1  # number of the time column
    order: tuple[tuple[int, bool, bool], ...] = ()  # (column, descending, nulls first), the time column first
    stream_number: int = -1  # the column that tells which of several streams a row is of: it decides ties and is not shown
    keys: tuple[int, ...] = ()  # partition columns
    null_keys: str = "group"
    selection: str = "preferred"
    unions: tuple[tuple[int, ...], ...] = ()  # sets of variables under one name
    skip: str = "past last row"
    skip_to: int = -1  # the variable or union of "to first" and "to last"
    rows_per_match: str = "one"
    timeouts: bool = False  # partial matches that their window ended are reported too, and a column tells which are
    output: str = "all"
    ties: str = "order"
    within: int = -1
    within_unit: str = "time"
    rows: ColumnCode = ColumnCode()  # results: one boolean column per bit, then one column per slot
    bits: int = 0  # how many of its results are predicate bits
    slots: tuple[Type, ...] = ()  # the further results: values that scalar code reads at the current row
    back: int = 0  # how far `shift` reaches back, in rows and in measures
    ahead: int = 0  # and forward
    nfa: OrderedNfa | None = None
    tests: tuple[VariableTest, ...] = ()  # per variable, for scan and threads
    components: tuple[Component, ...] = ()  # for event patterns
    entries: tuple[Begin, ...] = ()  # the components with which a run may start
    scalar: ScalarCode = ScalarCode()
    registers: tuple[Register, ...] = ()
    filter_bits: tuple[int, ...] = ()  # rows with none of these bits cannot matter (selection may skip them)
    measures: MeasureCode = field(default_factory=lambda: MeasureCode((), None))
    kleene: tuple[bool, ...] = ()  # per variable
    negations: tuple[Negation, ...] = ()  # for event patterns
    merging: bool = True  # whether equivalent runs are followed as one
    search: bool = True  # whether rows and runs are searched by the values that conditions compare
    version: int = VERSION

    @property
    def event_columns(self) -> tuple[Column, ...]:
        """What an event has, as users know it; fields of structs are part of those."""
        return tuple(column for column in self.data_columns if not column.root)

    @property
    def data_columns(self) -> tuple[Column, ...]:
        """What is read of the streams."""
        return tuple(column for number, column in enumerate(self.columns) if number != self.stream_number)

    def members(self, number: int) -> tuple[int, ...]:
        """The variables that a number stands for, with their twins: numbers from the count of variables on are unions."""
        named = (number,) if number < len(self.variables) else self.unions[number - len(self.variables)]
        first_twin = len(self.variables) - len(self.hidden)
        return (*named, *(first_twin + i for i, original in enumerate(self.hidden) if original in named))

    def member_names(self, number: int) -> str:
        return " | ".join(dict.fromkeys(self.variables[member] for member in self.members(number)))

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the variables, twins told apart."""
        shown = len(self.variables) - len(self.hidden)
        return (*self.variables[:shown], *(f"hidden {name}" for name in self.variables[shown:]))

    @property
    def is_event_pattern(self) -> bool:
        """Whether events are selected one by one (components), not rows by preference (an automaton)."""
        return self.strategy in EVENT_STRATEGIES
