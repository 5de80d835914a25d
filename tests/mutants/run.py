"""`make mutants`: plant small changes into the engine, one at a time, and list those that no test notices.

    python -m tests.mutants.run --seed 7 --count 20 --only kernels/scan

Everything happens in a copy of the tree, which is removed at the end, also by Ctrl-C."""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.concerns import concerning
from tests.mutants.mutations import Mutation, mutations
from tests.mutants.trial import ROOT, Trial

PACKAGE = ROOT / "src" / "ostinato"
PLANTED = ("kernels", "runtime", "program", "tasks", "plan")


@dataclass(frozen=True)
class Mutant:
    module: str
    mutation: Mutation

    @property
    def source(self) -> bytes:
        return self.mutation.planted((PACKAGE / self.module).read_bytes())

    def __str__(self) -> str:
        own = (PACKAGE / self.module).read_bytes()
        line = self.mutation.line - 1
        before, after = (text.decode().splitlines()[line].strip() for text in (own, self.source))
        return f"src/ostinato/{self.module}:{self.mutation.line}: {self.mutation.kind}\n    {before}\n    {after}"


def chosen(seed: int, count: int, only: str | None) -> list[Mutant]:
    """The same ones for the same seed and the same sources. Packages come in turns, so that a few mutants are not all of the largest."""
    rng = random.Random(seed)
    groups = [list(_mutants(folder)) for folder in ([_within_package(only)] if only else PLANTED)]
    for group in groups:
        rng.shuffle(group)
    in_turns = [group[place] for place in range(max(map(len, groups))) for group in groups if place < len(group)]
    return in_turns[:count]


def _within_package(path: str) -> str:
    return path.removeprefix("src/").removeprefix("ostinato/").strip("/")


def _mutants(folder: str) -> Iterator[Mutant]:
    start = PACKAGE / folder
    for path in [start] if start.is_file() else sorted(start.rglob("*.py")):
        for mutation in mutations(path.read_bytes()):
            yield Mutant(path.relative_to(PACKAGE).as_posix(), mutation)


def survivors(mutants: Sequence[Mutant], trial: Trial) -> Iterator[Mutant]:
    for number, mutant in enumerate(mutants, 1):
        noticed = trial.notices(mutant.module, mutant.source, concerning(mutant.module))
        print(f"{number}/{len(mutants)} {mutant}\n    {f'noticed: {noticed}' if noticed else 'SURVIVED'}", flush=True)
        if noticed is None:
            yield mutant


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.run", description="List planted changes that no test notices.")
    parser.add_argument("--seed", type=int, default=0, help="which mutations are chosen")
    parser.add_argument("--count", type=int, default=20, help="how many")
    parser.add_argument("--only", metavar="PATH", help="a package or file of src/ostinato, such as kernels/scan")
    options = parser.parse_args(arguments)
    left: list[Mutant] = []
    with tempfile.TemporaryDirectory(prefix="ostinato-mutants-") as folder:
        try:
            for mutant in survivors(chosen(options.seed, options.count, options.only), Trial(Path(folder))):
                left.append(mutant)
        except KeyboardInterrupt:
            print("\ninterrupted", flush=True)
    print(f"\n{len(left)} survived", *left, sep="\n")


if __name__ == "__main__":
    main()
