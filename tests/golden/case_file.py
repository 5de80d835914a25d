"""Golden cases in a text form that is easy to read beside the paper or the standard.

    == the name of the case
    key value                       options: language (sase | sql | neel), output, ties, ...
    -- query
    the text, on as many lines as it needs
    -- events id:string ts:int      columns with their types
    e1 1                            a row a line, `-` is null
    -- expect a b                   SASE+: variables, each with the ids of its events; columns with types (n:int) for measured rows
    e1,e2 e3
    -- refused UnsupportedError words of the message    (instead of expect)

A line that starts with `#` is a comment. A case without a query or events takes those of the case before it.
"""

from __future__ import annotations

from pathlib import Path

from tests.conformance.case import Case, Expected, Matches, Refused, Rows, value_of

FOLDER = Path(__file__).parent / "cases"


def golden_cases() -> list[Case]:
    """The cases that every engine runs."""
    return [case for path in sorted(FOLDER.glob("*.txt")) for case in read(path)]


def read(path: Path) -> list[Case]:
    cases: list[Case] = []
    for block in path.read_text(encoding="utf-8").split("\n== ")[1:]:
        lines = [line for line in block.splitlines() if line.strip() and not line.startswith("#")]
        cases.append(_case(path.stem, lines, cases[-1] if cases else None))
    return cases


def _case(file: str, lines: list[str], before: Case | None) -> Case:
    sections: list[tuple[str, list[str]]] = []
    options: dict[str, str] = {}
    for line in lines[1:]:
        if line.startswith("-- "):
            sections.append((line.removeprefix("-- "), []))
        elif sections:
            sections[-1][1].append(line)
        else:
            key, _, value = line.partition(" ")
            options[key] = value.strip()
    language = options.pop("language", before.language if before else "sase")
    if language != "sql":
        options = {"type_by": "kind", "time": "ts"} | options
        options = {key: value for key, value in options.items() if value}
    text, columns, rows = (before.text, before.columns, before.rows) if before else ("", (), ())
    expect: Expected = Refused("")
    for title, body in sections:
        kind, *words = title.split(" ")
        if kind == "query":
            text = "\n".join(body)
        elif kind == "events":
            columns = tuple((name, type) for name, _, type in (word.partition(":") for word in words))
            rows = tuple(tuple(value_of(value, type) for value, (_, type) in zip(line.split(), columns, strict=True)) for line in body)
        else:
            expect = _expected(kind, words, body)
    return Case(f"{file}: {lines[0].strip()}", language, text, columns, rows, expect, options)


def _expected(kind: str, words: list[str], body: list[str]) -> Expected:
    if kind == "refused":
        return Refused(words[0], " ".join(words[1:]))
    assert kind == "expect", kind
    if any(":" in word for word in words):
        columns = [word.split(":") for word in words]
        found = (tuple(value_of(value, type) for value, (_, type) in zip(line.split(), columns, strict=True)) for line in body)
        return Rows(tuple(name for name, _ in columns), tuple(found))
    return Matches(tuple({name: _ids(ids) for name, ids in zip(words, line.split(), strict=True)} for line in body))


def _ids(text: str) -> list[str]:
    return [] if text == "-" else text.split(",")
