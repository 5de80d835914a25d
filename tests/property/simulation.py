"""The moves of runs, word by word as the semantics have them, over plain lists: what matchers are compared with."""

from __future__ import annotations

from abc import ABC, abstractmethod


class Simulation(ABC):
    """Runs are tuples of (event number, element number). Queries have `selection`, `output`, `within`, `unit` and `epoch`; events have
    `key` (None: in no partition), `time` and `bits`."""

    def __init__(self, query, events):
        self.query, self.events = query, events

    @abstractmethod
    def following(self, run):
        """The elements that may come next, nearest first."""

    @abstractmethod
    def repeats(self, run):
        """Whether the element that the run is in may take more events."""

    @abstractmethod
    def takes(self, run, event): ...

    @abstractmethod
    def may_begin(self, run, event, begin): ...

    @abstractmethod
    def complete(self, run): ...

    def matches(self):
        found = self._first() if self.query.output == "first" else self._side_by_side()
        return sorted(found, key=lambda run: (run[-1][0], *_order(run)))

    def _side_by_side(self):
        found, runs = [], []
        for event in range(len(self.events)):
            grown = [after for run in [(), *runs] for after in self.selected(run, event)]
            completed = [run for run in grown if self.complete(run)]
            runs = grown + [run for run in runs if self.ignores(run, event)]
            if completed and self.query.output == "nonoverlapping":
                completed = [min(completed, key=_order)]
                runs = [run for run in runs if self.key(run) != self.events[event].key]
            found += completed
        assert len(found) == len(set(found))
        return found

    def _first(self):
        found = []
        for start in range(len(self.events)):
            run = ()
            for event in range(start, len(self.events)):
                selected = self.selected(run, event)
                if not selected and (not run or not self.ignores(run, event)):
                    break
                run = selected[0] if selected else run
                if selected and self.complete(run):
                    found.append(run)
                    break
        return found

    def key(self, run):
        return self.events[run[0][0]].key

    def selected(self, run, event):
        own = [(*run, (event, run[-1][1]))] if run and self.takes(run, event) else []
        return own + [(*run, (event, begin.target)) for begin in self.following(run) if self.may_begin(run, event, begin)]

    def has(self, event, bit):
        return bit < 0 or bool(self.events[event].bits >> bit & 1)

    def joins(self, run, event):
        here = self.events[event]
        if here.key is None or not run:
            return here.key is not None
        if self.key(run) != here.key or self.expired(run, event):
            return False
        if self.query.selection == "strict_contiguity" and event != run[-1][0] + 1:
            return False
        return not (self.query.epoch and self.events[run[-1][0]].time == here.time)

    def expired(self, run, event):
        if self.query.within < 0:
            return False
        if self.query.unit == "time":
            return self.events[event].time - self.events[run[0][0]].time > self.query.within
        return sum(e.key == self.key(run) for e in self.events[run[0][0] : event + 1]) > self.query.within

    def ignores(self, run, event):
        if self.expired(run, event) or self.query.selection == "strict_contiguity":
            return False
        if self.query.selection == "partition_contiguity":
            return self.key(run) != self.events[event].key
        if self.query.selection == "skip_till_any_match":
            return True
        if self.repeats(run):
            return not self.takes(run, event)
        following = self.following(run)
        return bool(following) and not any(begin.nearest and self.may_begin(run, event, begin) for begin in following)


def _order(run):
    return [event for event, _ in run], [element for _, element in run]
