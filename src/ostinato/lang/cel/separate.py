"""Queries that are one automaton each: what publishes inside of another query, what is combined on the right, and what composes texts that
are looked at later, stands by itself."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter

from ostinato.base.errors import OstinatoError, QuerySyntaxError
from ostinato.base.span import Span
from ostinato.expr.nodes import Call
from ostinato.expr.unresolved import RawCall
from ostinato.expr.values.string_functions import STRING_FUNCTIONS
from ostinato.lang.cel.syntax import Attribute, CelQuery, Filter, Fold, Next, Node, Select, StreamName, stream_names, walk
from ostinato.lang.parsed_query import Composite


def separated(queries: tuple[CelQuery, ...]) -> tuple[tuple[CelQuery, ...], CelQuery]:
    """The queries of a text, and those that stand in them, in an order in which each comes after those that it reads; and the one whose
    rows are the result, the last of the text."""
    try:
        cut = _Cut(queries[0].text, _published(queries))
        for number, query in enumerate(queries[:-1], 1):
            _check_named(query, number)
        whole = [cut.query(query) for query in queries]
        return _ordered(tuple(cut.found)), whole[-1]
    except OstinatoError as error:
        error.within(queries[0].text)
        raise


def _published(queries: tuple[CelQuery, ...]) -> set[str]:
    """In lower case; each once."""
    nodes = (node for query in queries for node in walk(query.body))
    inner = [node.published for node in nodes if isinstance(node, Select) and node.published is not None]
    named = inner + [query.published for query in queries if query.published is not None]
    taken: set[str] = set()
    for composite in sorted(named, key=lambda composite: composite.span.start):
        if composite.name.lower() in taken:
            hint = "Every stream is published once: name one of them otherwise"
            raise QuerySyntaxError(f"The stream `{composite.name}` is published twice", hint=hint, span=composite.span)
        taken.add(composite.name.lower())
    return taken


def _check_named(query: CelQuery, number: int) -> None:
    if query.published is None:
        message = f"Query {number} of the text publishes nothing that another one could read"
        hint = "Only what the last query returns is the result: name the others with PUBLISH"
        raise QuerySyntaxError(message, hint=hint, span=query.span)


@dataclass
class _Cut:
    """`taken` are the names of streams in lower case; `found` the queries, those inside of others before them."""

    text: str
    taken: set[str]
    found: list[CelQuery] = field(default_factory=list)

    def query(self, query: CelQuery) -> CelQuery:
        cut = replace(query, body=self._cut(query.body))
        self.found.append(cut)
        return cut

    def _cut(self, node: Node, is_read: bool = False) -> Node:
        """`is_read`: something above it is not only shown, but looks at what it finds."""
        match node:
            case StreamName():
                return node
            case Filter(item=item):
                return replace(node, item=self._cut(item, True))
            case Next(first, second) | Fold(first, second):
                return replace(node, first=self._cut(first, True), second=self._right(second))
        return self._select(node, is_read)

    def _select(self, select: Select, is_read: bool) -> Node:
        item = self._cut(select.item, is_read)
        if select.published is None:
            whole = replace(select, item=item)
            return self._operand(whole) if is_read and _composes_text(select) else whole
        body = item if select.items is None else replace(select, item=item, published=None)
        return self._link(body, select.published, select.span)

    def _right(self, node: Node) -> Node:
        """On the right stand streams, filtered and projected or not."""
        return self._operand(self._cut(node))

    def _operand(self, cut: Node) -> Node:
        """What combines events stands by itself, and its name in its place."""
        combined = next((part for part in walk(cut) if isinstance(part, Next | Fold)), None)
        if combined is None:
            return cut
        return self._link(cut, Composite(self._free_name(combined.span), combined.span), combined.span, hidden=True)

    def _link(self, body: Node, published: Composite, span: Span, hidden: bool = False) -> StreamName:
        """A query of its own, and its name in the place where it stood."""
        self.found.append(CelQuery(body, published, hidden, span, self.text))
        return StreamName(published.name, span if hidden else published.span)

    def _free_name(self, place: Span) -> str:
        """After its place, which is another one in each query of a text."""
        number = place.start
        while f"operand {number}" in self.taken:
            number += 1
        self.taken.add(f"operand {number}")
        return f"operand {number}"


def _composes_text(select: Select) -> bool:
    """Whether it makes texts of several attributes, which instances cannot carry along: they carry texts that came with events."""
    parts = (part for item in select.items or () if item.expr is not None for part in item.expr.walk())
    calls = (part for part in parts if isinstance(part, Call | RawCall) and part.name.lower() in STRING_FUNCTIONS)
    return any(sum(isinstance(part, Attribute) for part in call.walk()) > 1 for call in calls)


def _ordered(queries: tuple[CelQuery, ...]) -> tuple[CelQuery, ...]:
    numbers = {query.published.name.lower(): number for number, query in enumerate(queries) if query.published is not None}
    reads = {
        number: [numbers[stream.name.lower()] for stream in stream_names(query.body) if stream.name.lower() in numbers]
        for number, query in enumerate(queries)
    }
    try:
        return tuple(queries[number] for number in TopologicalSorter(reads).static_order())
    except CycleError as error:
        raise _cycle([queries[number] for number in error.args[1]]) from None


def _cycle(path: list[CelQuery]) -> QuerySyntaxError:
    """Each query of the path is read by the next one, and the last is the first."""
    inside = sorted(path[1:], key=lambda query: query.span.start)
    names = [query.published.name for query in inside if query.published is not None and not query.hidden]
    reader = max(path, key=lambda query: query.span.start)
    read = path[path.index(reader) - 1 if path.index(reader) else -2]
    assert read.published is not None
    wanted = read.published.name.lower()
    place = next(stream.span for stream in stream_names(reader.body) if stream.name.lower() == wanted)
    several = f"The streams {', '.join(names)} are made of each other"
    return QuerySyntaxError(
        f"The stream `{names[0]}` is made of itself" if len(names) == 1 else several,
        hint="A stream is made of events that were there before it: read another one here",
        span=place,
    )
