"""Forges programs whose bytes can be read, and runs those that are accepted. Run as a program, so that a crash is seen from outside:
`python -m tests.unit.program.forged_programs FIRST COUNT`. The last line says what happened, the one before names the case at work."""

from __future__ import annotations

import json
import random
import sys
import traceback
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from tests.unit.runtime.forged_sessions import QUERIES, compiled, ends_in_time, limit_process, push, row_pattern, rows

import ostinato as ost
from ostinato.expr.typing.registered import find
from ostinato.expr.user_function import UserFunction
from ostinato.program import serde
from ostinato.program.disassemble import disassemble
from ostinato.program.program import Program
from ostinato.program.verification.verify import verify
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.session.session import Session

NUMBERS = (0, 1, 2, 3, 5, 7, 9, 17, 63, 64, 1 << 20, 1 << 40, (1 << 63) - 1, -1, -2, -1000, -(1 << 63), 1 << 70)
MORE_QUERIES = {
    "functions": row_pattern(
        "A B+ C",
        "B AS p * 2 < A.p + SUM(B.p) AND LEAST(s, A.s) <= s AND s LIKE '%' || UPPER(s) ESCAPE '!', "
        "C AS ROUND(p, 1) > SQRT(A.p) OR s IN ('x', 'y')",
        "SUM(B.p) AS x, MAX(s) AS y, ARRAY_AGG(k) AS z, COUNT(*) AS n, CAST(FIRST(p) AS DECIMAL(9, 2)) AS d, CLASSIFIER() AS c, "
        "CASE WHEN LAST(p) > 3 THEN DATE '2026-01-02' ELSE CAST(NULL AS DATE) END AS e",
    ),
    "unions": row_pattern(
        "(A | B)+ {- C -} D", "A AS p < 5, C AS s > FIRST(U.s), D AS AVG(U.p) < p", "LAST(U.p) AS z", "ALL ROWS PER MATCH"
    ).replace("DEFINE", "SUBSET U = (A, B) DEFINE"),
    "functions of users": row_pattern("A B+ C", "B AS near(p, A.p) AND twice(p) > 1, C AS near(SUM(B.p), p)", "twice(LAST(p)) AS t"),
    "anchors": row_pattern("^ A B* $", "B AS p < LAST(p, 2)", "LAST(s, 1) AS z, PREV(LAST(s), 2) AS y"),
}


def plain_of(program: Program) -> Any:
    return json.loads(zlib.decompress(serde.dumps(program)[6:]))


def loaded(plain: Any) -> Program:
    head = serde.MAGIC + serde.VERSION.to_bytes(2, "big")
    return serde.loads(head + zlib.compress(json.dumps(plain).encode(), 1), registered())


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a JSON value: the container and the key."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(item, dict | list):
            yield from places(item)


def another(value: Any, generator: random.Random, others: list[Any]) -> Any:
    """Something else of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + generator.choice([-2, -1, 1, 2, 8]) if generator.random() < 0.5 else generator.choice(NUMBERS)
    if isinstance(value, list) and value and generator.random() < 0.7:
        how, at = generator.randrange(4), generator.randrange(len(value))
        changed = {0: value[:at], 1: value[:at] + value[at + 1 :], 2: value[: at + 1] + value[at:]}.get(how, value[::-1])
        return changed
    alike = [other for other in others if type(other) is type(value) and other != value and _tag(other) == _tag(value)]
    return generator.choice(alike) if alike else generator.choice([None, "x", 7, []])


def _tag(value: Any) -> str:
    return next(iter(value), "") if isinstance(value, dict) else ""


def parts_of(plain: Any) -> list[Any]:
    """The fields of the program, of its inputs and operators, and of what these do."""
    whole = plain["$Program"]
    inputs = [one["$Input"] for one in whole["inputs"]]
    operators = [one["$Operator"] for one in whole["operators"]]
    bodies = [body for one in operators for body in one["body"].values()]
    return [item for fields in (whole, *inputs, *operators, *bodies) for item in fields.values() if isinstance(item, dict | list) and item]


def forge(program: Program, generator: random.Random) -> tuple[Any, str]:
    """The program with something else in it, and where."""
    plain = plain_of(program)
    parts, whole, told = parts_of(plain), plain["$Program"], []
    for _ in range(generator.choice([1, 1, 1, 2, 3])):
        all_places = list(places(whole))
        # Long lists would hide the rest: first a part of the program, then a place in it.
        inside = list(places(generator.choice(parts))) if generator.random() < 0.8 else all_places
        container, key = generator.choice(inside or all_places)
        new = json.loads(json.dumps(another(container[key], generator, [holder[name] for holder, name in all_places])))
        told.append(f"{key} {json.dumps(container[key])[:60]} -> {json.dumps(new)[:60]}")
        container[key] = new
    return plain, "; ".join(told)


def go_on(plain: Any) -> str:
    """What becomes of a program: refused, stopped by an error of ours, or used to the end."""
    try:
        program = verify(loaded(plain))
    except ost.StateError:
        return "refused"
    for operator in program.operators:
        disassemble(operator.body)
    try:
        budget = Budget(runs=20_000, bytes=1 << 28)
        session = Session(program, budget=budget, lateness=4 if all(reads.time >= 0 for reads in program.inputs) else 0)
        for step in range(3):
            push(session, rows(8 * step, 16, step))
        session = Session(program, snapshot=session.snapshot(), budget=budget)
        push(session, rows(24, 12, 7))
        session.metrics()
        session.close()
    except ost.OstinatoError:
        return "stopped"
    return "used"


def registered() -> dict[str, UserFunction]:
    """The functions that a query above calls."""
    if "near" not in ost.functions.names():
        double = pa.float64()
        ost.functions.register("near", lambda x, y: x - y < 3.0, takes=[double, double], returns=pa.bool_(), compiled=True)
        ost.functions.register("twice", lambda x: pc.multiply(x, 2.0), takes=[double], returns=double)
    return {name: function for name in ("near", "twice") if (function := find(name)) is not None}


def originals() -> dict[str, Program]:
    registered()
    for name, text in MORE_QUERIES.items():
        QUERIES.setdefault(name, (text, {}))
    return {name: compiled(name).program for name in QUERIES}


def run(first: int, count: int) -> Counter[str]:
    found: Counter[str] = Counter()
    programs = originals()
    names = list(programs)
    for name, program in programs.items():
        if go_on(plain_of(program)) != "used":
            raise AssertionError(f"{name}: a program that was not touched is refused")
    for number in range(first, first + count):
        generator = random.Random(number)
        name = names[number % len(names)]
        plain, told = forge(programs[name], generator)
        print(f"case {number}: {name}, {told}", flush=True)
        with ends_in_time():
            found[go_on(plain)] += 1
    return found


if __name__ == "__main__":
    limit_process()
    try:
        print(dict(run(int(sys.argv[1]), int(sys.argv[2]))))
    except BaseException:
        traceback.print_exc()
        sys.exit(1)
