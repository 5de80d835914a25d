"""Numbers of matches and positions of events where several tasks find the matches."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ostinato.compiler import compile
from ostinato.tasks.host_ids import BITS_BELOW, identified

ROWS = pa.table({"ts": [1, 2], "v": [7, 8]})


@pytest.mark.parametrize("output", ["all", "compressed"])
def test_positions_are_null_and_columns_called_so_are_not(output: str) -> None:
    text = "PATTERN SEQ(t a, t+ b[]) WITHIN 5"
    for rows, kept in ((ROWS, None), (ROWS.append_column("seq", pa.array([30, 20])), 20)):
        query = compile(text, {"t": rows.schema}, output=output)
        session = query.open()
        found = pa.concat_tables([session.push(rows), session.close()])
        (row,) = identified(found, query.pattern, 3, 5).to_pylist()
        if output == "all":
            assert (row["match_id"], row["b"]) == ((3 << BITS_BELOW) + 5, [{"ts": 2, "v": 8, "seq": kept}])
        else:
            assert row["matches"]["events"][1] == {"ts": 2, "v": 8, "seq": kept}
