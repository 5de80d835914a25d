"""How every benchmark measures: both sides in one run, interleaved, CPU time of the process, warm-up, repeats, JSON results.

An experiment module looks like this:

    def main() -> None:
        options = harness.options("What it measures")
        experiment = Experiment("my_experiment", "Title of its section", "What is measured, for the reader.")
        case = experiment.case("2 keys", rows=n, keys=2)
        case.compare({"ostinato": run_engine, "re": run_re}, options, same=len)
        case.target("ostinato", "re", at_least=2.0)
        experiment.save(options)

The best of the repeats counts: noise only ever adds time. CPU time is that of this process (all threads, user and system);
`clock="wall"` is for work that happens in other processes, such as Spark's.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_machine

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Options:
    """`quick` shrinks the work to a smoke test whose results are not kept."""

    quick: bool = False
    repeats: int = 3
    results: Path = RESULTS

    def rows(self, full: int, quick: int) -> int:
        return quick if self.quick else full


def options(description: str, arguments: Sequence[str] | None = None) -> Options:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="small inputs, one repeat, nothing saved")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--results", type=Path, default=RESULTS, help="directory of the JSON results")
    given = parser.parse_args(arguments)
    return Options(given.quick, 1 if given.quick else given.repeats, given.results)


@dataclass
class Measurement:
    """What one contender did in one case. `seconds` holds every repeat by the case's clock."""

    name: str
    seconds: list[float] = field(default_factory=list)
    result: Any = None
    peak_mb: float | None = None
    note: str = ""

    @property
    def best(self) -> float:
        return min(self.seconds)


@dataclass
class Case:
    """One set of inputs. `facts` are shown beside the figures (keys, window, ...)."""

    name: str
    rows: int
    facts: dict[str, Any] = field(default_factory=dict)
    clock: str = "cpu"
    measurements: dict[str, Measurement] = field(default_factory=dict)
    targets: list[dict[str, Any]] = field(default_factory=list)

    def compare(
        self,
        contenders: dict[str, Callable[[], Any]],
        options: Options,
        *,
        same: Callable[[Any], Any] | None = None,
        warm_up: int = 1,
    ) -> dict[str, Measurement]:
        """Run all contenders in turn, `repeats` times. `same` maps a result to what all of them must agree on."""
        found = {name: Measurement(name) for name in contenders}
        for _ in range(warm_up):
            for name, run in contenders.items():
                found[name].result = _kept(run(), same)
        for _ in range(options.repeats):
            for name, run in contenders.items():
                seconds, result = timed(run, self.clock)
                found[name].seconds.append(seconds)
                found[name].result = _kept(result, same)
                del result
        self.measurements.update(found)
        if same is not None:
            _require_agreement(self.name, found)
        for measurement in found.values():
            announce(f"  {self.name}: {measurement.name} {measurement.best:.3f} s, {self.rows / measurement.best / 1e6:.2f} M rows/s")
        return found

    def record(self, name: str, seconds: Sequence[float], *, result: Any = None, note: str = "") -> Measurement:
        """A measurement that was taken elsewhere (in a subprocess, or from Spark's own progress report)."""
        measurement = Measurement(name, list(seconds), result, note=note)
        self.measurements[name] = measurement
        announce(f"  {self.name}: {name} {measurement.best:.3f} s, {self.rows / measurement.best / 1e6:.2f} M rows/s")
        return measurement

    def ratio(self, name: str, to: str) -> float:
        """How many times faster `name` is than `to`."""
        return self.measurements[to].best / self.measurements[name].best

    def rate(self, name: str) -> float:
        return self.rows / self.measurements[name].best

    def target(self, name: str, to: str, *, at_least: float) -> bool:
        """A bar that `name` has to clear relative to `to` in the same run."""
        got = self.ratio(name, to)
        return self._bar(f"{name} at least {at_least:g}x {to}", got, "x", got >= at_least)

    def target_rate(self, name: str, *, at_least: float) -> bool:
        got = self.rate(name)
        return self._bar(f"{name} at least {at_least / 1e6:g} M rows/s", got / 1e6, " M rows/s", got >= at_least)

    def target_seconds(self, name: str, *, at_most: float) -> bool:
        got = self.measurements[name].best
        return self._bar(f"{name} within {at_most:g} s", got, " s", got <= at_most)

    def target_megabytes(self, name: str, *, at_most: float) -> bool:
        got = self.measurements[name].peak_mb or 0.0
        return self._bar(f"{name} within {at_most:g} MB", got, " MB", got <= at_most)

    def target_part(self, want: str, got: float, of: float, *, at_most: float) -> bool:
        """Of a count beside another one."""
        return self._bar(want, got / of, "x", got <= at_most * of)

    def target_growth(self, before: float, after: float, *, at_most: float) -> bool:
        """Of a quantity that should stay as it is."""
        got = after / before
        return self._bar(f"memory grows at most {at_most:g}x", got, "x", got <= at_most)

    def _bar(self, want: str, got: float, unit: str, met: bool) -> bool:
        self.targets.append({"want": want, "got": got, "unit": unit, "met": met})
        announce(f"  {self.name}: {want}: {'yes' if met else 'NO'} ({got:.2f}{unit})")
        return met

    def as_json(self) -> dict[str, Any]:
        measurements = [asdict(measurement) for measurement in self.measurements.values()]
        return {**asdict(self), "measurements": measurements}


@dataclass
class Experiment:
    """A section of the results page. `show` names the facts that become columns of its table."""

    name: str
    title: str
    about: str
    show: tuple[str, ...] = ()
    cases: list[Case] = field(default_factory=list)

    def case(self, name: str, rows: int, clock: str = "cpu", **facts: Any) -> Case:
        case = Case(name, rows, facts, clock)
        self.cases.append(case)
        return case

    def save(self, options: Options) -> Path | None:
        """Write `<results>/<name>.json`; a quick run leaves nothing behind."""
        if options.quick:
            return None
        options.results.mkdir(parents=True, exist_ok=True)
        path = options.results / f"{self.name}.json"
        content = {
            "name": self.name,
            "title": self.title,
            "about": self.about,
            "show": list(self.show),
            "machine": describe_machine(),
            "repeats": options.repeats,
            "cases": [case.as_json() for case in self.cases],
        }
        path.write_text(json.dumps(content, indent=1, default=str) + "\n")
        announce(f"wrote {path.name}")
        return path


def timed(run: Callable[[], Any], clock: str = "cpu") -> tuple[float, Any]:
    """Seconds by the given clock, and what `run` returned."""
    now = time.process_time if clock == "cpu" else time.perf_counter
    gc.collect()
    start = now()
    result = run()
    return now() - start, result


def announce(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _kept(result: Any, same: Callable[[Any], Any] | None) -> Any:
    """Only the small thing that is compared outlives a run, so that no contender pays for another's memory."""
    return None if same is None else same(result)


def _require_agreement(case: str, found: dict[str, Measurement]) -> None:
    results = {name: measurement.result for name, measurement in found.items()}
    first = next(iter(results.values()))
    if any(result != first for result in results.values()):
        raise AssertionError(f"the contenders of {case!r} disagree: {results}")
