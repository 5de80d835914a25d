"""What matchers have in common whose partial results carry values in registers: runs, instances, situations."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ostinato.base.errors import BudgetError
from ostinato.expr.types import Kind
from ostinato.kernels.rows.key_regions import greatest
from ostinato.kernels.scalar.arithmetic import IS_VALUE
from ostinato.kernels.scalar.scalar import Interpreter
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.intervals import IntervalPattern
from ostinato.program.pattern import EventPattern
from ostinato.runtime.limits.budget import WAYS_OUT, Budget, Overflow, in_words, over_budget
from ostinato.runtime.limits.steps import Steps
from ostinato.runtime.rows.array_growth import grown
from ostinato.runtime.rows.string_pool import StringPool

SHED_PART = 16  # shedding a sixteenth at once keeps its cost per event constant
SHED_LATER = 64  # times the budget: more may be shed at the end of a call


class RegisterStore(Protocol):
    """The arrays in which a strategy keeps its partial results."""

    registers: np.ndarray
    register_valid: np.ndarray

    @property
    def key_count(self) -> int: ...

    @property
    def busy(self) -> np.ndarray:
        """Per key, whether it has partial results."""
        ...

    @property
    def alive(self) -> np.ndarray:
        """The places of partial results in `registers`."""
        ...

    @property
    def bytes(self) -> int: ...

    def ensure_keys(self, count: int) -> None: ...

    def renumber(self, old_of_new: np.ndarray) -> None: ...

    def shed_oldest(self, count: int) -> None: ...

    def state(self) -> dict[str, np.ndarray]: ...

    def load(self, state: dict[str, np.ndarray]) -> None: ...


class RegisterMatcher:
    """Keys, strings and budget of such a matcher. What it finds, and in which order, is for the strategy."""

    _store: RegisterStore
    _ways_out: str = WAYS_OUT  # what a user can do when the budget is exceeded

    def __init__(
        self, body: EventPattern | InstanceAutomaton | IntervalPattern, budget: Budget, strings: StringPool, interpreter: Interpreter
    ) -> None:
        self._body = body
        self._budget = budget
        self._strings = strings
        self._interpreter = interpreter
        self._steps = Steps(body, budget)
        self._read = np.zeros(0, np.int64)  # per key, the next unread ordinal

    def _bind_strings(self) -> None:
        """Codes are asked for again each time: a session that is restored has other ones than it had when it was made."""
        code = self._interpreter
        if code.strings or code.ranked:
            code.bind(self._strings.codes(code.strings), self._strings.ranks() if code.ranked else None)

    def _check_size(self, size: int, what: str, later: int = 1) -> None:
        """`later`: so many times the budget may be there where something is shed at the end of the call."""
        limit = self._budget.bytes
        if limit is not None and size > (limit if self._budget.overflow is Overflow.ERROR else later * limit):
            raise self._over_budget(f"{what} {in_words(size)}, and the budget is {in_words(limit)}")

    def _over_budget(self, what: str) -> BudgetError:
        return over_budget(self._body, what, self._ways_out)

    def _ensure_keys(self, count: int) -> None:
        self._store.ensure_keys(count)
        self._read = grown(self._read, self._store.key_count)

    def keep_from(self, keys: np.ndarray) -> np.ndarray:
        """Rows that were read are needed no more: what counts of them is in the registers."""
        self._ensure_keys(greatest(keys) + 1)
        return self._read[keys]

    def idle(self, keys: np.ndarray) -> np.ndarray:
        self._ensure_keys(greatest(keys) + 1)
        return ~self._store.busy[keys]

    def renumber(self, old_of_new: np.ndarray) -> None:
        self._ensure_keys(int(np.max(old_of_new, initial=-1)) + 1)
        self._store.renumber(old_of_new)
        self._read = self._read[old_of_new]

    def codes(self) -> list[np.ndarray]:
        """The codes of strings that registers hold."""
        return [self._store.registers[places, register] for register, places in self._texts()]

    def recode(self, new_of_old: np.ndarray) -> None:
        """Strings have other codes now."""
        for register, places in self._texts():
            self._store.registers[places, register] = new_of_old[self._store.registers[places, register]]

    def _texts(self) -> list[tuple[int, np.ndarray]]:
        """Registers that hold strings, with the places in which they have a value."""
        texts = [i for i, register in enumerate(self._body.registers) if register.type.kind is Kind.STRING]
        alive = self._store.alive if texts else np.empty(0, np.int64)
        return [(register, alive[self._store.register_valid[alive, register] == IS_VALUE]) for register in texts]

    def state(self) -> dict[str, np.ndarray]:
        self._ensure_keys(0)
        return {**self._store.state(), "read": self._read}

    def load(self, state: dict[str, np.ndarray]) -> None:
        self._store.load(state)
        self._read = state["read"].copy()
        self._ensure_keys(len(self._read))
