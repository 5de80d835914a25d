"""Text put together from pieces of another text, that still knows where each character came from."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from ostinato.base.span import Span


@dataclass(frozen=True)
class Piece:
    """`text` as it stands in the new text. `copied` says that it is `origin` character by character, else it stands for all of it."""

    text: str
    origin: Span
    copied: bool


@dataclass(frozen=True)
class Spliced:
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    def origin(self, offset: int) -> Span:
        """Where in the original text the character at `offset` of the new text belongs."""
        starts = [0]
        for piece in self.pieces:
            starts.append(starts[-1] + len(piece.text))
        number = min(max(bisect_right(starts, offset) - 1, 0), len(self.pieces) - 1)
        piece = self.pieces[number]
        if not piece.copied:
            return piece.origin
        at = piece.origin.start + min(max(offset - starts[number], 0), len(piece.text))
        return Span(at, at + 1)

    def __add__(self, other: Spliced) -> Spliced:
        return Spliced(self.pieces + other.pieces)


def copy(text: str, span: Span) -> Spliced:
    return Spliced((Piece(text[span.start : span.end], span, copied=True),))


def insert(text: str, origin: Span) -> Spliced:
    return Spliced((Piece(text, origin, copied=False),))
