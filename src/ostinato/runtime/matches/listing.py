"""What listing matches takes, charged to the budget before anything is allocated."""

from __future__ import annotations

from ostinato.expr.types import Type
from ostinato.kernels.aggregation.aggregation_cells import FULL
from ostinato.program.pattern import Pattern
from ostinato.runtime.limits.budget import Budget, in_words, over_budget
from ostinato.runtime.limits.steps import Steps
from ostinato.runtime.matches.result_size import shown_bytes, value_bytes
from ostinato.runtime.rows.string_pool import StringPool

MATCH_BYTES = 48  # its partition, start, offset, place in the order, and position
EVENT_BYTES = 18  # its ordinal and variable, once as they are found and once in order
ROW_BYTES = 2  # of a match of neighbouring rows: the variable
SHOWN_BYTES = 24  # of an event that is shown: where it lies, whose it is, its number in the stream
PART_EVENTS = 1 << 21  # of the matches that are handed on at a time
LEAST_PART = 1 << 14
LOOK_STEPS = 8  # of an event of a match that is looked at, and not handed on
PARTS = 16  # that have room in the budget
WAYS_OUT = (
    "shorten WITHIN or add conditions; take OUTPUT count, compressed or first; read the matches piece by piece"
    " (ost.match(..., lazy=True).batches()); or raise the budget: ost.Budget(bytes=...)"
)


ROWS_WAYS_OUT = (
    "shorten WITHIN, add conditions, take ONE ROW PER MATCH or AFTER MATCH SKIP PAST LAST ROW, or raise the budget: ost.Budget(bytes=...)"
)


def ways_out(pattern: Pattern | None) -> str:
    """What to do where matches cannot all be listed."""
    return WAYS_OUT if pattern is not None and pattern.selects_events else ROWS_WAYS_OUT


class Listing:
    """Estimates what matches take from their arrays to the table that shows them."""

    def __init__(self, pattern: Pattern, budget: Budget, pool: StringPool) -> None:
        self._pattern = pattern
        self._budget = budget
        self._limit = budget.bytes
        self._pool = pool
        self._steps = Steps(pattern, budget)
        self._looks = pattern.output in ("count", "aggregates")  # at all matches, before anything is handed on

    def look_at_all(self, asked: Pattern) -> None:
        """Whoever reads the matches piece by piece, for the query `asked`, goes through all of them and hands on few or none."""
        self._looks = True
        self._steps = Steps(asked, self._budget)

    def begin(self, rows: int) -> None:
        """A call that takes in so many rows."""
        self._steps.begin(rows)

    @property
    def looks(self) -> bool:
        return self._looks

    def look(self, matches: int, events: int) -> None:
        """Before so many are gone through."""
        if self._looks:
            least = "at least " if events > self.most_looks else ""
            what = f"{least}{_many(matches, events)} candidates with {events:,} events would have to be looked at one by one"
            self._steps.take(LOOK_STEPS * events, what)

    @property
    def most_looks(self) -> int:
        """Whoever looks at more events is surely refused."""
        return min(int(FULL), self._steps.left // LOOK_STEPS + 1)

    def allow(self, matches: int, events: int) -> None:
        """Before so many matches with so many events are listed at once."""
        if self._limit is None:
            return
        size = matches * self._match_bytes() + events * self._event_bytes()
        if size > self._limit:
            raise over_budget(
                self._pattern,
                f"listing {_many(matches, events)} matches with {events:,} events takes about {in_words(size)},"
                f" and the budget is {in_words(self._limit)}",
                ways_out(self._pattern),
            )

    @property
    def most_events(self) -> int:
        """Whoever lists more events is surely refused."""
        return int(FULL) if self._limit is None else self._limit // self._event_bytes() + 1

    @property
    def part_events(self) -> int:
        """Of matches that are handed on piece by piece."""
        if self._limit is None:
            return PART_EVENTS
        return min(PART_EVENTS, max(LEAST_PART, self._limit // PARTS // self._event_bytes()))

    def _match_bytes(self) -> int:
        return MATCH_BYTES + shown_bytes(self._pattern, self._pool)

    def _event_bytes(self) -> int:
        pattern = self._pattern
        listed = EVENT_BYTES if pattern.selects_events else ROW_BYTES
        if pattern.output in ("count", "aggregates", "compressed"):
            return listed
        if pattern.measures.code is None or pattern.rows_per_match != "one":
            return listed + SHOWN_BYTES + sum(self._width(column.type) for column in pattern.reads.columns)
        return listed + sum(self._width(pattern.measures.rows.ops[result].type) for result in pattern.measures.rows.results)

    def _width(self, type_: Type) -> int:
        return value_bytes(type_, self._pool)


def _many(matches: int, events: int) -> str:
    return f"{matches:,}" if max(matches, events) < FULL else f"more than {FULL:,}"
