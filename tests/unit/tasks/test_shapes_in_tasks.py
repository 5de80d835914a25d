"""What a task does with a set whose queries are rows of shapes: results in one table, with names, over snapshots."""

import numpy as np
import pyarrow as pa

import ostinato as ost
from ostinato.program import serde
from ostinato.runtime.session.session import RunningProgram
from ostinato.tasks.fed_session import FedSession
from ostinato.tasks.keyed_pass import set_pass, set_session
from ostinato.tasks.set_output import as_one_table, merged_results

PAIR = """PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) {{ [k] and a.x > {x} and b.x < {y} }} WITHIN 30
    RETURN a.ts AS first, b.ts AS last"""
FALL = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.ts AS first PATTERN (A B+)
    DEFINE A AS x > {x}, B AS x < PREV(x))"""


def rows() -> pa.Table:
    generator = np.random.default_rng(4)
    keys = [f"k{n}" for n in generator.integers(0, 4, 400)]
    return pa.table({"ts": np.arange(400), "k": keys, "x": generator.integers(0, 9, 400).astype(float)})


def queries() -> ost.QuerySet:
    """Some say the same; one goes by itself."""
    made = ost.QuerySet({"t": rows().schema})
    for number in range(10):
        made.add(f"pair {number}", PAIR.format(x=3 + number % 5, y=2 + number % 3))
        made.add(f"fall {number}", FALL.format(x=number % 8))
    made.add(
        "any", "PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) { [k] and b.x > a.x } WITHIN 5 RETURN a.ts AS first, b.ts AS last"
    )
    return made


def expected(made: ost.QuerySet) -> list[str]:
    found = ost.match_all(made, t=rows())
    return sorted(repr(sorted({"query_id": name, **row}.items())) for name, table in found.items() for row in table.to_pylist())


def shown(table: pa.Table) -> list[str]:
    return sorted(repr(sorted((name, value) for name, value in row.items() if value is not None)) for row in table.to_pylist())


def test_in_a_batch():
    made = queries()
    program = serde.loads(serde.dumps(made.program))
    assert len(program.operators) == 3
    table = rows().sort_by([("k", "ascending"), ("ts", "ascending")])
    pieces = [table.slice(begin, 90) for begin in range(0, 400, 90)]
    found = merged_results(set_pass(program, ["k"], pieces))
    assert shown(as_one_table(found, program, made.output_schema, 0, 0)) == expected(made)


def test_in_a_stream():
    made = queries()
    program = serde.loads(serde.dumps(made.program))
    found, snapshot = [], None
    for begin in range(0, 400, 80):
        session = set_session(program, {}, lateness=0, snapshot=snapshot)
        fed = FedSession(session)
        found.append(fed.push(0, rows().slice(begin, 80)))
        found.append(fed.advance([begin + 80]))
        snapshot = RunningProgram.snapshot(session)
    found.append(FedSession(set_session(program, {}, snapshot=snapshot)).close())
    assert shown(as_one_table(merged_results(found), program, made.output_schema, 1, 0)) == expected(made)
