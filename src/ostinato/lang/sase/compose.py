"""Several queries in one text: the events that one returns are a stream for those after it."""

from __future__ import annotations

from collections.abc import Iterable

from ostinato.base.errors import OstinatoError, QuerySyntaxError
from ostinato.lang.sase.syntax import SaseQuery, all_components


def check_composition(trees: tuple[SaseQuery, ...], streams: Iterable[str]) -> None:
    """Every query but the last returns named events, which are read by a later one."""
    taken = {name.lower() for name in streams}
    try:
        for number, tree in enumerate(trees[:-1]):
            _check_named(tree, number, taken)
            _check_read(tree, trees[number + 1 :])
    except OstinatoError as error:
        error.within(trees[0].text)
        raise


def _check_named(tree: SaseQuery, number: int, taken: set[str]) -> None:
    if tree.composite is None:
        raise QuerySyntaxError(
            f"Query {number + 1} of the text has no name by which a later one could read its events",
            hint="Name them: RETURN Name(a.x, b.y AS z)",
            span=all_components(tree.items)[0].span,
        )
    name = tree.composite.name
    if name.lower() in taken:
        raise QuerySyntaxError(f"There is already a stream `{name}`", hint="Name the events otherwise", span=tree.composite.span)
    taken.add(name.lower())


def _check_read(tree: SaseQuery, later: tuple[SaseQuery, ...]) -> None:
    assert tree.composite is not None
    read = {component.event_type.lower() for other in later for component in all_components(other.items)}
    if tree.composite.name.lower() not in read:
        raise QuerySyntaxError(
            f"No later query of the text reads the events `{tree.composite.name}`",
            hint="Only what the last query returns is the result: leave the query out, or run it by itself",
            span=tree.composite.span,
        )
