"""The worked cases: random queries on small streams with their exact results."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.case import Case, Expected, Matches, Refused, Rows

FOLDER = Path(__file__).parent / "cases"

RPR_TYPES = {"p": "string", "g": "int", "k": "int", "v": "int", "w": "double", "s": "string", "ts": "timestamp"}

SQL_FEATURES = {
    "all rows per match": r"ALL ROWS",
    "with unmatched rows": r"WITH UNMATCHED",
    "exclusion": r"\{-",
    "permute": r"PERMUTE",
    "subset": r"\bSUBSET\b",
    "skip to variable": r"SKIP TO (FIRST|LAST|(?!NEXT)\w)",
    "anchors": r"PATTERN \([^\n]*[\^$]",
    "array_agg": r"array_agg",
    "within": r"\bWITHIN\b",
    "classifier": r"CLASSIFIER",
    "match number": r"MATCH_NUMBER",
    "running/final": r"\b(RUNNING|FINAL)\b",
    "physical navigation": r"\b(PREV|NEXT)\(",
    "aggregates": r"\b(sum|count|avg|min|max)\(",
    "reluctant quantifiers": r"[*+?}]\?",
    "empty pattern": r"[(| ]\(\)",
}

SASE_FEATURES = {
    "negation": r"~",
    "strict contiguity": r"strict_contiguity",
    "partition contiguity": r"partition_contiguity",
    "skip till next": r"skip_till_next_match",
    "skip till any": r"skip_till_any_match",
    "window by time": r"WITHIN \d+(?! events)",
    "window by events": r"WITHIN \d+ events",
    "equivalence": r"\{ *\[",
    "aggregates": r"\b(sum|count|avg|min|max)\(",
    "length": r"\.LEN",
    "optional": r"[A-Z]\? ",
    "kleene star": r"[A-Z]\* ",
    "kleene plus": r"[A-Z]\+ ",
}


NEEL_FEATURES = {
    "negation": r"!(?!=)",
    "negation in negation": r"![A-Z]+\([^()]*!(?!=)",
    "conjunction": r"\bAND\(",
    "alternatives": r"\bOR\(",
    "nested": r"\(.*\b(SEQ|AND|OR)\(",
    "chain": r"\.\w+ (<=|=) \w+\.\w+ (<=|=)",
    "return": r"\bRETURN\b",
    "window by time": r"WITHIN \d+(?! events)",
    "window by events": r"WITHIN \d+ events",
}


def features_of(case: Case) -> list[str]:
    found = [name for name, sign in WORKED[case.language].features.items() if re.search(sign, case.text)]
    return [f"{case.language}: {name}" for name in found or ["plain"]] + [f"{case.language}: output {_output(case)}"]


def _output(case: Case) -> str:
    written = re.search(r"OUTPUT (\w+)", case.text)
    return case.options.get("output") or (written.group(1) if written else "default")


def worked_cases() -> list[Case]:
    return [case for worked in WORKED.values() for case in _read(worked.file, worked.case)]


def _read(file: str, make: Any) -> list[Case]:
    lines = (FOLDER / file).read_text(encoding="utf-8").splitlines()
    return [make(f"{file.removesuffix('.jsonl')}-{number}", json.loads(line)) for number, line in enumerate(lines, 1)]


def _rpr_case(name: str, raw: dict[str, Any]) -> Case:
    columns = tuple((column, RPR_TYPES[column]) for column in raw["columns"])
    return Case(name, "sql", raw["sql"], columns, _values(columns, raw["rows"]), _rpr_expected(raw["expect"]))


def _rpr_expected(expect: Any) -> Expected:
    if expect == "error":
        return Refused()
    return Rows(tuple(expect["columns"]), tuple(tuple(_moment(value) for value in row) for row in expect["rows"]))


def _moment(value: Any) -> Any:
    """Expected times are written as text."""
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", value):
        return datetime.datetime.fromisoformat(value)
    return value


def _sase_case(name: str, raw: dict[str, Any]) -> Case:
    kinds = {"string": "string", "int64": "int", "ts": "timestamp" if raw["time"] == "timestamp" else "int"}
    columns = tuple((column, kinds.get(column) or kinds[kind]) for column, kind in raw["columns"])
    options = {"type_by": "kind", "time": "ts"} | ({"output": raw["output"]} if raw["output"] else {})
    return Case(name, "sase", raw["query"], columns, _values(columns, raw["events"]), _sase_expected(raw["expect"]), options)


def _sase_expected(expect: Any) -> Expected:
    if expect == "refused":
        return Refused("UnsupportedError")
    if "count" in expect:
        return Rows(("count",), ((expect["count"],),))
    return Matches(tuple(expect["matches"]))


def _neel_case(name: str, raw: dict[str, Any]) -> Case:
    kinds = {"integer": "int", "string": "string"}
    columns = tuple((column, kinds[kind]) for column, kind in raw["columns"])
    expect = _neel_expected(raw["expect"], distinct=" RETURN " in raw["query"])
    return Case(name, "neel", raw["query"], columns, _values(columns, raw["events"]), expect, {"type_by": "kind", "time": "ts"})


def _neel_expected(expect: Any, distinct: bool) -> Expected:
    """A list of ids for each variable, as for other event patterns; where its branch of OR was not taken it has no event."""
    if expect == "refused":
        return Refused("UnsupportedError")
    named = ({v: [] if id is None else [id] for v, id in zip(expect["variables"], ids, strict=True)} for ids in expect["matches"])
    return Matches(tuple(named), distinct)


def _values(columns: tuple[tuple[str, str], ...], rows: list[list[Any]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(_value(kind, value) for (_, kind), value in zip(columns, row)) for row in rows)


def _value(kind: str, value: Any) -> Any:
    return datetime.datetime.fromisoformat(value) if kind == "timestamp" and isinstance(value, str) else value


@dataclass(frozen=True)
class Worked:
    """The cases of a language: their file, how a line of it is read, and the features that the report counts, by what their texts have."""

    file: str
    case: Callable[[str, dict[str, Any]], Case]
    features: dict[str, str]


WORKED = {
    "sql": Worked("rpr.jsonl", _rpr_case, SQL_FEATURES),
    "sase": Worked("sase.jsonl", _sase_case, SASE_FEATURES),
    "neel": Worked("neel.jsonl", _neel_case, NEEL_FEATURES),
}
