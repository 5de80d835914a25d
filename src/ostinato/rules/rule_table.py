"""A table of rules: who is in it, what each of them says, and whether it runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ostinato.base.errors import OstinatoError, SchemaError, UnknownNameError
from ostinato.rules.rule import OPTIONS, Rule, options_of
from ostinato.rules.rule_rows import rule_rows
from ostinato.rules.template import filled

COLUMNS = ("id", "text", "template", "parameters", "enabled", *OPTIONS, "comment")
TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True)
class RuleTable:
    """`errors` are those of rows that are no rules, by their ids, or by where they stand."""

    rules: list[Rule]
    errors: dict[str, OstinatoError]

    @property
    def count(self) -> int:
        return len(self.rules) + len(self.errors)


def rule_table(given: Any, templates: Mapping[str, str] | None = None) -> RuleTable:
    """What is given as a table of rules; see `rule_rows`."""
    table = rule_rows(given)
    known = {**table.templates, **(templates or {})}
    _check_columns(table.rows)
    found: dict[str, Rule] = {}
    errors: dict[str, OstinatoError] = {}
    for row, place in zip(table.rows, table.places, strict=True):
        name = place
        try:
            name = _id(row)
            if name in found or name in errors:
                raise OstinatoError(f"there are two rules {name!r}", detail=f"The second is in {place}")
            found[name] = _rule(name, row, known)
        except OstinatoError as error:
            errors[name] = error
    return RuleTable([rule for id, rule in found.items() if id not in errors], errors)


def _check_columns(rows: list[dict[str, Any]]) -> None:
    for name in dict.fromkeys(name for row in rows for name in row):
        if name not in COLUMNS:
            raise SchemaError(f"a table of rules has no column {name!r}", hint=f"Its columns are {', '.join(COLUMNS)}; leave others out")
    if rows and not any("id" in row for row in rows):
        raise SchemaError("the table of rules has no column 'id'", hint=f"Its columns are {', '.join(COLUMNS)}")


def _id(row: Mapping[str, Any]) -> str:
    value = row.get("id")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value:
        raise OstinatoError(f"{value!r} is no id of a rule", hint="It is a text that is not empty, or a whole number")
    return value


def _rule(id: str, row: Mapping[str, Any], templates: Mapping[str, str]) -> Rule:
    options = {name: row.get(name) for name in OPTIONS}
    options["time"] = _decoded(options["time"]) if str(options["time"]).lstrip().startswith("{") else options["time"]
    if isinstance(options["without"], str):
        options["without"] = [name.strip() for name in options["without"].split(",")]
    return Rule(id, _text(row, templates), options_of(options), _enabled(row.get("enabled")))


def _text(row: Mapping[str, Any], templates: Mapping[str, str]) -> str:
    text, template, parameters = row.get("text"), row.get("template"), row.get("parameters")
    if (text is None) == (template is None):
        raise OstinatoError("a rule has either a text or a template", hint="Leave one of them empty")
    if template is None:
        if parameters:
            raise OstinatoError("a rule with a text has no parameters", hint="They are for templates")
        if not isinstance(text, str):
            raise OstinatoError(f"the text is a {type(text).__name__}", hint="Pass the text of a query")
        return text
    if template not in templates:
        known = ", ".join(sorted(templates)) or "none"
        raise UnknownNameError(f"there is no template {template!r}", hint=f"There are: {known}. Pass them with templates=")
    return filled(templates[template], _parameters(parameters))


def _parameters(given: Any) -> Mapping[str, Any]:
    """A struct, a map, or JSON in a text."""
    found = _decoded(given) if isinstance(given, str) else dict(given) if isinstance(given, list) else given
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise OstinatoError(f"the parameters are a {type(given).__name__}", hint='Pass them by name: {"limit": 10}')
    return found


def _decoded(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text, parse_float=Decimal)
    except json.JSONDecodeError as error:
        raise OstinatoError(f"this is no JSON: {text}", detail=str(error)) from error


def _enabled(given: Any) -> bool:
    if given is None:
        return True
    if isinstance(given, bool):
        return given
    if isinstance(given, str | int) and str(given).strip().lower() in TRUTH:
        return TRUTH[str(given).strip().lower()]
    raise OstinatoError(f"enabled is {given!r}", hint="It is true or false")
