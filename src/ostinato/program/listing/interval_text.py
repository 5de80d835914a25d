"""The printed listing of a pattern of situations."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.program.intervals import RELATIONS, AllowedRelation, IntervalPattern, SituationTest


def interval_lines(pattern: IntervalPattern) -> Iterator[str]:
    for name, definition, order in zip(pattern.variables, pattern.definitions, pattern.orders, strict=True):
        others = ", ".join(pattern.variables[other] for other in order[1:])
        yield f"situation {name}: {_definition(definition)}" + (f"; then {others}" if others and not pattern.each else "")
    for constraint in pattern.constraints:
        allowed = "; ".join(map(_related, constraint.allowed))
        yield f"{pattern.variables[constraint.first]} {allowed} {pattern.variables[constraint.second]}"
    if pattern.each:
        yield "each is reported when it has ended"
        return
    yield f"reported {'as soon as it is certain' if pattern.latency == 'earliest' else 'when all have ended'}"


def _definition(definition: SituationTest) -> str:
    read = "" if definition.reads < 0 else f" of those with bit {definition.reads}"
    taken = "" if definition.block < 0 else f" by block {definition.block}"
    least = "" if definition.at_least < 0 else f", at least {definition.at_least}"
    most = "" if definition.at_most < 0 else f", at most {definition.at_most}"
    given = "" if definition.start < 0 else f", each from row.{definition.start} to its time"
    return f"rows with bit {definition.bit}{read}{given}{taken}{least}{most}"


def _related(allowed: AllowedRelation) -> str:
    return RELATIONS[allowed.relation] + (f"[{allowed.least}, {allowed.most}]" if allowed.bounded else "")
