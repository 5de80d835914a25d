"""The figures of the experiments on nested patterns, drawn from their results: `python -m benchmarks.nested_plots`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.harness import RESULTS, announce
from benchmarks.sase_plots import IMAGES, best, save

CACHES = ("object cache", "semantic cache", "joins")


def main() -> None:
    draw_all(RESULTS)


def draw_all(results: Path, images: Path = IMAGES) -> None:
    """Whatever there are results of."""
    import matplotlib

    matplotlib.use("Agg")
    images.mkdir(parents=True, exist_ok=True)
    for name, draw in {"nested_windows": _windows, "nested_in_vain": _in_vain, "nested_flags": _flags, "surgical_tools": _surgical}.items():
        path = results / f"{name}.json"
        if path.exists():
            draw(json.loads(path.read_text()), images / f"{name}.svg")
            announce(f"drew {name}.svg")


def _windows(result: dict[str, Any], path: Path) -> None:
    """Left: all contenders by event, as Fig. 10. Right: the caches and joins by result, as Fig. 11."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4), layout="constrained")
    for name in _contenders(result):
        cases = [case for case in result["cases"] if _has(case, name)]
        left.plot([case["facts"]["window"] for case in cases], [1e6 * best(case, name) / case["rows"] for case in cases], "o-", label=name)
    for number, name in enumerate(CACHES, start=1):
        cases = [case for case in result["cases"] if _has(case, name) and case["facts"]["matches"]]
        costs = [1e6 * best(case, name) / case["facts"]["matches"] for case in cases]
        right.plot([case["facts"]["window"] for case in cases], costs, "o-", color=f"C{number}", label=name)
    left.set(xscale="log", yscale="log", xlabel="window (events)", ylabel="CPU per event (µs)", title="CPU per event")
    right.set(xscale="log", yscale="log", xlabel="window (events)", ylabel="CPU per result (µs)", title="CPU per result")
    left.legend(fontsize="small")
    right.legend(fontsize="small")
    save(figure, path)


def _in_vain(result: dict[str, Any], path: Path) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
    for name in _contenders(result):
        cases = [case for case in result["cases"] if _has(case, name)]
        axes.plot([case["facts"]["window"] for case in cases], [1e6 * best(case, name) / case["rows"] for case in cases], "o-", label=name)
    axes.set(xscale="log", yscale="log", xlabel="window (events)", ylabel="CPU per event (µs)", title=result["title"])
    axes.legend(fontsize="small")
    save(figure, path)


def _flags(result: dict[str, Any], path: Path) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
    windows = [case["facts"]["window"] for case in result["cases"]]
    for what in ("results", "flags"):
        axes.plot(windows, [case["facts"][f"bytes of {what}"] / 1024 for case in result["cases"]], "o-", label=f"{what} are kept")
    axes.set(xscale="log", yscale="log", xlabel="window (events)", ylabel="state (KiB)", title=result["title"])
    axes.legend()
    save(figure, path)


def _surgical(result: dict[str, Any], path: Path) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
    for keyed in (False, True):
        cases = [case for case in result["cases"] if case["name"].startswith("keyed") == keyed]
        for name in ("ostinato", "session"):
            rates = [case["rows"] / best(case, name) / 1e6 for case in cases]
            axes.plot([case["facts"]["window"] for case in cases], rates, "o-", label=f"{name}, keyed" if keyed else name)
    axes.axhline(2.0, color="grey", linewidth=0.8)
    axes.set(xscale="log", xlabel="window (events)", ylabel="million events per CPU second", ylim=(0, None), title=result["title"])
    axes.legend(fontsize="small")
    save(figure, path)


def _contenders(result: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(measured["name"] for case in result["cases"] for measured in case["measurements"]))


def _has(case: dict[str, Any], name: str) -> bool:
    return any(measured["name"] == name for measured in case["measurements"])


if __name__ == "__main__":
    main()
