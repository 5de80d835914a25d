"""What runs on Spark by default has every path, every form of output and every language of which there are cases."""

from __future__ import annotations

from tests.conformance.compiled_case import compiled
from tests.conformance.selection import (
    PATHS,
    for_batches,
    for_streams,
    form_of,
    packed_kinds,
    paths_of,
    rows_of,
    stream_kinds,
    with_results,
)
from tests.conformance.worked_cases import worked_cases
from tests.golden.case_file import golden_cases

CASES = [*golden_cases(), *worked_cases()]
LANGUAGES = {case.language for case in CASES}


def test_batches_have_every_form_on_every_path_that_it_can_take() -> None:
    chosen = for_batches(CASES)
    possible = {(path, form_of(case, query)) for case, query in with_results(CASES) for path in paths_of(query.pattern, case)}
    assert {(path, form_of(case, compiled(case))) for path, cases in chosen.items() for case in cases} == possible
    assert {(path, form.language) for path, form in possible} == {(path, language) for path in PATHS for language in LANGUAGES}
    outputs = {form.output for _, form in possible if form.language == "sase"}
    assert outputs == {"all", "nonoverlapping", "first", "count", "aggregates"}
    rows = {form.rows_per_match for _, form in possible if form.language == "sql"}
    assert rows == {"one", "all", "all, omit empty matches", "all, with unmatched rows"}


def test_streams_have_every_form() -> None:
    chosen = for_streams(CASES)
    kinds = frozenset().union(*(stream_kinds(case, compiled(case)) for case in chosen))
    assert {(language, "keys", True) for language in LANGUAGES} <= kinds and ("sase", "negation", True) in kinds
    final = [(case, query) for case, query in with_results(CASES) if query.pattern.output not in ("count", "aggregates")]
    assert kinds == frozenset().union(*(stream_kinds(case, query) for case, query in final if query.pattern.reads.time >= 0))


def test_streams_of_sparks_source_have_every_language_and_both_with_and_without_keys() -> None:
    chosen = for_streams(CASES, packed_kinds)
    assert {case.language for case in chosen} == LANGUAGES
    assert {compiled(case).pattern.is_keyed for case in chosen} == {True, False}


def test_it_stays_small() -> None:
    """A case of a batch takes about a second, the rows of a stream about six. Four languages more are to come."""
    assert sum(map(len, for_batches(CASES).values())) <= 20 * len(LANGUAGES)
    chosen = (for_streams(CASES), for_streams(CASES, packed_kinds))
    assert sum(len({rows_of(case, compiled(case)) for case in cases}) for cases in chosen) <= 4 * len(LANGUAGES)
