"""How a pattern of situations is evaluated, for people."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.program.intervals import IntervalPattern


def interval_plan_text(pattern: IntervalPattern) -> str:
    return "\n".join(_lines(pattern)) + "\n"


def _lines(pattern: IntervalPattern) -> Iterator[str]:
    reads = pattern.reads
    yield f"strategy: {pattern.evaluation} ({pattern.reason})"
    yield f"partitions: {', '.join(reads.key_names) or 'none, the stream is one'}"
    yield f"columns read: {', '.join(column.name for column in reads.columns)}"
    if pattern.each:
        yield "each situation is a result by itself, when it has ended; only those that are open are kept"
    for name, order in () if pattern.each else zip(pattern.variables, pattern.orders, strict=True):
        if len(order) > 1:
            yield f"from {name}: {', then '.join(pattern.variables[other] for other in order[1:])}"
    if pattern.adapts and len(pattern.orders) > 2:
        yield "the orders follow moving averages of what is measured"
    if _drops_partnerless(pattern):
        yield "a situation is let go of that has ended without one that a constraint asks for"
    if pattern.passes_over and all(one.reads < 0 and one.start < 0 for one in pattern.definitions):
        yield "rows at which no situation begins, ends or becomes long enough are passed over"
    yield "conditions are evaluated in batches, by several threads where there are many rows (threads=)"
    if pattern.within >= 0:
        yield f"situations are let go that started longer ago than {pattern.within} in the unit of {reads.time_name}"
    elif pattern.constraints:
        yield "nothing bounds how long situations are kept: the budget limits them"
    if pattern.registers:
        yield f"situations carry: {', '.join(register.name for register in pattern.registers)}"


def _drops_partnerless(pattern: IntervalPattern) -> bool:
    derived = [definition.start < 0 for definition in pattern.definitions]
    return pattern.drops_partnerless and any(any(one.closes(derived[one.first], derived[one.second])) for one in pattern.constraints)
