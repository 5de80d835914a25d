"""The columns of a stream, looked up without regard to case."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.expr.types import Type


@dataclass(frozen=True, slots=True)
class Schema:
    columns: tuple[tuple[str, Type], ...]
    unusable: tuple[tuple[str, str, str | None], ...] = ()  # columns of types that expressions cannot use: name, type, hint

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.columns)

    def find(self, name: str) -> str | None:
        """The column's own spelling: an exact match first, else the only one that differs in case alone."""
        if any(own == name for own, _ in self.columns):
            return name
        folded = [own for own, _ in self.columns if own.lower() == name.lower()]
        return folded[0] if len(folded) == 1 else None

    def type_of(self, name: str) -> Type:
        return dict(self.columns)[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.find(name) is not None
