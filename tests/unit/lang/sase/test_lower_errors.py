"""What parses but has no meaning here is refused where it stands, with the reason."""

from __future__ import annotations

import pytest
from tests.unit.lang.sase.schemas import COUNTED, EVENTS

from ostinato.base.errors import OstinatoError, QuerySyntaxError, SchemaError, TypeMismatchError, UnknownNameError, UnsupportedError
from ostinato.lang.sase import lower, parse

PATTERN = "PATTERN SEQ(A+ a[], B b, C* c[]) "
NAMED = "Use a[1], a[a.LEN] or an aggregate over a[]"
OUTPUTS = "One of all, nonoverlapping, first, count, compressed, aggregates, timeouts"

# what follows the pattern (with | around what the carets underline), kind, message, hint
REFUSED = [
    ("WHERE |a[i].volume| > b.volume", UnsupportedError, "`a[i]` is compared with `b`, which comes later in the pattern", NAMED),
    (
        "WHERE |avg(a[..i-1].volume)| > b.volume",
        UnsupportedError,
        "`a[..i-1]` is compared with `b`, which comes later in the pattern",
        NAMED,
    ),
    (
        "WHERE c[1].volume > 1 or |a[i-1].volume| > 2",
        UnsupportedError,
        "`a[i-1]` is compared with `c`, which comes later in the pattern",
        NAMED,
    ),
    (
        "WHERE |a.volume| > 1",
        UnsupportedError,
        "`a` is a list of events: which one is meant?",
        "Write a[1], a[i], a[a.LEN] or an aggregate such as avg(a[].volume)",
    ),
    (
        "WHERE |a[].volume| > 1",
        QuerySyntaxError,
        "`a[].volume` is many values; one is meant here",
        "Put it into an aggregate: avg(a[].volume)",
    ),
    (
        "WHERE a[i].volume > |a.LEN|",
        UnsupportedError,
        "The finished `a` is compared with its own elements while they are still being selected",
        "Use a[i-1], or an aggregate over a[..i-1]",
    ),
    ("WHERE |b[1].volume| > 1", QuerySyntaxError, "`b` is a single event and has no index", "Write b.volume"),
    ("WHERE avg(|b[].volume|) > 1", QuerySyntaxError, "`b` is a single event and has no index", "Write b.volume"),
    ("WHERE |volume| > 1", UnknownNameError, "`volume` belongs to no variable", "Say of which event, e.g. a[i].volume"),
    ("WHERE |d.volume| > 1", UnknownNameError, "`d` is not a variable of the pattern", "Its variables are a, b, c"),
    ("WHERE |b| > 1", QuerySyntaxError, "`b` is an event; a value of it is meant here", "Name an attribute, e.g. b.id"),
    ("WHERE |b.volum| > 1", UnknownNameError, "The events have no attribute `volum`", "Did you mean `volume`?"),
    (
        "WHERE b.ok and |b.volume|",
        TypeMismatchError,
        "A condition must be true or false; this is of type integer",
        "Compare it with something",
    ),
    (
        "WHERE avg(|a[1].volume|) > 1",
        QuerySyntaxError,
        "avg is over many events, a[1] is one",
        "Write avg(a[].x), or avg(a[..i-1].x) for those before the current one",
    ),
    ("WHERE avg(a[].volume + |b.volume|) > 1", UnsupportedError, "avg is over the events of one variable; here it mixes two", None),
    ("WHERE avg(|avg(a[].volume)|) > 1", QuerySyntaxError, "An aggregate cannot be inside another", None),
    ("WHERE |count(*)| > 1", QuerySyntaxError, "count takes one argument, the events of a variable", "e.g. count(a[].x)"),
    ("WHERE |sum(distinct a[].volume)| > 1", UnsupportedError, "sum(DISTINCT ...) is not offered here", None),
    ("WHERE |sum(1)| > 1", QuerySyntaxError, "sum needs the events of a variable", "e.g. sum(a[].x)"),
    ("WHERE sum(|a[]|) > 1", QuerySyntaxError, "sum needs an attribute of the events", None),
    ("WHERE sum(a[].volume + |a[]|) > 1", QuerySyntaxError, "An attribute of the events is meant here", None),
    (
        "WHERE sum(|[symbol]| + a[].volume) > 1",
        QuerySyntaxError,
        "An equivalence test is a conjunct of its own",
        "Join it to the others with `and` or a comma",
    ),
    (
        "WHERE b.ok or |[symbol]|",
        QuerySyntaxError,
        "An equivalence test is a conjunct of its own",
        "Join it to the others with `and` or a comma",
    ),
    ("WHERE [symbol, |symbl|]", UnknownNameError, "The events have no attribute `symbl`", "Did you mean `symbol`?"),
    ("RETURN |a[i].volume|", UnsupportedError, "RETURN speaks of a finished match: `a[i]` has no meaning there", NAMED),
    ("RETURN b.volume, |a[1].volume|", QuerySyntaxError, "Two returned attributes are called `volume`", "Name one of them with AS"),
    ("RETURN |b.volume + 1|", QuerySyntaxError, "This returned value has no name", "Name it: ... AS name"),
    ("RETURN |a.LEN|", QuerySyntaxError, "This returned value has no name", "Name it: ... AS name"),
    (
        "WITHIN |3|",
        TypeMismatchError,
        "WITHIN 3 has no unit, but the time column `ts` is a timestamp",
        "Write a unit: WITHIN 3 seconds | minutes | hours | days, or WITHIN 3 events",
    ),
    ("WITHIN |0 events|", QuerySyntaxError, "A window of no events holds no match", "The least is WITHIN 1 events"),
    ("WITHIN |1.5 events|", QuerySyntaxError, "WITHIN 1.5 is not a whole number of events", None),
    ("WITHIN |99999999999999 weeks|", QuerySyntaxError, "This window is too long", "Leave WITHIN out for no limit"),
    ("OUTPUT |some|", QuerySyntaxError, "There is no output format `some`", OUTPUTS),
    (
        "WHERE skip_till_any_match(a[], b, c[]) OUTPUT |first|",
        UnsupportedError,
        "One match per start (`first`) is not offered under skip_till_any_match",
        "Use skip_till_next_match, or OUTPUT all | nonoverlapping | count | aggregates",
    ),
]


