"""The figures of the SASE+ experiments, drawn from their results: `python -m benchmarks.sase_plots`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.harness import RESULTS, announce

IMAGES = Path(__file__).parent.parent / "docs" / "images"
THROUGHPUT = "events per CPU second"


def main() -> None:
    import matplotlib

    matplotlib.use("Agg")
    IMAGES.mkdir(parents=True, exist_ok=True)
    for number, draw in {1: _by_query, 2: _by_window, 3: _by_query, 4: _by_query, 5: _by_query, 6: _gain}.items():
        path = RESULTS / f"sase_expt_{number}.json"
        if path.exists():
            draw(json.loads(path.read_text()), IMAGES / f"sase_expt_{number}.svg")
            announce(f"drew sase_expt_{number}.svg")


def _by_query(result: dict[str, Any], path: Path) -> None:
    """Bars: queries side by side, a colour per engine, logarithmic."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
    names = [measured["name"] for measured in result["cases"][0]["measurements"]]
    width = 0.8 / len(names)
    for place, name in enumerate(names):
        rates = [_rate(case, name) for case in result["cases"]]
        axes.bar([at + place * width for at in range(len(rates))], rates, width, label=name)
    axes.set_xticks([at + 0.4 - width / 2 for at in range(len(result["cases"]))], [case["name"] for case in result["cases"]])
    axes.set(yscale="log", ylabel=THROUGHPUT, title=result["title"])
    axes.legend()
    _save(figure, path)


def _by_window(result: dict[str, Any], path: Path) -> None:
    """Left: throughput by window. Right: cost of a window's worth of events against the output complexity of as many."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4), layout="constrained")
    for query, cases in _by_fact(result, "query").items():
        windows = [case["facts"]["window"] for case in cases]
        left.plot(windows, [_rate(case, "basic") for case in cases], marker="o", label=query)
        share = [window / case["rows"] for window, case in zip(windows, cases, strict=True)]
        complexity = [case["facts"]["complexity"] * part / 1000 for case, part in zip(cases, share, strict=True)]
        right.plot(complexity, [1000 * _best(case, "basic") * p for case, p in zip(cases, share, strict=True)], marker="o", label=query)
    left.set(yscale="log", xlabel="window (events of the symbol)", ylabel=THROUGHPUT, title="Throughput, basic, all results")
    right.set(xlabel="output complexity (x 1000)", ylabel="cost of W events (ms)", title="Cost against output complexity")
    left.legend()
    right.legend()
    _save(figure, path)


def _gain(result: dict[str, Any], path: Path) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
    for query, cases in _by_fact(result, "query").items():
        gains = [_rate(case, "merging") / _rate(case, "basic") for case in cases]
        axes.plot([case["facts"]["window"] for case in cases], gains, marker="o", label=query)
    axes.set(xlabel="window (events of the symbol)", ylabel="throughput gain by merging", title=result["title"])
    axes.axhline(1.0, color="grey", linewidth=0.8)
    axes.legend()
    _save(figure, path)


def _by_fact(result: dict[str, Any], fact: str) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for case in result["cases"]:
        groups.setdefault(case["facts"][fact], []).append(case)
    return groups


def _best(case: dict[str, Any], name: str) -> float:
    return min(next(measured["seconds"] for measured in case["measurements"] if measured["name"] == name))


def _rate(case: dict[str, Any], name: str) -> float:
    return case["rows"] / _best(case, name)


def _save(figure: Any, path: Path) -> None:
    from matplotlib import pyplot

    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


if __name__ == "__main__":
    main()
