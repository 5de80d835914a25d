"""The registry of languages, and what every entry has to keep."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.lang.toy_language import TOY, known

from ostinato.base.errors import OstinatoError, QuerySyntaxError
from ostinato.lang.compile_options import CompileOptions
from ostinato.lang.language import OPTIONS
from ostinato.lang.registry import language_named, language_of, language_of_suffix, languages, recognised, register, unregister

TEXTS = {
    "sase": "-- a comment\n/* two */ pattern SEQ(A a, B+ b[]) WHERE a.x = 'MATCH_RECOGNIZE' WITHIN 5",
    "neel": "-- a comment\nPATTERN SEQ(A a, !AND(B b, C c, b.x = c.x), D d, a.x < d.x) WITHIN 5",
    "sql": "SELECT * FROM t match_recognize (ORDER BY ts MEASURES A.x AS x PATTERN (A) DEFINE A AS x > 1)",
    "cel": "-- a comment\nSELECT x FROM FILTER {DUR > 5} (a NEXT {$2.x = $1.x} b) PUBLISH c; c NEXT b",
    "tpstream": "-- a comment\nfrom t define A as x > 1 at least 5, B as x < 1 pattern A meets;finishedBy B within 9",
}


def test_every_language_has_an_example_here():
    assert set(TEXTS) == {language.name for language in languages()}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_of_one_language(name):
    assert language_of(TEXTS[name]).name == language_of("SELECT 1", name).name == name
    assert language_named(name) is recognised(TEXTS[name])


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_parsed_can_be_rendered(name):
    language = language_named(name)
    for query in language.parse(TEXTS[name], CompileOptions()):
        assert language.render(query.tree) and 0 <= query.span.start < query.span.end <= len(TEXTS[name])


def test_suffixes():
    assert language_of_suffix(".SQL") is language_named("sql") and language_of_suffix(".sase") is language_named("sase")
    assert language_of_suffix(".txt") is None and language_of_suffix("") is None
    for language in languages():
        assert language.suffixes and all(suffix.startswith(".") and suffix.islower() for suffix in language.suffixes)


def test_texts_of_no_language():
    with pytest.raises(QuerySyntaxError, match="no query of a language") as caught:
        language_of("FIND something")
    assert caught.value.hint == (
        "SQL contains MATCH_RECOGNIZE or SITUATIONS OF, NEEL begins with PATTERN and has AND(...), !B b or conditions inside of it,"
        " SASE+ begins with PATTERN, TPStream begins with FROM and has DEFINE,"
        " CEL has FILTER {...}, NEXT {...}, FOLD {...} or PUBLISH;"
        ' or say which with language=("sql" or "neel" or "sase" or "tpstream" or "cel")'
    )
    with pytest.raises(OstinatoError, match='no language "xyz"') as named:
        language_of("PATTERN SEQ(A a)", "xyz")
    assert named.value.hint == "the languages are sql, neel, sase, tpstream, cel"


def test_options_that_are_not_offered():
    with pytest.raises(OstinatoError, match="ties= is for event patterns; a SQL statement says it itself") as caught:
        language_named("sql").refuse({"output": None, "ties": "epoch"})
    assert caught.value.hint == "Use ORDER BY, WITHIN and DEFINE"
    language_named("sase").refuse(dict.fromkeys(OPTIONS - {"latency", "threads"}, "x"))
    with pytest.raises(OstinatoError, match="latency= is not offered by this language"):
        language_named("sase").refuse({"latency": "final"})
    with pytest.raises(OstinatoError, match="output= is not for TPStream"):
        language_named("tpstream").refuse({"latency": "final", "output": "all"})
    with pytest.raises(OstinatoError, match="no option colour"):
        replace(TOY, options=frozenset(("colour",)))


def test_a_name_and_a_suffix_are_taken_once():
    with known():
        assert languages()[-1] is TOY and language_of_suffix(".toy") is TOY
        with pytest.raises(OstinatoError, match='already a language "toy"'):
            register(TOY)
        with pytest.raises(OstinatoError, match=r'"\.toy" is the suffix of Toy already'):
            register(replace(TOY, name="other"))
    assert TOY not in languages()
    with pytest.raises(OstinatoError, match='no language "toy"'):
        unregister("toy")