@pytest.mark.parametrize("marked, kind, message, hint", REFUSED, ids=[case[0] for case in REFUSED])
def test_refused(marked, kind, message, hint):
    before, underlined, after = marked.split("|")
    text = PATTERN + before + underlined + after
    error = _refusal(text, {"events": EVENTS}, type_by="kind")
    assert type(error) is kind
    assert (error.message, error.hint) == (message, hint)
    assert text[error.span.start : error.span.end] == underlined


def _refusal(text: str, schemas, **options) -> OstinatoError:
    with pytest.raises(OstinatoError) as caught:
        lower(parse(text), schemas, **options)
    return caught.value


ARGUMENTS = [
    ("PATTERN SEQ(A a)", {}, {}, SchemaError, "No stream was given"),
    ("PATTERN SEQ(A a)", {"events": EVENTS}, {}, UnknownNameError, "There is no stream for the event type `A`"),
    (
        "PATTERN SEQ(events a, counted b)",
        {"events": EVENTS, "counted": COUNTED},
        {},
        SchemaError,
        "Column `ts` is of type timestamp in stream `events` and of type integer in stream `counted`",
    ),
    (
        "PATTERN SEQ(A a)",
        {"events": EVENTS, "counted": COUNTED},
        {"type_by": "sort"},
        SchemaError,
        "No stream has a column `sort` (type_by)",
    ),
    (
        "PATTERN SEQ(events a)",
        {"events": EVENTS},
        {"time": {"event": "ts"}},
        SchemaError,
        "time= names the stream `event`, which was not given",
    ),
    ("PATTERN SEQ(A a)", {"events": EVENTS}, {"type_by": "kin"}, SchemaError, "Stream `events` has no column `kin` (type_by)"),
    ("PATTERN SEQ(A a)", {"events": EVENTS}, {"type_by": "ok"}, SchemaError, "The type column `ok` of stream `events` is of type boolean"),
    ("PATTERN SEQ(events a)", {"events": EVENTS}, {"time": "at"}, SchemaError, "Stream `events` has no time column `at`"),
    (
        "PATTERN SEQ(events a)",
        {"events": EVENTS},
        {"time": "symbol"},
        SchemaError,
        "The time column `symbol` of stream `events` is of type string",
    ),
    (
        "PATTERN SEQ(counted a) WITHIN 3 hours",
        {"counted": COUNTED},
        {},
        TypeMismatchError,
        "WITHIN 3 hours needs a timestamp, but the time column `ts` is an integer",
    ),
    (
        "PATTERN SEQ(EVENTS a)",
        {"Events": EVENTS, "events": EVENTS},
        {},
        UnknownNameError,
        "`EVENTS` could be any of the streams Events, events",
    ),
    (
        "PATTERN SEQ(events a) OUTPUT all",
        {"events": EVENTS},
        {"output": "first"},
        QuerySyntaxError,
        "The text says OUTPUT all, the argument output='first'",
    ),
    ("PATTERN SEQ(events a)", {"events": EVENTS}, {"output": "frist"}, QuerySyntaxError, "There is no output format `frist`"),
    ("PATTERN SEQ(events a)", {"events": EVENTS}, {"ties": "x"}, QuerySyntaxError, "ties='x' is unknown"),
]


@pytest.mark.parametrize("text, schemas, options, kind, message", ARGUMENTS, ids=[case[-1] for case in ARGUMENTS])
def test_arguments(text, schemas, options, kind, message):
    error = _refusal(text, schemas, **options)
    assert (type(error), error.message) == (kind, message)
