"""The report on the worked cases: how many of each feature agree, and how many are refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "build"


def write_report(engine: str, counts: Counter[tuple[str, str]], agreed: Counter[str]) -> str:
    """A table, also written to build/worked_cases_<engine>.md."""
    lines = [f"# Worked cases on {engine}", "", f"Agree: {', '.join(f'{count} {language}' for language, count in agreed.items())}.", ""]
    lines += ["| feature | agree | refused | disagree |", "|---|---:|---:|---:|"]
    for feature in sorted({feature for feature, _ in counts}):
        numbers = [counts[feature, result] for result in ("agree", "refused", "disagree")]
        lines.append(f"| {feature} | {' | '.join(map(str, numbers))} |")
    text = "\n".join(lines) + "\n"
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"worked_cases_{engine}.md").write_text(text, encoding="utf-8")
    return text
