"""Every strategy x place of a negation x kind of list x output: what the engine finds is what the definition says. The combinations are
walked through one by one, each with queries that match, and only what the documentation refuses is refused."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from tests.conformance.match_times import variables_of
from tests.property.sase_matrix import NEGATIONS, OUTPUTS, REPEATS, SELECTIONS, Drawn, random_query, random_rows, with_output

import ostinato as ost
from ostinato import reference
from ostinato.testing.compare_rows import difference

Rows = list[dict[str, Any]]
FEW_AND_MANY = [1, pytest.param(8, marks=pytest.mark.slow)]  # queries of each combination
STRATEGIES = (None, "runs", "compact", "backtrack")
SCHEMA = pa.schema([("ts", pa.int64()), ("kind", pa.string()), ("k", pa.string()), ("v", pa.int64())])


@pytest.mark.every_pair
@pytest.mark.parametrize("repeats", REPEATS)
@pytest.mark.parametrize("negation", NEGATIONS)
@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("queries", FEW_AND_MANY)
def test_every_output(queries: int, selection: str, negation: str, repeats: str) -> None:
    rng = random.Random(f"{selection} {negation} {repeats}")
    for drawn, rows in matching(rng, queries, selection, negation, repeats):
        for output in OUTPUTS:
            check(drawn, rows, output, rng.choice(STRATEGIES), rng)


def matching(rng: random.Random, queries: int, *shape: str) -> Iterator[tuple[Drawn, Rows]]:
    """Queries of this shape with rows on which they have matches."""
    found = 0
    while found < queries:
        drawn, rows = random_query(rng, *shape), random_rows(rng)
        if reference.evaluate(compiled(drawn.text, drawn, None).algebra, rows):
            found += 1
            yield drawn, rows


def check(drawn: Drawn, rows: Rows, output: str, strategy: str | None, rng: random.Random) -> None:
    text = with_output(drawn, output)
    try:
        query = compiled(text, drawn, strategy)
    except ost.UnsupportedError:
        assert may_be_refused(drawn, output, strategy), text
        return
    assert not has_no_first(drawn, output), text
    wrong = difference(reference.output(query.algebra, rows), engine_output(query, rows, output, rng))
    assert not wrong, f"{text}\n{drawn.options} {strategy}\n{rows}\n{wrong}"


def has_no_first(drawn: Drawn, output: str) -> bool:
    """Where every event may be skipped there is no one match per start."""
    return output == "first" and "skip_till_any_match" in drawn.text


def may_be_refused(drawn: Drawn, output: str, strategy: str | None) -> bool:
    """Nothing else, unless a strategy is forced on what it cannot evaluate."""
    cannot = strategy == "compact" and (not drawn.columnar or drawn.options["ties"] == "epoch")
    return has_no_first(drawn, output) or cannot


def compiled(text: str, drawn: Drawn, strategy: str | None) -> ost.Query:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ost.ExplosionWarning)
        return ost.compile(text, {"events": SCHEMA}, strategy=strategy, **drawn.options)


def engine_output(query: ost.Query, rows: Rows, output: str, rng: random.Random) -> Rows:
    """In batches of any size, the session saved and opened again now and then. Positions stand for events."""
    table = pa.Table.from_pylist(rows, SCHEMA)
    session = query.open()
    tables = []
    while table.num_rows:
        size = rng.choice((1, 3, 8))
        tables.append(session.push(table.slice(0, size)))
        table = table.slice(size)
        if rng.random() < 0.3:
            session = query.open(snapshot=session.snapshot())
    result = pa.concat_tables([*tables, session.close()])
    listed = ost.decode(result).to_arrow() if output == "compressed" else result
    return [positions(row) for row in listed.to_pylist()] if output not in ("count", "aggregates") else listed.to_pylist()


def positions(row: dict[str, Any]) -> dict[str, list[int]]:
    return {name: [event["seq"] for event in events] for name, events in variables_of(row, "ts").items()}
