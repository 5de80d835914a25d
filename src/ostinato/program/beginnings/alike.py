"""Which of several automata over the same rows begin alike, and how far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ostinato.program.beginnings.beginning import Beginning, joined_beginning
from ostinato.program.beginnings.block_form import Values
from ostinato.program.beginnings.instance_form import InstanceForm, Known
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.shapes.canonical_code import canonical
from ostinato.program.shared_code import shared_code


@dataclass(frozen=True)
class _Alike:
    """Of all these the first `states` are the same; some of them have more in common."""

    states: int
    followers: list[int | _Alike]


def shared_beginnings(automata: Sequence[InstanceAutomaton]) -> list[Beginning]:
    """What is followed once for two or more of them, who are known by their numbers here. Each has at most one beginning with others, which
    may itself go on from one that it shares with more of them."""
    values = Values()
    _, numbers = shared_code([canonical(automaton.rows) for automaton in automata])
    forms = [InstanceForm(automaton, own, values) for automaton, own in zip(automata, numbers, strict=True)]
    return [_joined(alike, forms, values) for alike in _alike([n for n, form in enumerate(forms) if form.can_be_cut], forms, 0)]


def _alike(members: list[int], forms: Sequence[InstanceForm], level: int) -> list[_Alike]:
    """`members` are the same before the level."""
    found: list[_Alike] = []
    for same in _same_at(members, forms, level):
        if len(same) == 1:
            continue
        longer = _alike(same, forms, level + 1)
        if level == 0 or (len(longer) == 1 and set(_numbers(longer[0])) == {*same}):
            found += longer
            continue
        inside = {number for one in longer for number in _numbers(one)}
        found.append(_Alike(level, [*longer, *(number for number in same if number not in inside)]))
    return found


def _numbers(alike: _Alike) -> list[int]:
    return [number for one in alike.followers for number in ([one] if isinstance(one, int) else _numbers(one))]


def _same_at(members: list[int], forms: Sequence[InstanceForm], level: int) -> list[list[int]]:
    """The members that do the same at a level."""
    found: dict[object, list[tuple[list[int], dict[Known, tuple[int | None, int]]]]] = {}
    for number in members:
        if level >= len(forms[number].levels):
            continue
        own = forms[number].levels[level]
        groups = found.setdefault(own.does, [])
        for group, changed in groups:
            if all(changed.get(register, change) == change for register, change in own.changed.items()):
                group.append(number)
                changed.update(own.changed)
                break
        else:
            groups.append(([number], dict(own.changed)))
    return [group for groups in found.values() for group, _ in groups]


def _joined(alike: _Alike, forms: Sequence[InstanceForm], values: Values) -> Beginning:
    followers: list[tuple[int | Beginning, InstanceForm]] = []
    for one in alike.followers:
        if isinstance(one, int):
            followers.append((one, forms[one]))
        else:
            inner = _joined(one, forms, values)
            followers.append((inner, InstanceForm(inner.automaton, inner.numbers, values)))
    return joined_beginning(followers, alike.states)
