"""The three queries of the SASE+ paper, letter by letter as Figure 1 prints them: its tilde, its spacing, its comment."""

from __future__ import annotations

import pytest

from ostinato.algebra.policies import Selection
from ostinato.expr.types import FLOAT, INT, STRING, TIMESTAMP
from ostinato.expr.typing.schema import Schema
from ostinato.lang.sase import lower, parse, render

QUERY_1 = """PATTERN SEQ(Shelf a, ∼(Register b), Exit c)
WHERE    skip_till_next_match(a, b, c) {
                  a.tag_id = b.tag_id
       and     a.tag_id = c.tag_id
                  /* equivalently, [tag_id] */     }
WITHIN    12 hours"""
QUERY_2 = """PATTERN SEQ(Alert a, Shipment+ b[ ])
WHERE    skip_till_any_match(a, b[ ]) {
                    a.type = 'contaminated'
       and       b[1].from = a.site
       and       b[i].from = b[i-1].to }
WITHIN    3 hours"""
QUERY_3 = """PATTERN SEQ(Stock+ a[ ], Stock b)
WHERE    skip_till_next_match(a[ ], b) {
                    [symbol]
       and       a[1].volume > 1000
       and       a[i].price > avg(a[..i-1].price)
       and       b.volume < 80%*a[a.LEN].volume }
WITHIN    1 hour"""

READING = Schema((("ts", TIMESTAMP), ("tag_id", INT)))
ALERT = Schema((("ts", TIMESTAMP), ("type", STRING), ("site", STRING)))
SHIPMENT = Schema((("ts", TIMESTAMP), ("from", STRING), ("to", STRING)))
STOCK = Schema((("ts", TIMESTAMP), ("symbol", STRING), ("price", FLOAT), ("volume", INT)))


@pytest.mark.parametrize(
    ("text", "streams", "selection"),
    [
        (QUERY_1, {"shelf": READING, "register": READING, "exit": READING}, Selection.NEXT),
        (QUERY_2, {"alert": ALERT, "shipment": SHIPMENT}, Selection.ANY),
        (QUERY_3, {"stock": STOCK}, Selection.NEXT),
    ],
    ids=["Query 1", "Query 2", "Query 3"],
)
def test_as_printed_over_streams_of_their_own(text, streams, selection):
    tree = parse(text)
    assert parse(render(tree)) == tree
    query = lower(tree, streams)
    assert query.selection is selection and query.within is not None
    assert [part.stream for part in query.parts] == (list(streams) if len(streams) > 1 else [])
