"""The cases that run through tasks are divided: many are cut in time, many by key, and borders lie inside of them."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.case import Case
from tests.conformance.compiled_case import compiled
from tests.conformance.task_engines import cuts_in_time, range_job
from tests.conformance.worked_cases import worked_cases
from tests.golden.case_file import golden_cases

from ostinato.base.errors import OstinatoError
from ostinato.query import Query
from ostinato.tasks.division import division_of


def understood() -> list[tuple[Case, Query]]:
    found = []
    for case in (*golden_cases(), *worked_cases()[::5]):
        try:
            found.append((case, compiled(case)))
        except OstinatoError:
            continue
    return found


def test_many_cases_are_divided(tmp_path: Path) -> None:
    cases = understood()
    in_time = [(case, query) for case, query in cases if cuts_in_time(query, case.table)]
    assert len(in_time) > 50
    assert sum(bool(division_of(query.pattern).keys) for _, query in cases) > 80
    ranges = [len(range_job(query, case.table, tmp_path / "rows.parquet").ranges) for case, query in in_time]
    assert sum(ranges) > 2.5 * len(ranges)
