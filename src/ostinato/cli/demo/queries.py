"""The two queries of the demonstration, one in each language."""

from __future__ import annotations

V_SHAPE = """
SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY symbol
  ORDER BY ts
  MEASURES
    PEAK.ts AS start_ts,
    LAST(FALL.ts) AS bottom_ts,
    LAST(RISE.ts) AS end_ts,
    PEAK.price AS start_price,
    LAST(FALL.price) AS bottom_price,
    LAST(RISE.price) AS end_price,
    COUNT(*) AS ticks
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (PEAK FALL{5,} RISE{5,})
  DEFINE
    FALL AS price < PREV(price),
    RISE AS price > PREV(price)
)
""".strip()

BURST_PATTERN = """
PATTERN SEQ(Ticks a, Ticks+ b[], Ticks c)
WHERE skip_till_next_match(a, b[], c) {
    [symbol]
    and a.volume > 4000
    and b[1].price < a.price
    and b[i].price < b[i-1].price
    and b.LEN >= 3
    and c.price > a.price }
WITHIN 1 minute
""".strip()

BURST = f"""
{BURST_PATTERN}
RETURN a.symbol AS symbol, a.ts AS start_ts, c.ts AS end_ts, a.volume AS volume,
       a.price AS burst_price, min(b[].price) AS low_price, b.LEN AS falls, c.price AS end_price
OUTPUT first
""".strip()

EXPLAINED = {
    "V shapes (SQL)": "a peak, at least five falling ticks in a row, then at least five rising ones",
    "Bursts (SASE+)": "a burst of volume, three or more ever lower prices, then a price above that of the burst, all in a minute",
}
