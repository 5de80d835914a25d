"""Rules of a stream that change while it runs, as Spark runs it but without Spark: micro-batches with changes of a log beside the rows."""

from __future__ import annotations

import copy
import random
import shutil
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

from tests.unit.hosts.spark.driven_buckets import DrivenBuckets

import ostinato as ost
from ostinato.base.errors import DataError, SchemaError, StateError, UnknownNameError, UnsupportedError
from ostinato.hosts.spark.ship_program import shipped
from ostinato.hosts.spark.streaming.bucket_processor import BucketProcessor
from ostinato.hosts.spark.streaming.live_rules import live_set
from ostinato.hosts.spark.streaming.match_stream import buckets_for, clock_of
from ostinato.hosts.spark.streaming.rule_log import RuleLog
from ostinato.hosts.spark.streaming.rule_source import RuleReader
from ostinato.hosts.spark.streaming.waiting import Waiting
from ostinato.hosts.spark.work import Work
from ostinato.program.query_graphs import NO_QUERIES
from ostinato.tasks.set_output import with_errors

SCHEMA = pa.schema([("ts", pa.int64()), ("k", pa.string()), ("p", pa.float64()), ("n", pa.int64())])
PAIR = "PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) {{ [k] and a.p > {0} and b.p > {1} }} WITHIN 40 RETURN a.ts AS a, b.ts AS b"
FALL = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.ts AS a, LAST(B.ts) AS b PATTERN (A B+) WITHIN 50
    DEFINE A AS p > {0}, B AS p < PREV(p))"""
SHOWN = "PATTERN SEQ(t x, t y) WHERE skip_till_next_match(x, y) {{ [k] and x.p > {0} and y.p > {1} }} WITHIN 40"
FAILS = "PATTERN SEQ(t a) WHERE skip_till_next_match(a) { [k] and a.n * 4611686018427387904 > 0 } RETURN a.ts AS a"


def rows(count: int, seed: int, first: int = 0) -> pa.Table:
    generator = np.random.default_rng(seed)
    return pa.table(
        {
            "ts": np.arange(first, first + count),
            "k": [f"k{n}" for n in generator.integers(0, 5, count)],
            "p": generator.integers(0, 10, count).astype(float),
            "n": np.ones(count, np.int64),
        },
        schema=SCHEMA,
    )


def some(*names: str) -> ost.QuerySet:
    queries = ost.QuerySet({"t": SCHEMA})
    for name in names:
        queries.add(name, PAIR.format(7, 3))
    return queries


class LiveBuckets(DrivenBuckets):
    """A stream of a set: made anew it is one that was stopped and is started again."""

    def __init__(self, queries: ost.QuerySet, log: str, before: LiveBuckets | None = None, keys: tuple[str, ...] | None = None) -> None:
        live, rules = live_set(queries, RuleLog(log), {"t": (SCHEMA, None)}, keys)
        work = Work(queries.program, with_errors(rules.output), is_set=True, quarantines=True, fixed=live.division)
        super().__init__(work, Waiting(0, 1), buckets=3)
        count = buckets_for(work, 3)
        self.processor = BucketProcessor(
            shipped(NO_QUERIES), work.output, count, clock_of(work), Waiting(0, 1), is_set=True, quarantines=True, live=live
        )
        queries.follow(log, rules)
        self.reader = RuleReader(RuleLog(log), count)
        self.offset = self.reader.initialOffset() if before is None else before.offset
        if before is not None:
            self.buckets, self.watermark = before.buckets, before.watermark

    def batch(self, *tables: pa.Table) -> list[dict]:
        start, self.offset = self.offset, self.reader.latestOffset(self.offset, self.reader.getDefaultReadLimit())
        return self.again(start, *tables)

    def again(self, start: dict, *tables: pa.Table) -> list[dict]:
        """The micro-batch up to `offset`."""
        told = [batch for part in self.reader.partitions(start, self.offset) for batch in self.reader.read(part)]
        return self._run([*told, *(packer.pack(table) for packer, table in zip(self.packers, tables, strict=True) if table.num_rows)])


def lines(found: list[dict]) -> list[str]:
    return sorted(repr({name: row[name] for name in sorted(row) if row[name] is not None}) for row in found)


def expected(found: dict[str, pa.Table]) -> list[str]:
    return lines([{"query_id": name, **row} for name, table in found.items() for row in table.to_pylist()])


def change(queries: ost.QuerySet, generator: random.Random, number: int) -> None:
    """Some rules go, some come, some say something else."""
    table = {rule.id: rule.text for rule in queries._rules.values()}
    for name in generator.sample(sorted(table), min(3, len(table))):
        del table[name]
    for name in generator.sample(sorted(table), min(2, len(table))):
        table[name] = FALL.format(generator.randint(3, 8))
    for place in range(6):
        text = generator.choice((PAIR, PAIR, FALL))
        table[f"new{number}-{place}"] = text.format(generator.randint(3, 8), generator.randint(1, 5))
    queries.sync([{"id": name, "text": text} for name, text in table.items()])


@pytest.mark.parametrize("seed", range(4))
def test_a_stream_follows_its_set(seed, tmp_path):
    """As a session in this process does; every third micro-batch the stream is stopped, and started again with a set that has changed."""
    generator = random.Random(seed)
    queries = some("one", "two")
    queries.add("fall", FALL.format(8))
    session = queries.open()
    driven = LiveBuckets(queries, str(tmp_path / "log"))
    for number in range(9):
        table = rows(50, seed, 50 * number)
        if number:
            change(queries, generator, number)
        if number % 3 == 2:
            driven = LiveBuckets(queries, str(tmp_path / "log"), driven)
        assert lines(driven.batch(table)) == expected(session.push("t", table)), number
    assert len(queries) > 20 and "evaluated as one" in queries.explain()


def test_a_set_that_changed_while_its_stream_was_stopped(tmp_path):
    log, first, second = str(tmp_path / "log"), rows(60, 1), rows(60, 2, 60)
    queries = some("stays", "goes", "changes")
    driven = LiveBuckets(queries, log)
    before = driven.batch(first)
    other = ost.QuerySet({"t": SCHEMA})  # another process
    other.add("new", FALL.format(4))
    other.add("stays", PAIR.format(7, 3).replace("WITHIN", "\n  WITHIN"))
    other.add("changes", PAIR.format(6, 4))
    again = LiveBuckets(other, log, driven)
    after = again.batch(second)
    here = some("stays", "goes", "changes")
    session = here.open()
    assert lines(before) == expected(session.push("t", first))
    here.remove("goes")
    here.remove("changes")
    here.add("changes", PAIR.format(6, 4))
    here.add("new", FALL.format(4))
    assert lines(after) == expected(session.push("t", second))
    assert len(RuleLog(log).after(RuleLog(log).first())) == 2
    third = LiveBuckets(other, log, again)
    assert third.batch(rows(0, 1)) == [] and third.offset == again.offset  # nothing has changed: nothing is told


def test_a_micro_batch_that_is_run_again_sees_the_rules_that_it_saw(tmp_path):
    queries = some("one")
    driven = LiveBuckets(queries, str(tmp_path / "log"))
    driven.batch(rows(50, 1))
    queries.add("two", PAIR.format(5, 2))
    start, before = driven.offset, copy.deepcopy(driven.buckets)
    found = driven.batch(rows(50, 2, 50))
    queries.remove("one")
    queries.add("three", PAIR.format(6, 2))
    end, driven.buckets = driven.offset, before
    assert lines(driven.again(start, rows(50, 2, 50))) == lines(found) and driven.offset == end
    names = {row["query_id"] for row in driven.batch(rows(50, 3, 100))}
    assert names == {"two", "three"}


def test_rules_change_without_rows_and_without_queries(tmp_path):
    queries = ost.QuerySet({"t": SCHEMA})
    queries.add("one", PAIR.format(5, 2))
    driven = LiveBuckets(queries, str(tmp_path / "log"))
    assert driven.batch(rows(0, 1)) == []
    queries.remove("one")
    assert driven.batch(rows(40, 1)) == []
    queries.add("two", PAIR.format(5, 2))
    assert driven.batch(rows(0, 1)) == [] and {row["query_id"] for row in driven.batch(rows(40, 2, 40))} == {"two"}


def test_one_that_fails_is_told_once_and_comes_back_when_it_is_restarted(tmp_path):
    queries = some("one")
    queries.add("fails", FAILS)
    driven = LiveBuckets(queries, str(tmp_path / "log"))
    bad = rows(20, 1).set_column(3, "n", pa.array([3] * 20))
    errors = [row for row in driven.batch(bad) if row["query_error"] is not None]
    assert {row["query_id"] for row in errors} == {"fails"} and "64 bits" in errors[0]["query_error"]
    assert {row["query_id"] for row in driven.batch(rows(20, 2, 20))} == {"one"}
    queries.restart("fails")
    assert {row["query_id"] for row in driven.batch(rows(20, 3, 40))} == {"one", "fails"}


def test_queries_that_show_numbers_of_matches_go_by_themselves(tmp_path):
    queries = ost.QuerySet({"t": SCHEMA})
    for limit in range(6):
        queries.add(f"q{limit}", SHOWN.format(limit, limit))
    driven = LiveBuckets(queries, str(tmp_path / "log"))
    queries.add("later", SHOWN.format(4, 3))
    found = driven.batch(rows(60, 1))
    assert {row["query_id"] for row in found} == {*queries}
    assert len({(row["query_id"], row["match_id"]) for row in found}) == len(found)


REFUSED: dict[str, tuple[str, type[Exception], str]] = {
    "another key": (PAIR.format(7, 3).replace("[k] and ", ""), UnsupportedError, "divided by k"),
    "another column": (PAIR.format(7, 3).replace("AS b", "AS c"), SchemaError, "no column 'c'"),
    "another time": (PAIR.format(7, 3), UnsupportedError, "goes by 'n'"),
    "no end": (PAIR.format(7, 3).partition("RETURN")[0] + "OUTPUT count", UnsupportedError, "never final"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_stream_cannot_do_is_refused_and_changes_nothing(name, tmp_path):
    text, kind, message = REFUSED[name]
    queries = some("one", "two")
    driven = LiveBuckets(queries, str(tmp_path / "log"))
    options = {"time": "n"} if name == "another time" else {}
    with pytest.raises(kind, match=message):
        queries.add("new", text, **options)
    table = [{"id": "one", "text": PAIR.format(1, 1)}, {"id": "new", "text": text, **options}]
    with pytest.raises(ost.RuleError, match=message):
        queries.sync(table)
    assert set(queries) == {"one", "two"}
    driven.batch(rows(10, 1))
    assert driven.offset["change"] == 1


def test_matches_of_one_row_come_to_any_division(tmp_path):
    queries = some("one")
    driven = LiveBuckets(queries, str(tmp_path / "log"))
    session = queries.open()
    queries.add("filter", "PATTERN SEQ(t a) WHERE skip_till_next_match(a) { a.p > 8 } RETURN a.ts AS a")
    table = rows(80, 4)
    assert lines(driven.batch(table)) == expected(session.push("t", table)) and len(driven.buckets) == 3
    other = ost.QuerySet({"t": SCHEMA})
    other.add("filter", queries["filter"].text)
    assert len(LiveBuckets(other, str(tmp_path / "other")).packers[0].keys) == 0


def test_without_a_common_key_there_is_one_place(tmp_path):
    queries = some("one")
    queries.add("all", PAIR.format(8, 8).replace("[k] and ", ""))
    driven = LiveBuckets(queries, str(tmp_path / "log"))
    session = queries.open()
    queries.add("later", PAIR.format(7, 7).replace("[k] and ", ""))
    table = rows(80, 4)
    assert lines(driven.batch(table)) == expected(session.push("t", table)) and len(driven.buckets) == 1


def test_keys_that_are_said(tmp_path):
    queries = ost.QuerySet({"t": SCHEMA})
    driven = LiveBuckets(queries, str(tmp_path / "log"), keys=("k",))
    with pytest.raises(UnsupportedError, match="divided by k"):
        LiveBuckets(queries, str(tmp_path / "log"), keys=("n",))
    with pytest.raises(ost.SchemaError, match="no column 'a'"):  # the results of this stream have none
        queries.add("one", PAIR.format(5, 2))
    assert driven.batch(rows(10, 1)) == []


def test_a_log_is_written_by_one_alone(tmp_path):
    log, queries, other = str(tmp_path / "log"), some("one"), some("one")
    LiveBuckets(queries, log)
    LiveBuckets(other, log)
    queries.add("two", PAIR.format(5, 2))
    with pytest.raises(StateError, match="somebody else"):
        other.add("three", PAIR.format(5, 2))
    assert set(other) == {"one"}


def test_what_could_not_be_written_comes_with_the_next_change(tmp_path, monkeypatch):
    log, queries = str(tmp_path / "log"), some("one")
    driven = LiveBuckets(queries, log)
    with monkeypatch.context() as patched:
        patched.setattr(RuleLog, "_write", _no_room)
        with pytest.raises(DataError, match="no room"):
            queries.add("two", PAIR.format(5, 2))
    queries.remove("one")
    assert {row["query_id"] for row in driven.batch(rows(60, 1))} == {"two"}


def _no_room(log: RuleLog, name: str, data: bytes) -> None:
    raise DataError("no room")


def _cut_off(log: RuleLog, name: str) -> None:
    path = f"{log.directory}/{name}"
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(data[:-9])


def _other_rules(log: RuleLog, name: str) -> None:
    shutil.rmtree(log.directory)
    LiveBuckets(some("other"), log.directory)
    LiveBuckets(some("another"), log.directory)


@pytest.mark.parametrize("damage", [_cut_off, _other_rules])
def test_a_log_that_is_damaged_or_another(damage: Callable[[RuleLog, str], None], tmp_path):
    log, queries = str(tmp_path / "log"), some("one")
    driven = LiveBuckets(queries, log)
    if damage is _other_rules:
        driven.batch(rows(10, 1))
    damage(RuleLog(log), "000000001.json")
    with pytest.raises((StateError, DataError)):
        driven.batch(rows(10, 1))


def test_a_stream_that_is_not_given_is_unknown(tmp_path):
    queries = ost.QuerySet({"t": SCHEMA, "u": SCHEMA})
    queries.add("one", PAIR.format(5, 2))
    _, rules = live_set(queries, RuleLog(str(tmp_path / "log")), {"t": (SCHEMA, None)}, None)
    queries.follow("log", rules)
    with pytest.raises(UnknownNameError, match="does not read 'u'"):
        queries.add("two", PAIR.format(5, 2).replace("t a, t b", "u a, u b"))


def test_functions_of_users(tmp_path):
    ost.functions.register("doubled", lambda x: x * 2.0, takes=[pa.float64()], returns=pa.float64(), compiled=True)
    ost.functions.register("tripled", lambda x: x * 3.0, takes=[pa.float64()], returns=pa.float64(), compiled=True)
    try:
        queries = some("one")
        queries.add("two", PAIR.format(7, 3).replace("a.p > 7", "doubled(a.p) > 14"))
        driven = LiveBuckets(queries, str(tmp_path / "log"))
        queries.add("three", PAIR.format(7, 3).replace("a.p > 7", "doubled(a.p) > 12"))
        with pytest.raises(UnknownNameError, match="do not know the function tripled"):
            queries.add("four", PAIR.format(7, 3).replace("a.p > 7", "tripled(a.p) > 12"))
        assert {row["query_id"] for row in driven.batch(rows(60, 1))} == {"one", "two", "three"}
    finally:
        ost.functions.unregister("doubled")
        ost.functions.unregister("tripled")


def test_the_end_of_a_stream(tmp_path):
    queries = some("one")
    queries.add("open", FALL.format(3))
    driven = LiveBuckets(queries, str(tmp_path / "log"))
    table = rows(50, 1)
    found = driven.batch(table) + driven.end()
    session = queries.open()
    assert lines(found) == sorted(expected(session.push("t", table)) + expected(session.close()))
    queries.add("late", PAIR.format(5, 2))
    assert driven.batch(rows(0, 1)) == []


def test_the_state_of_another_release(tmp_path):
    driven = LiveBuckets(some("one"), str(tmp_path / "log"))
    driven.batch(rows(20, 1))
    bucket = next(iter(driven.buckets.values()))
    for data, message in ((b"what", "not written by Ostinato"), (b"OSTL\x00\x09" + bytes(8), "format 9")):
        bucket.rules.update((data,))
        with pytest.raises(StateError, match=message):
            driven.batch(rows(20, 2, 20))
