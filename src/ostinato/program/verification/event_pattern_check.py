"""Verifies event patterns: the components that partial matches go through, and what they are told about output and negation."""

from __future__ import annotations

from collections.abc import Iterable

from ostinato.program.components import Begin, Component
from ostinato.program.pattern import EventPattern
from ostinato.program.verification.measure_check import check_negation
from ostinato.program.verification.requirement import require, require_known
from ostinato.program.verification.scalar_check import is_block

PLACES = "moves to later components, past those in between"
POLICIES = {
    "evaluation": ("runs", "compact", "backtrack"),
    "selection": ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match"),
    "output": ("all", "nonoverlapping", "first", "count", "compressed", "aggregates", "timeouts"),
    "ties": ("order", "epoch"),
}


def check_event_pattern(pattern: EventPattern) -> None:
    require_known(pattern, POLICIES)
    require(all(0 <= bit < pattern.bits for bit in pattern.prefilter_bits), "known bits to filter by")
    require(pattern.output != "timeouts" or _ends_runs(pattern), "runs with a window, each followed by itself, for its timeouts")
    require(not pattern.one_at_a_time or pattern.output == "all", "all matches of a start, one after another")
    _components(pattern)
    for negation in pattern.negations:
        check_negation(negation, pattern)


def _ends_runs(pattern: EventPattern) -> bool:
    """Under strict contiguity runs would be ended by rows of other keys, whose times the kernel does not see."""
    seen = pattern.selection != "strict_contiguity" or not pattern.reads.keys
    return pattern.evaluation == "runs" and pattern.within >= 0 and seen and not pattern.merging and not pattern.negations


def _components(pattern: EventPattern) -> None:
    count = len(pattern.components)
    require(count > 0 and count == len(pattern.variables), "a component for every variable")
    require(len(pattern.entries) > 0, "a component to begin with")
    _moves(pattern.entries, -1, count)
    for number, component in enumerate(pattern.components):
        require(component.variable == number and component.at_least in (0, 1), "components with their variables")
        require(all(-1 <= bit < pattern.bits for bit in (component.first_bit, component.later_bit)), "components with known bits")
        bound = all(is_block(pattern, block, binding=True) for block in (component.first_block, component.later_block))
        require(bound and is_block(pattern, component.leaving_block, binding=False), "components with known blocks")
        _moves(component.begins, number, count)
        _ascending(component.passed_at_end, number, count)
        _left_empty(component, pattern)


def _left_empty(component: Component, pattern: EventPattern) -> None:
    places = {place for begin in (*component.begins, *pattern.entries) for place in begin.passed} | set(component.passed_at_end)
    require(all(pattern.components[place].at_least == 0 for place in places), "components that may be left empty where they are")


def _moves(begins: Iterable[Begin], source: int, count: int) -> None:
    targets = [begin.target for begin in begins]
    require(all(source < target < count for target in targets) and len(set(targets)) == len(targets), PLACES)
    for begin in begins:
        _ascending(begin.passed, source, begin.target)


def _ascending(places: tuple[int, ...], low: int, high: int) -> None:
    require(all(low < place < high for place in places) and list(places) == sorted(set(places)), PLACES)
