"""What the results of NEXT and FOLD are made of: automatic renaming, the inclusion of schemas, the types of what a fold carries along."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ostinato.algebra.event_streams import END, FIRST_EVENT, INSTANCE, SECOND_EVENT, START
from ostinato.algebra.query import Measure
from ostinato.base.errors import QuerySyntaxError, SchemaError
from ostinato.base.span import Span
from ostinato.expr.nodes import Anchor, Cast, Expr, Field, Nav
from ostinato.expr.types import Type
from ostinato.expr.typing.coerce import coerce

Columns = tuple[tuple[str, Type], ...]


def of_event(owner: str, name: str, type_: Type) -> Nav:
    return Nav(owner, Anchor.LAST, 0, 0, Field(name, type=type_), type=type_)


def next_attributes(first: Columns, second: Columns, span: Span) -> tuple[Measure, ...]:
    """Those of the first, with `_1` where the second has the name too, then those of the second."""
    shared = folded(second)
    found = [Measure(f"{name}_1" if name.lower() in shared else name, of_event(FIRST_EVENT, name, type_)) for name, type_ in first]
    found += [Measure(name, of_event(SECOND_EVENT, name, type_)) for name, type_ in second]
    return _each_once(found, "NEXT", span)


def fold_attributes(first: Columns, second: Columns, span: Span) -> tuple[Measure, ...]:
    """What both have as it was at first, `a_1`, and as the last step has it, `a`; then the rest of the first as the fold has left it."""
    shared = folded(second)
    found = [Measure(f"{name}_1", of_event(FIRST_EVENT, name, type_)) for name, type_ in first if name.lower() in shared]
    found += [Measure(name, of_event(SECOND_EVENT, name, type_)) for name, type_ in second]
    found += [Measure(name, of_event(INSTANCE, name, type_)) for name, type_ in first if name.lower() not in shared]
    return _each_once(found, "FOLD", span)


def folded(columns: Columns) -> frozenset[str]:
    """Names without regard to case."""
    return frozenset(name.lower() for name, _ in columns)


def _each_once(measures: Iterable[Measure], word: str, span: Span) -> tuple[Measure, ...]:
    found: dict[str, Measure] = {}
    for measure in measures:
        if measure.name.lower() in found:
            raise QuerySyntaxError(
                f"After {word} two attributes are called `{measure.name}`",
                detail="An attribute that both streams have is renamed: `a` of the first is `a_1` afterwards.",
                hint=f"Rename one of them before: (SELECT ..., {measure.name} AS other FROM ...) {word} ...",
                span=span,
            )
        found[measure.name.lower()] = measure
    return tuple(found.values())


def check_inclusion(first: Columns, second: Columns, span: Span) -> None:
    """Every step puts an event of the second stream where one of the first was."""
    missing = [name for name, _ in second if name.lower() not in folded(first)]
    if missing:
        raise SchemaError(
            f"FOLD needs all attributes of its second stream in the first, and {', '.join(f'`{name}`' for name in missing)} is not there",
            detail=f"The first has {', '.join(name for name, _ in first) or 'none'}; the second {', '.join(name for name, _ in second)}.",
            hint=f"Add it to the first: (SELECT *, ... AS {missing[0]} FROM ...), or leave it out of the second with SELECT",
            span=span,
        )


def conversions(own: Columns, wanted: Mapping[str, tuple[str, Type]]) -> tuple[Measure, ...] | None:
    """The attributes `own` with the names and types that they have in `wanted`, by name in lower case; None where they have these."""
    measures = []
    for name, type_ in own:
        called, to = wanted[name.lower()]
        measures.append(Measure(called, _converted(Field(name, type=type_), to)))
    if all(measure.expr == Field(name) and measure.name == name for measure, (name, _) in zip(measures, own, strict=True)):
        return None
    return tuple(measures)


def _converted(value: Field, to: Type) -> Expr:
    """What comes out is as wide as what any step may leave, also where both are held alike."""
    if value.type != to and to.is_numeric:
        return Cast(value, to, type=to)
    return coerce(value, to)


def check_result(attributes: Columns, span: Span) -> None:
    """A result has its times beside its attributes."""
    for name, _ in attributes:
        if name.lower() in (START, END):
            hint = f"Leave it out, or call it otherwise: SELECT {name} AS other FROM ..."
            raise QuerySyntaxError(f"`{name}` is a column in which every result tells its time", hint=hint, span=span)
