"""Every error that Ostinato raises on purpose: what is wrong, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ostinato.base.span import Span, caret, line_and_column

SHOWN_TEXT = 160  # characters of a query
SHOWN_RULES = 20  # of those that are broken


class OstinatoError(Exception):
    """Base of all errors. `span` points into `text`, the query as the user wrote it. `names_query`: it is about the whole of it."""

    names_query = False

    def __init__(
        self,
        message: str,
        *,
        detail: str | None = None,
        hint: str | None = None,
        span: Span | None = None,
        text: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.hint = hint
        self.span = span
        self.text = text

    def within(self, text: str) -> OstinatoError:
        """Attach the query text, where whoever raised the error did not have it."""
        if self.text is None:
            self.text = text
        return self

    @property
    def position(self) -> tuple[int, int] | None:
        """One-based (line, column), if the error has a place in a text."""
        if self.span is None or self.text is None:
            return None
        return line_and_column(self.text, self.span.start)

    def __str__(self) -> str:
        parts = [self.message]
        if self.span is not None and self.text is not None:
            line, column = line_and_column(self.text, self.span.start)
            parts = [f"{self.message} (line {line}, column {column})", caret(self.text, self.span)]
        elif self.text is not None and self.names_query:
            parts.append(f"Query: {_beginning(self.text)}")
        if self.detail:
            parts.append(self.detail)
        if self.hint:
            parts.append(f"Hint: {self.hint}")
        shown = "\n".join(parts)
        # half a surrogate pair cannot be printed, and a message that cannot be printed helps nobody
        return shown if shown.isascii() else shown.encode("utf-8", "replace").decode()

    def __reduce__(self) -> tuple[Any, ...]:  # Spark workers send errors home by pickle
        return _rebuild, (type(self), self.message, self.detail, self.hint, self.span, self.text)


def _beginning(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= SHOWN_TEXT else words[: SHOWN_TEXT - 1] + "…"


def _rebuild(
    kind: type[OstinatoError], message: str, detail: str | None, hint: str | None, span: Span | None, text: str | None
) -> OstinatoError:
    return kind(message, detail=detail, hint=hint, span=span, text=text)


class QuerySyntaxError(OstinatoError):
    """The text is not a query of the language."""


class UnknownNameError(OstinatoError):
    """A stream, column, variable or function that does not exist, or is ambiguous."""


class TypeMismatchError(OstinatoError):
    """Operands of types that do not go together."""


class UnsupportedError(OstinatoError):
    """Well-formed, but not offered (yet, or for a stated reason)."""


class SchemaError(OstinatoError):
    """Input columns that are missing or have an unusable type."""


class DataError(OstinatoError):
    """A value that cannot be processed: overflow, a time that cannot be ordered, an unreadable file."""


class StateError(OstinatoError):
    """A snapshot that does not fit, or a session used after close."""


class BudgetError(OstinatoError):
    """The state of a query, or what it lists, outgrew its budget."""

    names_query = True


class RuleError(OstinatoError):
    """Rules of a table that cannot be used: `errors` by their ids, or by where they stand. Nothing was changed."""

    def __init__(self, errors: Mapping[str, OstinatoError], count: int) -> None:
        told = [f"{id}: {str(error).replace(chr(10), chr(10) + '    ')}" for id, error in list(errors.items())[:SHOWN_RULES]]
        told += [f"and {len(errors) - SHOWN_RULES} more"] if len(errors) > SHOWN_RULES else []
        message = f"{len(errors)} of {count} rules cannot be used, and nothing was changed"
        super().__init__(message, detail="\n".join(told), hint="Repair them, or set enabled to false; all of them are in `errors`")
        self.errors = dict(errors)
        self._count = count

    def __reduce__(self) -> tuple[Any, ...]:
        return RuleError, (self.errors, self._count)


class SandboxError(OstinatoError):
    """What the sandbox does not let a query do, or a limit of it that was reached."""
