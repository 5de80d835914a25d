"""Every worked case over several streams agrees on every engine; none is refused that has a result."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.conformance.compare import verdict
from tests.conformance.streams_case import WORKED_STREAMS, worked_streams_cases
from tests.conformance.streams_engines import ENGINES_OF, STREAMS_ENGINES


@pytest.mark.parametrize(("name", "language"), [(name, language) for language in WORKED_STREAMS for name in ENGINES_OF[language]])
def test_worked_cases(name: str, language: str) -> None:
    cases = worked_streams_cases(language)
    found = [(case, *verdict(case, outcome)) for case, outcome in zip(cases, STREAMS_ENGINES[name]().run(cases), strict=True)]
    wrong = [f"{case.name}: {why}\n{case.text}" for case, result, why in found if result != "agree"]
    assert not wrong, f"{len(wrong)} of {len(cases)} cases on {name}\n\n" + "\n\n".join(wrong)
    assert Counter(result for _, result, _ in found) == {"agree": 200}
