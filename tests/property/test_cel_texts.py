"""Laws of CEL that need no engine: text and tree, epochs, names that change nothing."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.cel_meaning import bag, lowered, meaning
from tests.property.cel_texts import SCHEMAS, rows, texts

from ostinato.algebra.text import to_text
from ostinato.lang.cel import parse_queries, render
from ostinato.lang.cel.language import CEL
from ostinato.lang.compile_options import CompileOptions
from ostinato.lang.registry import recognised


@settings(deadline=None)
@given(texts(folds=4, joins=8))
def test_rendered_text_is_parsed_to_the_same_tree(text: str) -> None:
    queries = parse_queries(text)
    assert parse_queries(";\n".join(map(render, queries))) == queries
    parsed = CEL.parse(text, CompileOptions())
    again = CEL.parse(";\n".join(render(part.tree) for part in sorted(parsed, key=lambda part: part.returned)), CompileOptions())
    assert {render(part.tree) for part in again} == {render(part.tree) for part in parsed}


@settings(deadline=None)
@given(texts())
def test_every_text_means_something(text: str) -> None:
    found = lowered(text, SCHEMAS)
    assert all(to_text(query) for query in found)
    assert recognised(text) in (CEL, None)


@settings(max_examples=60, deadline=None)
@given(texts(), rows(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(text, given, random) -> None:
    shuffled = {name: random.sample(found, len(found)) for name, found in given.items()}
    assert bag(meaning(text, SCHEMAS, given)) == bag(meaning(text, SCHEMAS, shuffled))


@settings(max_examples=60, deadline=None)
@given(texts(nested=False, queries=1), rows())
def test_a_query_that_is_published_is_read_as_it_is(text, given) -> None:
    assert bag(meaning(f"{text} PUBLISH mine; FROM mine", SCHEMAS, given)) == bag(meaning(text, SCHEMAS, given))
