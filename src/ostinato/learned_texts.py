"""Texts that differ from a known one in literals alone: what they are of a shape is read from the literals, without compiling them.

Which literals are constants of the shape is found out by compiling: with another value in the place of one literal the same shape has to
come out, and of its constants those that have the value have to follow. All other literals, and whatever else there is, has to be the
same as in the known text. In doubt nothing is known of a text, and it is compiled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from ostinato.base.errors import OstinatoError
from ostinato.expr.typing import registered
from ostinato.program.shapes.member import Member
from ostinato.program.shapes.shape import Shape, shaped
from ostinato.query import Query

# Quotes of other kinds, comments and escapes could hide what looks like a literal.
UNREADABLE = re.compile(r'["`\\$]|--|/\*|//|#')
LITERAL = re.compile(r"'(?:[^']|'')*'|(?<![\w.])[0-9]+(?:\.[0-9]+)?(?![\w.])")
MOST_DIGITS = 15  # of a number: as many as a double holds
MOST_LITERALS = 24
WORTH_LEARNING, WORTH_LEARNING_AGAIN = 2, 4  # texts that are alike; few may stay alone, and to learn takes as long as compiling a dozen

Compile = Callable[[str, Mapping[str, Any]], Query]


class Follows(NamedTuple):
    """A constant of the shape that is a literal of the text, or a number with the other sign."""

    constant: int
    literal: int
    negated: bool


class Learned(NamedTuple):
    shape: Shape
    output: pa.Schema
    constants: tuple[Any, ...]
    follows: tuple[Follows, ...]


class _Alike:
    """Texts that differ in literals alone. `free` are those that may be anything of their kind, once it is known."""

    def __init__(self) -> None:
        self.seen = 0
        self.free: frozenset[int] | None = None
        self.learned: dict[tuple[Any, ...], Learned | None] = {}  # by what has to be the same
        self.waiting: dict[tuple[Any, ...], int] = {}  # how many there were of those from which nothing was learned


class LearnedTexts:
    def __init__(self, compile: Compile) -> None:
        self._compile = compile
        self._alike: dict[tuple[str, str], _Alike] = {}
        self._functions = registered.state()

    def member(self, text: str, options: Mapping[str, Any]) -> tuple[Member, pa.Schema] | None:
        """What the text is, if that is known; a text that is like earlier ones is learned from."""
        read = literals_of(text)
        if read is None:
            return None
        form, literals = read
        self._forget_changed_functions()
        alike = self._alike.setdefault((form, repr(sorted(options.items()))), _Alike())
        alike.seen += 1
        if alike.seen < WORTH_LEARNING:
            return None
        if alike.free is None:
            self._learn(alike, text, literals, options)
        fixed = self._fixed(alike, literals)
        if fixed not in alike.learned:
            alike.waiting[fixed] = alike.waiting.get(fixed, 0) + 1
            if alike.waiting[fixed] < WORTH_LEARNING_AGAIN:
                return None
            del alike.waiting[fixed]
            self._learn(alike, text, literals, options)
        learned = alike.learned[fixed]
        if learned is None:
            return None
        constants = list(learned.constants)
        for constant, literal, negated in learned.follows:
            value = value_of(literals[literal])
            value = -value if negated else value
            constants[constant] = float(value) if isinstance(constants[constant], float) else value
        member = Member(learned.shape, tuple(constants))
        return (member, learned.output) if member.fits else None

    def _forget_changed_functions(self) -> None:
        """A text means something else when a function of its name does."""
        if self._functions != registered.state():
            self._alike.clear()
            self._functions = registered.state()

    @staticmethod
    def _fixed(alike: _Alike, literals: Sequence[str]) -> tuple[Any, ...]:
        """What has to be the same: literals that are no constants, and which of the others are equal, since then less is computed."""
        free = alike.free or frozenset()
        first: dict[Any, int] = {}
        places = [first.setdefault(value_of(literal), n) for n, literal in enumerate(literals)]
        return tuple(places[n] if n in free else literal for n, literal in enumerate(literals))

    def _learn(self, alike: _Alike, text: str, literals: Sequence[str], options: Mapping[str, Any]) -> None:
        known = self.shaped(text, options)
        follows: list[Follows] = []
        if known is not None:
            for number in range(len(literals)):
                follows += self._following(known, text, literals, number, options)
            twice = len({follow.constant for follow in follows}) < len(follows)
            known = None if twice else known._replace(follows=tuple(follows))
        if alike.free is None:
            alike.free = frozenset(follow.literal for follow in follows) if known is not None else frozenset()
        if known is not None and not {follow.literal for follow in follows} >= alike.free:
            known = None  # what is free in others is not here
        alike.learned[self._fixed(alike, literals)] = known

    def shaped(self, text: str, options: Mapping[str, Any]) -> Learned | None:
        """What is compiled of a text, if it has a shape and nothing is to be said about it."""
        try:
            query = self._compile(text, options)
        except OstinatoError:
            return None
        if query.warning is not None or query.around is not None or query.text != text:
            return None
        found = shaped(query.program)
        return None if found.shape is None else Learned(found.shape, query.output_schema, found.constants, ())

    def _following(self, known: Learned, text: str, literals: Sequence[str], number: int, options: Mapping[str, Any]) -> list[Follows]:
        changed = ((self.shaped(with_literal(text, number, other), options), value_of(other)) for other in others(literals, number))
        return following(known, number, value_of(literals[number]), changed)


def following(known: Learned, number: int, value: Any, changed: Iterable[tuple[Learned | None, Any]]) -> list[Follows]:
    """The constants that are literal `number`, whose value is given: with others in its place they are these."""
    found: set[Follows] | None = None
    for other, instead in changed:
        if other is None or other.shape.name != known.shape.name or other.output != known.output:
            return []
        pairs = zip(known.constants, other.constants, strict=True)
        moved = [constant for constant, (one, two) in enumerate(pairs) if not _is_same(one, two)]
        own = {
            Follows(constant, number, negated)
            for constant in moved
            for negated in (False, True)
            if _is(known.constants[constant], value, negated) and _is(other.constants[constant], instead, negated)
        }
        if len(own) != len(moved) or (found is not None and own != found):
            return []
        found = own
    return sorted(found or ())


def literals_of(text: str) -> tuple[str, tuple[str, ...]] | None:
    """The text with the kinds of its literals in their place, and these; None: it is not looked into."""
    if UNREADABLE.search(text) is not None:
        return None
    literals: list[str] = []

    def kind(found: re.Match[str]) -> str:
        literal = found.group()
        literals.append(literal)
        return "\0s" if literal[0] == "'" else f"\0{len(literal.partition('.')[2])}"  # a number with so many digits behind the point

    form = LITERAL.sub(kind, text)
    if "'" in form or len(literals) > MOST_LITERALS or any(len(literal) > MOST_DIGITS for literal in literals if literal[0] != "'"):
        return None
    return form, tuple(literals)


def value_of(literal: str) -> Any:
    if literal[0] == "'":
        return literal[1:-1].replace("''", "'")
    return float(literal) if "." in literal else int(literal)


def others(literals: Sequence[str], number: int) -> list[str]:
    """Literals of the same kind that are not in the text."""
    literal, step = literals[number], 0
    found: list[str] = []
    while len(found) < 2:
        step += 1
        if literal[0] == "'":
            other = f"'{step}{literal[1:]}"
        else:
            whole, point, fraction = literal.partition(".")
            other = f"{int(whole) + step}{point}{fraction}"
        if other not in literals:
            found.append(other)
    return found


def with_literal(text: str, number: int, other: str) -> str:
    place = next(found for n, found in enumerate(LITERAL.finditer(text)) if n == number)
    return text[: place.start()] + other + text[place.end() :]


def _is(constant: Any, value: Any, negated: bool) -> bool:
    """Whether the engine holds the value so: the same, or as a double."""
    if isinstance(value, str):
        return not negated and type(constant) is str and constant == value
    value = -value if negated else value
    if type(constant) is float:
        return repr(constant) == repr(float(value))
    return type(constant) is int and type(value) is int and constant == value


def _is_same(one: Any, two: Any) -> bool:
    return type(one) is type(two) and repr(one) == repr(two)
