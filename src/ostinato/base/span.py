"""Where something stands in a query text: offsets, and how they are shown to a person."""

from __future__ import annotations

from dataclasses import dataclass

WIDEST = 400


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of character offsets in a text."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The smallest span that covers both."""
        return Span(min(self.start, other.start), max(self.end, other.end))

    def moved(self, by: int) -> Span:
        return Span(self.start + by, self.end + by)


NOWHERE = Span(0, 0)  # of what was not read from a text


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """One-based line and column of an offset."""
    offset = min(max(offset, 0), len(text))
    line = text.count("\n", 0, offset) + 1
    return line, offset - (text.rfind("\n", 0, offset) + 1) + 1


def caret(text: str, span: Span) -> str:
    """The line of the span with carets below it."""
    line, column = line_and_column(text, span.start)
    begin = text.rfind("\n", 0, min(max(span.start, 0), len(text))) + 1
    end = text.find("\n", begin)
    shown = text[begin : len(text) if end < 0 else end].replace("\t", " ").rstrip("\r")
    if column > WIDEST or len(shown) > 2 * WIDEST:  # a line that nobody reads: what is around the place
        cut = max(column - WIDEST // 2, 1)
        shown, column = "..." + shown[cut - 1 : cut + WIDEST], column - cut + 4
    width = max(1, min(span.end - span.start, len(shown) - column + 1))
    gutter = f"{line:>4} | "
    return f"{gutter}{shown}\n{' ' * (len(gutter) - 2)}| {' ' * (column - 1)}{'^' * width}"
