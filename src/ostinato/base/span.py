"""Where something stands in a query text: offsets, and how they are shown to a person."""

from __future__ import annotations

from dataclasses import dataclass


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


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """One-based line and column of an offset."""
    offset = min(max(offset, 0), len(text))
    line = text.count("\n", 0, offset) + 1
    return line, offset - (text.rfind("\n", 0, offset) + 1) + 1


def caret(text: str, span: Span) -> str:
    """The line of the span with carets below it."""
    line, column = line_and_column(text, span.start)
    shown = text.split("\n")[line - 1].replace("\t", " ").rstrip("\r")
    width = max(1, min(span.end, span.start - column + 1 + len(shown)) - span.start)
    gutter = f"{line:>4} | "
    return f"{gutter}{shown}\n{' ' * (len(gutter) - 2)}| {' ' * (column - 1)}{'^' * width}"
