"""The choices that a language makes for its user, made explicit."""

from __future__ import annotations

from enum import Enum


class Selection(Enum):
    """Which events a match may leave out. The exact transitions are in `reference/transitions.py` and docs/semantics.md."""

    PREFERRED = "preferred"  # ISO row patterns: contiguous rows of a partition, the preferred match per start
    STRICT = "strict_contiguity"
    PARTITION = "partition_contiguity"
    NEXT = "skip_till_next_match"
    ANY = "skip_till_any_match"


class Skip(Enum):
    """Where the search goes on after a preferred match."""

    PAST_LAST_ROW = "past last row"
    TO_NEXT_ROW = "to next row"
    TO_FIRST = "to first"  # row of a variable,
    TO_LAST = "to last"


class RowsPerMatch(Enum):
    """What a preferred match shows of itself. An empty match shows the row at which it starts."""

    ONE = "one"
    ALL = "all"
    ALL_BUT_EMPTY = "all, omit empty matches"
    ALL_AND_UNMATCHED = "all, with unmatched rows"


class Output(Enum):
    """Which matches are reported, under the run-based selections."""

    ALL = "all"
    NONOVERLAPPING = "nonoverlapping"
    FIRST = "first"
    COUNT = "count"
    COMPRESSED = "compressed"  # the same matches as ALL, as a graph
    AGGREGATES = "aggregates"  # one row, whose measures are aggregates over all matches
    TIMEOUTS = "timeouts"  # instead of matches, the runs that their window ended


class Ties(Enum):
    """Whether an event may follow another of the same time."""

    ORDER = "order"
    EPOCH = "epoch"


class MatchOrder(Enum):
    """In which order the matches of an event pattern are listed."""

    COMPLETION = "by completing event"  # then by the events selected
    INTERVAL = "by end"  # in time, then by the events of the variables in the order of the text, a variable without events last


class NullKeys(Enum):
    """What a null in a partition column means: a group of its own (SQL), or an event that is never selected (SASE+ `[attr]`)."""

    GROUP = "group"
    NEVER = "never"


class Latency(Enum):
    """When a match of situations is reported."""

    EARLIEST = "earliest"  # at the first event of its partition from whose time on nothing can refute relations and durations
    FINAL = "final"  # when all of its situations have ended
