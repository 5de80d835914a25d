import pyarrow as pa

from ostinato.runtime.string_pool import StringPool


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
