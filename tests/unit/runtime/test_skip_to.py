"""AFTER MATCH SKIP TO a variable, where it cannot go on."""

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.base.errors import DataError

ROWS = pa.table({"k": [1, 2, 3], "v": [1, 1, 2]})


def find(skip, pattern, define="B AS v = 2"):
    clause = f"ORDER BY k MEASURES FIRST(k) AS f, LAST(k) AS l AFTER MATCH SKIP TO {skip} PATTERN ({pattern}) DEFINE {define}"
    return ost.sql(f"SELECT * FROM t MATCH_RECOGNIZE ({clause})", t=ROWS).to_arrow().to_pylist()


def test_a_match_without_the_variable_is_an_error():
    with pytest.raises(DataError, match="goes to B, but a match has no row of it") as caught:
        find("B", "A B?")
    assert caught.value.hint == "Skip to a variable that every match has, or TO NEXT ROW"


def test_going_on_at_the_first_row_of_a_match_is_an_error():
    with pytest.raises(DataError, match="goes to A, which is the first row of a match: the search would never end"):
        find("FIRST A", "A B", "A AS v = 1")


def test_after_an_empty_match_the_search_goes_on_at_the_next_row():
    assert find("B", "(A B)?") == [{"f": None, "l": None}, {"f": 2, "l": 3}, {"f": None, "l": None}]
