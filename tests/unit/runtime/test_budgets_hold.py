"""Every explosion ends in a BudgetError before the memory is taken, whatever evaluates the query."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from tests.unit.runtime.exploding_queries import LIMIT, cases

import ostinato as ost
from ostinato.runtime.limits import budget as module
from ostinato.runtime.limits.budget import Budget, MemoryShare, in_words, memory_share

SCRIPT = Path(__file__).with_name("exploding_queries.py")
FACTOR = 12  # of the budget: kernels that are loaded, and what the last piece took beside its estimate


def test_each_ends_in_a_budget_error() -> None:
    """One test for all: the process takes ten seconds, and would be started again beside every process of tests."""
    run = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, timeout=280, check=False)
    assert run.returncode == 0, run.stderr
    reported = {name: (said, int(grown)) for name, said, grown in (line.split("|") for line in run.stdout.splitlines())}
    assert reported.keys() == cases().keys()
    most = FACTOR * LIMIT / (1 << 20)
    wrong = {name: f"{said}, {grown} MiB" for name, (said, grown) in reported.items() if said != "BudgetError" or grown >= most}
    assert not wrong


def test_the_query_is_named() -> None:
    text = "PATTERN SEQ(A+ a[ ], A b) WHERE skip_till_any_match(a[ ], b) { a[i].v > 0 }"
    with pytest.warns(ost.ExplosionWarning), pytest.raises(ost.BudgetError) as caught:
        rows = pa.table({"ts": range(40), "kind": ["A"] * 40, "v": range(1, 41)})
        ost.match(text, t=rows, type_by="kind", budget=Budget(runs=10_000))
    said = str(caught.value)
    assert text[:40] in said and "reads t and binds a, b" in said and "OUTPUT count, compressed or first" in said
    assert "1,099,511,6" in said.replace(" ", "")  # matches, of which none was listed


def test_a_share_of_the_memory_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "memory_there_is", lambda: 8 << 30)
    assert Budget().bytes == memory_share() == 2 << 30
    assert isinstance(Budget(runs=5).bytes, MemoryShare)
    assert Budget().of_task(4).bytes == 512 << 20
    assert Budget(bytes=1000).of_task(4).bytes == 1000 and Budget(bytes=None).of_task(4).bytes is None
    assert in_words(999) == "999 bytes" and in_words(3 << 29) == "1.5 GiB"


TEXTS = pa.schema([("ts", pa.int64()), ("k", pa.string()), ("v", pa.int64())])


def texts(batch: int) -> pa.Table:
    return pa.table([[batch] * 500, [f"{batch} {n} {'x' * 1000}" for n in range(500)], [batch] * 500], schema=TEXTS)


def test_texts_count() -> None:
    """An anchor keeps every key, and with it its text."""
    text = "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(*) AS n PATTERN (^ A B) DEFINE B AS B.v < 0)"
    session = ost.compile(text, {"t": TEXTS}).open(budget=Budget(bytes=2_000_000))
    with pytest.raises(ost.BudgetError, match=r"texts 2\.\d+ MiB"):
        for batch in range(10):
            session.push(texts(batch))
    assert batch == 3


def test_texts_that_nothing_refers_to_do_not_count() -> None:
    text = "PATTERN SEQ(T a, T b) WHERE skip_till_next_match(a, b) { a.k = b.k } WITHIN 1"
    session = ost.compile(text, {"t": TEXTS}).open(budget=Budget(bytes=4_000_000))
    for batch in range(12):
        session.push(texts(2 * batch))
    pool = session.graph.inputs[0].pool
    assert pool.bytes < 4_000_000 and len(pool) < 4_000


def test_the_index_of_searches_counts() -> None:
    text = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES COUNT(*) AS n PATTERN (A B+ C) DEFINE B AS true, C AS C.v > 2 * A.v + 5)"
    rows = pa.table({"ts": range(100_000), "v": [1] * 100_000})
    with pytest.raises(ost.BudgetError, match=r"the index of rows \d\d"):
        ost.compile(text, {"t": rows.schema}).open(budget=Budget(bytes=100_000)).push(rows)


@pytest.mark.filterwarnings("ignore::ostinato.ExplosionWarning")
def test_a_lazy_result_that_finds_nothing_ends() -> None:
    """It may be read as long as it hands on matches."""
    text = "PATTERN SEQ(A+ a[ ], ~(X x), B b) WHERE skip_till_any_match(a[ ], x, b) { x.v > a[1].v }"

    def found(kinds: str) -> int:
        rows = pa.table({"ts": range(len(kinds)), "kind": list(kinds), "v": range(len(kinds))})
        result = ost.match(text, t=rows, type_by="kind", lazy=True, budget=Budget(steps=1_000_000, bytes=4_000_000))
        return sum(batch.num_rows for batch in result.batches())

    assert found("A" * 16 + "B") == 2**16 - 1
    assert found("A" * 10 + "XB") == 0
    with pytest.raises(ost.BudgetError, match=r"candidates .* budget is 3,100,000 steps"):
        found("A" * 40 + "XB")
