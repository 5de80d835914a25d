"""Where ARRAY_AGG may not stand, it is refused at its place."""

import pyarrow as pa
import pytest

from ostinato.base.errors import UnsupportedError
from ostinato.compiler import compile

SCHEMA = pa.schema([("ts", pa.int64()), ("n", pa.int64())])

# clause, the words that are marked, message
REFUSED = [
    (
        "MEASURES array_agg(n) IS NULL AS m PATTERN (A) DEFINE A AS TRUE",
        "array_agg(n)",
        "ARRAY_AGG inside of an expression is not offered yet",
    ),
    ("MEASURES n AS m PATTERN (A) DEFINE A AS array_agg(n) IS NULL", "array_agg(n)", "ARRAY_AGG in DEFINE is not offered yet"),
]


@pytest.mark.parametrize(("clause", "marked", "message"), REFUSED, ids=[case[0] for case in REFUSED])
def test_refused(clause, marked, message):
    text = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts {clause})"
    with pytest.raises(UnsupportedError) as caught:
        compile(text, {"t": SCHEMA})
    assert caught.value.message == message
    assert caught.value.hint
    assert text[caught.value.span.start : caught.value.span.end] == marked
