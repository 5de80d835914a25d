"""Row expressions: what stands inside navigation and aggregates, where every column is a column of the same row."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from ostinato.base.errors import QuerySyntaxError, UnknownNameError
from ostinato.base.span import Span
from ostinato.expr.nodes import Classifier, Expr, Field, MatchNumber
from ostinato.expr.typing.infer import unknown_column
from ostinato.expr.typing.schema import Schema
from ostinato.expr.unresolved import RawCall, RawColumn
from ostinato.lang.sql.syntax import RunningOrFinal

NAVIGATION = ("PREV", "NEXT", "FIRST", "LAST")
AGGREGATE_NAMES = {
    "COUNT": "count", "SUM": "sum", "AVG": "avg", "MEAN": "avg", "MIN": "min", "MAX": "max",
    "STDDEV": "stddev", "STDDEV_SAMP": "stddev", "ARRAY_AGG": "array",
}  # fmt: skip
OTHER_AGGREGATES = frozenset(
    (
        "ANY_VALUE", "APPROX_COUNT_DISTINCT", "ARG_MAX", "ARG_MIN", "AVG_IF", "BOOL_AND", "BOOL_OR", "COLLECT_LIST",
        "COLLECT_SET", "CORR", "COUNT_IF", "EVERY", "GROUP_CONCAT", "LIST", "LISTAGG", "MAX_BY", "MEDIAN", "MIN_BY", "MODE",
        "QUANTILE", "STDDEV_POP", "STRING_AGG", "SUM_IF", "VARIANCE", "VAR_POP", "VAR_SAMP",
    )
)  # fmt: skip


@dataclass(frozen=True)
class Names:
    """What may be referred to: the columns of the input, the variables of the pattern and the unions of SUBSET."""

    schema: Schema
    variables: tuple[str, ...]
    unions: tuple[str, ...] = ()

    def column(self, name: str, span: Span | None) -> str:
        """The column's own spelling."""
        own = self.schema.find(name)
        if own is None:
            raise unknown_column(name, self.schema, Field(name, span=span))
        return own

    def variable(self, name: str, quoted: bool, span: Span | None) -> str:
        folded = name if quoted else name.upper()
        known = (*self.variables, *self.unions)
        if folded not in known:
            close = get_close_matches(folded.lower(), [own.lower() for own in known], 1)
            hint = f"The pattern has {', '.join(map(_as_written, known)) or 'no variables'}; columns are qualified by them alone"
            if close:
                hint = f"Did you mean {next(_as_written(own) for own in known if own.lower() == close[0])}?"
            raise UnknownNameError(f"There is no pattern variable {name}", hint=hint, span=span)
        return folded

    def reference(self, column: RawColumn) -> tuple[str | None, str]:
        """The variable (None: any row) and the column of `x` or `A.x`; either may go on with fields, `A.x.y`. What could be both is a
        variable."""
        quoted = column.quoted or (False,) * len(column.parts)
        first = column.parts[0] if quoted[0] else column.parts[0].upper()
        qualified = len(column.parts) > 1 and (first in (*self.variables, *self.unions) or self.schema.find(column.parts[0]) is None)
        if not qualified:
            return None, self.column(".".join(column.parts), column.span)
        return self.variable(column.parts[0], quoted[0], column.span), self.column(".".join(column.parts[1:]), column.span)


@dataclass(frozen=True)
class RowExpression:
    """`variable` is the one by which all columns and CLASSIFIERs are qualified, None if they are not; `of_row` says whether there are
    any."""

    body: Expr
    variable: str | None
    of_row: bool


def row_expression(expr: Expr, names: Names, within: str) -> RowExpression:
    """Lower the argument of `within`, a navigation function or an aggregate."""
    found: list[tuple[str | None, Expr]] = []

    def change(node: Expr) -> Expr:
        if isinstance(node, RawColumn):
            variable, column = names.reference(node)
            found.append((variable, node))
            return Field(column, span=node.span)
        if isinstance(node, RawCall) and node.name.upper() == "CLASSIFIER":
            found.append((classified(node, names), node))
            return Classifier(span=node.span)
        if isinstance(node, RawCall) and node.name.upper() == "MATCH_NUMBER":
            return match_number(node)
        if isinstance(node, RunningOrFinal):
            raise _nested("RUNNING" if not node.final else "FINAL", within, node.span)
        if isinstance(node, RawCall) and _speaks_of_rows(node):
            raise _nested(node.name.upper(), within, node.span)
        return node.map_children(change)

    body = change(expr)
    for variable, part in found[1:]:
        if variable != found[0][0]:
            raise QuerySyntaxError(
                f"{within} mixes rows of different variables",
                hint=f"Qualify all its columns with the same variable, or none; split it into several {within} otherwise",
                span=part.span,
            )
    return RowExpression(body, found[0][0] if found else None, bool(found))


def classified(call: RawCall, names: Names) -> str | None:
    """The variable in `CLASSIFIER(A)`; None in `CLASSIFIER()`."""
    if not call.args and not call.star:
        return None
    argument = call.args[0] if len(call.args) == 1 else None
    if not isinstance(argument, RawColumn) or len(argument.parts) != 1:
        raise QuerySyntaxError("CLASSIFIER takes at most a pattern variable", hint="CLASSIFIER() or CLASSIFIER(A)", span=call.span)
    return names.variable(argument.parts[0], bool(argument.quoted and argument.quoted[0]), argument.span)


def match_number(call: RawCall) -> MatchNumber:
    if call.args or call.star:
        raise QuerySyntaxError("MATCH_NUMBER takes no argument", hint="MATCH_NUMBER()", span=call.span)
    return MatchNumber(span=call.span)


def _as_written(variable: str) -> str:
    return variable if variable == variable.upper() else f'"{variable}"'


def _speaks_of_rows(call: RawCall) -> bool:
    name = call.name.upper()
    return name in NAVIGATION or name in AGGREGATE_NAMES or name in OTHER_AGGREGATES


def _nested(inner: str, outer: str, span: Span | None) -> QuerySyntaxError:
    hint = "Only PREV(FIRST(...)), PREV(LAST(...)), NEXT(FIRST(...)) and NEXT(LAST(...)) nest"
    return QuerySyntaxError(f"{inner} cannot stand inside {outer} here", hint=hint, span=span)
