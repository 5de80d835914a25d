"""Which of many cases run on Spark by default, where a case costs a second or more: one for every way in which Spark divides the work,
every form of output, and every language. What a query means does not depend on these: all cases run in this process, on every engine of
the registry, among them the tasks of Spark's batches without Spark. The slow run takes all cases to Spark.

Forms of output of which there are no cases have tests of their own, in tests/unit/hosts/spark: compressed matches and timeouts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from tests.conformance.case import Case, Refused
from tests.conformance.compiled_case import compiled

from ostinato.program.pattern import Pattern
from ostinato.query import Query
from ostinato.tasks.division import division_of
from ostinato.tasks.ranges.deferred_numbers import numbers_matches

PATHS = ("time ranges", "by key", "one partition")
KindsOf = Callable[[Case, Query], frozenset[Hashable]]
NEVER_FINAL = ("count", "aggregates")  # on a stream


@dataclass(frozen=True)
class Form:
    """What comes out, as far as a host treats it in a way of its own. `measured`: columns of the query, instead of its events."""

    language: str
    output: str
    rows_per_match: str
    numbered: bool
    measured: bool


def for_batches(cases: Sequence[Case]) -> dict[str, list[Case]]:
    """By path, one case of every form that can take it."""
    chosen: dict[tuple[str, Form], Case] = {}
    for case, query in with_results(cases):
        for path in paths_of(query.pattern, case):
            chosen.setdefault((path, form_of(case, query)), case)
    return {path: [case for (taken, _), case in chosen.items() if taken == path] for path in PATHS}


def paths_of(pattern: Pattern, case: Case) -> list[str]:
    """Those that its rows can go."""
    division = division_of(pattern)
    possible = (division.not_in_time is None and bool(case.rows), bool(division.keys), True)
    return [path for path, is_possible in zip(PATHS, possible, strict=True) if is_possible]


def for_streams(cases: Sequence[Case], kinds_of: KindsOf | None = None) -> list[Case]:
    """Cases that have between them what `kinds_of` tells apart (`stream_kinds`, unless it is given). Those with the same rows are one query
    on Spark: so the rows are chosen that have the most of what is still missing."""
    kinds_of = kinds_of or stream_kinds
    by_rows: dict[Hashable, list[tuple[Case, frozenset[Hashable]]]] = {}
    for case, query in with_results(cases):
        if query.pattern.output not in NEVER_FINAL and query.pattern.reads.time >= 0:
            by_rows.setdefault(rows_of(case, query), []).append((case, kinds_of(case, query)))
    missing = frozenset(kind for given in by_rows.values() for _, kinds in given for kind in kinds)
    chosen: list[Case] = []
    while missing:
        best = max(by_rows.values(), key=lambda given: len(missing & frozenset().union(*(kinds for _, kinds in given))))
        for case, kinds in best:
            if kinds & missing:
                chosen.append(case)
                missing -= kinds
    return chosen


def stream_kinds(case: Case, query: Query) -> frozenset[Hashable]:
    """The form, where numbers of matches are nothing special: a session counts them. And of each language with and without keys, which
    decide about buckets, and negations, which wait for time to pass."""
    pattern = query.pattern
    form = replace(form_of(case, query), numbered=False)
    by_language = (case.language, "keys", pattern.is_keyed), (case.language, "negation", bool(pattern.negations))
    return frozenset({form, *by_language})


def packed_kinds(case: Case, query: Query) -> frozenset[Hashable]:
    """What a source of Spark's changes: rows are packed by it, by their keys, and its watermark tells the time. What comes out is decided
    behind that, as from our own source."""
    return frozenset({("language", case.language), ("keys", query.pattern.is_keyed)})


def rows_of(case: Case, query: Query) -> Hashable:
    """Cases that can be queries of one set: they read the same rows in the same order."""
    reads = query.pattern.reads
    return case.stream, case.columns, case.rows, tuple((reads.columns[n].name, *more) for n, *more in reads.order)


def form_of(case: Case, query: Query) -> Form:
    pattern = query.pattern
    return Form(case.language, pattern.output, pattern.rows_per_match, numbers_matches(pattern), not case.wants_matches)


def with_results(cases: Iterable[Case]) -> list[tuple[Case, Query]]:
    """Refusals come from the compiler, which all hosts share; and where nothing is found nothing can be lost on the way."""
    return [(case, compiled(case)) for case in cases if not isinstance(case.expect, Refused) and case.expect.found]
