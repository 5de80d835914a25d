"""Drives a matcher below the session: random events in, matches as event numbers out."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from ostinato.program.pattern import Pattern
from ostinato.runtime.matcher import NEVER, Matcher
from ostinato.runtime.rows.keyed_rows import KeyedRows
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.storage import occurrence_columns


class MatcherDrive:
    """Feeds events to a matcher in pieces, trims rows as a session would, and reads matches back as event numbers. `reload`: the
    matcher is saved and loaded after every piece; `reverse`: keys are fed in the other order."""

    slots = 0

    def __init__(self, pattern: Pattern, events: list, key_count: int, opened: Callable[[], Matcher], reload: bool, reverse: bool) -> None:
        self.pattern, self.events, self.reload, self.reverse = pattern, events, reload, reverse
        self.keys = np.arange(key_count)
        self.rows = KeyedRows({}, timed=True)
        self.rows.ensure_keys(key_count)
        self.fed = PatternRows(self.rows, "", self.slots, occurrence_columns(pattern))
        self.opened = opened
        self.matcher = opened()
        self.event_of, self.seen, self.found = {}, {}, []

    def columns(self, events: list) -> dict[str, np.ndarray]:
        return {"bits": np.array([e.bits for e in events], np.uint64), "times": np.array([e.time for e in events], np.int64)}

    def run(self, cuts):
        for begin, end in pairwise([0, *sorted(cuts), len(self.events)]):
            self.push(range(begin, end))
        self.feed(self.keys, NEVER, final=True)
        assert self.matcher.idle(self.keys).all()
        return sorted(self.found, key=lambda run: run[-1][0])

    def push(self, numbers):
        chosen = [n for n in numbers if self.events[n].key is not None]
        if not chosen:
            return
        events = [self.events[n] for n in chosen]
        for n, event in zip(chosen, events, strict=True):
            ordinal = self.seen[event.key] = self.seen.get(event.key, -1) + 1
            self.event_of[event.key, ordinal] = n
        grouping = self.rows.group(np.array([e.key for e in events], np.int64), len(events))
        batch = {**self.columns(events), "positions": np.array(chosen, np.int64)}
        self.rows.append(grouping, {name: (data, None) for name, data in batch.items()})
        self.feed(grouping.keys[::-1] if self.reverse else grouping.keys, events[-1].time, final=False)

    def feed(self, keys, watermark, final):
        matches = self.matcher.feed(self.fed, keys, (self.rows.base + self.rows.length)[keys], watermark, final)
        for i in range(len(matches)):
            span = slice(matches.offsets[i], matches.offsets[i + 1])
            key = int(matches.key[i])
            assert matches.start[i] == matches.ordinals[span][0] >= self.rows.base[key]
            rows = [self.event_of[key, int(o)] for o in matches.ordinals[span]]
            self.found.append(tuple(zip(rows, matches.variables[span].tolist(), strict=True)))
        self.rows.trim(keys, self.matcher.keep_from(keys))
        if self.reload:
            state = {name: array.copy() for name, array in self.matcher.state().items()}
            self.matcher = self.opened()
            self.matcher.load(state)
