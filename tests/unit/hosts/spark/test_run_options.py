"""What the calls on Spark take beside a query is checked before anything runs."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark")

from ostinato.base.errors import OstinatoError, UnsupportedError
from ostinato.hosts.spark.run_options import RunOptions
from ostinato.runtime.limits.budget import Budget


def test_what_fits() -> None:
    assert RunOptions("10 seconds", 8, "by key", Budget(runs=5)).buckets == 8
    assert RunOptions() == RunOptions(None, None, None, None)


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        ({"path": "by kay"}, 'there is no way "by kay" to divide the work', "one of time ranges, by key, one partition"),
        ({"buckets": 0}, "buckets=0 is no number of buckets", "whole number"),
        ({"buckets": "8"}, "buckets='8' is no number of buckets", "whole number"),
        ({"late": "now"}, "late='now' is unknown", "'keep'"),
        ({"budget": 1000}, "budget=1000 is no budget", "ost.Budget"),
    ],
)
def test_what_does_not(options: dict, message: str, hint: str) -> None:
    with pytest.raises(OstinatoError, match=message) as caught:
        RunOptions(**options)
    assert hint in caught.value.hint


def test_what_nothing_uses_is_refused() -> None:
    for name, value in (("lateness", "5 seconds"), ("lateness", 0), ("buckets", 2)):
        with pytest.raises(UnsupportedError, match=f"{name}= is for streams, and this is a batch"):
            RunOptions(**{name: value}).check_used(streams=False, batches=True)
        RunOptions(**{name: value}).check_used(streams=True, batches=True)
    with pytest.raises(UnsupportedError, match="path= is for batches"):
        RunOptions(path="by key").check_used(streams=True, batches=False)
    RunOptions(path="by key").check_used(streams=False, batches=True)
