"""How the rows of a pattern may be divided among tasks, by what the pattern itself says: by its keys, in time, or not at all."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.expr.types import Kind
from ostinato.program.analysis.concerned_rows import ONE_TABLE, is_single
from ostinato.program.analysis.look_around import look_around
from ostinato.program.code_inputs import aggregates_numbers
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.intervals import IntervalPattern
from ostinato.program.ordered_nfa import ACCEPT
from ostinato.program.pattern import EventPattern, Pattern, RowPattern
from ostinato.tasks.ranges.deferred_numbers import numbers_matches
from ostinato.tasks.ranges.own_starts import can_begin_in_range, can_limit_starts
from ostinato.tasks.ranges.range_task import is_chained
from ostinato.tasks.ranges.window import window_of


@dataclass(frozen=True)
class Division:
    """`keys`: rows that differ in these columns never meet in a match; none, with the reason, if all rows have to be in one place.
    `not_in_time`: what forbids to cut the rows in time; None: a task has the matches that begin in its range, for which it reads a window
    behind the range and `look_back` before it, in the unit of the time column."""

    keys: tuple[str, ...]
    not_by_key: str | None
    not_in_time: str | None
    look_back: int


def division_of(pattern: Pattern) -> Division:
    return Division(dividing_keys(pattern), why_not_by_key(pattern), _why_not_in_time(pattern), _look_back(pattern))


def dividing_keys(pattern: Pattern) -> tuple[str, ...]:
    return pattern.reads.key_names if why_not_by_key(pattern) is None else ()


def is_row_by_row(pattern: Pattern) -> bool:
    """Whether each match is one row, whatever rows are before and behind it."""
    if not is_single(pattern) or pattern.output not in ONE_TABLE or pattern.rows_per_match != "one" or pattern.timeouts:
        return False
    if isinstance(pattern, RowPattern) and (pattern.nfa.looks_at_start or pattern.nfa.looks_at_end or _maps_no_row(pattern)):
        return False
    looks = pattern.look_ahead or look_around(pattern).before or pattern.leads
    return not looks and not numbers_matches(pattern) and not any(register.number for register in pattern.registers)


def why_not_by_key(pattern: Pattern) -> str | None:
    if not pattern.reads.keys:
        return "the pattern has no partition key"
    if pattern.output == "aggregates":
        return "aggregates over all matches are evaluated in one place"
    if not pattern.is_keyed:
        return "strict contiguity looks at the rows of all keys"
    return None


def _why_not_in_time(pattern: Pattern) -> str | None:
    if isinstance(pattern, InstanceAutomaton) and (reason := _why_results_are_not_bounded(pattern)):
        return reason
    if isinstance(pattern, IntervalPattern) and pattern.each and window_of(pattern) < 0:
        return "a situation may last for any time: not all definitions have an upper bound (AT MOST)"
    if window_of(pattern) < 0 or pattern.within_unit != "time":
        return "the pattern has no WITHIN that bounds it in time"
    if pattern.reads.columns[pattern.reads.time].type.kind not in (Kind.TIMESTAMP, Kind.DATE, Kind.INT) or pattern.reads.order[0][1]:
        return "rows are not in ascending order of a timestamp, date or integer"
    if isinstance(pattern, RowPattern) and pattern.skip_to >= 0:
        return "where the search goes on depends on all matches before (AFTER MATCH SKIP TO a variable)"
    if any(register.number for register in pattern.registers):
        return "a condition looks at the number of the match, which counts all before (MATCH_NUMBER)"
    if pattern.output in ("aggregates", "compressed") and not can_limit_starts(pattern):
        return f"{pattern.output}: an event that starts a match of this pattern can also come later in one"
    if isinstance(pattern, EventPattern) and pattern.output == "nonoverlapping" and (reason := _why_chains_are_not_followed(pattern)):
        return f"which matches overlap is known only when all earlier ones are, and {reason}"
    if _maps_no_row(pattern):
        return "the pattern has empty matches, which have no time"
    if pattern.timeouts or pattern.output == "timeouts":
        return "partial matches that their window ended are known where every start is (timeouts)"
    if pattern.rows_per_match == "all, with unmatched rows":
        return "rows of no match have no start by which they belong to a range (WITH UNMATCHED ROWS)"
    if pattern.rows_per_match != "one" and numbers_matches(pattern):
        return "every row of a match shows its number, which counts all before (MATCH_NUMBER)"
    if aggregates_numbers(pattern.measures):
        return "an aggregate is over the numbers of matches, which count all before (MATCH_NUMBER)"
    if isinstance(pattern, RowPattern) and (pattern.nfa.looks_at_start or pattern.nfa.looks_at_end):
        return "the pattern asks where a partition begins or ends (^ or $)"
    if pattern.output == "count" and look_around(pattern).before and not can_limit_starts(pattern):
        return "a count cannot leave out the matches that begin in the rows before a range"
    return None


def _why_results_are_not_bounded(pattern: InstanceAutomaton) -> str | None:
    """What begins with one event has nothing to do with what begins with others: a task may have those of its range."""
    if pattern.start >= 0:
        return "the events of its streams last, from before the range in which they are detected"
    if window_of(pattern) < 0:
        return "no FILTER {DUR < ...} around the whole bounds how long its results last"
    return None if can_begin_in_range(pattern) else "its conditions are too many for one more"


def _why_chains_are_not_followed(pattern: EventPattern) -> str | None:
    """Why all matches before a border are not looked at, or not to be cut behind the last that is reported."""
    if pattern.selection == "skip_till_any_match":
        return "there may be very many under skip till any match"
    if pattern.reads.keys and not pattern.is_keyed:
        return "strict contiguity looks at the rows of all keys"
    if any(negation.leads or negation.trails for negation in pattern.negations):
        return "a negation at the end of the pattern looks beyond them"
    return None


def _look_back(pattern: Pattern) -> int:
    if is_chained(pattern):
        return 2 * pattern.within
    return pattern.within if pattern.leads else 0


def _maps_no_row(pattern: Pattern) -> bool:
    """Whether the pattern has empty matches: they have a place, but no row that would tell the time of it."""
    return isinstance(pattern, RowPattern) and ACCEPT in pattern.nfa.transitions_of(pattern.nfa.start)
