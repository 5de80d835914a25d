"""The automaton of a row pattern."""

from __future__ import annotations

from dataclasses import dataclass

MOST_TRANSITIONS = 200  # of an automaton that is looked through for what it says about all matches
ACCEPT, ACCEPT_AT_END = (-1, -1), (-2, -1)  # transitions of an automaton that read no row


@dataclass(frozen=True)
class OrderedNfa:
    """An epsilon-free automaton with ordered transitions, for preferred matches. The transitions of state s are
    `transitions[first[s]:first[s+1]]`, best first; each is (variable, target), or ACCEPT for accepting here, or ACCEPT_AT_END for accepting
    here if the partition ends here. Only the last transition of a state is one of these two. An attempt begins in `start`, at the first row
    of a partition in `start_of_partition`; the two are the same unless the pattern has an anchor `^`."""

    first: tuple[int, ...]
    transitions: tuple[tuple[int, int], ...]
    start: int = 0
    start_of_partition: int = 0

    @property
    def looks_at_start(self) -> bool:
        """Whether the first row of a partition is different from others."""
        return self.start_of_partition != self.start

    @property
    def looks_at_end(self) -> bool:
        """Whether it matters which row is the last of a partition."""
        return ACCEPT_AT_END in self.transitions

    def numbers_of(self, state: int) -> range:
        return range(self.first[state], self.first[state + 1])

    def transitions_of(self, state: int) -> tuple[tuple[int, int], ...]:
        return self.transitions[self.first[state] : self.first[state + 1]]


@dataclass(frozen=True)
class VariableTest:
    """For the scan strategy: a row may be mapped to the variable if bit `bit` holds (-1: always) and `block` is true (-1: none);
    the block also updates the thread's registers."""

    bit: int
    block: int
