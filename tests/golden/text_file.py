"""Texts that people see, exactly as they are: a file of sections `== title` with the text beneath.

`python -m tests.golden.text_file` writes the files anew; the difference is then read by whoever changed a text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

FOLDER = Path(__file__).parent / "texts"


def read(name: str) -> dict[str, str]:
    blocks = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").split("\n== ")[1:]
    return {title: text.strip("\n") for title, _, text in (block.partition("\n") for block in blocks)}


def write(name: str, texts: dict[str, str]) -> None:
    sections = [f"== {title}\n{text.strip(chr(10))}\n" for title, text in texts.items()]
    (FOLDER / f"{name}.txt").write_text(f"# {name}\n\n" + "\n".join(sections), encoding="utf-8")


def differences(name: str, texts: dict[str, str]) -> list[str]:
    """What is not as it is written down, in words."""
    written = read(name)
    found = [f"not written down: {title}" for title in texts if title not in written]
    found += [f"written down, but gone: {title}" for title in written if title not in texts]
    changed = [title for title in texts if title in written and texts[title].strip("\n") != written[title]]
    return found + [f"{title}\nwritten down:\n{written[title]}\nfound:\n{texts[title]}" for title in changed]


def main(sources: dict[str, Callable[[], dict[str, str]]]) -> None:
    for name, texts in sources.items():
        write(name, texts())


if __name__ == "__main__":
    from tests.golden.shown_texts import SOURCES

    main(SOURCES)
