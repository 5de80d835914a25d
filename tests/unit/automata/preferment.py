"""An independent enumeration of the ways a pattern maps rows, best first; rows are sets of the variables that they may be mapped to."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import strategies as st

from ostinato.algebra.pattern import Alternation, Empty, PartitionEnd, PartitionStart, Pattern, Repetition, Sequence, Variable

NAMES = ("A", "B", "C")


def ways(pattern: Pattern, rows: list[set[str]], at: int, length: int | None = None) -> Iterator[tuple[str, ...]]:
    """Every mapping of rows from `at` on, as the variables in row order. The partition may go on behind `rows`: it has `length` rows."""
    length = len(rows) if length is None else length
    match pattern:
        case Variable(name):
            if at < len(rows) and name in rows[at]:
                yield (name,)
        case Empty():
            yield ()
        case PartitionStart():
            if at == 0:
                yield ()
        case PartitionEnd():
            if at == length:
                yield ()
        case Sequence(items):
            if not items:
                yield ()
            else:
                for head in ways(items[0], rows, at, length):
                    for tail in ways(Sequence(items[1:]), rows, at + len(head), length):
                        yield head + tail
        case Alternation(items):
            for item in items:
                yield from ways(item, rows, at, length)
        case Repetition():
            yield from iterations(pattern, rows, at, length, 0)


def iterations(loop: Repetition, rows: list[set[str]], at: int, length: int, done: int) -> Iterator[tuple[str, ...]]:
    if not loop.greedy and done >= loop.at_least:
        yield ()
    if loop.at_most is None or done < loop.at_most:
        for one in ways(loop.item, rows, at, length):
            if not one and done + 1 >= loop.at_least:
                yield ()
            else:
                for others in iterations(loop, rows, at + len(one), length, done + 1):
                    yield one + others
    if loop.greedy and done >= loop.at_least:
        yield ()


def preferred(pattern: Pattern, rows: list[set[str]], at: int, length: int | None = None) -> tuple[str, ...] | None:
    return next(ways(pattern, rows, at, length), None)


def _repetition(item: Pattern, at_least: int, more: int | None, greedy: bool) -> Repetition:
    return Repetition(item, at_least, None if more is None else at_least + more, greedy)


def patterns(leaves: int = 6) -> st.SearchStrategy[Pattern]:
    return st.recursive(
        st.one_of(*[st.sampled_from(NAMES).map(Variable)] * 6, st.just(Empty()), st.just(PartitionStart()), st.just(PartitionEnd())),
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=3).map(lambda items: Sequence(tuple(items))),
            st.lists(inner, min_size=2, max_size=3).map(lambda items: Alternation(tuple(items))),
            st.builds(_repetition, inner, st.integers(0, 2), st.one_of(st.none(), st.integers(0, 2)), st.booleans()),
        ),
        max_leaves=leaves,
    )
