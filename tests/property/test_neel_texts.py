"""NEEL: texts render and parse to the same tree; what the meaning must keep, on random texts and streams."""

from __future__ import annotations

from itertools import permutations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.neel_texts import KINDS, SCHEMA, queries, streams, texts

from ostinato.lang.neel import lower, parse, render
from ostinato.lang.registry import language_named
from ostinato.reference import output

STREAMS = {"events": SCHEMA}
SASE = language_named("sase")


def matches(text: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return output(lower(parse(text), STREAMS, type_by="kind"), rows)


@settings(deadline=None)
@given(texts(lists=True))
def test_what_is_rendered_parses_to_the_same_tree_and_has_a_meaning(text: str) -> None:
    tree = parse(text)
    assert parse(render(tree)) == tree
    assert lower(parse(render(tree)), STREAMS, type_by="kind") == lower(tree, STREAMS, type_by="kind")


@settings(deadline=None, max_examples=60)
@given(queries(depth=3, at_most=7))
def test_matches_are_listed_by_end_and_then_by_their_events(drawn: tuple[str, list[dict[str, Any]]]) -> None:
    text, rows = drawn
    text = text.split(" RETURN ")[0]
    found = matches(text, rows)
    ranks = [
        (max(rows[at]["ts"] for events in match.values() for at in events), [events or [len(rows)] for events in match.values()])
        for match in found
    ]
    assert ranks == sorted(ranks)
    for match in found:
        bound = [at for events in match.values() for at in events]
        assert len(bound) == len(set(bound))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=3), st.booleans(), streams(at_most=8), st.integers(1, 8))
def test_a_flat_sequence_is_that_of_sase_under_any_match(kinds: list[str], negated: bool, rows: list[dict[str, Any]], window: int) -> None:
    from ostinato.lang.sase import lower as lower_sase
    from ostinato.lang.sase import parse as parse_sase

    members = [f"{kind} v{number}" for number, kind in enumerate(kinds)]
    condition = "v0.x <= v1.y" if len(kinds) > 1 else "v0.x != 1"
    neel = [*members[:1], "!(D n, n.x = v0.x)", *members[1:]] if negated else members
    sase = [*members[:1], "~(D n)", *members[1:]] if negated else members
    given_ = ", ".join(f"v{number}" for number in range(len(kinds)))
    arguments = ", ".join((*given_.split(", ")[:1], "n", *given_.split(", ")[1:])) if negated else given_
    where = f"{condition} and n.x = v0.x" if negated else condition
    text = f"PATTERN SEQ({', '.join(sase)}) WHERE skip_till_any_match({arguments}) {{ {where} }} WITHIN {window}"
    expected = output(lower_sase(parse_sase(text), STREAMS, type_by="kind", ties="epoch"), rows)
    found = matches(f"PATTERN SEQ({', '.join(neel)}, {condition}) WITHIN {window}", rows)
    assert sorted(found, key=str) == sorted(expected, key=str)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=3), streams(at_most=8, ties=False), st.integers(1, 8))
def test_a_conjunction_is_its_permutations_where_all_times_differ(kinds: list[str], rows: list[dict[str, Any]], window: int) -> None:
    members = [f"{kind} v{number}" for number, kind in enumerate(kinds)]
    found = matches(f"PATTERN AND({', '.join(members)}, v0.x >= 1) WITHIN {window}", rows)
    orders = [matches(f"PATTERN SEQ({', '.join(order)}, v0.x >= 1) WITHIN {window}", rows) for order in permutations(members)]
    key = lambda match: [match[f"v{number}"] for number in range(len(kinds))]  # noqa: E731
    assert sorted(map(key, found)) == sorted(key(match) for order in orders for match in order)
