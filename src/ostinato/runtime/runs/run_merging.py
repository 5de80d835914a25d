"""Which runs of a query are followed as one: those that have the same future, where that changes no result."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.program.analysis.live_registers import registers_needed
from ostinato.program.pattern import EventPattern


@dataclass(frozen=True)
class Merging:
    """`starts`: "same" if only runs that end together by the window may merge, "any" if the start makes no difference, "" for never.
    Per element: whether runs in it may merge, and the registers that must agree."""

    starts: str
    unites: bool
    mergeable: tuple[bool, ...]
    needed: tuple[frozenset[int], ...]


def merging_of(pattern: EventPattern) -> Merging:
    """A match knows where it began where all matches are kept, so that runs of all starts may be united. A number does not, and of a
    run that is dropped nothing is left: there the starts must agree, unless there is no window."""
    unites = pattern.output not in ("count", "nonoverlapping")
    if not pattern.merging:
        return Merging("", False, (False,) * len(pattern.elements), (frozenset(),) * len(pattern.elements))
    starts = "any" if unites or pattern.within < 0 else "same"
    lasting = [element.repeats or bool(element.transitions) for element in pattern.elements]
    if starts == "same":
        crowded = _with_several_of_one_start(pattern)
        lasting = [lasts and several for lasts, several in zip(lasting, crowded, strict=True)]
    return Merging(starts, unites, tuple(lasting), registers_needed(pattern))


def _with_several_of_one_start(pattern: EventPattern) -> list[bool]:
    """Per element, whether several runs of one start may be in it: in no other can runs of one start become equivalent. There is
    one at most if the element is only begun, once, by a run that is the only one and does not stay behind."""
    splits = pattern.selection == "skip_till_any_match"
    skips = pattern.selection == "skip_till_next_match"
    sources: list[list[bool]] = [[] for _ in pattern.elements]  # per way to begin it: whether that may happen several times
    for transition in pattern.initial:
        sources[transition.target].append(False)
    several: list[bool] = []
    for number, element in enumerate(pattern.elements):
        several.append(len(sources[number]) > 1 or any(sources[number]) or (splits and element.repeats))
        for transition in element.transitions:
            stays_behind = splits or element.repeats or (skips and not transition.nearest)
            sources[transition.target].append(several[number] or stays_behind)
    return several
