"""A program on its way to a task: its bytes, and beside them the functions that it calls."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import lru_cache

from ostinato.base.errors import UnsupportedError
from ostinato.expr.user_function import UserFunction
from ostinato.program import serde
from ostinato.program.program import Program


@dataclass(frozen=True)
class ShippedFunctions:
    """By name, each as the host's own Python packed it: functions of the driver's process, never of a text."""

    packed: tuple[tuple[str, bytes], ...] = ()

    def unpacked(self) -> dict[str, UserFunction]:
        return {name: _unpacked(name, data) for name, data in self.packed}


NO_FUNCTIONS = ShippedFunctions()


@dataclass(frozen=True)
class ShippedProgram:
    data: bytes
    functions: ShippedFunctions = NO_FUNCTIONS

    def load(self) -> Program:
        return _loaded(self)


@lru_cache(8)  # every task of every micro-batch asks, and a set may be large
def _loaded(shipped: ShippedProgram) -> Program:
    return serde.loads(shipped.data, shipped.functions.unpacked())


@lru_cache(64)  # a stream opens sessions again and again, and what is compiled of a function is kept with it
def _unpacked(name: str, data: bytes) -> UserFunction:
    try:
        found = pickle.loads(data)  # what the driver of this very job packed
    except Exception as cause:  # whatever stops it: a module that is not there, another Python
        raise UnsupportedError(
            f"the function {name} cannot be loaded by this worker",
            detail=f"{type(cause).__name__}: {cause}",
            hint="install the module that defines it for the workers, or send it with spark.addArtifacts or --py-files; "
            "functions of the main script and of notebooks travel by themselves",
        ) from cause
    assert isinstance(found, UserFunction)
    return found
