import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.automata.preferment import NAMES, patterns, preferred, ways

from ostinato.algebra.pattern import Alternation, Empty, PartitionEnd, PartitionStart, Repetition, Sequence, Variable
from ostinato.automata import nfa as module
from ostinato.automata.nfa import construct
from ostinato.automata.text import to_text
from ostinato.base.errors import UnsupportedError
from ostinato.program.ordered_nfa import ACCEPT

A, B, C = (Variable(name) for name in NAMES)
NUMBERS = {name: number for number, name in enumerate(NAMES)}
rows = st.lists(st.sets(st.sampled_from(NAMES)), max_size=5)


def walk(nfa, row_sets, at_first_row=True):
    """Depth first along the moves in their order: the mappings that the automaton allows, best first. The rows are a whole partition,
    or its last ones."""

    def from_state(state, at):
        for variable, target in nfa.transitions_of(state):
            if variable < 0:
                if (variable, target) == ACCEPT or at == len(row_sets):
                    yield ()
            elif at < len(row_sets) and NAMES[variable] in row_sets[at]:
                for rest in from_state(target, at + 1):
                    yield (NAMES[variable], *rest)

    return from_state(nfa.start_of_partition if at_first_row else nfa.start, 0)


@settings(max_examples=400, deadline=None)
@given(patterns(), rows)
def test_the_first_way_through_is_the_preferred_one(pattern, row_sets):
    nfa = construct(pattern, NUMBERS)
    assert next(walk(nfa, row_sets), None) == preferred(pattern, row_sets, 0)
    assert next(walk(nfa, row_sets[1:], at_first_row=False), None) == preferred(pattern, [set(), *row_sets[1:]], 1)


@settings(max_examples=150, deadline=None)
@given(patterns(4), st.lists(st.sets(st.sampled_from(NAMES)), max_size=4))
def test_nothing_preferable_to_the_first_complete_mapping_is_lost(pattern, row_sets):
    """Also where the preferred mapping is cut off: the ways before the first one that accepts at once come in the same order."""
    expected = list(dict.fromkeys(ways(pattern, row_sets, 0)))
    found = list(dict.fromkeys(walk(construct(pattern, NUMBERS), row_sets)))
    assert found == [way for way in expected if way in found]
    assert found[:1] == expected[:1]


@pytest.mark.parametrize(
    ("pattern", "row_sets", "expected"),
    [
        (Sequence((Repetition(Alternation((B, Empty(), A)), 0, 2), C)), [{"A"}, {"B", "C"}, {"C"}], ("A", "B", "C")),
        (Sequence((Repetition(Repetition(A, 0, 1), 2, 3), B)), [{"A"}, {"B"}], ("A", "B")),
        (Repetition(Repetition(A, 0, 1), 2, 3), [{"A"}] * 5, ("A", "A", "A")),
        (Repetition(A, 1, 3, greedy=False), [{"A"}] * 3, ("A",)),
        (Repetition(Repetition(A, 0, None), 0, None), [{"A"}] * 3, ("A", "A", "A")),
        (Repetition(A, 0, 0), [{"A"}], ()),
        (Repetition(Alternation((Empty(), A)), 2, 2), [{"A"}], ()),
        (Sequence((A, B)), [{"A"}], None),
    ],
)
def test_worked_examples(pattern, row_sets, expected):
    assert preferred(pattern, row_sets, 0) == expected
    assert next(walk(construct(pattern, NUMBERS), row_sets), None) == expected


def test_an_empty_iteration_ends_the_loop_only_at_the_minimum():
    """(empty, A) is a way of `(() | A){2,3}`, (A, empty, A) is none: after it the loop is over."""
    loop = Repetition(Alternation((Empty(), A)), 2, 3)
    assert ("A",) in set(ways(loop, [{"A"}], 0))
    text = to_text(construct(Sequence((loop, C)), NUMBERS), NAMES)
    assert text.splitlines()[0] == ">0: C -> 1, A -> 2, A -> 3"


def test_text_of_the_v_shape():
    v = Sequence((A, Repetition(B, 1, None), Repetition(C, 1, None)))
    assert to_text(construct(v, NUMBERS), NAMES) == ">0: A -> 1\n 1: B -> 2\n 2: B -> 2, C -> 3\n 3: C -> 3, accept"


def test_text_with_anchors():
    """Behind a row `^` is a dead end, as a row is behind `$`."""
    first, last = PartitionStart(), PartitionEnd()
    anchored = Alternation((Sequence((first, A, last)), Sequence((B, Alternation((first, last))))))
    lines = to_text(construct(anchored, NUMBERS), NAMES).splitlines()
    assert lines == [">0: B -> 2", "^1: A -> 3, B -> 2", " 2: accept at $", " 3: accept at $"]
    dead = Sequence((A, first, last, B))
    assert to_text(construct(dead, NUMBERS), NAMES) == ">0: A -> 1\n 1: no transition"
    sure = Repetition(Alternation((A, last)), 1, None)
    assert to_text(construct(sure, NUMBERS), NAMES) == ">0: A -> 1, accept at $\n 1: A -> 1, accept"


def test_deep_patterns_need_no_recursion():
    assert len(construct(Repetition(A, 5000, 5000), NUMBERS).first) == 5002


@pytest.mark.parametrize("pattern", [Repetition(A, 100_000, 100_000), Repetition(Repetition(Repetition(A, 0, 99), 0, 99), 0, 99)])
def test_a_pattern_that_explodes_is_refused(pattern, monkeypatch):
    monkeypatch.setattr(module, "MAX_STATES", 2000)
    with pytest.raises(UnsupportedError, match="too large") as error:
        construct(pattern, NUMBERS)
    assert error.value.hint
