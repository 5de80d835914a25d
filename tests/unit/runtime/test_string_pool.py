import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ostinato.runtime.rows.string_pool import StringPool


def test_codes_last_over_batches_and_order_goes_by_rank():
    pool = StringPool()
    first = pool.codes_of(pa.array(["b", "é", "b", None]))
    second = pool.codes_of(pa.array(["a", "é", "Z"]))
    assert first[0] == first[2] and first[1] == second[1] and first[3] == -1
    strings = pool.strings.to_pylist()
    ranks = pool.ranks()
    assert [strings[c] for c in sorted(range(len(strings)), key=lambda c: ranks[c])] == sorted(strings)


def test_constants_are_added():
    pool = StringPool()
    assert pool.codes(["x", "y", "x"]).tolist() == [0, 1, 0]
    assert pool.codes([]).tolist() == []


def test_nothing_but_nulls_and_empty_strings():
    pool = StringPool()
    assert pool.codes_of(pa.array([None, None], pa.string())).tolist() == [-1, -1]
    assert pool.codes_of(pa.array(["", None, ""])).tolist() == [0, -1, 0]
    assert pool.strings.to_pylist() == [""]


def test_slices_have_the_codes_of_their_strings():
    pool = StringPool()
    strings = pa.array(["zero", None, "two", "drei", "two", ""], pa.large_string())
    pool.codes_of(strings.slice(3))
    assert pool.codes_of(strings.slice(1, 3)).tolist() == [-1, 1, 0]


def test_what_was_handed_out_stays_when_the_pool_grows():
    pool = StringPool()
    pool.codes(["ä" * 100])
    early = pool.strings
    codes = pool.codes([f"{n}" * (n % 7) for n in range(10_000)])
    assert early.to_pylist() == ["ä" * 100]
    assert [pool.strings[int(code)].as_py() for code in codes[:100]] == [f"{n}" * (n % 7) for n in range(100)]


@given(st.lists(st.lists(st.one_of(st.none(), st.text(max_size=6)), max_size=40), max_size=6))
def test_codes_are_those_of_a_dictionary(batches):
    pool, known = StringPool(), {}
    for batch in batches:
        expected = [-1 if text is None else known.setdefault(text, len(known)) for text in batch]
        assert pool.codes_of(pa.array(batch, pa.string())).tolist() == expected
    assert pool.strings.to_pylist() == list(known)


def test_forgetting_gives_new_codes_in_the_same_order():
    pool = StringPool()
    pool.codes(["a", "b", "c", "d"])
    assert pool.keep(np.array([False, True, False, True])).tolist() == [-1, 0, -1, 1]
    assert pool.codes(["d", "a", "b"]).tolist() == [1, 2, 0]
