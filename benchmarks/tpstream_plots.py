"""The figures of the experiments on situations, drawn from their results: `python -m benchmarks.tpstream_plots`."""

from __future__ import annotations

import json
from functools import partial
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
        "tpstream_result_latency": partial(_by_fact, "window", "window (seconds)"),
        "tpstream_rate_latency": partial(_by_fact, "rate", "events per second"),
        "tpstream_partitions": partial(_speed_up, "source"),
        "tpstream_unpartitioned": partial(_speed_up, "window"),
        "tpstream_phases": _phases,
        "tpstream_tuning": _tuning,
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
        known = {case["facts"]["relation"]: case["facts"][PART] for case in result["cases"] if case["facts"]["ratio"] == ratio}
        places = [at + 0.27 * number for at, relation in enumerate(relations) if relation in known]
        axes.bar(places, [known[relation] for relation in relations if relation in known], 0.25, label=f"lengths {ratio}")
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


def _by_fact(fact: str, label: str, result: dict[str, Any], path: Path) -> None:
    figure, axes = _figure(result)
    cases = result["cases"]
    _lines(axes, cases, _names(cases[0]), [case["facts"][fact] for case in cases])
    axes.set(xscale="log", yscale="log", xlabel=label, ylabel="seconds")
    axes.legend(fontsize="small")
    save(figure, path)


def _speed_up(fact: str, result: dict[str, Any], path: Path) -> None:
    """A picture for each source or window; what is projected is dashed."""
    from matplotlib import pyplot

    groups = list(dict.fromkeys(case["facts"][fact] for case in result["cases"]))
    figure, pictures = pyplot.subplots(1, len(groups), figsize=(3.2 * len(groups), 3.4), layout="constrained", sharey=True, squeeze=False)
    figure.suptitle(result["title"])
    for axes, group in zip(pictures[0], groups, strict=True):
        for number, case in enumerate(case for case in result["cases"] if case["facts"][fact] == group):
            facts = case["facts"]
            measured = [1.0, facts["speed-up with 2"]]
            axes.plot([1, 2], measured, "o-", color=f"C{number}", label=facts["batches"])
            axes.plot([2, 4, 8], [measured[1], facts["projected with 4"], facts["projected with 8"]], "--", color=f"C{number}")
        axes.set(title=f"{fact}: {group}", xlabel="threads (dashed: projected)", xticks=[1, 2, 4, 8])
    pictures[0][0].set(ylabel="speed-up")
    pictures[0][0].legend(fontsize="small")
    save(figure, path)


def _phases(result: dict[str, Any], path: Path) -> None:
    figure, axes = _figure(result)
    cases = result["cases"]
    matching = [case["facts"]["part of matching"] for case in cases]
    axes.bar(range(len(cases)), [1 - part for part in matching], label="deriving")
    axes.bar(range(len(cases)), matching, bottom=[1 - part for part in matching], label="matching")
    axes.set_xticks(range(len(cases)), [case["name"].replace(", ", "\n") for case in cases], fontsize=6, rotation=90)
    axes.set(ylabel="part of the CPU time", ylim=(0, 1))
    axes.legend(fontsize="small")
    save(figure, path)


def _tuning(result: dict[str, Any], path: Path) -> None:
    from matplotlib import pyplot

    cases = result["cases"]
    figure, pictures = pyplot.subplots(len(cases), 1, figsize=(7, 2.2 * len(cases)), layout="constrained", squeeze=False)
    figure.suptitle(result["title"])
    for (axes,), case in zip(pictures, cases, strict=True):
        steps = case["facts"]["steps"]
        axes.step(range(len(steps)), [step["batch"] for step in steps], where="post", color="C0", label="rows of a batch")
        axes.step(range(len(steps)), [step["rows"] for step in steps], ":", where="post", color="C2", label="rows of a push")
        axes.set(title=case["name"], yscale="log", xlabel="push")
        threads = axes.twinx()
        threads.step(range(len(steps)), [step["threads"] for step in steps], where="post", color="C1", label="threads")
        threads.set(ylim=(0, 3), ylabel="threads")
        axes.legend(fontsize="small", loc="lower left")
        threads.legend(fontsize="small", loc="lower right")
    save(figure, path)


if __name__ == "__main__":
    main()
