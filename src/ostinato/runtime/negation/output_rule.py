"""Which of the matches that negation leaves are reported."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ostinato.kernels.negation.negation_gaps import CHOSEN, choose_apart, choose_first
from ostinato.runtime.negation.waiting_matches import SURVIVES, WaitingMatches


class OutputRule(Protocol):
    """Marks matches that stand as chosen or out, where nothing that waits could change that."""

    def choose(self, waiting: WaitingMatches) -> None: ...

    def ensure_keys(self, count: int) -> None: ...

    def forget(self, keys: np.ndarray, begun: np.ndarray) -> None:
        """Partial matches of `keys[i]` begin at ordinal `begun[i]` or later."""
        ...

    def renumber(self, old_of_new: np.ndarray, new_of_old: np.ndarray) -> None: ...

    def state(self) -> dict[str, np.ndarray]: ...

    def load(self, state: dict[str, np.ndarray]) -> None: ...


class EveryMatch:
    def choose(self, waiting: WaitingMatches) -> None:
        waiting.state[waiting.state == SURVIVES] = CHOSEN

    def ensure_keys(self, count: int) -> None:
        pass

    def forget(self, keys: np.ndarray, begun: np.ndarray) -> None:
        pass

    def renumber(self, old_of_new: np.ndarray, new_of_old: np.ndarray) -> None:
        pass

    def state(self) -> dict[str, np.ndarray]:
        return {}

    def load(self, state: dict[str, np.ndarray]) -> None:
        pass


class MatchesApart(EveryMatch):
    """Nonoverlapping: per key the next match starts behind the end of the one before."""

    def __init__(self) -> None:
        self._ended = np.zeros(0, np.int64)  # per key, the last row of the latest match that was chosen

    def ensure_keys(self, count: int) -> None:
        if count > len(self._ended):
            self._ended = np.concatenate([self._ended, np.full(count - len(self._ended), -1, np.int64)])

    def choose(self, waiting: WaitingMatches) -> None:
        matches = waiting.matches
        choose_apart(matches.key, matches.start, matches.last, waiting.state, self._ended, np.zeros(len(self._ended), np.bool_))

    def renumber(self, old_of_new: np.ndarray, new_of_old: np.ndarray) -> None:
        self._ended = self._ended[old_of_new]

    def state(self) -> dict[str, np.ndarray]:
        return {"ended": self._ended}

    def load(self, state: dict[str, np.ndarray]) -> None:
        self._ended = state["ended"]


class FirstOfStart(EveryMatch):
    """At most one match per start. A start that has one is remembered while its run goes on."""

    def __init__(self) -> None:
        self._keys = np.zeros(0, np.int64)
        self._starts = np.zeros(0, np.int64)

    def choose(self, waiting: WaitingMatches) -> None:
        matches, known = waiting.matches, len(self._keys)
        keys = np.concatenate([self._keys, matches.key])
        starts = np.concatenate([self._starts, matches.start])
        state = np.concatenate([np.full(known, CHOSEN, np.int64), waiting.state])
        before = state.copy()
        choose_first(keys, starts, np.lexsort((starts, keys)), state)
        fresh = (state == CHOSEN) & (before == SURVIVES)
        self._keys, self._starts = np.concatenate([self._keys, keys[fresh]]), np.concatenate([self._starts, starts[fresh]])
        waiting.state[:] = state[known:]

    def forget(self, keys: np.ndarray, begun: np.ndarray) -> None:
        if not len(self._keys):
            return
        order = np.argsort(keys)
        place = np.minimum(np.searchsorted(keys, self._keys, sorter=order), len(keys) - 1)
        found = order[place]
        kept = (keys[found] != self._keys) | (self._starts >= begun[found])
        self._keys, self._starts = self._keys[kept], self._starts[kept]

    def renumber(self, old_of_new: np.ndarray, new_of_old: np.ndarray) -> None:
        self._keys = new_of_old[self._keys]

    def state(self) -> dict[str, np.ndarray]:
        return {"keys": self._keys, "starts": self._starts}

    def load(self, state: dict[str, np.ndarray]) -> None:
        self._keys, self._starts = state["keys"], state["starts"]


def output_rule(output: str) -> OutputRule:
    return {"nonoverlapping": MatchesApart, "first": FirstOfStart}.get(output, EveryMatch)()
