"""The changelog says which formats this release reads: whoever raises one says so."""

from __future__ import annotations

from pathlib import Path

from ostinato.hosts.spark.streaming.bucket_state import _VERSION
from ostinato.program.program import VERSION
from ostinato.runtime.snapshots.snapshot import FORMAT

CHANGES = Path(__file__).parents[2] / "CHANGELOG.md"


def test_the_changelog_names_the_formats() -> None:
    said = f"Programs are of format {VERSION}, snapshots of format {FORMAT}, the state of a bucket on Spark streams of format {_VERSION}:"
    assert said in CHANGES.read_text(encoding="utf-8")
