"""What a session keeps of nested expressions, for people: lists of matches, intervals with theirs, and which intervals are empty.

from ostinato.inspect.kept_matches import kept_matches
print(kept_matches(session))
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ostinato.kernels.tree import tree_layout as layout
from ostinato.program.tree import TreePattern
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.session.session import Session
from ostinato.runtime.tree.step_arrays import KeptOf
from ostinato.runtime.tree.tree_matcher import TreeMatcher


def kept_matches(session: Session) -> str:
    """Every nested pattern of the session in its turn. Events are shown as `variable@time`. An interval is that in which events may lie:
    from a time on, up to the last event before those that come later."""
    lines = []
    for operator in session.graph.operators:
        matcher = getattr(operator, "matcher", None)
        if isinstance(matcher, TreeMatcher) and isinstance(operator.pattern, TreePattern):
            lines += list(_Kept(matcher, operator.rows, operator.pattern.names).lines())
    return "".join(f"{line}\n" for line in lines)


class _Kept:
    def __init__(self, matcher: TreeMatcher, rows: PatternRows, variables: tuple[str, ...]) -> None:
        self._of, self._entries, self._results = matcher.kept()
        self._rows = rows
        self._variables = variables

    def lines(self) -> Iterator[str]:
        for number, of in enumerate(self._of):
            mine = self._entries[self._entries[:, layout.OF_GROUP] == number]
            mine = _as_asked(mine[mine[:, layout.FORM] != layout.LIST_OF_INTERVALS])
            if not len(mine):
                continue
            yield f"{'!' if of.is_negated else ''}({', '.join(map(self._name, of.variables))})"
            for entry in sorted(mine.tolist(), key=_order):
                yield from (f"  {line}" for line in self._entry(entry, of))

    def _entry(self, entry: list[int], of: KeptOf) -> Iterator[str]:
        key = entry[layout.OF_KEY]
        if of.is_negated:
            last = entry[layout.HIGHEST if entry[layout.FORM] == layout.INTERVAL else layout.VALUES]
            interval = self._interval(key, entry[layout.LOWEST], last)
            yield f"{interval}: {('unknown', 'empty', 'not empty')[entry[layout.IS_EMPTY]]}"
        elif entry[layout.LOWEST] == layout.PROGRESS:
            yield f"rightBound {self._time(key, entry[layout.HIGHEST])}"
        else:
            yield f"{self._place(entry, of)}: {'; '.join(self._matches(entry, of)) or 'nothing'}"

    def _place(self, entry: list[int], of: KeptOf) -> str:
        key = entry[layout.OF_KEY]
        by = "" if of.by is None else f" for value {entry[layout.VALUES]} of {self._name(of.by[0])}"
        if entry[layout.HIGHEST] == layout.NOTHING:
            return "matches" + by
        interval = self._interval(key, entry[layout.LOWEST], entry[layout.HIGHEST])
        if entry[layout.PARENT] == layout.NOTHING:
            return interval + by
        parent = self._entries[entry[layout.PARENT]]
        return f"{interval}{by}, behind those of {self._interval(key, parent[layout.LOWEST], parent[layout.HIGHEST])}"

    def _interval(self, key: int, lowest: int, highest: int) -> str:
        return f"[{'...' if lowest <= layout.PROGRESS else lowest}, {self._time(key, highest)}]"

    def _matches(self, entry: list[int], of: KeptOf) -> Iterator[str]:
        at = entry[layout.FIRST_RESULT]
        found = []
        while at != layout.NOTHING:
            events = self._results[at, layout.RESULT_EVENTS : layout.RESULT_EVENTS + len(of.variables)]
            found.append(self._events(entry[layout.OF_KEY], events, of))
            at = int(self._results[at, layout.NEXT_RESULT])
        yield from reversed(found)

    def _events(self, key: int, events: np.ndarray, of: KeptOf) -> str:
        pairs = zip(of.variables, events.tolist(), strict=True)
        return " ".join(f"{self._name(variable)}@{self._time(key, event)}" for variable, event in pairs)

    def _time(self, key: int, event: int) -> str:
        """Rows that the window has left behind are gone before what was kept of them."""
        if event < self._rows.base[key]:
            return "gone"
        return str(self._rows.times[self._rows.offset[key] - self._rows.base[key] + event])

    def _name(self, variable: int) -> str:
        return self._variables[variable]


def _as_asked(entries: np.ndarray) -> np.ndarray:
    """Intervals that are not empty are written with the opposite sign."""
    turned = (entries[:, layout.IS_EMPTY] == layout.OCCUPIED) & (entries[:, layout.FORM] == layout.INTERVAL)
    found = entries.copy()
    found[np.ix_(turned, (layout.LOWEST, layout.HIGHEST))] *= -1
    return found


def _order(entry: list[int]) -> tuple[int, ...]:
    """By key and interval; of a negated expression its last row is among the values."""
    return entry[layout.OF_KEY], entry[layout.LOWEST], entry[layout.HIGHEST], *entry[layout.VALUES :]
