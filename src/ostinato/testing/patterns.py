"""Random patterns: any for preferred matches, linear ones and such with alternatives for runs."""

from __future__ import annotations

from hypothesis import strategies as st

from ostinato.algebra.pattern import Alternation, Empty, PartitionEnd, PartitionStart, Pattern, Repetition, Sequence, Variable

BOUNDS = ((0, 1), (0, None), (1, None), (0, 2), (1, 2), (2, 3), (2, None), (2, 2), (1, 1), (0, 0))


def patterns(variables: tuple[str, ...] = ("A", "B", "C"), max_leaves: int = 5, anchors: bool = False) -> st.SearchStrategy[Pattern]:
    """Variables, sequences, alternations and repetitions, greedy and reluctant, with empty patterns among them, and anchors if asked."""
    others = (Empty(), PartitionStart(), PartitionEnd()) if anchors else (Empty(),)
    leaf = st.one_of(*[st.sampled_from(variables).map(Variable)] * 7, *map(st.just, others))
    return st.recursive(leaf, _larger, max_leaves=max_leaves)


def _larger(item: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
    items = st.lists(item, min_size=2, max_size=3).map(tuple)
    repetitions = st.builds(
        lambda inner, bounds, greedy: Repetition(inner, bounds[0], bounds[1], greedy), item, st.sampled_from(BOUNDS), st.booleans()
    )
    return st.one_of(items.map(Sequence), items.map(Sequence), items.map(Alternation), repetitions, repetitions)


LINEAR = {"": None, "+": (1, None), "*": (0, None), "?": (0, 1)}


@st.composite
def linear_patterns(draw: st.DrawFn, max_elements: int = 4) -> Pattern:
    """`a`, `a+`, `a*` and `a?` in sequence, each name once."""
    quantifiers = draw(st.lists(st.sampled_from(("", "", "+", "*", "?")), min_size=1, max_size=max_elements))
    return Sequence(tuple(_element(number, quantifier) for number, quantifier in enumerate(quantifiers)))


@st.composite
def alternating_patterns(draw: st.DrawFn, max_elements: int = 5) -> Pattern:
    """A sequence with alternatives somewhere in it, each of which selects an event; an alternative may hold further ones."""
    before = draw(st.integers(0, 1))
    count = draw(st.integers(before + 2, max_elements))
    inside = draw(st.integers(2, count - before))
    choice = _alternatives(draw, before, before + inside)
    items = [_any_element(draw, number) for number in range(before)]
    return Sequence((*items, choice, *(_any_element(draw, number) for number in range(before + inside, count))))


def _alternatives(draw: st.DrawFn, first: int, end: int) -> Pattern:
    """Over the elements from `first` on, before `end`: two alternatives, or three."""
    cuts = sorted(draw(st.sets(st.integers(first + 1, end - 1), min_size=1, max_size=2)))
    bounds = [first, *cuts, end]
    return Alternation(tuple(_alternative(draw, low, high) for low, high in zip(bounds, bounds[1:], strict=False)))


def _alternative(draw: st.DrawFn, first: int, end: int) -> Pattern:
    if end - first == 1:
        return _element(first, draw(st.sampled_from(("", "", "+"))))
    if end - first > 2 and draw(st.booleans()):
        return Sequence((_any_element(draw, first), _alternatives(draw, first + 1, end)))
    mandatory = draw(st.integers(first, end - 1))
    return Sequence(
        tuple(_element(n, draw(st.sampled_from(("", "+")))) if n == mandatory else _any_element(draw, n) for n in range(first, end))
    )


def _any_element(draw: st.DrawFn, number: int) -> Pattern:
    return _element(number, draw(st.sampled_from(("", "", "+", "*", "?"))))


def _element(number: int, quantifier: str) -> Pattern:
    name = chr(ord("a") + number)
    bounds = LINEAR[quantifier]
    return Variable(name) if bounds is None else Repetition(Variable(name), bounds[0], bounds[1])
