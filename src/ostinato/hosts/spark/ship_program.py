"""Programs and the functions of users that they call, packed for Spark's workers."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark import cloudpickle

from ostinato.base.errors import UnsupportedError
from ostinato.expr.user_function import UserFunction
from ostinato.program import serde
from ostinato.program.functions_used import functions_of
from ostinato.program.pattern import Pattern
from ostinato.program.program import Program
from ostinato.tasks.shipped_program import ShippedFunctions, ShippedProgram


def shipped(program: Program) -> ShippedProgram:
    return ShippedProgram(serde.dumps(program), shipped_functions(program))


def shipped_functions(program: Program | Pattern) -> ShippedFunctions:
    return packed_functions(functions_of(program))


def packed_functions(functions: Mapping[str, UserFunction]) -> ShippedFunctions:
    return ShippedFunctions(tuple((name, _packed(function)) for name, function in functions.items()))


def _packed(function: UserFunction) -> bytes:
    try:
        return bytes(cloudpickle.dumps(function))
    except Exception as cause:  # whatever the function holds that does not travel
        raise UnsupportedError(
            f"the function {function.name} cannot be sent to Spark's workers",
            detail=f"{type(cause).__name__}: {cause}",
            hint="leave out what it holds of this process: sessions, files, locks",
        ) from cause
