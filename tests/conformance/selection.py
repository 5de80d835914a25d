"""A few of many cases, for hosts on which a case is expensive: one of each kind, as far as the host can tell kinds apart."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence

from tests.conformance.case import Case

from ostinato.base.errors import OstinatoError
from ostinato.compiler import compile
from ostinato.program.tree import TreePattern
from ostinato.tasks.ranges.deferred_numbers import numbers_matches


def one_of_each(cases: Sequence[Case]) -> list[Case]:
    chosen: dict[Hashable, Case] = {}
    for case in cases:
        chosen.setdefault(_kind(case), case)
    return list(chosen.values())


def _kind(case: Case) -> Hashable:
    """What decides how a host divides the work and what comes out of it; the meaning is compared on other hosts, for all cases."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            query = compile(case.text, {case.stream: case.table.schema}, language=case.language, **case.options)
    except OstinatoError as error:
        return type(error)
    pattern = query.pattern
    late = (pattern.trails, pattern.sees_last_instant) if isinstance(pattern, TreePattern) else bool(pattern.negations)
    divided = (bool(pattern.reads.keys), pattern.within >= 0, pattern.reads.time >= 0, late)
    return divided, pattern.evaluation, pattern.rows_per_match, pattern.output, numbers_matches(pattern)
