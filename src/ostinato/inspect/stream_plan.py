"""How an expression over streams is evaluated, for people: the states in which instances wait, and the edges between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ostinato.algebra.event_streams import EventQuery
from ostinato.algebra.event_text import expression_text
from ostinato.expr.nodes import Expr
from ostinato.plan.instances.chain import Chain, Link, is_true
from ostinato.plan.instances.merged_input import MergedInput
from ostinato.program.analysis.instance_bounds import bound_of
from ostinato.program.instances import InstanceAutomaton, InstanceState

WORDS = {"gt": "above", "ge": "not below", "lt": "below", "le": "not above"}


def stream_plan_text(automaton: InstanceAutomaton) -> str:
    return "\n".join(_plan_lines(automaton)) + "\n"


def _plan_lines(automaton: InstanceAutomaton) -> Iterator[str]:
    reads = automaton.reads
    yield f"strategy: {automaton.evaluation} ({automaton.reason})"
    yield f"partitions: {', '.join(reads.key_names) or 'none, the stream is one'}"
    yield f"columns read: {', '.join(column.name for column in reads.columns)}"
    for number, state in enumerate(automaton.states, 1):
        yield f"state {number}: instances are {_found(automaton, state)}"
        if state.within >= 0:
            yield f"state {number}: an instance is let go when its events last longer than {state.within} in the unit of {reads.time_name}"
    if automaton.states and automaton.within < 0:
        yield "nothing bounds how long an instance waits: the budget limits them"
    if automaton.registers:
        yield f"an instance carries: {', '.join(register.name for register in automaton.registers)}"
    if automaton.prefilter_bits:
        yield "rows that no state waits for cannot matter: Spark leaves them out before they reach Python"


def _found(automaton: InstanceAutomaton, state: InstanceState) -> str:
    if state.register >= 0:
        return f"found by the value of {automaton.registers[state.register].name}, which an event must equal"
    bound = bound_of(automaton, state)
    if bound is None:
        return "all looked at"
    end = "least" if bound.relation in ("gt", "ge") else "greatest"
    return f"looked at where an event's value is {WORDS[bound.relation]} the {end} {automaton.registers[bound.register].name} that waits"


def stream_automaton_text(query: EventQuery) -> str:
    """Events are counted from the beginning: `@0.price` is that of the first, `$@1.price` what the steps in state 1 have made of it."""
    return "\n".join(_automaton_lines(Chain(query.expression, MergedInput(query.expression)))) + "\n"


def _automaton_lines(chain: Chain) -> Iterator[str]:
    first, *others = chain.links
    yield f"begin: {first.stream}{_where(first.conditions)} -> {_target(0, chain)}"
    for number, link in enumerate(others, 1):
        yield f"state {number}: waits for {link.stream}{_where(link.alone)}"
        yield f"  filter: stays while an event is not relevant: {_all(link.relevant)}"
        if link.repetition is not None:
            yield f"  rebind: {_all(link.repetition.step)} -> state {number}{_changes(link)}"
        yield f"  forward: {_all(link.conditions)} -> {_target(number, chain)}"
    yield "result: " + ", ".join(f"{expression_text(expr)} AS {name}" for name, expr in chain.attributes.items())


def _target(number: int, chain: Chain) -> str:
    return f"state {number + 1}" if number + 1 < len(chain.links) else "result"


def _where(conditions: Sequence[Expr]) -> str:
    shown = [part for part in conditions if not is_true(part)]
    return f" where {_all(shown)}" if shown else ""


def _all(conditions: Sequence[Expr]) -> str:
    return " AND ".join(expression_text(part) for part in conditions if not is_true(part)) or "always"


def _changes(link: Link) -> str:
    assert link.repetition is not None
    return " with " + ", ".join(f"{name} := {expression_text(expr)}" for name, expr in link.repetition.changed.items())
