"""The columns of a stream, and the fields of those that are structs, looked up without regard to case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ostinato.expr.types import Type

Named = Sequence[tuple[str, Type]]


@dataclass(frozen=True, slots=True)
class Schema:
    """A field of a struct is a column, too, called by its path: `dev.id`. A column that has this very name comes first."""

    columns: tuple[tuple[str, Type], ...]
    unusable: tuple[tuple[str, str, str | None], ...] = ()  # columns of types that no query can carry: name, type, hint

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns themselves."""
        return tuple(name for name, _ in self.columns)

    def find(self, name: str) -> str | None:
        """The column's own spelling: an exact match first, else the only one that differs in case alone."""
        found = _found(self.columns, name)
        return None if found is None else found[0]

    def type_of(self, name: str) -> Type:
        found = _found(self.columns, name)
        if found is None:
            raise KeyError(name)
        return found[1]

    def root_of(self, name: str) -> str:
        """The column that the value comes from: itself, or the struct whose field it is."""
        if _plain(self.columns, name) is not None:
            return name
        prefixes = (name[:at] for at, letter in enumerate(name) if letter == ".")
        return next(root for root in prefixes if _beneath(self.columns, root, name[len(root) + 1 :]) is not None)

    def beneath(self, name: str) -> tuple[str, Named] | None:
        """How far a path leads before it ends in nothing: the struct there, and its fields. None if it has no struct."""
        at, fields = "", self.columns
        rest = name
        while True:
            head, dot, tail = rest.partition(".")
            found = _plain(fields, head)
            if not dot or found is None or found[1].opaque is None:
                return (at, fields) if at else None
            at, fields, rest = f"{at}.{found[0]}" if at else found[0], found[1].opaque.fields, tail

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.find(name) is not None


def _plain(columns: Named, name: str) -> tuple[str, Type] | None:
    for own, type_ in columns:
        if own == name:
            return own, type_
    folded = [column for column in columns if column[0].lower() == name.lower()]
    return folded[0] if len(folded) == 1 else None


def _found(columns: Named, name: str) -> tuple[str, Type] | None:
    """Of this name; else the field at the end of this path, the part up to the first dots that name a struct first."""
    whole = _plain(columns, name)
    if whole is not None:
        return whole
    for at, letter in enumerate(name):
        field = _beneath(columns, name[:at], name[at + 1 :]) if letter == "." else None
        if field is not None:
            return field
    return None


def _beneath(columns: Named, struct: str, path: str) -> tuple[str, Type] | None:
    found = _plain(columns, struct)
    field = None if found is None or found[1].opaque is None else _found(found[1].opaque.fields, path)
    return None if found is None or field is None else (f"{found[0]}.{field[0]}", field[1])
