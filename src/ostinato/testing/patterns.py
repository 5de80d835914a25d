"""Random patterns: any for preferred matches, linear ones for runs."""

from __future__ import annotations

from hypothesis import strategies as st

from ostinato.algebra.pattern import Alternation, Empty, Pattern, Repetition, Sequence, Variable

BOUNDS = ((0, 1), (0, None), (1, None), (0, 2), (1, 2), (2, 3), (2, None), (2, 2), (1, 1), (0, 0))


def patterns(variables: tuple[str, ...] = ("A", "B", "C"), max_leaves: int = 5) -> st.SearchStrategy[Pattern]:
    """Variables, sequences, alternations and repetitions, greedy and reluctant, with empty patterns among them."""
    leaf = st.one_of(*[st.sampled_from(variables).map(Variable)] * 7, st.just(Empty()))
    return st.recursive(leaf, _larger, max_leaves=max_leaves)


def _larger(item: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
    items = st.lists(item, min_size=2, max_size=3).map(tuple)
    repetitions = st.builds(
        lambda inner, bounds, greedy: Repetition(inner, bounds[0], bounds[1], greedy), item, st.sampled_from(BOUNDS), st.booleans()
    )
    return st.one_of(items.map(Sequence), items.map(Sequence), items.map(Alternation), repetitions, repetitions)


LINEAR = {"": None, "+": (1, None), "*": (0, None), "?": (0, 1)}


@st.composite
def linear_patterns(draw: st.DrawFn, max_components: int = 4) -> Pattern:
    """`a`, `a+`, `a*` and `a?` in sequence, each name once."""
    quantifiers = draw(st.lists(st.sampled_from(("", "", "+", "*", "?")), min_size=1, max_size=max_components))
    return Sequence(tuple(_component(chr(ord("a") + number), quantifier) for number, quantifier in enumerate(quantifiers)))


def _component(name: str, quantifier: str) -> Pattern:
    bounds = LINEAR[quantifier]
    return Variable(name) if bounds is None else Repetition(Variable(name), bounds[0], bounds[1])
