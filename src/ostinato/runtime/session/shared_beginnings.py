"""Queries that begin alike, where they have begun the same: their beginning is followed once, and handed on to each of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import pyarrow as pa

from ostinato.program.beginnings.alike import shared_beginnings
from ostinato.program.beginnings.beginning import Beginning
from ostinato.program.instances import InstanceAutomaton
from ostinato.runtime.instances.continued_matcher import ContinuedMatcher, beginning_state
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.matches.finished_instances import FinishedInstances
from ostinato.runtime.session.input_rows import InputRows
from ostinato.runtime.session.pattern_operator import Found, PatternOperator
from ostinato.runtime.strategies import open_matcher


class BeginningOperator(PatternOperator):
    """Fed before its `followers`, with the same rows. It returns nothing: what it finds is what they go on with."""

    is_beginning = True

    def __init__(self, automaton: InstanceAutomaton, source: InputRows, label: str, budget: Budget) -> None:
        super().__init__(automaton, source, label, budget, in_order=False)
        self.followers: list[PatternOperator] = []

    def _shown(self, found: Found) -> pa.Table:
        assert isinstance(found, FinishedInstances)
        for follower in self.followers:
            matcher: Any = follower.matcher
            matcher.take_over(found)
        return self.report.nothing()

    def queries(self) -> Iterator[PatternOperator]:
        """The operators of queries that begin so."""
        for follower in self.followers:
            yield from follower.queries() if isinstance(follower, BeginningOperator) else (follower,)

    def metrics(self) -> dict[str, int]:
        found = super().metrics()
        return {name: value for name, value in found.items() if name != "matches"} | {"shared_beginnings": 1}


class SharedBeginnings:
    """Of those that read one input. They have seen the same rows, so what they begin alike is the same; what was restored is looked at."""

    def __init__(self, source: InputRows, budget: Budget) -> None:
        self._source = source
        self._budget = budget
        self._made = 0
        self._is_decided = False
        self.operators: list[BeginningOperator] = []  # those that hand on to others before these

    def decide(self, readers: Sequence[PatternOperator]) -> bool:
        """Look for what the readers have in common, where that was not done since some of them were parted; whether there is something."""
        if self._is_decided:
            return False
        self._is_decided = True
        known = {id(operator) for beginning in self.operators for operator in beginning.queries()}
        able, automata = list[PatternOperator](), list[InstanceAutomaton]()
        for reader in readers:
            if isinstance(reader.pattern, InstanceAutomaton) and not reader.is_beginning and id(reader) not in known:
                able.append(reader)
                automata.append(reader.pattern)
        if len(able) < 2:
            return False
        before = len(self.operators)
        for reader in able:
            reader.catch_up()
        for beginning in shared_beginnings(automata):
            self._follow(beginning, able)
        return len(self.operators) > before

    def _follow(self, beginning: Beginning, readers: Sequence[PatternOperator]) -> BeginningOperator | None:
        """None: they have not begun the same."""
        inner: list[BeginningOperator] = []
        followers: list[PatternOperator] = []
        for one in beginning.continuations:
            if isinstance(one.of, int):
                followers.append(readers[one.of])
                continue
            found = self._follow(one.of, readers)
            if found is None:
                return None
            inner.append(found)
            followers.append(found)
        states = [(one, follower.matcher.state()) for one, follower in zip(beginning.continuations, followers, strict=True)]
        state = beginning_state(beginning.automaton, states)
        if state is None:
            return None
        self._made += 1
        made = BeginningOperator(beginning.automaton, self._source, f"#begins{self._made}/", self._budget)
        made.matcher.load(state)
        for (one, own), follower in zip(states, followers, strict=True):
            matcher: Any = ContinuedMatcher(one, made, self._budget, self._source.pool)
            follower.matcher = matcher
            follower.matcher.load(own)
        made.followers = followers
        self.operators.insert(len(self.operators) - _count(inner), made)
        return made

    def among(self, readers: Sequence[PatternOperator]) -> list[BeginningOperator]:
        """Those whose queries are still there, without the others."""
        there = {id(reader) for reader in readers}
        kept: list[BeginningOperator] = []
        for beginning in reversed(self.operators):  # those that others hand on to are behind these
            beginning.followers = [one for one in beginning.followers if id(one) in there]
            if beginning.followers:
                there.add(id(beginning))
                kept.insert(0, beginning)
            else:
                beginning.rows.forget()
        self.operators = kept
        return kept

    def part(self, gone: Collection[PatternOperator]) -> None:
        """Where one of those that are gone began with others, each of these follows its own beginning again: what is computed for it alone
        cannot be an error of theirs."""
        left = {id(operator) for operator in gone}
        parted = [one for one in self.operators if any(id(operator) in left for operator in one.queries())]
        for beginning in reversed(parted):
            states = {id(one): one.matcher.state() for one in beginning.followers if id(one) not in left and one not in parted}
            for follower in beginning.followers:
                if id(follower) in states:
                    follower.matcher = open_matcher(follower.pattern, self._budget, self._source.pool)
                    follower.matcher.load(states[id(follower)])
        self.operators = [one for one in self.operators if one not in parted]
        for beginning in parted:
            beginning.rows.forget()
        self._is_decided = self._is_decided and not parted


def _count(beginnings: Sequence[BeginningOperator]) -> int:
    """With those that they hand on to."""
    return sum(1 + _count([one for one in each.followers if isinstance(one, BeginningOperator)]) for each in beginnings)
