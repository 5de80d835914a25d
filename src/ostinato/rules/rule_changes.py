"""What a table of rules changes in a set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from ostinato.rules.rule import Rule


@dataclass(frozen=True)
class RuleChanges:
    """By the ids of rules. `added` and `changed` begin anew; `disabled` do not run any more, and what they had begun is forgotten;
    `enabled` are those that were disabled, and begin anew; `reworded` mean what
    they meant, and `unchanged` say what they said: both go on."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    enabled: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    reworded: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether something else runs now."""
        return bool(self.added or self.changed or self.removed or self.enabled or self.disabled)

    def __str__(self) -> str:
        told = [f"{len(getattr(self, field.name))} {field.name}" for field in fields(self) if getattr(self, field.name)]
        return ", ".join(told) or "no rules"

    def with_reworded(self, ids: Sequence[str]) -> RuleChanges:
        """Of those that are changed, these mean what they meant."""
        return replace(self, changed=tuple(id for id in self.changed if id not in ids), reworded=tuple(ids))


def difference(before: Mapping[str, Rule], wanted: Sequence[Rule]) -> RuleChanges:
    """A rule that is not enabled is `disabled` where it ran, else it is only known: so it is among the `unchanged`."""
    found: dict[str, list[str]] = {field.name: [] for field in fields(RuleChanges)}
    for rule in wanted:
        found[_kind(before.get(rule.id), rule)].append(rule.id)
    names = {rule.id for rule in wanted}
    found["removed"] = [id for id in before if id not in names]
    return RuleChanges(**{name: tuple(ids) for name, ids in found.items()})


def _kind(known: Rule | None, rule: Rule) -> str:
    if not rule.enabled:
        return "disabled" if known is not None and known.enabled else "unchanged"
    if known is None:
        return "added"
    if not known.enabled:
        return "enabled"
    return "unchanged" if (known.text, known.options) == (rule.text, rule.options) else "changed"
