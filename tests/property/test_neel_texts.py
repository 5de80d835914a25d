"""NEEL: texts render and parse to the same tree; what the meaning must keep, on random texts and streams."""

from __future__ import annotations

from itertools import chain, combinations, permutations
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
@given(texts(lists=True, optional=True))
def test_what_is_rendered_parses_to_the_same_tree_and_has_a_meaning(text: str) -> None:
    tree = parse(text)
    assert parse(render(tree)) == tree
    assert lower(parse(render(tree)), STREAMS, type_by="kind") == lower(tree, STREAMS, type_by="kind")


@settings(deadline=None, max_examples=60)
@given(queries(depth=3, optional=True, at_most=7))
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


members = st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(("", "", "?", "*"))), min_size=1, max_size=4)
linked = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from(("<=", "!="))), max_size=2)


@settings(deadline=None, max_examples=80)
@given(st.sampled_from(("SEQ", "AND")), members, linked, st.integers(0, 4), streams(at_most=7), st.integers(1, 8))
def test_a_member_that_may_be_left_empty_is_the_pattern_with_it_and_the_one_without(
    operator: str, drawn: list[tuple[str, str]], pairs: list[tuple[int, int, str]], negated: int, rows: list[dict[str, Any]], window: int
) -> None:
    """Also what must not be there stands beside the members that are left then, and conditions are those about them."""
    conditions = {(a, b): f"{_value(a, drawn)} {sign} {_value(b, drawn)}" for a, b, sign in pairs if max(a, b) < len(drawn)}
    optional = [place for place, (_, mark) in enumerate(drawn) if mark]

    def text(held: set[int], marks: dict[str, str]) -> str:
        written = [(place, _member(place, drawn, marks)) for place in range(len(drawn)) if place in held]
        before = sum(place < negated for place, _ in written)
        inside = [member for _, member in written]
        asked = [condition for pair, condition in conditions.items() if {*pair} <= held]
        return f"PATTERN {operator}({', '.join((*inside[:before], '!D n', *inside[before:], *asked))}) WITHIN {window}"

    everything = set(range(len(drawn)))
    expected = []
    for left_out in chain.from_iterable(combinations(optional, size) for size in range(len(optional) + 1)):
        if held := everything - {*left_out}:
            found = matches(text(held, {"?": "", "*": "+", "": ""}), rows)
            expected += [[match.get(f"v{place}", []) for place in sorted(everything)] for match in found]
    whole = matches(text(everything, {"?": "?", "*": "*", "": ""}), rows)
    assert sorted([match[f"v{place}"] for place in sorted(everything)] for match in whole) == sorted(expected)


def _member(place: int, drawn: list[tuple[str, str]], marks: dict[str, str]) -> str:
    kind, mark = drawn[place]
    return f"{kind}{marks[mark]} v{place}{'[]' if mark == '*' else ''}"


def _value(place: int, drawn: list[tuple[str, str]]) -> str:
    return f"max(v{place}[].x)" if drawn[place][1] == "*" else f"v{place}.x"
