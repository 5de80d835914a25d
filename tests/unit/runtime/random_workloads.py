"""Random nested patterns, each over a stream of its own: rates between rare and frequent, conditions that have to do with each other and
with time."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import numpy as np
import pyarrow as pa

COMPARED = ("{0}.x < {1}.x", "{0}.x > {1}.x", "{0}.y > {1}.y", "{0}.k = {1}.k", "{0}.y > 90", "{0}.y > {1}.x", "{0}.x > {1}.x + 20")


@dataclass(frozen=True)
class Workload:
    text: str
    rows: pa.Table


@dataclass
class _Members:
    random: Random
    names: list[str] = field(default_factory=list)
    positive: list[str] = field(default_factory=list)

    def event(self, negated: bool = False) -> str:
        name = "abcdefgh"[len(self.names)]
        self.names.append(name)
        if not negated:
            self.positive.append(name)
        return name

    def nested(self, operators: tuple[str, ...], count: int, negated: bool) -> str:
        own = [self.event(negated) for _ in range(count)]
        members = [f"{name.upper()} {name}" for name in own]
        operator = self.random.choice(operators)
        return f"{'!' if negated else ''}{operator}({', '.join((*members, *self.conditions(own, 3)))})"

    def conditions(self, names: list[str], most: int) -> list[str]:
        return [self.random.choice(COMPARED).format(*self.random.sample(names, 2)) for _ in range(self.random.randint(0, most))]


def random_workload(seed: int, rows: int) -> Workload:
    random = Random(seed)
    members = _Members(random)
    negated = random.random() < 0.4
    written = [f"A {members.event()}", members.nested(("SEQ", "SEQ", "AND"), random.choice((2, 2, 3)), negated)]
    written += [f"{name.upper()} {name}" for name in (members.event() for _ in range(random.choice((1, 2))))]
    if not negated and random.random() < 0.3:
        written.insert(-1, members.nested(("SEQ",), 2, negated=True))
    written += members.conditions(members.positive, 2)
    rates = [random.choice((0.003, 0.02, 0.1, 0.2, 0.3)) for _ in members.names]
    scale = min(1.0, 0.95 / sum(rates))
    kinds = {name.upper(): rate * scale for name, rate in zip(members.names, rates, strict=True)}
    text = f"PATTERN SEQ({', '.join(written)}) WITHIN {random.choice((40, 80, 150))}"
    return Workload(text, _stream(seed, rows, kinds, trends=random.random() < 0.4))


def _stream(seed: int, rows: int, kinds: dict[str, float], trends: bool) -> pa.Table:
    """`trends`: x is a value that goes up and down."""
    random = np.random.default_rng(seed)
    x = np.maximum(50 + np.cumsum(random.integers(-3, 4, rows)), 0) if trends else random.integers(0, 100, rows)
    drawn = random.choice([*kinds, "Z"], rows, p=[*kinds.values(), 1.0 - sum(kinds.values())])
    numbers = {"x": x, "y": random.integers(0, 100, rows), "k": random.integers(0, 10, rows)}
    return pa.table({"ts": np.arange(rows), "kind": drawn, **numbers})
