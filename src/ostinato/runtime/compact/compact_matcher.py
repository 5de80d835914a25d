"""The strategy "compact": a fixed amount of work per event whatever the window and however many partial matches there are. For event
patterns whose conditions look at one event alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ostinato.kernels.compact import compact as kernel
from ostinato.kernels.compact import start_heaps as graph
from ostinato.kernels.rows.key_regions import greatest
from ostinato.program.pattern import EventPattern
from ostinato.runtime.compact.compact_dag import DagList
from ostinato.runtime.compact.compact_state import check_compact
from ostinato.runtime.compact.compact_store import NODE_BYTES, CompactStore
from ostinato.runtime.compact.symbol_transitions import SymbolTransitions
from ostinato.runtime.limits.budget import Budget, Overflow, in_words, over_budget
from ostinato.runtime.matcher import NEVER, Matcher
from ostinato.runtime.matches.listing import Listing
from ostinato.runtime.matches.match_dag import MatchDag
from ostinato.runtime.matches.match_list import MatchList
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.rows.array_growth import grown
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.snapshots.state_check import StateCheck

SHED_PART = 16


class CompactMatcher(Matcher):
    """The budget's runs do not apply: partial matches are not held one by one."""

    def __init__(self, pattern: EventPattern, budget: Budget, pool: StringPool) -> None:
        self._pattern = pattern
        self._budget = budget
        self._transitions = SymbolTransitions(pattern)
        self._settings = self._transitions.settings(pattern)
        span = int(self._settings[kernel.SPAN])
        by_time = bool(self._settings[kernel.BY_TIME])
        self._store = CompactStore(self._transitions.states, span, by_time, pattern.output == "nonoverlapping")
        variables = np.array([element.variable for element in pattern.elements], np.uint8)
        self._listing = Listing(pattern, budget, pool)
        listed = MatchList(span, variables, self._listing)
        self._chosen = listed if pattern.output == "nonoverlapping" else None
        self._list: MatchList | DagList = listed
        if pattern.output == "compressed":
            self._list = DagList(span, variables, by_time, pattern.within >= 0)
        self._elements = len(pattern.elements)
        self._read = np.zeros(0, np.int64)  # per key, the next unread ordinal
        self._strict = (
            pattern.selection == "strict_contiguity" and pattern.look_ahead == 0
        )  # rows that wait for neighbours are not passed by
        self._latest = -1  # under strict contiguity, the last position that was read

    def feed(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> Matches | MatchDag:
        for _ in self._steps(rows, keys, ready, watermark, final, in_parts=False):
            pass
        return self._list.take()

    def feed_in_parts(
        self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool
    ) -> Iterator[Matches | MatchDag]:
        yield from self._steps(rows, keys, ready, watermark, final, in_parts=True)
        yield self._list.take()

    def _steps(
        self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool, in_parts: bool
    ) -> Iterator[Matches]:
        """Go on over the rows; what is found is collected, or comes in parts."""
        keys = np.ascontiguousarray(keys, np.int64)
        self._ensure_keys(greatest(keys) + 1)
        settings = self._settings
        settings[kernel.WATERMARK], settings[kernel.HAS_WATERMARK], settings[kernel.FINAL] = watermark, watermark != NEVER, final
        ordinal, begin, end, taken_in = rows.unread(keys, ready, self._read)
        self._listing.begin(taken_in)
        yield from self._advance(rows, keys, begin, end, ordinal, in_parts)
        if self._strict:
            self._drop_passed(int(rows.positions[end[end > begin] - 1].max(initial=-1)))
        self._read[keys] = np.maximum(ordinal, ready)
        yield from self._flush(in_parts)
        self._within_bytes()

    def _ensure_keys(self, count: int) -> None:
        self._store.ensure_keys(count)
        self._read = grown(self._read, len(self._store.partitions))

    def _advance(
        self, rows: PatternRows, keys: np.ndarray, begin: np.ndarray, end: np.ndarray, ordinal: np.ndarray, in_parts: bool
    ) -> Iterator[Matches]:
        """Call the kernel until it is through; between calls it learns symbols, or its arrays are emptied and grow."""
        store, learned = self._store, self._transitions
        store.header[kernel.AT_KEY], store.header[kernel.AT_ROW] = 0, graph.NOTHING
        bits = rows.bits.view(np.int64)
        while True:
            symbols = learned.symbols
            status = kernel.advance(
                learned.table, learned.transitions, symbols.direct, symbols.slot_bits, symbols.slot_numbers, self._settings,
                bits, rows.times, rows.positions,
                store.nodes, store.found, store.chosen, store.best, store.spine, store.header, store.roots, store.partitions,
                keys, begin, end, ordinal,
            )  # fmt: skip
            if status == kernel.DONE:
                return
            if status == kernel.NEW_SYMBOL:
                learned.meet(int(bits[store.header[kernel.AT_ROW]]))
            else:
                yield from self._flush(in_parts)
                store.make_room(learned.most_transitions)
                if self._budget.bytes is not None and len(store.nodes) * NODE_BYTES > 4 * self._budget.bytes:
                    self._within_bytes()  # a single batch may need more than the budget, too

    def _flush(self, in_parts: bool) -> Iterator[Matches]:
        """List the matches that were found, so that nothing refers to their nodes any more."""
        store, header = self._store, self._store.header
        count = int(header[kernel.FOUND])
        if not count:
            return
        if self._chosen is not None:
            self._chosen.add_chosen(store.found[:count], store.chosen[: int(header[kernel.CHOSEN])])
            header[kernel.CHOSEN] = 0
        elif in_parts and isinstance(self._list, MatchList):
            for part in self._list.parts(store.nodes, store.found, count):
                header[kernel.MATCHES] += len(part)
                yield part
        else:
            header[kernel.MATCHES] += self._list.list(store.nodes, store.found, count)
        header[kernel.FOUND] = 0

    def _within_bytes(self) -> None:
        store, limit = self._store, self._budget.bytes
        is_over = limit is not None and store.bytes > limit
        if is_over or store.has_doubled:
            store.collect()
        while is_over and limit is not None and store.bytes > limit:
            if self._budget.overflow is Overflow.ERROR:
                raise over_budget(self._pattern, f"partial matches take {in_words(store.bytes)}, and the budget is {in_words(limit)}")
            store.shed_oldest(SHED_PART)

    def _drop_passed(self, position: int) -> None:
        """Under strict contiguity partial matches are over once the stream goes on elsewhere, although their partition receives nothing."""
        self._latest = max(self._latest, position)
        partitions = self._store.partitions
        partitions[partitions[:, graph.POSITION] < self._latest, graph.ACTIVE] = 0

    def look_at_all(self, asked: EventPattern) -> None:
        self._listing.look_at_all(asked)

    def keep_from(self, keys: np.ndarray) -> np.ndarray:
        return np.where(self._store.active[keys] != 0, self._store.partitions[keys, graph.LOW], self._read[keys])

    def idle(self, keys: np.ndarray) -> np.ndarray:
        self._ensure_keys(greatest(keys) + 1)
        return self._store.active[keys] == 0

    def pass_over(self, keys: np.ndarray, ordinals: np.ndarray) -> None:
        self._ensure_keys(greatest(keys) + 1)
        self._read[keys] = ordinals

    def renumber(self, old_of_new: np.ndarray) -> None:
        self._ensure_keys(int(np.max(old_of_new, initial=-1)) + 1)
        self._store.renumber(old_of_new)
        self._read = self._read[old_of_new]

    def metrics(self) -> dict[str, int]:
        store = self._store
        return {
            "matches": int(store.header[kernel.MATCHES]),
            "match_nodes": store.used,
            "peak_match_nodes": max(store.peak, store.used),
            "node_bytes": NODE_BYTES,
            "row_symbols": len(self._transitions.symbols),
            "shed_starts": store.shed,
            "state_bytes": store.bytes,
        }

    def state(self) -> dict[str, np.ndarray]:
        return {**self._store.state(), "read": self._read, "latest": np.array([self._latest])}

    def check(self, state: StateCheck) -> None:
        check_compact(state, self._store.roots.shape[1], self._elements)

    def load(self, state: dict[str, np.ndarray]) -> None:
        self._store.load(state)
        self._latest = int(state["latest"][0])
        self._read = state["read"].copy()
