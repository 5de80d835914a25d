"""The languages: one line each. Whoever needs one asks here, by name, by the suffix of a file or by the text itself."""

from __future__ import annotations

from typing import Any

from ostinato.base.errors import OstinatoError, QuerySyntaxError
from ostinato.base.query_text import check_queries, check_text
from ostinato.lang.cel.language import CEL
from ostinato.lang.language import Language
from ostinato.lang.neel.language import NEEL
from ostinato.lang.sase.language import SASE
from ostinato.lang.several_languages import SEPARATOR, can_read, queries_in, several
from ostinato.lang.sql.language import SQL
from ostinato.lang.tpstream.language import TPSTREAM

_registered: dict[str, Language[Any]] = {
    SQL.name: SQL,
    NEEL.name: NEEL,  # before SASE+, which begins alike: it is what has a sign that SASE+ does not have
    SASE.name: SASE,
    TPSTREAM.name: TPSTREAM,  # before CEL, which publishes, too
    CEL.name: CEL,
}


def languages() -> tuple[Language[Any], ...]:
    return tuple(_registered.values())


def register(language: Language[Any]) -> None:
    """Make a language known, to this process."""
    for other in languages():
        if other.name == language.name:
            raise OstinatoError(f'there is already a language "{language.name}"')
        if taken := sorted({*other.suffixes} & {*language.suffixes}):
            raise OstinatoError(f'"{taken[0]}" is the suffix of {other.title} already')
    _registered[language.name] = language


def unregister(name: str) -> None:
    del _registered[language_named(name).name]


def language_named(name: str) -> Language[Any]:
    if name not in _registered:
        raise OstinatoError(f'there is no language "{name}"', hint=f"the languages are {', '.join(_registered)}")
    return _registered[name]


def language_of_suffix(suffix: str) -> Language[Any] | None:
    return next((language for language in languages() if suffix.lower() in language.suffixes), None)


def recognised(text: str) -> Language[Any] | None:
    """The language that a text is written in, or those that its queries are: each is of the language of the whole text if that can read it,
    else of the one that it has the sign of."""
    found = _recognised(text)
    spans = queries_in(text, languages()) if found is not None else ()
    if found is None or len(spans) < 2:
        return found
    check_queries(len(spans))
    texts = [text[span.start : span.end] for span in spans]
    own = tuple(found if can_read(found, one) else _recognised(one) or found for one in texts)
    return found if len({*own}) == 1 else several(own)


def _recognised(text: str) -> Language[Any] | None:
    """What stands in SQL can stand anywhere in a text, so it is looked for last."""
    by_certainty = sorted(languages(), key=lambda language: language.is_statement)
    return next((language for language in by_certainty if language.recognise(text)), None)


def language_of(text: str, name: str | None = None) -> Language[Any]:
    """The language of this name ("sase; neel": of each query one), or the one that the text is written in."""
    if name is not None:
        parts = [one.strip() for one in name.split(SEPARATOR.strip())]
        return language_named(name) if len(parts) == 1 else several(tuple(map(language_named, parts)))
    found = recognised(check_text(text))
    if found is None:
        signs = ", ".join(f"{language.title} {language.sign}" for language in languages())
        names = " or ".join(f'"{language.name}"' for language in languages())
        raise QuerySyntaxError("this is no query of a language that Ostinato knows", hint=f"{signs}; or say which with language=({names})")
    return found
