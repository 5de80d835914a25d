"""The Python examples of a Markdown page, in order. ```python runs anywhere, ```python spark needs a Spark session."""

from __future__ import annotations

import doctest
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
        if self.code.lstrip().startswith(">>>"):
            return self._run_session(names)
        padded = "\n" * (self.line - 1) + self.code  # so that a traceback names the line of the page
        exec(compile(padded, str(self.page), "exec"), names)

    def _run_session(self, names: dict[str, Any]) -> None:
        """Prompts and answers, as an interactive session shows them."""
        parsed = doctest.DocTestParser().get_doctest(self.code, names, f"{self.page.name}:{self.line}", str(self.page), self.line - 1)
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
        said: list[str] = []
        runner.run(parsed, out=said.append, clear_globs=False)
        names.update(parsed.globs)
        assert runner.failures == 0, "".join(said)


def examples_of(page: Path) -> list[Example]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start(2)) + 1
        found.append(Example(page, line, tuple(match.group(1).split()), match.group(2)))
    return found
