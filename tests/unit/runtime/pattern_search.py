"""Row patterns searched in the plainest way, and the driving of a matcher over rows that arrive in pieces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from tests.unit.automata.preferment import NAMES, patterns, preferred

from ostinato.algebra.pattern import Pattern
from ostinato.automata.nfa import construct
from ostinato.program.input import Input
from ostinato.program.ordered_nfa import VariableTest
from ostinato.program.pattern import RowPattern
from ostinato.runtime.matcher import NEVER
from ostinato.runtime.rows.keyed_rows import KeyedRows
from ostinato.runtime.rows.pattern_rows import PatternRows

NUMBERS = {name: number for number, name in enumerate(NAMES)}


@dataclass(frozen=True)
class Case:
    pattern: Pattern
    rows: tuple[tuple[int, int, frozenset[str]], ...]  # key, time, variables that the row may be mapped to
    within: int = -1
    unit: str = "time"
    skip: str = "past last row"

    def compiled(self, bits: tuple[int, ...] = (0, 1, 2)) -> RowPattern:
        tests = tuple(VariableTest(bit, -1) for bit in bits)
        return RowPattern(
            Input("t", ()), "scan", "", NAMES, nfa=construct(self.pattern, NUMBERS), tests=tests, bits=max(bits) + 1,
            within=self.within, within_unit=self.unit, skip=self.skip,
        )  # fmt: skip


def expected(case: Case) -> dict[int, list[tuple[int, tuple[str, ...]]]]:
    """Per key the matches: where they start, and their variables."""
    found: dict[int, list[tuple[int, tuple[str, ...]]]] = {}
    for key in {key for key, _, _ in case.rows}:
        times = [time for k, time, _ in case.rows if k == key]
        sets = [set(names) for k, _, names in case.rows if k == key]
        found[key] = []
        start = 0
        while start < len(sets):
            way = preferred(case.pattern, sets[: window_end(case, times, start)], start, len(sets))
            if way is not None:
                found[key].append((start, way))
            start += len(way) if way and case.skip == "past last row" else 1
    return {key: matches for key, matches in found.items() if matches}


def window_end(case: Case, times: list[int], start: int) -> int:
    if case.within < 0:
        return len(times)
    if case.unit == "events":
        return min(len(times), start + case.within)
    return next((i for i in range(start, len(times)) if times[i] - times[start] > case.within), len(times))


class Drive:
    """Feeds a matcher from real keyed rows, trimming what it no longer needs."""

    def __init__(self, matcher, slots: int = 0, bits: tuple[int, ...] = (0, 1, 2)) -> None:
        self.matcher = matcher
        self.rows = KeyedRows({}, timed=True)
        self.fed = PatternRows(self.rows, "", slots)
        self.bits = dict(zip(NAMES, bits, strict=True))
        self.count = 0
        self.found: dict[int, list[tuple[int, tuple[str, ...]]]] = {}

    def push(self, rows, watermark: int = NEVER, ahead: int = 0, final: bool = False, slots: np.ndarray | None = None) -> None:
        if len(rows):
            keys = np.array([key for key, _, _ in rows], np.int64)
            self.rows.ensure_keys(int(keys.max()) + 1)
            bits = np.array([sum(1 << self.bits[name] for name in names) for _, _, names in rows], np.uint64)
            batch = {
                "bits": (bits, None),
                "times": (np.array([time for _, time, _ in rows], np.int64), None),
                "positions": (np.arange(self.count, self.count + len(rows)), None),
            }
            if slots is not None:
                batch |= {"slots": (slots, None), "slot_valid": (np.ones(slots.shape, np.uint8), None)}
            self.rows.append(self.rows.group(keys, len(rows)), batch)
            self.count += len(rows)
        keys = np.arange(self.rows.key_count)
        ready = np.maximum(self.rows.base + self.rows.length - (0 if final else ahead), self.matcher.keep_from(keys))
        self._take(self.matcher.feed(self.fed, keys, ready, watermark, final))
        self.rows.trim(keys, np.minimum(self.matcher.keep_from(keys), self.rows.base + self.rows.length))

    def _take(self, matches) -> None:
        for i in range(len(matches)):
            begin, end = matches.offsets[i], matches.offsets[i + 1]
            names = tuple(NAMES[v] for v in matches.variables[begin:end])
            self.found.setdefault(int(matches.key[i]), []).append((int(matches.start[i]), names))


@st.composite
def cases(draw, most_rows: int = 24) -> Case:
    gaps = st.integers(0, 2)
    names = st.frozensets(st.sampled_from(NAMES))
    time = 0
    rows = []
    for key, gap, allowed in draw(st.lists(st.tuples(st.integers(0, 2), gaps, names), max_size=most_rows)):
        time += gap
        rows.append((key, time, allowed))
    return Case(
        draw(patterns(5)),
        tuple(rows),
        draw(st.sampled_from([-1, -1, 0, 2, 5])),
        draw(st.sampled_from(["time", "events"])),
        draw(st.sampled_from(["past last row", "to next row"])),
    )
