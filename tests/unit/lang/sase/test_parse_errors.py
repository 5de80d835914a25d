"""What is not SASE+ is refused where it stands, with the remedy."""

from __future__ import annotations

import pytest

from ostinato.base.errors import OstinatoError, QuerySyntaxError, UnsupportedError
from ostinato.lang.sase.parse import parse

SYNTAX, UNSUPPORTED = QuerySyntaxError, UnsupportedError

# text (with | around what the carets underline), kind, message, hint
REFUSED = [
    ("|SELECT| 1", SYNTAX, "Expected PATTERN, found `SELECT`", "A SASE+ query begins with PATTERN SEQ(...)"),
    ("PATTERN SEQ(|)|", SYNTAX, "Expected an event type, found `)`", None),
    ("PATTERN SEQ(A|)|", SYNTAX, "Expected a variable for the event, found `)`", None),
    ("PATTERN SEQ(|A+ a|)", SYNTAX, "`A+` selects a list of events", "Declare it with brackets: A+ a[ ]"),
    ("PATTERN SEQ(|A a[ ]|)", SYNTAX, "`a[ ]` is a list, but one A is selected", "Write A+ a[ ] or A a"),
    ("PATTERN SEQ(A a, |B A|)", SYNTAX, "The variable `A` is declared twice", None),
    (
        "PATTERN |SEQ(~(A a))|",
        SYNTAX,
        "A pattern needs at least one component that is not negated",
        "PATTERN SEQ(A a, ~(B b), C c)",
    ),
    (
        "PATTERN SEQ(A a, ~(|B+ b[]|))",
        UNSUPPORTED,
        "`b` is negated and cannot repeat or be optional",
        "One B is enough to forbid: ~(B b)",
    ),
    ("PATTERN SEQ(A a, ~|B| b)", SYNTAX, "Expected `(`, found `B`", "A negated component stands in parentheses: ~(B b)"),
    ("PATTERN SEQ(A a, |~(SEQ(B b, ~(C c)))|)", UNSUPPORTED, "A negation inside a negation is not offered", None),
    (
        "PATTERN SEQ(A a, (B b OR C c)|+|)",
        UNSUPPORTED,
        "A part of a pattern in parentheses cannot repeat or be optional",
        "Repeat single events, A+ a[ ]; groups that repeat are offered in MATCH_RECOGNIZE",
    ),
    (
        "PATTERN SEQ(A a, (B b OR |C? c|), D d)",
        UNSUPPORTED,
        "An alternative must select at least one event",
        "Make one of its components mandatory",
    ),
    (
        "PATTERN SEQ(A a, ANY(SEQ(B b, |~(X x)|, D d), C c))",
        UNSUPPORTED,
        "A negation cannot stand in an alternative",
        "Put it before or behind the alternatives, or write a query for each alternative",
    ),
    (
        "PATTERN SEQ(A a, ~(|B b OR C c|), D d)",
        UNSUPPORTED,
        "Alternatives inside a negation are not offered",
        "Events of both kinds are forbidden by two negations side by side: ~(B b), ~(C c)",
    ),
    (
        "PATTERN |AND|(A a, B b)",
        UNSUPPORTED,
        "Events in any order are not offered in SASE+",
        "Write the orders as alternatives: SEQ(..) | SEQ(..)",
    ),
    (
        "PATTERN SEQ(A a) |FROM| s",
        UNSUPPORTED,
        "FROM is no clause of a query here",
        "The streams are named in the pattern, by the types of its events",
    ),
    (
        "PATTERN SEQ(A a) WHERE |skip_till_first|(a) { }",
        SYNTAX,
        "There is no selection strategy `skip_till_first`",
        "One of strict_contiguity, partition_contiguity, skip_till_next_match, skip_till_any_match",
    ),
    (
        "PATTERN SEQ(A a, B+ b[]) WHERE |strict_contiguity(a)| {}",
        SYNTAX,
        "The strategy does not name `b`",
        "Name the variables of the pattern: (a, b[ ])",
    ),
    (
        "PATTERN SEQ(A a) WHERE strict_contiguity(a, |c|) {}",
        SYNTAX,
        "`c` is not a variable of the pattern",
        "Name the variables of the pattern: (a)",
    ),
    ("PATTERN SEQ(A a) WHERE strict_contiguity(a|[]|) {}", SYNTAX, "`a` is a single event, not a list", "Leave the brackets out"),
    (
        "PATTERN SEQ(A a) WHERE strict_contiguity(a) |a|.x > 1",
        SYNTAX,
        "Expected `{`, found `a`",
        "The conditions stand in braces after the strategy",
    ),
    ("PATTERN SEQ(A a) WHERE { a.x > 1|;| }", SYNTAX, "Expected `}`, found `;`", "Join conditions with `and` or commas"),
    (
        "PATTERN SEQ(A a) WITHIN 3 |parsecs|",
        SYNTAX,
        "`parsecs` is not a unit of time",
        "Units are nanoseconds, microseconds, milliseconds, seconds, minutes, hours, days, weeks or events",
    ),
    ("PATTERN SEQ(A a) WITHIN 3 |months|", UNSUPPORTED, "A window in months has no fixed length", "Write days or weeks"),
    (
        "PATTERN SEQ(A a) WITHIN |-|3",
        SYNTAX,
        "Expected the length of the window, found `-`",
        "WITHIN 3 hours, WITHIN 500 events, or WITHIN 10 for an integer time",
    ),
    (
        "PATTERN SEQ(A a) WITHIN 3 |WHERE| a.x > 1",
        SYNTAX,
        "WHERE is out of place or repeated",
        "The order is PATTERN, WHERE, WITHIN, RETURN, OUTPUT, each once",
    ),
    (
        "PATTERN SEQ(A+ a[]) WHERE a|[i-2]|.x > 1",
        UNSUPPORTED,
        "This index is not offered",
        "Indexes are [1], [i], [i-1], [x.LEN], [..i-1] and []",
    ),
    (
        "PATTERN SEQ(A+ a[]) WHERE a|[a.LEN - 1]|.x > 1",
        UNSUPPORTED,
        "This index is not offered",
        "Indexes are [1], [i], [i-1], [x.LEN], [..i-1] and []",
    ),
    ("PATTERN SEQ(A+ a[]) WHERE a[|b.LEN|].x > 1", SYNTAX, "`b.LEN` is no index of `a`", "Its last event is a[a.LEN]"),
    ("PATTERN SEQ(A a) WHERE a.|>| 1", SYNTAX, "Expected an attribute, found `>`", None),
    (
        "PATTERN SEQ(A a) |garbage|",
        SYNTAX,
        "Expected the end of the text, found `garbage`",
        "The clauses are PATTERN, WHERE, WITHIN, RETURN, OUTPUT",
    ),
]


@pytest.mark.parametrize("marked, kind, message, hint", REFUSED, ids=[case[0] for case in REFUSED])
def test_refused(marked, kind, message, hint):
    before, underlined, after = marked.split("|", 1)[0], marked.split("|", 1)[1].rsplit("|", 1)[0], marked.rsplit("|", 1)[1]
    text = before + underlined + after
    with pytest.raises(kind) as caught:
        parse(text)
    error = caught.value
    assert (error.message, error.hint) == (message, hint)
    assert text[error.span.start : error.span.end] == underlined


def test_the_whole_message():
    with pytest.raises(OstinatoError) as caught:
        parse("PATTERN SEQ(A a,\n  B+ b)\nWITHIN 3 hours")
    assert str(caught.value) == (
        "`B+` selects a list of events (line 2, column 3)\n   2 |   B+ b)\n     |   ^^^^\nHint: Declare it with brackets: B+ b[ ]"
    )
