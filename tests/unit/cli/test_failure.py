"""Every kind of failure has one message and an exit code; our own mistakes stay visible."""

from __future__ import annotations

import io

import pyarrow as pa
import pytest
from rich.console import Console

from ostinato.base.errors import QuerySyntaxError
from ostinato.base.span import Span
from ostinato.cli.failure import Usage, show_failure


def shown(error) -> tuple[int, str]:
    out = io.StringIO()
    return show_failure(error, Console(file=out, width=200)), out.getvalue()


def spark_failure(message: str) -> Exception:
    kind = type("StreamingQueryException", (Exception,), {"__module__": "pyspark.errors.exceptions.captured"})
    return kind(message)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "nothing was written"),
        (Usage("no such thing"), 2, "usage: no such thing"),
        (PermissionError(13, "Permission denied", "out.csv"), 1, "out.csv: Permission denied"),
        (pa.ArrowInvalid("not Parquet"), 1, "cannot be read: not Parquet"),
        (ModuleNotFoundError("No module named 'pyspark'", name="pyspark"), 1, "ostinato[spark]"),
        (spark_failure("[FAILED] a column\n\n\nmore\nwhy\nJVM stack"), 1, "Spark gave up: [FAILED] a column"),
    ],
)
def test_messages_and_codes(error, code, said):
    found, text = shown(error)
    assert found == code
    assert said in text
    assert "JVM stack" not in text


def test_what_fails_because_of_an_interrupt_is_one():
    """Ctrl-C cancels the jobs of Spark, and what waits for them fails."""
    try:
        try:
            raise KeyboardInterrupt
        finally:
            raise spark_failure("Exception thrown in awaitResult")
    except Exception as error:
        assert shown(error) == (130, "Interrupted: nothing was written.\n")


def test_a_query_error_shows_the_place():
    error = QuerySyntaxError("There is no [b]such[/b] clause", span=Span(7, 12), text="SELECT WORSE", hint="Write another")
    code, text = shown(error)
    assert code == 1
    assert "There is no [b]such[/b] clause (line 1, column 8)" in text
    assert "^^^^^" in text and "Hint: Write another" in text


def test_a_mistake_of_ours_is_raised():
    with pytest.raises(ZeroDivisionError):
        show_failure(ZeroDivisionError(), Console(file=io.StringIO()))
