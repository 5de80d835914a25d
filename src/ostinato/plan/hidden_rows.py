"""Variables inside exclusions `{- -}` become variables of their own in the automaton, copies with the name, the test and the unions of the
original: so the way that a match takes tells which of its rows are hidden."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.algebra.pattern import Alternation, Excluded, Pattern, Repetition, Sequence, Variable, variables_of


@dataclass(frozen=True)
class HiddenRows:
    """`pattern` without exclusions; `copies` are its new variables with their originals."""

    pattern: Pattern
    copies: dict[str, str]


def hidden_rows(pattern: Pattern) -> HiddenRows:
    naming = _Naming(variables_of(pattern))
    return HiddenRows(naming.replaced(pattern, False), naming.copies)


class _Naming:
    def __init__(self, taken: tuple[str, ...]) -> None:
        self._taken = taken
        self._of_original: dict[str, str] = {}
        self._done: dict[tuple[int, bool], tuple[Pattern, Pattern]] = {}  # keeps patterns alive while their identity is a key

    @property
    def copies(self) -> dict[str, str]:
        return {copy: original for original, copy in self._of_original.items()}

    def replaced(self, pattern: Pattern, hidden: bool) -> Pattern:
        """Parts that occur several times (in PERMUTE) stay the same object: automata tell patterns apart by identity."""
        key = (id(pattern), hidden)
        if key not in self._done:
            self._done[key] = (pattern, self._replaced(pattern, hidden))
        return self._done[key][1]

    def _replaced(self, pattern: Pattern, hidden: bool) -> Pattern:
        if isinstance(pattern, Variable):
            return Variable(self._copy(pattern.name)) if hidden else pattern
        if isinstance(pattern, Excluded):
            return self.replaced(pattern.item, True)
        if isinstance(pattern, Sequence):
            return Sequence(tuple(self.replaced(item, hidden) for item in pattern.items))
        if isinstance(pattern, Alternation):
            return Alternation(tuple(self.replaced(item, hidden) for item in pattern.items))
        if isinstance(pattern, Repetition):
            return Repetition(self.replaced(pattern.item, hidden), pattern.at_least, pattern.at_most, pattern.greedy)
        return pattern

    def _copy(self, original: str) -> str:
        if original not in self._of_original:
            name = f"hidden {original}"
            while name in self._taken:
                name += "'"
            self._of_original[original] = name
        return self._of_original[original]
