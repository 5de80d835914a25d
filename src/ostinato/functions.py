"""Functions of your own in queries: `ost.functions.register(...)`, for every language and every host.

A query names a function; its text never makes one. Functions are assumed to be deterministic and to look at their arguments alone: they
are called any number of times, in any order, for any rows, in any process.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from ostinato.base.errors import OstinatoError, SchemaError, UnknownNameError, UnsupportedError
from ostinato.expr.reading.parse import RESERVED
from ostinato.expr.text import NOT_NAMES
from ostinato.expr.types import Type
from ostinato.expr.typing import registered
from ostinato.expr.typing.arrow_types import from_arrow, to_arrow
from ostinato.expr.typing.functions import is_taken
from ostinato.expr.typing.user_types import MOST_ARGUMENTS, are_for_columns, are_for_single_values
from ostinato.expr.user_function import UserFunction
from ostinato.kernels.scalar.compiled_functions import compiled as compiled_form

# Words that one of the languages reads before it looks for functions
WORDS = frozenset(
    {"prev", "next", "classifier", "match_number", "running", "final", "permute", "seq", "and", "or", "not", "exists", "len"}
    | {"filter", "fold", "publish", "dur", "pattern", "within", "return", "output"}
    | {"strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match"}
)


def register(
    name: str,
    body: Callable[..., Any] | None = None,
    *,
    takes: Sequence[pa.DataType],
    returns: pa.DataType,
    compiled: bool = False,
    strict: bool | None = None,
    sandbox: bool = False,
) -> Any:
    """Let queries call `name(...)` from now on. Without a body it is a decorator.

    `body` is given an Arrow array for each argument, all of one length, and returns one of that length and of the type `returns`.
    With `compiled=True` it is given single values instead (numbers; times as the integers that Arrow holds), and is compiled by
    Numba: then conditions over the match can call it, too. `strict`: the result is null as soon as an argument is. A compiled function
    is never asked about null; others are unless `strict=True`.
    `sandbox=True`: texts of others may call it (`sandbox=True` of `match`, `sql` and `compile`), too.

    >>> import pyarrow as pa, pyarrow.compute as pc, ostinato as ost
    >>> @ost.functions.register("doubled", takes=[pa.float64()], returns=pa.float64())
    ... def doubled(x):
    ...     return pc.multiply(x, 2.0)
    >>> ticks = pa.table({"ts": [1, 2, 3], "price": [1.0, 2.0, 3.0]})
    >>> ost.match("PATTERN SEQ(A a) WHERE doubled(a.price) > 4 WITHIN 10 RETURN a.price", A=ticks).to_arrow().to_pylist()
    [{'price': 3.0}]
    >>> ost.functions.unregister("doubled")
    """
    if body is None:
        return lambda given: register(name, given, takes=takes, returns=returns, compiled=compiled, strict=strict, sandbox=sandbox)
    _check_name(name)
    types = tuple(_type(type_) for type_ in takes)
    _check_types(name, types, _type(returns), compiled)
    if strict is False and compiled:
        raise UnsupportedError("A compiled function is not asked about null", hint="Leave out strict=False, or compiled=True")
    function = UserFunction(name, types, _type(returns), compiled, compiled if strict is None else strict, body, sandbox)
    _check_body(function)
    if compiled:
        compiled_form(function)
    registered.add(function)
    return body


def unregister(name: str) -> None:
    """Queries that are compiled already keep it."""
    if registered.remove(name) is None:
        raise UnknownNameError(f"There is no function {name} of yours", hint=f"Registered are {', '.join(registered.names()) or 'none'}")


def names() -> Iterator[str]:
    """Of the functions that are registered."""
    return registered.names()


def _check_name(name: str) -> None:
    if not isinstance(name, str) or not (name.isidentifier() and name.isascii()):
        raise OstinatoError(f"{name!r} is no name of a function", hint="Letters, digits and _")
    if is_taken(name) or name.lower() in WORDS or name.upper() in NOT_NAMES | RESERVED:
        raise OstinatoError(f"The name {name} means something in queries already", hint="Give the function another name")
    if registered.find(name) is not None:
        raise OstinatoError(f"There is a function {name} already", hint=f'ost.functions.unregister("{name}") first')


def _type(given: pa.DataType) -> Type:
    if not isinstance(given, pa.DataType):
        raise SchemaError(f"{given!r} is no type", hint="Types are those of Arrow: pa.float64(), pa.string(), ...")
    own = from_arrow(given)
    if to_arrow(own) != given:
        raise SchemaError(f"A function cannot take or return {given}", hint=f"Write {to_arrow(own)}: that is how queries hold such values")
    return own


def _check_types(name: str, takes: tuple[Type, ...], returns: Type, compiled: bool) -> None:
    if not 0 < len(takes) <= MOST_ARGUMENTS:
        raise UnsupportedError(f"The function {name} takes {len(takes)} arguments", hint=f"Functions take 1 to {MOST_ARGUMENTS}")
    for type_ in (*takes, returns):
        if not are_for_columns((type_,)):
            raise UnsupportedError(f"The function {name} takes or returns {type_}", hint="Nothing is computed with such values in queries")
        if compiled and not are_for_single_values((type_,)):
            raise UnsupportedError(
                f"The function {name} takes or returns {to_arrow(type_)}, and is to be compiled",
                hint="Compiled functions compute with int64, float64, bool, dates and times",
            )


def _check_body(function: UserFunction) -> None:
    body = function.body
    if not callable(body):
        raise OstinatoError(f"The function {function.name} is a {type(body).__name__}", hint="Pass a Python function")
    if function.compiled and not inspect.isfunction(getattr(body, "py_func", body)):
        raise UnsupportedError(f"The function {function.name} is no plain Python function", hint="Only those are compiled: def, or lambda")
    try:
        inspect.signature(body).bind(*function.takes)
    except TypeError as cause:
        raise OstinatoError(f"The function {function.name} does not take {len(function.takes)} arguments", detail=str(cause)) from cause
    except ValueError:  # some that are not written in Python do not tell
        return
