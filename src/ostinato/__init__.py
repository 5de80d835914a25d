"""Ostinato: complex event processing for Python, on Apache Spark.

Public names only. Each is resolved when it is first used, so that `import ostinato` loads neither Numba nor PySpark.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ostinato.base.errors import (
    BudgetError,
    DataError,
    OstinatoError,
    QuerySyntaxError,
    RuleError,
    SandboxError,
    SchemaError,
    StateError,
    TypeMismatchError,
    UnknownNameError,
    UnsupportedError,
)
from ostinato.base.release import RELEASE

if TYPE_CHECKING:
    from ostinato import functions
    from ostinato.hosts.embedded import Result, compile, match, sql
    from ostinato.hosts.embedded.match_all import QuarantineWarning, match_all
    from ostinato.hosts.sandbox import Sandbox
    from ostinato.hosts.spark import on
    from ostinato.inspect.compressed import decode
    from ostinato.lang.situations.contradiction import ContradictionWarning
    from ostinato.lang.streams.explosion import ExplosionWarning
    from ostinato.plan.long_walks import QuadraticWarning
    from ostinato.query import Query
    from ostinato.query_set import QuerySet
    from ostinato.runtime.delivery.receiver import Receiver
    from ostinato.runtime.limits.budget import Budget, Overflow
    from ostinato.runtime.session.session import Session

__version__ = RELEASE

_LAZY = {
    "compile": "ostinato.hosts.embedded",
    "ContradictionWarning": "ostinato.lang.situations.contradiction",
    "ExplosionWarning": "ostinato.lang.streams.explosion",
    "QuadraticWarning": "ostinato.plan.long_walks",
    "QuarantineWarning": "ostinato.hosts.embedded.match_all",
    "Query": "ostinato.query",
    "QuerySet": "ostinato.query_set",
    "match_all": "ostinato.hosts.embedded.match_all",
    "Receiver": "ostinato.runtime.delivery.receiver",
    "Session": "ostinato.runtime.session.session",
    "Budget": "ostinato.runtime.limits.budget",
    "Overflow": "ostinato.runtime.limits.budget",
    "sql": "ostinato.hosts.embedded",
    "match": "ostinato.hosts.embedded",
    "Result": "ostinato.hosts.embedded",
    "on": "ostinato.hosts.spark",
    "Sandbox": "ostinato.hosts.sandbox",
    "decode": "ostinato.inspect.compressed",
    "functions": "ostinato.functions",
}

__all__ = [
    "Budget",
    "BudgetError",
    "ContradictionWarning",
    "DataError",
    "ExplosionWarning",
    "OstinatoError",
    "Overflow",
    "QuadraticWarning",
    "QuarantineWarning",
    "Query",
    "QuerySet",
    "QuerySyntaxError",
    "Receiver",
    "Result",
    "RuleError",
    "Sandbox",
    "SandboxError",
    "SchemaError",
    "Session",
    "StateError",
    "TypeMismatchError",
    "UnknownNameError",
    "UnsupportedError",
    "compile",
    "decode",
    "functions",
    "match",
    "match_all",
    "on",
    "sql",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'ostinato' has no attribute {name!r}")
    module = import_module(_LAZY[name])
    value = module if module.__name__ == f"{__name__}.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
