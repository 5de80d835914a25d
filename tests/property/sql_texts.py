"""Random MATCH_RECOGNIZE clauses as text, with small tables: every quantifier, navigation and aggregate, ties and nulls."""

from __future__ import annotations

import datetime
import random

import pyarrow as pa

START = datetime.datetime(2026, 1, 1)
ROWS_PER_MATCH = (
    "", "ONE ROW PER MATCH", "ALL ROWS PER MATCH", "ALL ROWS PER MATCH", "ALL ROWS PER MATCH SHOW EMPTY MATCHES",
    "ALL ROWS PER MATCH OMIT EMPTY MATCHES", "ALL ROWS PER MATCH WITH UNMATCHED ROWS",
)  # fmt: skip
QUANTIFIERS = ("", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,}", "{,2}", "{1,2}?")


def random_statement(seed: int) -> tuple[str, pa.Table]:
    rng = random.Random(seed)
    variables = ["A", "B", "C"][: rng.randint(1, 3)]
    unions = {"U": sorted(rng.sample(variables, rng.randint(1, len(variables))))} if rng.random() < 0.3 else {}
    named = [*variables, *unions]
    order = rng.choice(["ts", "ts", "k", "k DESC", "v NULLS FIRST, k", "s, k DESC", ""])
    rows = rng.choice(ROWS_PER_MATCH)
    parts = [
        rng.choice(["PARTITION BY p", "PARTITION BY p", "PARTITION BY p, g", ""]),
        f"ORDER BY {order}" if order else "",
        "MEASURES " + ", ".join(f"{_measure(rng, named)} AS m{n}" for n in range(rng.randint(1, 4))),
        rows,
        _skip(rng, variables),
        f"PATTERN ({_anchored(rng, _pattern(rng, variables, 3), rng.choice(variables) + rng.choice(QUANTIFIERS))})",
        _window(rng, order),
        "SUBSET " + ", ".join(f"{name} = ({', '.join(members)})" for name, members in unions.items()) if unions else "",
        "DEFINE " + ", ".join(f"{name} AS {_condition(rng, named, name, 2)}" for name in variables if name == "A" or rng.random() < 0.9),
    ]
    if "UNMATCHED" in rows:
        parts[5] = parts[5].replace("{- ", "(").replace(" -}", ")")
    used = [name for name in variables if name in parts[5].replace("PATTERN", "")]
    if used != variables:
        return random_statement(seed + 1_000_003)
    return f"SELECT * FROM t MATCH_RECOGNIZE ({' '.join(part for part in parts if part)})", _table(rng)


def random_timeouts(seed: int) -> tuple[str, pa.Table]:
    """What shows partial matches that their window ended; the table may have pauses that are longer than windows. Some conditions and
    measures look at few rows only, so that all of these would be in the match, had it been completed."""
    rng = random.Random(seed)
    variables = ["A", "B", "C"][: rng.randint(1, 3)]
    measure, condition = (_measure, _condition) if rng.random() < 0.4 else (_measure_nearby, _condition_nearby)
    time = rng.choice(["ts", "k"])
    union = f"SUBSET U = ({', '.join(rng.sample(variables, rng.randint(1, len(variables))))})" if rng.random() < 0.3 else ""
    named = [*variables, "U"] if union else variables
    pattern = " ".join([*variables, rng.choice(variables) + rng.choice(QUANTIFIERS), _pattern(rng, variables, 1)])
    parts = [
        rng.choice(["PARTITION BY p", "PARTITION BY p", "PARTITION BY p, g", ""]),
        f"ORDER BY {time} MEASURES " + ", ".join(f"{measure(rng, named)} AS m{n}" for n in range(rng.randint(1, 3))),
        "ONE ROW PER MATCH SHOW TIMEOUT MATCHES",
        rng.choice(["", "AFTER MATCH SKIP PAST LAST ROW", "AFTER MATCH SKIP TO NEXT ROW"]),
        f"PATTERN ({pattern})",
        f"WITHIN INTERVAL '{rng.randint(0, 6)}' SECOND" if time == "ts" else f"WITHIN {rng.randint(0, 6)}",
        union,
        "DEFINE " + ", ".join(f"{name} AS {condition(rng, named, name, 1)}" for name in variables if name == "A" or rng.random() < 0.7),
    ]
    text = f"SELECT * FROM t MATCH_RECOGNIZE ({' '.join(part for part in parts if part)})"
    return random_timeouts(seed + 1_000_003) if "MATCH_NUMBER" in text else (text, _table(rng, rng.choice([12, 12, 40])))


