"""The query of a case, compiled once in a process: several engines and the selection ask for it."""

from __future__ import annotations

import warnings
from functools import cache

import pyarrow as pa
from tests.conformance.case import ARROW_TYPES, Case

from ostinato.compiler import compile
from ostinato.query import Query


def compiled(case: Case) -> Query:
    """A refusal is raised each time."""
    return _compiled(case.text, case.language, case.stream, case.columns, tuple(case.options.items()))


@cache
def _compiled(text: str, language: str, stream: str, columns: tuple[tuple[str, str], ...], options: tuple[tuple[str, str], ...]) -> Query:
    schema = pa.schema([(name, ARROW_TYPES[kind]) for name, kind in columns])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(text, {stream: schema}, language=language, **dict(options))
