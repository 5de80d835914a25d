"""A query as one of many of its shape."""

from __future__ import annotations

from typing import Any, NamedTuple

from ostinato.program.shapes.shape import Shape


class Member(NamedTuple):
    """`constants` as the engine holds them, in the order of the shape's parameters."""

    shape: Shape
    constants: tuple[Any, ...]

    @property
    def fits(self) -> bool:
        """Whether the constants are as small as those of the shape are; with larger ones it may be another one, or none."""
        return all(self.constants[number] in held for number, held in self.shape.narrow)

    def is_same(self, other: Member) -> bool:
        """As text: 0.0 and -0.0 are equal, and not the same."""
        return self.shape.name == other.shape.name and repr(self.constants) == repr(other.constants)
