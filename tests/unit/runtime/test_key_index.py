"""Equal keys get equal numbers, in any batch, and their values can be read back."""

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from ostinato.expr.types import FLOAT, INT, STRING
from ostinato.kernels.rows.hashing import Numbering
from ostinato.kernels.vectors.vector import from_arrow, to_arrow
from ostinato.runtime.rows.key_index import KeyIndex
from ostinato.runtime.rows.string_pool import StringPool


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=50), max_size=5))
@settings(deadline=None)
def test_numbering_is_by_first_appearance(batches):
    numbering = Numbering()
    known: dict[int, int] = {}
    for batch in batches:
        numbers = numbering.number(np.array(batch, np.int64))
        assert numbers.tolist() == [known.setdefault(v, len(known)) for v in batch]
    assert numbering.values.tolist() == list(known)


def test_values_that_arrow_holds_read_only_are_numbered():
    numbering = Numbering()
    for batch in ([3, 5, 3], [5, 900_000, 3], [3, 7, 5]):
        numbering.number(pa.array(batch).to_numpy())
    assert numbering.number(pa.array([7, 900_000, 5, 3]).to_numpy()).tolist() == [3, 2, 1, 0]


def test_numbering_grows_past_its_first_table():
    numbering = Numbering()
    reserved = numbering.reserve()
    values = np.arange(50_000) * 7919
    numbers = numbering.number(values)
    assert reserved == 0
    assert np.array_equal(numbers, np.arange(1, 50_001))
    assert np.array_equal(numbering.number(values[::-1].copy()), numbers[::-1])


keys = st.tuples(st.sampled_from([None, "", "a", "ä", "b"]), st.sampled_from([None, 0, 1, -5]), st.sampled_from([None, 0.0, -0.0, 1.5]))


@given(st.lists(st.lists(keys, min_size=1, max_size=20), min_size=1, max_size=4))
@settings(deadline=None)
def test_composite_keys_with_nulls(batches):
    pool = StringPool()
    index = KeyIndex((STRING, INT, FLOAT), pool)
    known: dict[tuple, int] = {}
    for batch in batches:
        columns = list(zip(*batch, strict=True))
        vectors = [from_arrow(pa.array(c, t)) for c, t in zip(columns, (pa.string(), pa.int64(), pa.float64()), strict=True)]
        for row, number in zip(batch, index.number(vectors).tolist(), strict=True):
            assert known.setdefault(row, number) == number
    assert sorted(known.values()) == list(range(len(known)))
    for row, number in known.items():
        found = tuple(to_arrow(index.values(i, np.array([number]))).to_pylist()[0] for i in range(3))
        assert found == row


def test_forgotten_keys_are_renumbered():
    pool = StringPool()
    index = KeyIndex((STRING,), pool)
    letters = from_arrow(pa.array(["a", None, "b", "c"]))
    old = index.number([letters])
    kept, old_of_new = index.kept(np.sort(old[[1, 3]]), pool)
    assert len(kept) == 2
    again = kept.number([from_arrow(pa.array([None, "c"]))])
    assert old_of_new[again].tolist() == old[[1, 3]].tolist()


@given(st.lists(st.lists(st.integers(0, 40) | st.integers(2**40, 2**40 + 3), max_size=30), max_size=8), st.integers(0, 4))
@settings(deadline=None)
def test_numbers_stay_when_values_leave_the_narrow_range(batches, null_before):
    numbering = Numbering()
    known: dict[int | None, int] = {}
    for place, batch in enumerate(batches):
        if place == null_before:
            assert numbering.reserve() == known.setdefault(None, len(known))
        assert numbering.number(np.array(batch, np.int64)).tolist() == [known.setdefault(v, len(known)) for v in batch]
