"""Text columns are coded by a kernel where they are long, by Arrow where they are short: nobody may see the difference."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ostinato as ost
from ostinato.kernels.rows import string_table
from ostinato.kernels.rows.text_codes import BLOCK, occurring, text_codes
from ostinato.runtime.rows import column_reader

TEXTS = st.one_of(st.none(), st.text("ab\0", max_size=20), st.text("é€𝄞", max_size=7))


def assert_as_arrow(strings: pa.Array | pa.ChunkedArray) -> None:
    codes, valid, dictionary = text_codes(strings)
    expected = strings.dictionary_encode()
    expected = expected.combine_chunks() if isinstance(expected, pa.ChunkedArray) else expected
    assert dictionary.to_pylist() == expected.dictionary.to_pylist()
    assert codes.tolist() == expected.indices.fill_null(0).to_pylist()
    assert ([True] * len(codes) if valid is None else valid.tolist()) == expected.is_valid().to_pylist()
    assert (valid is None) == (strings.null_count == 0)


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string()])
@settings(deadline=None)  # kernels may be loaded
@given(texts=st.lists(TEXTS, max_size=40), begin=st.integers(0, 10), cut=st.integers(0, 20))
def test_codes_are_those_of_arrow(type_, texts, begin, cut):
    whole = pa.array(texts, type_)
    assert_as_arrow(whole)
    assert_as_arrow(whole.slice(begin))
    assert_as_arrow(pa.chunked_array([whole.slice(0, cut), whole.slice(cut), whole.slice(begin)]))


def test_more_strings_than_a_block_and_lengths_around_the_word():
    texts = [f"{n % 1000}" * (n % 5) for n in range(BLOCK + 1000)]
    assert_as_arrow(pa.array(texts))


def test_equal_hashes_are_not_taken_for_equal_strings():
    """Strings of more than eight bytes whose words cancel out: the second word is chosen so that the hashes agree."""
    first, other = np.uint64(0x6161616161616161), np.uint64(0x6262626262626262)
    mixed = string_table.mixed.py_func if hasattr(string_table.mixed, "py_func") else string_table.mixed
    with np.errstate(over="ignore"):
        second = mixed(first) ^ mixed(other) ^ np.uint64(0x6363636363636363)
    octets = np.array([first, 0x6363636363636363, other, second], np.uint64).view(np.uint8)
    table = string_table.StringTable()
    codes = table.codes(np.array([0, 16, 32, 48], np.int64), np.concatenate([octets, octets[:16]]), np.empty(0, np.bool_))
    used = table._slots[table._slots[:, string_table.ENTRY] >= 0]
    assert len(used) == 2 and len(set(used[:, string_table.HASH].tolist())) == 1
    assert codes.tolist() == [0, 1, 0]


def test_which_codes_occur():
    assert occurring(np.array([3, 1, 3]), 5).tolist() == [False, True, False, True, False]
    assert occurring(np.array([], np.int64), 2).tolist() == [False, False]


def test_text_keys_and_values_of_a_query(monkeypatch):
    names = ["a long name of a symbol", None, "", "x", "x\0", "a long name of a Symbol"]
    rows = pa.table({"key": pa.array([names[n % 6] for n in range(60)]), "ts": range(60), "v": [names[n * 7 % 5] for n in range(60)]})
    query = """SELECT * FROM rows MATCH_RECOGNIZE (PARTITION BY key ORDER BY ts MEASURES A.v AS v, B.ts AS ts PATTERN (A B)
        DEFINE A AS v >= 'a', B AS v <> PREV(v))"""
    found = []
    for many in (1 << 30, 1):
        monkeypatch.setattr(column_reader, "MANY", many)
        found.append(ost.sql(query, rows=pa.concat_tables([rows.slice(0, 25), rows.slice(25)])).to_arrow())
    assert found[0].num_rows and found[0].equals(found[1])
