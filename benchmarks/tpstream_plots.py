"""The figures of the experiments on situations, drawn from their results: `python -m benchmarks.tpstream_plots`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.harness import RESULTS, announce
from benchmarks.sase_plots import IMAGES, best, save

PART = "part of ISEQ's detection time"


def main() -> None:
    draw_all(RESULTS)


def draw_all(results: Path, images: Path = IMAGES) -> None:
    """Whatever there are results of."""
    import matplotlib

    matplotlib.use("Agg")
    images.mkdir(parents=True, exist_ok=True)
    drawn = {
        "tpstream_disconnected": _windows,
        "tpstream_drivers": _drivers,
        "tpstream_patterns": _patterns,
        "tpstream_latency": _latency,
        "tpstream_plans": _plans,
        "tpstream_adaption": _plans,
    }
    for name, draw in drawn.items():
        path = results / f"{name}.json"
        if path.exists():
            draw(json.loads(path.read_text()), images / f"{name}.svg")
            announce(f"drew {name}.svg")


def _figure(result: dict[str, Any]) -> tuple[Any, Any]:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
    axes.set_title(result["title"])
    return figure, axes


def _lines(axes: Any, cases: list[dict[str, Any]], names: list[str], places: list[float], suffix: str = "", style: str = "o-") -> None:
    for number, name in enumerate(names):
        known = [(place, best(case, name)) for place, case in zip(places, cases, strict=True) if name in _names(case)]
        if known:
            axes.plot(*zip(*known, strict=True), style, color=f"C{number}", label=name + suffix)


def _names(case: dict[str, Any]) -> list[str]:
    return [measured["name"] for measured in case["measurements"]]


def _windows(result: dict[str, Any], path: Path) -> None:
    figure, axes = _figure(result)
    cases = result["cases"]
    _lines(axes, cases, _names(cases[0]), [case["facts"]["window"] for case in cases])
    axes.set(xscale="log", yscale="log", xlabel="window (seconds)", ylabel="CPU seconds")
    axes.legend(fontsize="small")
    save(figure, path)


def _drivers(result: dict[str, Any], path: Path) -> None:
    figure, axes = _figure(result)
    for pattern, style in (("full", "o-"), ("simplified", "s--")):
        cases = [case for case in result["cases"] if case["facts"]["pattern"] == pattern]
        _lines(axes, cases, _names(cases[0]), [case["rows"] for case in cases], f", {pattern}", style)
    axes.set(xscale="log", yscale="log", xlabel="events", ylabel="CPU seconds")
    axes.legend(fontsize="small")
    save(figure, path)


def _patterns(result: dict[str, Any], path: Path) -> None:
    figure, axes = _figure(result)
    kinds = list(dict.fromkeys(case["facts"]["kind"] for case in result["cases"]))
    for number, name in enumerate(("ostinato", "ISEQ")):
        values = [[best(case, name) for case in result["cases"] if case["facts"]["kind"] == kind] for kind in kinds]
        places = [at + 0.35 * number for at in range(len(kinds))]
        boxes = axes.boxplot(values, positions=places, widths=0.3, patch_artist=True, manage_ticks=False)
        for box in boxes["boxes"]:
            box.set_facecolor(f"C{number}")
        axes.plot([], [], color=f"C{number}", linewidth=6, label=name)
    axes.set_xticks([at + 0.175 for at in range(len(kinds))], kinds)
    axes.set(yscale="log", ylabel="CPU seconds")
    axes.legend(fontsize="small")
    save(figure, path)


def _latency(result: dict[str, Any], path: Path) -> None:
    figure, axes = _figure(result)
    relations = list(dict.fromkeys(case["facts"]["relation"] for case in result["cases"]))
    ratios = list(dict.fromkeys(case["facts"]["ratio"] for case in result["cases"]))
    for number, ratio in enumerate(ratios):
        values = [case["facts"][PART] for case in result["cases"] if case["facts"]["ratio"] == ratio]
        axes.bar([at + 0.27 * number for at in range(len(relations))], values, 0.25, label=f"lengths {ratio}")
    axes.set_xticks([at + 0.27 for at in range(len(relations))], relations)
    axes.set(ylabel=PART, ylim=(0, 1.05))
    axes.legend(fontsize="small")
    save(figure, path)


def _plans(result: dict[str, Any], path: Path) -> None:
    figure, axes = _figure(result)
    names = _names(result["cases"][0])
    for number, name in enumerate(names):
        places = [at + 0.8 * number / len(names) for at in range(len(result["cases"]))]
        axes.bar(places, [best(case, name) for case in result["cases"]], 0.75 / len(names), label=name)
    axes.set_xticks([at + 0.4 - 0.4 / len(names) for at in range(len(result["cases"]))], [case["name"] for case in result["cases"]])
    axes.set(ylabel="CPU seconds")
    axes.legend(fontsize="small")
    save(figure, path)


if __name__ == "__main__":
    main()