def _skip(rng: random.Random, variables: list[str]) -> str:
    if rng.random() < 0.3:
        return f"AFTER MATCH SKIP TO {rng.choice(['', 'FIRST ', 'LAST '])}{rng.choice(variables)}"
    return rng.choice(["", "AFTER MATCH SKIP PAST LAST ROW", "AFTER MATCH SKIP TO NEXT ROW"])


def _window(rng: random.Random, order: str) -> str:
    if rng.random() < 0.5:
        return ""
    return {"ts": f"WITHIN INTERVAL '{rng.randint(0, 6)}' SECOND", "k": f"WITHIN {rng.randint(0, 6)}"}.get(order, "")


def _anchored(rng: random.Random, first: str, last: str) -> str:
    """Mostly without anchors; else with them where they are of use, and now and then where they are not."""
    start = rng.choice(["", "", "", "", "", "^ ", "^? ", "(^ | A) "])
    middle = rng.choice([" "] * 12 + [" $? ", " ^* ", " ($ | C?) " if "C" in first + last else " $* "])
    return f"{start}{first}{middle}{last}{rng.choice(['', '', '', '', '', ' $', ' $?', ' ($ | A)'])}"


def _pattern(rng: random.Random, variables: list[str], depth: int) -> str:
    kind = rng.random()
    if depth == 0 or kind < 0.35:
        return rng.choice(variables) + rng.choice(QUANTIFIERS)
    if kind < 0.6:
        return f"{_pattern(rng, variables, depth - 1)} {_pattern(rng, variables, depth - 1)}"
    if kind < 0.7:
        return f"{{- {_pattern(rng, variables, depth - 1)} -}}{rng.choice(QUANTIFIERS)}"
    if kind < 0.85:
        other = "()" if rng.random() < 0.2 else _pattern(rng, variables, depth - 1)
        return f"({_pattern(rng, variables, depth - 1)} | {other})"
    return f"({_pattern(rng, variables, depth - 1)}){rng.choice(QUANTIFIERS[3:])}"


def _reference(rng: random.Random, variables: list[str], column: str, *when: str) -> str:
    """`when` are the words that may stand before FIRST and LAST."""
    qualified = rng.choice(["", *(f"{name}." for name in variables)]) + column
    when = rng.choice(["", "", *when])
    return rng.choice([
        column, column, qualified, f"PREV({qualified})", f"NEXT({qualified}, {rng.randint(0, 2)})", f"{when}FIRST({qualified})",
        f"{when}LAST({qualified}, {rng.randint(0, 2)})", f"PREV({when}FIRST({qualified}, {rng.randint(0, 1)}), {rng.randint(0, 2)})",
    ])  # fmt: skip


def _aggregate(rng: random.Random, variables: list[str]) -> str:
    qualifier = rng.choice(["", *(f"{name}." for name in variables)])
    return rng.choice([
        "COUNT(*)", f"COUNT({qualifier}v)", f"COUNT({rng.choice(variables)}.*)", f"SUM({qualifier}v)", f"MIN({qualifier}v)",
        f"MAX({qualifier}w)", f"AVG({qualifier}v)", f"SUM({qualifier}w + {qualifier}v)",
    ])  # fmt: skip


def _condition(rng: random.Random, variables: list[str], name: str, depth: int) -> str:
    kind = rng.random()
    if depth and kind < 0.3:
        left, right = _condition(rng, variables, name, depth - 1), _condition(rng, variables, name, depth - 1)
        return f"({left} {rng.choice(['AND', 'OR'])} {right})"
    if depth and kind < 0.35:
        return f"NOT ({_condition(rng, variables, name, depth - 1)})"
    sign = rng.choice(["<", "<=", ">", ">=", "=", "<>"])
    if kind > 0.9:
        other = rng.choice(variables)
        return rng.choice([
            f"MATCH_NUMBER() {sign} 2", f"CLASSIFIER() = '{other}'", f"CLASSIFIER({other}) = 'A'", f"LAST(CLASSIFIER(), 1) <> '{other}'",
            "PREV(CLASSIFIER()) IS NULL", f"PREV(CLASSIFIER({other}), 2) = 'A'", "NEXT(CLASSIFIER()) IS NULL",
            "NEXT(FIRST(CLASSIFIER())) = 'B'", "NEXT(LAST(CLASSIFIER(), 2)) = 'A'", f"MAX(CLASSIFIER()) {sign} 'B'",
        ])  # fmt: skip
    if kind < 0.5:
        return f"v {sign} {rng.randint(0, 4)}"
    if kind < 0.6:
        return rng.choice(["s = 'a'", "s IN ('a', 'ü')", "s IS NULL", "v IS NOT NULL", "TRUE", "s <> PREV(s)", "v BETWEEN 1 AND 3"])
    if kind < 0.8:
        return f"{rng.choice(['v', f'{name}.v'])} {sign} {_reference(rng, variables, 'v')}"
    return f"{_aggregate(rng, variables)} {sign} {rng.randint(0, 6)}"


