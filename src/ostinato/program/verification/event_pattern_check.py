"""Verifies event patterns: the elements that partial matches go through, and what they are told about output and negation."""

from __future__ import annotations

from collections.abc import Iterable

from ostinato.program.elements import Element, Transition
from ostinato.program.pattern import EventPattern
from ostinato.program.verification.measure_check import check_negation
from ostinato.program.verification.requirement import require, require_known
from ostinato.program.verification.scalar_check import is_block

PLACES = "transitions to later elements, past those in between"
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
    require(pattern.evaluation != "compact" or pattern.ties == "order" or not pattern.negations, "ties by order for negations with compact")
    require(not pattern.one_at_a_time or pattern.output == "all", "all matches of a start, one after another")
    _elements(pattern)
    for negation in pattern.negations:
        check_negation(negation, pattern)


def _ends_runs(pattern: EventPattern) -> bool:
    """Under strict contiguity runs would be ended by rows of other keys, whose times the kernel does not see."""
    seen = pattern.selection != "strict_contiguity" or not pattern.reads.keys
    return pattern.evaluation == "runs" and pattern.within >= 0 and seen and not pattern.merging and not pattern.negations


def _elements(pattern: EventPattern) -> None:
    count = len(pattern.elements)
    require(count > 0 and count == len(pattern.variables), "an element for every variable")
    require(len(pattern.initial) > 0, "an element to begin with")
    _transitions(pattern.initial, -1, count)
    for number, element in enumerate(pattern.elements):
        require(element.variable == number and element.at_least in (0, 1), "elements with their variables")
        require(all(-1 <= bit < pattern.bits for bit in (element.first_bit, element.later_bit)), "elements with known bits")
        bound = all(is_block(pattern, block, binding=True) for block in (element.first_block, element.later_block))
        require(bound and is_block(pattern, element.leaving_block, binding=False), "elements with known blocks")
        _transitions(element.transitions, number, count)
        _ascending(element.passed_at_end, number, count)
        _left_empty(element, pattern)


def _left_empty(element: Element, pattern: EventPattern) -> None:
    places = {place for transition in (*element.transitions, *pattern.initial) for place in transition.passed} | set(element.passed_at_end)
    require(all(pattern.elements[place].at_least == 0 for place in places), "elements that may be left empty where they are")


def _transitions(transitions: Iterable[Transition], source: int, count: int) -> None:
    targets = [transition.target for transition in transitions]
    require(all(source < target < count for target in targets) and len(set(targets)) == len(targets), PLACES)
    for transition in transitions:
        _ascending(transition.passed, source, transition.target)


def _ascending(places: tuple[int, ...], low: int, high: int) -> None:
    require(all(low < place < high for place in places) and list(places) == sorted(set(places)), PLACES)
