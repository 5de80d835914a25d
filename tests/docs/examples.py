"""The Python examples of a Markdown page, in order. ```python runs anywhere, ```python spark needs a Spark session."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```python([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@dataclass(frozen=True)
class Example:
    page: Path
    line: int
    tags: tuple[str, ...]
    code: str

    def run(self, names: dict[str, Any]) -> None:
        padded = "\n" * (self.line - 1) + self.code  # so that a traceback names the line of the page
        exec(compile(padded, str(self.page), "exec"), names)


def examples_of(page: Path) -> list[Example]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start(2)) + 1
        found.append(Example(page, line, tuple(match.group(1).split()), match.group(2)))
    return found
