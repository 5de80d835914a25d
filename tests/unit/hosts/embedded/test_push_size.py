"""Tables are pushed in pieces whose size follows the matches of the piece before."""

import pyarrow as pa

import ostinato as ost
from ostinato.hosts.embedded import push_size
from ostinato.hosts.embedded.push_size import FIRST_ROWS, MANY_MATCHES, PushSize

SCHEMA = pa.schema([("ts", pa.int64()), ("v", pa.int64())])
PAIRS = "PATTERN SEQ(s a, s b) WHERE skip_till_any_match(a, b) { b.v > a.v } WITHIN 50 RETURN a.ts AS a, b.ts AS b"
ROWS = "SELECT * FROM s MATCH_RECOGNIZE (ORDER BY ts MEASURES A.ts AS at PATTERN (A) DEFINE A AS v > 0)"


def sizes(text: str, rows: int, matches_per_row: float) -> list[int]:
    size = PushSize(ost.compile(text, {"s": SCHEMA}).program)
    table = pa.table({"ts": range(rows), "v": range(rows)})
    seen = []
    for piece in size.pieces(table):
        seen.append(piece.num_rows)
        matches = pa.table({"at": range(int(piece.num_rows * matches_per_row))})
        assert list(size.counted(iter([(0, matches)]))) == [(0, matches)]
    assert sum(seen) == rows
    return seen


def test_with_few_matches_pieces_grow() -> None:
    seen = sizes(PAIRS, 500_000, 0.001)
    assert seen[:3] == [FIRST_ROWS, 4 * FIRST_ROWS, 16 * FIRST_ROWS] and len(seen) == 5


def test_with_many_matches_a_piece_lists_about_as_many_as_it_may() -> None:
    seen = sizes(PAIRS, 60_000, 100)
    assert seen[0] == FIRST_ROWS and max(seen[1:]) * 100 <= MANY_MATCHES and min(seen[1:-1]) > 500


def test_row_patterns_are_pushed_whole() -> None:
    assert sizes(ROWS, 50_000, 1) == [50_000]


def test_a_table_without_rows_is_pushed_once() -> None:
    assert sizes(PAIRS, 0, 0) == [0]


def test_however_a_table_is_cut_the_matches_are_the_same_in_the_same_order(monkeypatch) -> None:
    table = pa.table({"ts": [n // 3 for n in range(3_000)], "v": [n * 7919 % 101 for n in range(3_000)]})
    whole = ost.match(PAIRS, s=table).to_arrow()
    monkeypatch.setattr(push_size, "FIRST_ROWS", 7)
    monkeypatch.setattr(push_size, "MANY_MATCHES", 200)
    monkeypatch.setattr(push_size, "FEW_MATCHES", 50)
    assert ost.match(PAIRS, s=table).to_arrow().to_pylist() == whole.to_pylist()
    assert whole.num_rows > 100_000
