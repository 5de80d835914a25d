"""Which of the cases over several streams run on Spark by default: one for every way in which the rows of a program are divided and fed."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence

from tests.conformance.case import Refused
from tests.conformance.streams_case import StreamsCase

from ostinato.compiler import compile
from ostinato.query import Query
from ostinato.tasks.graph_division import GraphDivision


def for_spark(cases: Sequence[StreamsCase]) -> list[StreamsCase]:
    """Of each kind the first that finds something."""
    chosen: dict[Hashable, StreamsCase] = {}
    for case in cases:
        if not isinstance(case.expect, Refused) and case.expect.found:
            chosen.setdefault(_kind(_compiled(case)), case)
    return list(chosen.values())


def _kind(query: Query) -> Hashable:
    """Alone or composed, of one stream or several that are merged, divided by keys or not."""
    program = query.program
    division = GraphDivision(program)
    merges = any(len(reads.sources) > 1 for reads in program.inputs)
    return len(program.operators) > 1, merges, division.is_keyed


def _compiled(case: StreamsCase) -> Query:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(case.text, case.schemas, language=case.language, **case.options)
