"""Negation: matches as another strategy finds them, less those in whose gaps negated events lie.

Gaps inside and before a match are looked at when it is found. What lies behind a match is known when no row can come there any more: until
then it waits. Then the output rule chooses among those that are left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ostinato.kernels.negation import negation_gaps as kernel
from ostinato.kernels.negation.epochs import between_epochs, ends_of_epochs
from ostinato.kernels.negation.window_ends import window_ends
from ostinato.program.analysis.carried_negations import carried
from ostinato.program.pattern import EventPattern
from ostinato.runtime.limits.budget import Budget, Overflow, in_words, over_budget
from ostinato.runtime.limits.steps import Steps
from ostinato.runtime.matcher import Matcher, RemembersStrings
from ostinato.runtime.matches.held_matches import check_held
from ostinato.runtime.matches.listing import LOOK_STEPS
from ostinato.runtime.matches.match_dag import MatchDag
from ostinato.runtime.matches.matches import Matches, completed
from ostinato.runtime.negation.negated_pairs import NegatedPairs
from ostinato.runtime.negation.negation_state import check_progress, check_rule, check_waiting
from ostinato.runtime.negation.occurrences import Occurrences
from ostinato.runtime.negation.output_rule import output_rule
from ostinato.runtime.negation.waiting_matches import CHOSEN, OUT, SURVIVES, WAITS, WaitingMatches
from ostinato.runtime.rows.array_growth import grown
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.snapshots.snapshot import part_of
from ostinato.runtime.snapshots.state_check import StateCheck

SHED_PART = 16  # shedding a sixteenth at once keeps its cost per match constant


def candidates(pattern: EventPattern) -> EventPattern:
    """The pattern that finds the matches among which negation chooses: with the negations that its matcher carries by itself."""
    return replace(carried(pattern), output="all", one_at_a_time=pattern.output == "first")


class NegationMatcher(Matcher):
    """A matcher around another one. `in_order`: matches are held back so that they come in the order of their
    completing events over all calls; else each comes as soon as it is decided."""

    def __init__(self, pattern: EventPattern, inner: Matcher, budget: Budget, pool: StringPool, in_order: bool) -> None:
        self._pattern = pattern
        self._inner = inner
        self._budget = budget
        self._in_order = in_order
        self._by_events = pattern.within_unit == "events"
        self._leads = any(negation.leads for negation in pattern.negations)
        self._occurrences = Occurrences(pattern)
        self._steps = Steps(pattern, budget)
        compared = {n: negation for n, negation in enumerate(pattern.negations) if not negation.is_static}
        self._pairs = {n: NegatedPairs(pattern, negation, pool, self._steps) for n, negation in compared.items()}
        if pattern.output in ("count", "aggregates"):
            inner.look_at_all(pattern)
        self._loaded = False  # whether the state came from outside
        self._waiting = WaitingMatches()
        self._rule = output_rule(pattern.output)
        self._ready = np.zeros(0, np.int64)  # per key, the next ordinal that was not looked at
        self._back_to = np.zeros(0, np.int64)  # per key, the first row that a gap before a match may hold
        self._holds = np.zeros(0, np.bool_)  # per key, whether rows are kept
        self._counts = dict.fromkeys(("matches", "killed_matches", "shed_matches"), 0)

    def feed(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> Matches:
        keys = self._begin(rows, keys, ready)
        self._admit(rows, self._inner.feed(rows, keys, ready, watermark, final))
        return self._finish(rows, keys, ready, watermark, final)

    def feed_in_parts(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> Iterator[Matches]:
        """Candidates are looked at piece by piece, so that those that are killed take no room. Which of them is preferred is known only
        of all that one event completes."""
        if self._pattern.output == "nonoverlapping":
            yield self.feed(rows, keys, ready, watermark, final)
            return
        keys = self._begin(rows, keys, ready)
        looked_at = 0  # since something was handed on
        for found in self._inner.feed_in_parts(rows, keys, ready, watermark, final):
            assert isinstance(found, Matches)  # candidates are listed
            self._admit(rows, found)
            released = self._released()
            if len(released):
                looked_at = 0
                self._steps.begin(0)
            looked_at += len(found)
            self._steps.take(LOOK_STEPS * len(found.variables), f"{looked_at:,} candidates were looked at, with nothing to report")
            yield released
        yield self._finish(rows, keys, ready, watermark, final)

    def _begin(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray) -> np.ndarray:
        """Note the negated events of the new rows."""
        keys = np.ascontiguousarray(keys, np.int64)
        self._ensure_keys(int(keys.max(initial=-1)) + 1)
        ready = np.maximum(ready, self._ready[keys])
        self._steps.begin(int((ready - self._ready[keys]).sum()))
        self._occurrences.trace(rows, keys, self._ready[keys], ready)
        self._ready[keys] = ready
        return keys

    def _finish(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> Matches:
        """Decide about matches that were waiting for what has come now."""
        if len(self._waiting):
            self._look_behind(rows, keys, watermark, final)
        self._back_to[keys] = self._look_back(rows, keys, self._ready[keys], watermark)
        return self._released()

    def _admit(self, rows: PatternRows, found: Matches | MatchDag) -> None:
        """Found matches wait, unless something negated lies inside or before them."""
        assert isinstance(found, Matches)  # candidates are listed
        if not len(found):
            return
        if self._loaded:
            check_held(found, rows)
        killed = np.zeros(len(found), np.bool_)
        pending = np.zeros(len(found), np.int64)
        low, high, place = (np.empty(len(found), np.int64) for _ in range(3))
        for number, negation in enumerate(self._pattern.negations):
            kernel.gaps(
                found.key, found.offsets, found.listed, found.variables, negation.before, self._pattern.within, self._by_events,
                rows.offset, rows.base, rows.times, low, high, place,
            )  # fmt: skip
            if self._pattern.by_epoch:
                between_epochs(found.key, place, rows.offset, rows.base, rows.times, low, high)
            behind = place == kernel.BEHIND
            pending[behind] |= 1 << number
            asked = np.flatnonzero(~behind & ~killed & (high > low + 1))
            killed[asked] = self._violated(number, rows, found, asked, low[asked], high[asked])
        self._counts["killed_matches"] += int(killed.sum())
        left = found if not killed.any() else found.take(~killed)
        self._waiting.add(left, completed(rows, left), self._limits(rows, left), pending[~killed])

    def _violated(
        self, number: int, rows: PatternRows, matches: Matches, asked: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> np.ndarray:
        if number not in self._pairs:
            return self._occurrences.inside(number, rows, matches.key[asked], low, high)
        return self._pairs[number].inside(rows, matches.take(asked), low, high)

    def _limits(self, rows: PatternRows, matches: Matches) -> np.ndarray:
        """The last time, or ordinal, that the window of a match reaches."""
        if self._by_events:
            return matches.start + self._pattern.within - 1
        return rows.times[rows.index_of(matches.key, matches.start)] + self._pattern.within

    def _look_behind(self, rows: PatternRows, keys: np.ndarray, watermark: int, final: bool) -> None:
        """Whether something negated lies behind the matches of these keys that wait."""
        waiting = self._waiting
        touched = np.zeros(len(self._ready), np.bool_)
        touched[keys] = True
        asked = np.flatnonzero((waiting.state == WAITS) & touched[waiting.matches.key])
        if not len(asked):
            return
        high, settled = np.empty(len(asked), np.int64), np.empty(len(asked), np.bool_)
        low, limit, of = waiting.matches.last[asked], waiting.limit[asked], waiting.matches.key[asked]
        window_ends(of, low, limit, self._by_events, self._ready, watermark, rows.offset, rows.base, rows.length, rows.times, high, settled)
        if self._pattern.by_epoch:
            ends_of_epochs(of, low, self._ready, rows.offset, rows.base, rows.times)
        settled |= final
        killed = np.zeros(len(asked), np.bool_)
        for number in range(len(self._pattern.negations)):
            concerned = waiting.pending[asked] >> number & 1 == 1
            if number in self._pairs:
                concerned &= settled  # compared with the match once all is there
            at = np.flatnonzero(concerned & ~killed & (high > low + 1))
            killed[at] = self._violated(number, rows, waiting.matches, asked[at], low[at], high[at])
        self._counts["killed_matches"] += int(killed.sum())
        waiting.state[asked[settled]] = SURVIVES
        waiting.state[asked[killed]] = OUT

    def _look_back(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int) -> np.ndarray:
        if not self._leads:
            return ready
        out = np.empty(len(keys), np.int64)
        kernel.look_back(keys, ready, watermark, self._pattern.within, self._by_events, rows.offset, rows.base, rows.times, out)
        return np.clip(out, rows.base[keys], ready)  # a window of events may reach back to before the first row

    def _released(self) -> Matches:
        waiting = self._waiting
        if not len(waiting):
            return Matches.none()
        self._rule.choose(waiting)
        due = waiting.state == CHOSEN
        if self._in_order:
            undecided = waiting.state < CHOSEN
            if undecided.any():
                due &= waiting.done < waiting.done[undecided].min()
        self._counts["matches"] += int(due.sum())
        released = waiting.matches.take(due) if self._pattern.output != "count" else Matches.none()
        waiting.drop(due | (waiting.state == OUT))
        self._within_budget()
        return released

    def _within_budget(self) -> None:
        most, room = self._budget.runs, self._budget.bytes
        over = 0 if most is None else len(self._waiting) - most
        if room is not None and self._waiting.bytes > room:
            over = max(over, len(self._waiting) * (self._waiting.bytes - room) // self._waiting.bytes)
        if over <= 0:
            return
        if self._budget.overflow is Overflow.ERROR:
            raise over_budget(
                self._pattern,
                f"{len(self._waiting):,} matches wait for what comes behind them, in {in_words(self._waiting.bytes)};"
                f" the budget is {most} partial matches" + ("" if room is None else f" and {in_words(room)}"),
                "shorten WITHIN, or raise the budget's runs and bytes",
            )
        shed = min(len(self._waiting), over + (len(self._waiting) - over) // SHED_PART)
        self._waiting.drop_oldest(shed)
        self._counts["shed_matches"] += shed

    def keep_from(self, keys: np.ndarray) -> np.ndarray:
        begun = self._inner.keep_from(keys)
        self._rule.forget(keys, begun)
        needed = np.minimum(begun, self._back_to[keys])
        if len(self._waiting):
            needed = np.minimum(needed, self._waiting.earliest(keys, len(self._ready)))
        self._holds[keys] = needed < self._ready[keys]
        return needed

    def idle(self, keys: np.ndarray) -> np.ndarray:
        self._ensure_keys(int(np.max(keys, initial=-1)) + 1)
        return self._inner.idle(keys) & ~self._holds[keys]

    def _ensure_keys(self, count: int) -> None:
        have = len(self._ready)
        if count > have:
            count = max(count, have + have // 2)
            for name in ("_ready", "_back_to", "_holds"):
                setattr(self, name, grown(getattr(self, name), count))
            self._occurrences.ensure_keys(count)
            self._rule.ensure_keys(count)

    def renumber(self, old_of_new: np.ndarray) -> None:
        self._ensure_keys(int(np.max(old_of_new, initial=-1)) + 1)
        new_of_old = np.full(len(self._ready), -1, np.int64)
        new_of_old[old_of_new] = np.arange(len(old_of_new))
        self._inner.renumber(old_of_new)
        self._rule.renumber(old_of_new, new_of_old)
        self._waiting.renumber(new_of_old)
        self._occurrences.carried = self._occurrences.carried[old_of_new]
        for name in ("_ready", "_back_to", "_holds"):
            setattr(self, name, getattr(self, name)[old_of_new])

    def codes(self) -> list[np.ndarray]:
        """The codes of strings that runs remember; matches that wait have theirs in their rows."""
        return self._inner.codes() if isinstance(self._inner, RemembersStrings) else []

    def recode(self, new_of_old: np.ndarray) -> None:
        if isinstance(self._inner, RemembersStrings):
            self._inner.recode(new_of_old)

    def metrics(self) -> dict[str, int]:
        inner = self._inner.metrics()
        candidates = inner.get("matches", 0)
        return {**inner, "candidate_matches": candidates, **self._counts, "waiting_matches": len(self._waiting)}

    def state(self) -> dict[str, np.ndarray]:
        own = {"ready": self._ready, "back_to": self._back_to, "holds": self._holds, "carried": self._occurrences.carried}
        own["counts"] = np.array(list(self._counts.values()), np.int64)
        parts = {"inner.": self._inner.state(), "waiting.": self._waiting.state_arrays(), "rule.": self._rule.state(), "own.": own}
        return {prefix + name: array for prefix, arrays in parts.items() for name, array in arrays.items()}

    def check(self, state: StateCheck) -> None:
        self._inner.check(state.part("inner."))
        keys = check_progress(state.part("own."), self._occurrences.carried.shape[1], len(self._counts))
        check_waiting(state.part("waiting."), self._pattern, keys)
        check_rule(state.part("rule."), self._pattern.output, keys)

    def load(self, state: dict[str, np.ndarray]) -> None:
        self._loaded = True
        self._inner.load(part_of(state, "inner."))
        self._waiting.load(part_of(state, "waiting."))
        self._rule.load(part_of(state, "rule."))
        own = part_of(state, "own.")
        self._ready, self._back_to, self._holds = own["ready"], own["back_to"], own["holds"]
        self._occurrences.carried = own["carried"]
        self._counts = dict(zip(self._counts, own["counts"].tolist(), strict=True))
