"""Every worked case agrees, or is refused cleanly; never a crash, never a wrong result."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.conformance.compare import verdict
from tests.conformance.registry import ENGINES
from tests.conformance.report import write_report
from tests.conformance.worked_cases import WORKED, features_of, worked_cases

AGREE_AT_LEAST = {"sql": 250, "sase": 250, "neel": 200}  # on every engine


@pytest.mark.parametrize("name", ENGINES)
def test_worked_cases(name: str) -> None:
    cases = worked_cases()
    outcomes = ENGINES[name]().run(cases)
    wrong: list[str] = []
    counts: Counter[tuple[str, str]] = Counter()
    agreed: Counter[str] = Counter()
    for case, outcome in zip(cases, outcomes, strict=True):
        result, why = verdict(case, outcome)
        counts.update((feature, result) for feature in features_of(case))
        agreed[case.language] += result == "agree"
        if result == "disagree":
            wrong.append(f"{case.name}: {why}\n{case.text}")
    print(write_report(name, counts, agreed))
    assert not wrong, f"{len(wrong)} of {len(cases)} cases disagree on {name}\n\n" + "\n\n".join(wrong)
    assert all(agreed[language] >= AGREE_AT_LEAST[language] for language in WORKED), dict(agreed)
