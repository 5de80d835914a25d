"""Golden cases over several streams, in the text form of the others (`case_file.py`):

    == the name of the case
    key value                            options: time, ...
    -- query
    the text, on as many lines as it needs
    -- stream stock ts:int name:string   a stream: its columns with their types
    1 IBM                                a row a line, `-` is null
    -- expect name:string start_ts:int   the columns of the result
    IBM 1
    -- refused QuerySyntaxError words of the message     (instead of expect)

A case without a query or streams takes those of the case before it."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.case import Refused, Rows, value_of
from tests.conformance.streams_case import StreamRows, StreamsCase, streams_case

FOLDER = Path(__file__).parent / "streams_cases"


def golden_streams_cases() -> list[StreamsCase]:
    return [case for path in sorted(FOLDER.glob("*.txt")) for case in read(path)]


def read(path: Path) -> list[StreamsCase]:
    """The language is the beginning of the file's name."""
    cases: list[StreamsCase] = []
    language = path.stem.partition("_")[0]
    for block in path.read_text(encoding="utf-8").split("\n== ")[1:]:
        lines = [line for line in block.splitlines() if line.strip() and not line.startswith("#")]
        cases.append(_case(path.stem, language, lines, cases[-1] if cases else None))
    return cases


def _case(file: str, language: str, lines: list[str], before: StreamsCase | None) -> StreamsCase:
    sections: list[tuple[list[str], list[str]]] = []
    options: dict[str, str] = {}
    for line in lines[1:]:
        if line.startswith("-- "):
            sections.append((line.removeprefix("-- ").split(), []))
        elif sections:
            sections[-1][1].append(line)
        else:
            key, _, value = line.partition(" ")
            options[key] = value.strip()
    text = next(("\n".join(body) for words, body in sections if words[0] == "query"), before.text if before else "")
    streams = {words[1]: _rows_of(words[2:], body) for words, body in sections if words[0] == "stream"}
    words, body = sections[-1]
    assert words[0] in ("expect", "refused"), words
    found = _rows_of(words[1:], body) if words[0] == "expect" else None
    expect = Refused(words[1], " ".join(words[2:])) if found is None else Rows(tuple(name for name, _ in found.columns), found.rows)
    return streams_case(f"{file}: {lines[0].strip()}", language, text, streams or dict(before.streams if before else ()), expect, **options)


def _rows_of(words: list[str], body: list[str]) -> StreamRows:
    columns = tuple((name, kind) for name, _, kind in (word.partition(":") for word in words))
    return StreamRows(
        columns, tuple(tuple(value_of(value, kind) for value, (_, kind) in zip(line.split(), columns, strict=True)) for line in body)
    )
