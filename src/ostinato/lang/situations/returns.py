"""What RETURN names: aggregates over the events of a situation, and what is computed from them."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.algebra.query import Measure
from ostinato.base.errors import QuerySyntaxError, SchemaError, UnsupportedError
from ostinato.expr.nodes import AGGREGATES, Aggregate, Anchor, Expr, Field, Nav
from ostinato.expr.typing.infer import infer, unknown_column
from ostinato.expr.typing.schema import Schema
from ostinato.expr.unresolved import RawCall, RawColumn
from ostinato.lang.situations.definitions import definition_named
from ostinato.lang.situations.sources import Sources
from ostinato.lang.situations.syntax import Definition, Returned

ENDS = {"first": Anchor.FIRST, "last": Anchor.LAST}
SPELLINGS = {name: name for name in AGGREGATES} | {"mean": "avg", "stddev_samp": "stddev"}


def lower_returns(
    items: Sequence[Returned], definitions: Sequence[Definition], sources: Sources, others: Sequence[str], each: bool
) -> tuple[Measure, ...]:
    """`others` are the names of the columns that a result has beside these. `each`: a result is one situation, of any definition; else it
    is one of each, and every value says of which it is."""
    found: dict[str, Measure] = {}
    known = {other.lower() for other in others}
    for item in items:
        name = _name(item)
        if name.lower() in found:
            raise QuerySyntaxError(f"Two returned values are called `{name}`", hint="Name one of them otherwise", span=item.span)
        if name.lower() in known:
            hint = f"Every row has {', '.join(others[:-1])} and {others[-1]}: name it otherwise"
            raise QuerySyntaxError(f"A returned value is called `{name}`", hint=hint, span=item.span)
        resolved = _Returns(definitions, sources, each).resolved(item.expr)
        found[name.lower()] = Measure(name, infer(resolved, sources.stream.schema))
    return tuple(found.values())


def _name(item: Returned) -> str:
    if item.name is None:
        raise QuerySyntaxError("This returned value has no name", hint="Name it: ... AS name", span=item.span)
    return item.name


class _Returns:
    def __init__(self, definitions: Sequence[Definition], sources: Sources, each: bool) -> None:
        self.definitions = definitions
        self.sources = sources
        self.each = each
        self.example = "x" if each else f"{definitions[0].name}.x"

    def resolved(self, expr: Expr) -> Expr:
        if isinstance(expr, RawColumn):
            raise self._bare(expr)
        if isinstance(expr, RawCall) and expr.name.lower() in SPELLINGS:
            return self._aggregate(expr)
        if isinstance(expr, RawCall) and expr.name.upper() in ("PREV", "NEXT"):
            message = f"{expr.name.upper()} cannot stand in RETURN"
            raise UnsupportedError(message, hint="It returns aggregates: first, last, count, sum, ...", span=expr.span)
        return expr.map_children(self.resolved)

    def _bare(self, column: RawColumn) -> QuerySyntaxError:
        name = ".".join(column.parts)
        shown = name if len(column.parts) > 1 or self.each else f"{self.definitions[0].name}.{name}"
        hint = f"Say which: first({shown}), last({shown}), avg({shown}), ..."
        return QuerySyntaxError(f"`{name}` has a value for each event of a situation", hint=hint, span=column.span)

    def _aggregate(self, call: RawCall) -> Expr:
        function = SPELLINGS[call.name.lower()]
        example = f"{function}({self.example})"
        if call.distinct:
            raise UnsupportedError(f"{function}(DISTINCT ...) is not offered here", hint=example, span=call.span)
        if call.star:
            return self._count_events(call, function)
        if len(call.args) != 1:
            raise QuerySyntaxError(f"{function} takes one argument", hint=f"e.g. {example}", span=call.span)
        columns = [node for node in call.args[0].walk() if isinstance(node, RawColumn)]
        if not columns:
            raise QuerySyntaxError(f"{function} needs a column of a situation", hint=f"e.g. {example}", span=call.span)
        owner = self._owner(columns[0])
        for column in columns[1:]:
            if self._owner(column) is not owner:
                hint = f"Aggregate the one and the other: {function}(A.x) and {function}(B.y)"
                raise QuerySyntaxError(f"{function} mixes events of two situations", hint=hint, span=column.span)
        body = self._row(call.args[0], owner, self.sources.columns_of(self._read_by(owner)))
        name = None if owner is None else owner.name
        if function in ENDS:
            return Nav(name, ENDS[function], 0, 0, body, span=call.span)
        return Aggregate(function, name, body, span=call.span)

    def _read_by(self, owner: Definition | None) -> tuple[str, ...]:
        """The streams; without an owner those of all definitions."""
        owners = self.definitions if owner is None else (owner,)
        return tuple(dict.fromkeys(name for one in owners for name in self.sources.of(one)))

    def _count_events(self, call: RawCall, function: str) -> Expr:
        if function == "count" and call.star_of is None and self.each:
            return Aggregate("count", None, None, span=call.span)
        if function != "count" or call.star_of is None:
            hint = f"count({'*' if self.each else f'{self.definitions[0].name}.*'}) is the number of its events"
            raise QuerySyntaxError(f"{function}(*) is of no situation", hint=hint, span=call.span)
        return Aggregate("count", definition_named(call.star_of, self.definitions, call.span).name, None, span=call.span)

    def _owner(self, column: RawColumn) -> Definition | None:
        """None: it is of the situation, whichever that is."""
        if self.each and (len(column.parts) == 1 or not self._is_defined(column.parts[0])):
            return None
        if len(column.parts) == 1:
            name = column.parts[0]
            hint = f"Say of which: {' or '.join(f'{known.name}.{name}' for known in self.definitions)}"
            raise QuerySyntaxError(f"`{name}` is of no situation", hint=hint, span=column.span)
        return definition_named(column.parts[0], self.definitions, column.span)

    def _is_defined(self, name: str) -> bool:
        return any(definition.name.lower() == name.lower() for definition in self.definitions)

    def _row(self, expr: Expr, owner: Definition | None, schema: Schema) -> Expr:
        """The argument of an aggregate: about one event of a situation."""
        if isinstance(expr, RawColumn):
            name = ".".join(expr.parts if owner is None else expr.parts[1:])
            own = schema.find(name)
            if own is None:
                raise self._unknown(name, owner, schema, expr)
            return Field(own, span=expr.span)
        if isinstance(expr, RawCall) and (expr.name.lower() in SPELLINGS or expr.name.upper() in ("PREV", "NEXT")):
            message = f"{expr.name} cannot stand inside of an aggregate"
            raise UnsupportedError(message, hint="Aggregates are over values of single events", span=expr.span)
        return expr.map_children(lambda child: self._row(child, owner, schema))

    def _unknown(self, name: str, owner: Definition | None, schema: Schema, column: RawColumn) -> Exception:
        if self.sources.stream.schema.find(name) is not None:
            streams = ", ".join(self._read_by(owner))
            hint = f"The columns are {', '.join(schema.names)}"
            of = "a situation" if owner is None else f"`{owner.name}`"
            return SchemaError(f"{of} is of {streams}, without a column `{name}`", hint=hint, span=column.span)
        return unknown_column(name, schema, column)