def _condition_nearby(rng: random.Random, variables: list[str], name: str, depth: int) -> str:
    sign = rng.choice(["<", "<=", ">", ">=", "<>"])
    if name != "A" or rng.random() < 0.3:
        return f"v {sign} {rng.choice([0, 2, 4, 'PREV(v)'])}"
    neighbour = rng.choice(["NEXT(v)", "NEXT(A.v)", "NEXT(v, 2)", "NEXT(A.w)"])
    return rng.choice([f"v {sign} {neighbour}", f"{neighbour} IS NOT NULL", f"{neighbour} IS NULL OR v {sign} 2"])


def _measure_nearby(rng: random.Random, variables: list[str]) -> str:
    return rng.choice(["NEXT(A.v)", "NEXT(FIRST(A.k))", "NEXT(FIRST(k), 2)", "PREV(A.v)", "A.k", "COUNT(*)", "LAST(k)", "CLASSIFIER()"])


def _measure(rng: random.Random, variables: list[str]) -> str:
    kind = rng.random()
    if kind < 0.5:
        return _reference(rng, variables, rng.choice("kvws"), "RUNNING ", "FINAL ")
    if kind < 0.75:
        return rng.choice(["", "FINAL ", "RUNNING "]) + _aggregate(rng, variables)
    one = rng.choice(variables)
    if kind < 0.85:
        return rng.choice(["", "FINAL ", "RUNNING "]) + rng.choice([
            f"ARRAY_AGG({one}.v)", "ARRAY_AGG(s)", "ARRAY_AGG(CLASSIFIER())", f"COUNT(CLASSIFIER({one}))", "MIN(CLASSIFIER() || s)",
            "SUM(MATCH_NUMBER())", f"SUM({one}.v * MATCH_NUMBER())",
        ])  # fmt: skip
    anchor = rng.choice(["", "FIRST", "LAST"])
    reached = f"{anchor}(CLASSIFIER({rng.choice(['', one])}){f', {rng.randint(0, 2)}' if anchor else ''})" if anchor else "CLASSIFIER()"
    return rng.choice([
        "MATCH_NUMBER()", "CLASSIFIER()", f"CLASSIFIER({one})", "LAST(CLASSIFIER(), 1)", "FIRST(v) + LAST(k)",
        f"{rng.choice(['PREV', 'NEXT'])}({reached}, {rng.randint(0, 2)})", f"PREV(LAST({one}.s || CLASSIFIER({one})))",
        "NEXT(COALESCE(CLASSIFIER(), 'none'))", f"LAST({one}.k + MATCH_NUMBER(), 1)",
    ])  # fmt: skip


def _table(rng: random.Random, latest: int = 12) -> pa.Table:
    count = rng.choice([0, 1, 5, 8, 11])  # the reference is exponential in nested quantifiers
    ticks = sorted(rng.randint(0, latest) for _ in range(count))
    if rng.random() < 0.3:
        rng.shuffle(ticks)
    return pa.table(
        {
            "p": pa.array([rng.choice(["x", "y", None]) for _ in range(count)], pa.string()),
            "g": pa.array([rng.choice([0, 1]) for _ in range(count)], pa.int64()),
            "k": pa.array(ticks, pa.int64()),
            "ts": pa.array([START + datetime.timedelta(seconds=tick) for tick in ticks], pa.timestamp("us")),
            "v": pa.array([rng.choice([0, 1, 2, 3, 4, None]) for _ in range(count)], pa.int64()),
            "w": pa.array([rng.choice([0.25, 1.5, 2.0, None]) for _ in range(count)], pa.float64()),
            "s": pa.array([rng.choice(["a", "b", "ü", None]) for _ in range(count)], pa.string()),
        }
    )
