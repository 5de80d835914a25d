"""The figures of the SASE+ experiments, drawn from their results: `python -m benchmarks.sase_plots`."""

from __future__ import annotations

import json
from math import floor, log10
from pathlib import Path
from typing import Any

from benchmarks.harness import RESULTS, announce
from benchmarks.sase_engines import SAME_VOLUME

IMAGES = Path(__file__).parent.parent / "docs" / "images"
THROUGHPUT = "events per CPU second"


def main() -> None:
    draw_all(RESULTS)


def draw_all(results: Path, images: Path = IMAGES) -> None:
    """Whatever there are results of."""
    import matplotlib

    matplotlib.use("Agg")
    images.mkdir(parents=True, exist_ok=True)
    for number, draw in {1: _by_query, 2: _by_window, 3: _backtracking, 4: _by_query, 5: _by_query, 6: _gain}.items():
        path = results / f"sase_expt_{number}.json"
        if path.exists():
            draw(json.loads(path.read_text()), images / f"sase_expt_{number}.svg")
            announce(f"drew sase_expt_{number}.svg")


def _by_query(result: dict[str, Any], path: Path) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
    _bars(axes, result["cases"], [case["name"] for case in result["cases"]])
    axes.set_title(result["title"])
    save(figure, path)


def _bars(axes: Any, cases: list[dict[str, Any]], names: list[str]) -> None:
    """Queries side by side, a colour per engine, logarithmic."""
    engines = [measured["name"] for measured in cases[0]["measurements"]]
    width = 0.8 / len(engines)
    lowest = min(_rate(case, engine) for case in cases for engine in engines)
    for place, engine in enumerate(engines):
        rates = [_rate(case, engine) for case in cases]
        axes.bar([at + place * width for at in range(len(rates))], rates, width, label=engine)
    axes.set_xticks([at + 0.4 - width / 2 for at in range(len(cases))], names)
    axes.set(yscale="log", ylabel=THROUGHPUT, ylim=(10 ** floor(log10(lowest)), None))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=len(engines), frameon=False)


def _backtracking(result: dict[str, Any], path: Path) -> None:
    """Left: all results at the smallest window. Right: by window, one query of each kind; solid lines are basic."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4), layout="constrained")
    smallest = min(case["facts"]["window"] for case in result["cases"])
    listed = [case for case in result["cases"] if case["facts"]["listed"] and case["facts"]["window"] == smallest]
    _bars(left, listed, [case["facts"]["query"].replace(" ", "\n", 1) for case in listed])
    left.set_title(f"All results, window {smallest}")
    chosen = [case for case in result["cases"] if not case["facts"]["listed"] or case["facts"]["query"] == SAME_VOLUME]
    groups = _by_fact({"cases": chosen}, "query")
    for number, query in enumerate(("p2 s2", "p3 s3", SAME_VOLUME)):
        for engine, line in (("basic", "-"), ("backtrack", "--")):
            windows = [case["facts"]["window"] for case in groups[query]]
            rates = [_rate(case, engine) for case in groups[query]]
            right.plot(windows, rates, line, marker="o", color=f"C{number + 2}", label=f"{query}, {engine}")
    right.set(yscale="log", xlabel="window (events of the symbol)", title=f"By window: matching only; {SAME_VOLUME}: all results")
    right.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    save(figure, path)


def _by_window(result: dict[str, Any], path: Path) -> None:
    """Left: throughput by window. Right: cost of a window's worth of events against the output complexity of as many."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4), layout="constrained")
    for query, cases in _by_fact(result, "query").items():
        windows = [case["facts"]["window"] for case in cases]
        left.plot(windows, [_rate(case, "basic") for case in cases], marker="o", label=query)
        share = [window / case["rows"] for window, case in zip(windows, cases, strict=True)]
        complexity = [case["facts"]["complexity"] * part / 1000 for case, part in zip(cases, share, strict=True)]
        right.plot(complexity, [1000 * best(case, "basic") * p for case, p in zip(cases, share, strict=True)], marker="o", label=query)
    left.set(yscale="log", xlabel="window (events of the symbol)", ylabel=THROUGHPUT, title="Throughput, basic, all results")
    right.set(xlabel="output complexity (x 1000)", ylabel="cost of W events (ms)", title="Cost against output complexity")
    left.legend()
    right.legend()
    save(figure, path)


def _gain(result: dict[str, Any], path: Path) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
    for query, cases in _by_fact(result, "query").items():
        gains = [_rate(case, "merging") / _rate(case, "basic") for case in cases]
        axes.plot([case["facts"]["window"] for case in cases], gains, marker="o", label=query)
    axes.set(xlabel="window (events of the symbol)", ylabel="throughput gain by merging", title=result["title"])
    axes.axhline(1.0, color="grey", linewidth=0.8)
    axes.legend()
    save(figure, path)


def _by_fact(result: dict[str, Any], fact: str) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for case in result["cases"]:
        groups.setdefault(case["facts"][fact], []).append(case)
    return groups


def best(case: dict[str, Any], name: str) -> float:
    return min(next(measured["seconds"] for measured in case["measurements"] if measured["name"] == name))


def _rate(case: dict[str, Any], name: str) -> float:
    return case["rows"] / best(case, name)


def save(figure: Any, path: Path) -> None:
    from matplotlib import pyplot

    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


if __name__ == "__main__":
    main()
