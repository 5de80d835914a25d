"""Chains of events to automata: what must hold where, what instances carry, and how they are found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ostinato.algebra.event_streams import END, START, EventQuery
from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Expr, Field, Nav, current, type_of
from ostinato.plan.column_code import ColumnBuilder
from ostinato.plan.instances.chain import Chain, Link, event, is_true, replaced, running
from ostinato.plan.instances.equalities import Equality, common_key, equality
from ostinato.plan.instances.instance_block import InstanceBlock, InstanceRegisters
from ostinato.plan.instances.made_texts import steps_make_texts
from ostinato.plan.instances.merged_input import MergedInput
from ostinato.plan.instances.one_event import one_event, variables_in
from ostinato.plan.pushdown import rows_with_one_of
from ostinato.plan.row_predicates import RowEmitter
from ostinato.plan.scalar.scalar_assembly import ScalarAssembly
from ostinato.program.code_inputs import code_inputs
from ostinato.program.instances import Forward, InstanceAutomaton, InstanceState
from ostinato.program.measure_code import MeasureCode
from ostinato.program.scalar_code import ScalarCode
from ostinato.program.verification.verify import verify_pattern

MOST_STATES = 60  # each has a bit of the rows


class AutomatonEmitter:
    """Emits one query; used once. `by_key`: chains whose events are all equal in a column are followed value by value; `by_value`:
    instances are found by a value that they share with the event they wait for."""

    def __init__(self, query: EventQuery, by_key: bool = True, by_value: bool = True) -> None:
        self._expression = query.expression
        self._by_value = by_value
        self._merged = MergedInput(query.expression)
        self._chain = Chain(query.expression, self._merged)
        if by_key:
            self._divide()
        if len(self._chain.links) > MOST_STATES:
            raise UnsupportedError(f"an expression may combine at most {MOST_STATES} streams", hint="publish a part of it")
        self._rows = RowEmitter()
        self._registers = InstanceRegisters()
        self._makes_texts = steps_make_texts(self._chain.links)

    def _divide(self) -> None:
        """By the column in which all events are equal, if there is one."""
        columns = common_key(self._chain.links)
        if columns is None:
            return
        own = {stream: self._merged.own_name(stream, column) for stream, column in columns.items()}
        keys = {stream: name for stream, name in own.items() if name is not None}
        if len(keys) == len(columns):
            self._merged = MergedInput(self._expression, keys)
            self._chain = Chain(self._expression, self._merged)

    def emit(self) -> InstanceAutomaton:
        links = [self._at_key(number, link) for number, link in enumerate(self._chain.links)]
        _settle_early(links)
        found = [self._equality(number, link) for number, link in enumerate(links)]
        static = [self._static(number, link) for number, link in enumerate(links)]
        bits = [self._rows.bit(conditions) for conditions in static]
        start = self._rows.slot(current(self._merged.start_of)) if self._merged.lasts else -1
        measures = self._measures()
        forward, relevant, rebind, scalar = self._blocks(links, found)
        states = tuple(
            InstanceState(
                bit=bits[number],
                relevant=relevant[number],
                forward=forward[number],
                repeats=links[number].repetition is not None,
                rebind=rebind[number],
                slot=-1 if (equal := found[number]) is None else self._rows.slot(current(equal.own.body)),
                register=-1 if equal is None else self._registers.number(equal.other),
                within=_most(links[number:]),
            )
            for number in range(1, len(links))
        )
        rows, count, slots = self._rows.finish()
        matters = rows_with_one_of(static, () if self._merged.key is None else (self._merged.key,))
        reads = self._merged.emit(code_inputs(rows), matters or "")
        return verify_pattern(InstanceAutomaton(
            reads=reads,
            evaluation="instances",
            reason=_reason(links, self._merged.key, found),
            variables=(),
            within=_most(links[1:]),
            rows=rows,
            bits=count,
            slots=slots,
            scalar=scalar,
            registers=self._registers.described(),
            measures=measures,
            search=self._by_value,
            begin=Forward(bits[0], forward[0]),
            states=states,
            start=start,
            prefilter_bits=() if -1 in bits else tuple(sorted(set(bits))),
        ))  # fmt: skip

    def _at_key(self, number: int, link: Link) -> Link:
        """All events have the key of the current one, and equalities of keys hold."""
        own = [part for part in link.relevant if not is_true(part)]
        if self._merged.key is not None:
            own = [part for part in own if not self._is_of_keys(part, number, link)]
        step = link.repetition and replace(
            link.repetition,
            initial={name: self._with_key(expr, number - 1) for name, expr in link.repetition.initial.items()},
            changed={name: self._with_key(expr, number) for name, expr in link.repetition.changed.items()},
            step=[self._with_key(part, number) for part in link.repetition.step if not is_true(part)],
        )
        return replace(
            link,
            relevant=[self._with_key(part, number) for part in own],
            repetition=step,
            conditions=[self._with_key(part, number) for part in link.conditions if not is_true(part)],
        )

    def _is_of_keys(self, condition: Expr, number: int, link: Link) -> bool:
        found = equality(condition, number, link)
        return found is not None and self._is_key(found.own) and self._is_key(found.other)

    def _is_key(self, expr: Expr, known: frozenset[tuple[str, str]] = frozenset()) -> bool:
        """`known`: attributes that steps change and that are keys if what they become is one: a step may leave them as they are."""
        if not isinstance(expr, Nav) or not isinstance(expr.body, Field) or self._merged.key is None or expr.variable is None:
            return False
        if expr.variable.startswith("@"):
            return expr.body.name == self._merged.key
        own = expr.variable, expr.body.name
        step = self._chain.links[int(expr.variable.removeprefix("$@"))].repetition
        becomes = () if step is None else (step.initial[expr.body.name], step.changed[expr.body.name])
        return own in known or (step is not None and all(self._is_key(one, known | {own}) for one in becomes))

    def _with_key(self, expr: Expr, here: int) -> Expr:
        """Keys as those of event `here`."""
        if self._merged.key is None:
            return expr
        return replaced(expr, lambda node: replace(self._key(), variable=event(here)) if self._is_key(node) else None)

    def _key(self) -> Nav:
        assert self._merged.key is not None
        type_ = self._merged.type_of(self._merged.key)
        return current(Field(self._merged.key, type=type_))

    def _static(self, number: int, link: Link) -> list[Expr]:
        """What an event must be, whatever was before it."""
        is_of = self._merged.is_of(link.stream)
        own = [part for part in link.relevant if variables_in(part) == {event(number)}]
        filtered = link.conditions if number == 0 else []
        return [*([] if is_of is None else [current(is_of)]), *link.alone, *own, *filtered]

    def _equality(self, number: int, link: Link) -> Equality | None:
        """The first by which instances are found."""
        if not self._by_value or number == 0:
            return None
        return next((found for part in link.relevant if (found := equality(part, number, link)) is not None), None)

    def _measures(self) -> MeasureCode:
        code = ColumnBuilder()

        def resolve(expr: Expr) -> int | None:
            if self._is_key(expr):
                return code.input(f"partition:{self._merged.key}", type_of(expr))
            held = one_event(expr) or expr
            return code.input(f"register:{self._registers.number(held)}", type_of(held)) if isinstance(held, Nav) else None

        results = [code.add(expr, resolve) for expr in self._chain.attributes.values()]
        results += [code.input(name, self._merged.time_type) for name in ("start", "end")]
        return MeasureCode((*self._chain.attributes, START, END), code.finish(results))

    def _blocks(self, links: Sequence[Link], found: Sequence[Equality | None]) -> tuple[list[int], list[int], list[int], ScalarCode]:
        """Written until nothing more is to be carried: what a block stores depends on the conditions of later ones."""
        for equal in found:
            if equal is not None:
                self._registers.number(equal.other)
        known = -1
        while known != len(self._registers.held):
            known = len(self._registers.held)
            code = ScalarAssembly()
            relevant = [self._relevant(number, link, found[number], code) for number, link in enumerate(links)]
            rebind = [self._rebind(number, link, code) for number, link in enumerate(links)]
            forward = [self._forward(number, links, code) for number in range(len(links))]
        return forward, relevant, rebind, code.finish()

    def _relevant(self, number: int, link: Link, found: Equality | None, code: ScalarAssembly) -> int:
        block = InstanceBlock(number, code, self._rows, self._registers, self._makes_texts)
        for part in link.relevant:
            if variables_in(part) != {event(number)} and (found is None or equality(part, number, link) != found):
                block.test(part)
        return -1 if code.block_is_empty else code.end_block()

    def _rebind(self, number: int, link: Link, code: ScalarAssembly) -> int:
        if link.repetition is None:
            return -1
        block = InstanceBlock(number, code, self._rows, self._registers, self._makes_texts)
        for part in link.repetition.step:
            block.test(part)
        changes = [
            (register, block.value_as(link.repetition.changed[nav.body.name], type_of(nav)))
            for register, nav in enumerate(self._registers.held)
            if nav.variable == running(number) and isinstance(nav.body, Field)
        ]
        return self._stored(changes, code)

    def _forward(self, number: int, links: Sequence[Link], code: ScalarAssembly) -> int:
        """To what waits behind event `number`, or is a result: it carries values of that event, and what a repetition there begins with."""
        block = InstanceBlock(number, code, self._rows, self._registers, self._makes_texts)
        for part in links[number].conditions if number > 0 else ():
            block.test(part)
        changes = []
        for register, nav in enumerate(self._registers.held):
            if nav.variable == event(number):
                changes.append((register, block.value(nav)))
            elif nav.variable == running(number + 1) and isinstance(nav.body, Field):
                step = links[number + 1].repetition
                assert step is not None
                changes.append((register, block.value_as(step.initial[nav.body.name], type_of(nav))))
        return self._stored(changes, code)

    def _stored(self, changes: Sequence[tuple[int, int]], code: ScalarAssembly) -> int:
        if not changes and code.block_is_empty:
            return -1
        code.copy()
        for register, value in changes:
            code.store(register, value)
        return code.end_block()


def _settle_early(links: Sequence[Link]) -> None:
    """What state s asks of the instance alone is known before it waits there: of one that does not satisfy it nothing will come."""
    for number in range(1, len(links)):
        own = {event(number), running(number)}
        early = [part for part in links[number].relevant if not variables_in(part) & own]
        links[number].relevant = [part for part in links[number].relevant if part not in early]
        links[number - 1].conditions = [*links[number - 1].conditions, *early]


def _most(links: Sequence[Link]) -> int:
    """How long the events may last that these links lead to."""
    return min((link.within for link in links if link.within >= 0), default=-1)


def _reason(links: Sequence[Link], key: str | None, found: Sequence[Equality | None]) -> str:
    if len(links) == 1:
        return "every event is looked at by itself"
    states = f"{len(links) - 1} states" if len(links) > 2 else "one state"
    divided = "" if key is None else f", all events equal in {key}"
    searched = sum(one is not None for one in found)
    by_value = "" if not searched else f", found by equal values in {searched} of them" if len(links) > 2 else ", found by equal values"
    return f"what is begun waits in {states} for the next event{divided}{by_value}"
