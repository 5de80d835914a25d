"""Two checkouts of the project side by side, in one run: `python -m benchmarks.two_checkouts OTHER [--spark] [--repeats N]`.

Both run the same work (that of this checkout, `checkout_work`), each in a process of its own with its own package and its own compiled
kernels, in turn, so that whatever else the machine does hits both. The best of the repeats counts. The ratio is how many times as fast
this checkout is as the other."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import announce

HERE = Path(__file__).parent.parent


@dataclass
class Side:
    """A checkout, and the process that does its work."""

    process: subprocess.Popen
    cases: list[str]

    @classmethod
    def start(cls, checkout: Path, cache: Path, part: int, spark: bool) -> Side:
        search = os.pathsep.join([str(checkout / "src"), str(HERE)])
        environment = {**os.environ, "PYTHONPATH": search, "XDG_CACHE_HOME": str(cache)}
        environment.pop("NUMBA_CACHE_DIR", None)
        command = [sys.executable, "-m", "benchmarks.checkout_work", str(part), "spark" if spark else "process"]
        side = cls(cls.opened(command, environment), [])
        side.cases = side._answer("cases")
        return side

    @staticmethod
    def opened(command: list[str], environment: dict[str, str]) -> subprocess.Popen:
        return subprocess.Popen(
            command, cwd=HERE, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def seconds(self, case: str) -> float:
        assert self.process.stdin is not None
        self.process.stdin.write(case + "\n")
        self.process.stdin.flush()
        return float(self._answer("seconds")[0])

    def _answer(self, kind: str) -> list[str]:
        """The next line of that kind; Spark prints others."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(kind + "\t"):
                return line.rstrip("\n").split("\t")[1:]
        raise SystemExit(f"a side ended with code {self.process.wait()}: run benchmarks.checkout_work by hand to see why")

    def stop(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def compare(this: Side, other: Side, repeats: int) -> dict[str, tuple[float, float]]:
    """The best seconds of both, by case."""
    found = {}
    for case in [case for case in this.cases if case in other.cases]:
        this.seconds(case), other.seconds(case)  # warm-up
        rounds = [(this.seconds(case), other.seconds(case)) for _ in range(repeats)]
        ours, theirs = (min(column) for column in zip(*rounds, strict=True))
        announce(f"{case:45s} {ours:9.4f} s {theirs:9.4f} s   {theirs / ours:.3f}x")
        found[case] = (ours, theirs)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare this checkout with another")
    parser.add_argument("other", type=Path, help="the root of the other checkout")
    parser.add_argument("--spark", action="store_true", help="Spark batch and streaming instead of what runs in process")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--part", type=int, default=1, help="divide the sizes of inputs by this")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ostinato-compare-") as folder:
        this = Side.start(HERE, Path(folder) / "this", given.part, given.spark)
        other = Side.start(given.other.resolve(), Path(folder) / "other", given.part, given.spark)
        try:
            announce(f"{'':45s} {'this':>11s} {'other':>11s}   ratio")
            compare(this, other, given.repeats)
        finally:
            this.stop()
            other.stop()


if __name__ == "__main__":
    main()
