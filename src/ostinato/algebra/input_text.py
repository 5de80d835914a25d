"""What queries read, as canonical text: names, and streams that are merged."""

from __future__ import annotations

from ostinato.algebra.parts import Part


def name_text(name: str) -> str:
    """Quoted unless it is a plain word."""
    return name if name.isidentifier() and name.isascii() else quoted(name, '"')


def quoted(text: str, mark: str) -> str:
    return mark + text.replace(mark, mark + mark) + mark


def part_text(part: Part) -> str:
    event_type = "" if part.event_type is None else f" : {quoted(part.event_type, chr(39))}"
    columns = (name_text(own) if own == merged else f"{name_text(own)} AS {name_text(merged)}" for own, merged in part.columns)
    return f"MERGE {name_text(part.stream)}{event_type} ({', '.join(columns)})"
