"""What README and docs show works."""

from __future__ import annotations

import re

import pytest
from tests.docs.examples import PAGES, ROOT, examples_of

LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
FILE = re.compile(r"`([\w/]+\.py)`")
TEST = re.compile(r"`(\w+)::(\w+)`")


def _name(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if any("spark" not in e.tags for e in examples_of(page))], ids=_name)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "example"}
    for example in examples_of(page):
        if "spark" not in example.tags:
            example.run(names)


@pytest.mark.spark
@pytest.mark.parametrize("page", [page for page in PAGES if any("spark" in e.tags for e in examples_of(page))], ids=_name)
def test_spark_examples_run(page, spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "example", "spark": spark}
    for example in examples_of(page):
        example.run(names)


def test_tags_are_known():
    assert {tag for page in PAGES for example in examples_of(page) for tag in example.tags} <= {"spark"}


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_somewhere(page):
    broken = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / link).exists()]
    assert broken == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "developer").glob("*.md")), ids=_name)
def test_named_files_exist(page):
    named = set(FILE.findall(page.read_text(encoding="utf-8")))
    files = [f"/{path.relative_to(ROOT).as_posix()}" for folder in ("src", "benchmarks", "tests") for path in (ROOT / folder).rglob("*.py")]
    assert [name for name in sorted(named) if not any(file.endswith(f"/{name}") for file in files)] == []


def test_named_tests_exist():
    """Pages name them without their `test_`."""
    named = TEST.findall((ROOT / "docs" / "developer" / "guarantees.md").read_text(encoding="utf-8"))
    sources = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        sources.setdefault(path.stem.removeprefix("test_"), []).append(path.read_text(encoding="utf-8"))
    missing = [f"{file}::{test}" for file, test in named if not any(f"def test_{test}(" in text for text in sources.get(file, []))]
    assert len(named) > 60
    assert missing == []
