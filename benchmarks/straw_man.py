"""The straw men of Körber's thesis (section 5.1.1) for aggressive drivers, as MATCH_RECOGNIZE."""

from __future__ import annotations

import pyarrow as pa

import ostinato as ost

ENDS = {  # which B goes with an A, and which C with a B; what stands in the sequence is ordered by its ends
    "full": ("begun <= LAST(A.ts) AND ts > LAST(A.ts)", "begun > LAST(B.begun) AND begun <= LAST(B.ts)"),
    "simplified": (
        "begun > LAST(A.begun) AND begun <= LAST(A.ts) AND ts > LAST(A.ts)",
        "begun > LAST(B.begun) AND begun <= LAST(B.ts) AND ts > LAST(B.ts)",
    ),
}
EVENTS = {  # a: acceleration; ab: and speeding; b: speeding alone; bc: and braking; c: braking alone
    "full": "((fa a* ab*) | (fab ab*)) b (b | ab | bc)*? (bc | c)",
    "simplified": "fa a* ab* b (b | ab | bc)*? c",
}


def sql(text: str, **tables: pa.Table) -> pa.Table:
    return ost.sql(text, **tables).to_arrow()


def run_of(name: str, condition: str) -> str:
    """The longest runs of events that satisfy a condition, up to the event that ends them."""
    return f"""SELECT car_id, '{name}' AS kind, begun, ended AS ts FROM cars MATCH_RECOGNIZE (PARTITION BY car_id ORDER BY ts
        MEASURES FIRST(S.ts) AS begun, N.ts AS ended ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
        PATTERN (S+ N) DEFINE S AS {condition}, N AS NOT ({condition}))"""


def order_of_ends(pattern: str) -> str:
    """Situations in the order of their ends; starts are compared."""
    b, c = ENDS[pattern]
    turned = "begun < LAST(D.begun) AND LAST(D.begun) <= ts AND begun <= LAST(A.ts) AND ts > LAST(A.ts)"
    ways = "(B X*? C)" if pattern == "simplified" else "(B X*? C | D X*? E)"
    earlier = "" if pattern == "simplified" else f", D AS kind = 'C' AND begun > LAST(A.ts), E AS kind = 'B' AND {turned}"
    return f"""SELECT car_id, a0 FROM situations MATCH_RECOGNIZE (PARTITION BY car_id ORDER BY ts
        MEASURES A.begun AS a0 ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW PATTERN (A X*? {ways})
        WITHIN INTERVAL '5' MINUTE
        DEFINE A AS kind = 'A', B AS kind = 'B' AND {b}, C AS kind = 'C' AND begun > LAST(A.ts) AND {c}{earlier})"""


def order_of_events(pattern: str) -> str:
    begins = "accel > 8 AND (PREV(accel) IS NULL OR PREV(accel) <= 8)"
    return f"""SELECT car_id, a0 FROM cars MATCH_RECOGNIZE (PARTITION BY car_id ORDER BY ts
        MEASURES FIRST(ts) AS a0 ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW PATTERN ({EVENTS[pattern]})
        DEFINE fa AS {begins} AND speed <= 70, fab AS {begins} AND speed > 70, a AS accel > 8 AND speed <= 70,
            ab AS accel > 8 AND speed > 70, b AS speed > 70 AND accel <= 8 AND accel >= -9, bc AS accel < -9 AND speed > 70,
            c AS accel < -9 AND speed <= 70)"""
