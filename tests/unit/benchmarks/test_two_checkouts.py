from __future__ import annotations

import sys

import pytest
from benchmarks.two_checkouts import Side, compare


def side_that(program: str) -> Side:
    """A process that answers as `checkout_work` does."""
    found = Side.__new__(Side)
    found.process = Side.opened([sys.executable, "-c", program], {})
    found.cases = found._answer("cases")
    return found


ANSWERS = """
import sys
print('something that Spark says')
print('cases', 'a', {second!r}, sep='\\t', flush=True)
seconds = iter({seconds!r})
for line in sys.stdin:
    print('seconds', next(seconds), sep='\\t', flush=True)
"""


def test_the_best_of_the_repeats_counts_without_the_warm_up():
    this = side_that(ANSWERS.format(second="only here", seconds=[0.1, 2.0, 3.0]))
    other = side_that(ANSWERS.format(second="only there", seconds=[0.1, 6.0, 4.0]))
    try:
        assert compare(this, other, repeats=2) == {"a": (2.0, 4.0)}
    finally:
        this.stop()
        other.stop()


def test_a_side_that_ends_is_told():
    with pytest.raises(SystemExit, match="ended with code 3"):
        side_that("import sys; sys.exit(3)")
