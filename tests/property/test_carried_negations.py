"""Negations that the strategy compact carries along: what it finds is what the definition says, however the input is cut."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from tests.property.sase_matrix import OUTPUTS, Drawn, random_rows, with_output
from tests.property.test_sase_matrix import SCHEMA, compiled, engine_output

from ostinato import reference
from ostinato.program.analysis.carried_negations import uncarried
from ostinato.testing.compare_rows import difference

Rows = list[dict[str, Any]]
SELECTIONS = ("skip_till_next_match", "skip_till_any_match", "partition_contiguity")
KINDS = ("A", "B")
FEW_AND_MANY = [20, pytest.param(150, marks=pytest.mark.slow)]  # queries of each combination


def drawn_query(rng: random.Random, selection: str) -> Drawn:
    """Up to four elements, the outer ones there in every match, with one or two negations between them."""
    middle = [rng.choice(("", "+", "*", "?")) for _ in range(rng.randint(0, 2))]
    marks = [rng.choice(("", "+")), *middle, rng.choice(("", "+"))]
    names = "abcd"[: len(marks)]
    items = [f"{rng.choice(KINDS)}{mark} {name}{'[ ]' if mark in ('+', '*') else ''}" for mark, name in zip(marks, names, strict=True)]
    places = sorted(rng.sample(range(1, len(items) + 1), rng.randint(1, min(2, len(items) - 1))), reverse=True)
    negated: list[str] = []
    for place in places:
        own = [f"{name}{place}" for name in "xyz"[: rng.choice((1, 1, 2, 3))]]
        events = ", ".join(f"{rng.choice(KINDS)} {name}" for name in own)
        items.insert(min(place, len(marks) - 1), f"~({events})" if len(own) == 1 else f"~(SEQ({events}))")
        negated += own
    conditions = ["[k]"] * (rng.random() < 0.5)
    conditions += [f"{name}.v {rng.choice(('<', '>='))} {rng.randint(1, 2)}" for name in negated if rng.random() < 0.7]
    window = rng.choice(("", f"WITHIN {rng.randint(2, 6)}", f"WITHIN {rng.randint(3, 6)} events"))
    text = f"PATTERN SEQ({', '.join(items)}) WHERE {selection}({', '.join((*names, *negated))}) {{ {' and '.join(conditions)} }} {window}"
    return Drawn(text, True, {"type_by": "kind", "ties": "order"})


def output_text(drawn: Drawn, output: str) -> str:
    returned = "RETURN count(*) AS n, sum(a.v) AS total, avg(b.v) AS mean, max(b.v) AS most "
    return f"{drawn.text} {returned}OUTPUT {output}" if output == "aggregates" else with_output(drawn, output)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("queries", FEW_AND_MANY)
def test_the_definition_holds(queries: int, selection: str, output: str) -> None:
    if output == "first" and selection == "skip_till_any_match":
        return
    rng = random.Random(f"{selection} {output}")
    found = 0
    for _ in range(queries):
        drawn, rows = drawn_query(rng, selection), random_rows(rng)
        query = compiled(output_text(drawn, output), drawn, "compact")
        assert not uncarried(query.pattern).negations
        expected = reference.output(query.algebra, rows)
        found += bool(reference.evaluate(query.algebra, rows))
        wrong = difference(expected, engine_output(query, rows, output, rng))
        assert not wrong, f"{query.text}\n{rows}\n{wrong}"
    assert found > queries // 10


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("queries", FEW_AND_MANY)
def test_by_epoch_they_filter_what_is_found(queries: int, selection: str, output: str) -> None:
    """Where simultaneous events do not follow one another, of which there are many."""
    if output == "first" and selection == "skip_till_any_match":
        return
    rng = random.Random(f"{selection} {output} by epoch")
    for _ in range(queries):
        drawn, rows = drawn_query(rng, selection), [{**row, "ts": row["ts"] // 2} for row in random_rows(rng)]
        drawn = replace(drawn, options={"type_by": "kind", "ties": "epoch"})
        query = compiled(output_text(drawn, output), drawn, rng.choice((None, "runs", "backtrack")))
        assert uncarried(query.pattern).negations == query.pattern.negations
        wrong = difference(reference.output(query.algebra, rows), engine_output(query, rows, output, rng))
        assert not wrong, f"{query.text}\n{rows}\n{wrong}"


def test_a_count_beyond_anything_that_could_be_listed() -> None:
    text = "PATTERN SEQ(A+ a[ ], ~(B x), A c) WHERE skip_till_any_match(a[ ], x, c) {} WITHIN 50 OUTPUT count"
    rows = [{"ts": at, "kind": "B" if at % 100 == 0 else "A", "k": "k", "v": 1} for at in range(1_000)]
    query = compiled(text, Drawn(text, True, {"type_by": "kind"}), None)
    session = query.open()
    session.push(pa.Table.from_pylist(rows, SCHEMA))
    (count,) = session.close().column("count").to_pylist()
    assert count == expected_count(50, rows)


def expected_count(within: int, rows: Rows) -> int:
    """By the last two events: as many as there are sets of events from `a` between a first and the last of them."""
    total = 0
    for last in range(len(rows)):
        if rows[last]["kind"] != "A":
            continue
        for end in range(last - 1, -1, -1):
            if rows[end]["kind"] != "A" or last - end > within:
                break
            chosen = [at for at in range(max(0, last - within), end) if rows[at]["kind"] == "A"]
            total += 2 ** len(chosen)
    return total
