"""A parsed clause SITUATIONS OF back to text. Parsing the text gives the same tree."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.lang.situations.render_definition import columns_text, definition_text, returned_text
from ostinato.lang.sql.situations_syntax import SituationsOf


def render_situations(tree: SituationsOf) -> str:
    """What stands between the parentheses, one part a line."""
    return "\n".join(_lines(tree))


def _lines(tree: SituationsOf) -> Iterator[str]:
    if tree.partition:
        yield f"PARTITION BY {columns_text(tree.partition)}"
    yield f"ORDER BY {columns_text(tree.order)}"
    yield f"DEFINE {', '.join(map(definition_text, tree.definitions))}"
    if tree.measures:
        yield f"MEASURES {', '.join(map(returned_text, tree.measures))}"
