"""The examples of docs/languages/sql.md run and give what the page says."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "languages" / "sql.md"


def test_examples():
    text = "\n".join("" if line.startswith("```") else line for line in PAGE.read_text(encoding="utf-8").splitlines())
    examples = doctest.DocTestParser().get_doctest(text, {}, "sql.md", str(PAGE), 0)
    assert len(examples.examples) > 12
    report: list[str] = []
    runner = doctest.DocTestRunner()
    runner.run(examples, out=report.append)
    assert runner.failures == 0, "".join(report)
