"""Programs and the functions of users that they call, packed for Spark's workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark import cloudpickle
from pyspark.sql import SparkSession

from ostinato.base.errors import UnsupportedError
from ostinato.expr.user_function import UserFunction
from ostinato.hosts.spark.parallelism import is_connect
from ostinato.program import serde
from ostinato.program.functions_used import functions_of
from ostinato.program.pattern import Pattern
from ostinato.program.program import Program
from ostinato.tasks.shipped_program import ShippedFunctions, ShippedProgram

BROADCAST_FROM = "spark.broadcast.UDFCompressionThreshold"  # bytes of a function from which Spark sends it as a broadcast
AS_IT_IS = str(1 << 30)


@contextmanager
def functions_as_they_are(spark: SparkSession) -> Iterator[None]:
    """For stateful operators: before a stream begins the driver loads the function of one in a process that knows no broadcasts. The
    program of a large set is more than the million bytes from which Spark would make one."""
    if is_connect(spark):  # which sends functions as they are
        yield
        return
    conf = spark.sparkContext._jsc.sc().conf()
    before = conf.get(BROADCAST_FROM, "")
    conf.set(BROADCAST_FROM, AS_IT_IS)
    try:
        yield
    finally:
        conf.set(BROADCAST_FROM, before) if before else conf.remove(BROADCAST_FROM)


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
