"""The page of the language lists every function that a query may call."""

import re
from pathlib import Path

from ostinato.expr.typing.functions import CONDITIONALS, FUNCTIONS

PAGE = Path(__file__).parents[3] / "docs" / "languages" / "sql.md"


def test_every_function_is_listed():
    listed = set(re.findall(r"`(\w+)(?:\([^`]*\))?`", PAGE.read_text()))
    missing = [name for name, function in FUNCTIONS.items() if function.spellings and not listed & set(function.spellings)]
    assert missing == []
    assert {"nullif", "if"} <= listed and {"nullif", "if"} <= set(CONDITIONALS)
