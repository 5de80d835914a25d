"""Which tests concern a module: those of its package, the quickest first, and behind them what every module takes part in."""

from __future__ import annotations

from pathlib import PurePosixPath

RUNTIME = "tests/unit/runtime/test_"
GOLDEN = "tests/golden/test_golden.py::test_golden_cases"
EVERYTHING = (f"{GOLDEN}[session]", "tests/property/test_small_room.py::test_tables_that_start_small_give_the_same_matches")
RANGES = tuple(f"tests/unit/hosts/spark/test_{name}.py" for name in ("time_ranges", "range_totals", "ranges_equal_whole"))

BY_PACKAGE: dict[str, tuple[str, ...]] = {
    "kernels/backtrack": (f"{RUNTIME}backtrack_matcher.py", "tests/property/test_backtrack_matcher.py"),
    "kernels/compact": (f"{RUNTIME}compact.py", "tests/property/test_compact_matcher.py"),
    "kernels/instances": (f"{RUNTIME}instances.py", "tests/property/test_cel_equals_reference.py"),
    "kernels/intervals": (f"{RUNTIME}intervals.py", f"{RUNTIME}interval_orders.py", "tests/property/test_tpstream_equals_reference.py"),
    "kernels/matches": (f"{RUNTIME}listed_matches.py",),
    "kernels/negation": (f"{RUNTIME}negation.py", "tests/property/test_negation_equals_reference.py"),
    "kernels/output": (f"{RUNTIME}shown_rows.py", f"{RUNTIME}timeouts.py", "tests/property/test_compressed_output.py"),
    "kernels/queries": ("tests/unit/test_many_queries.py", "tests/property/test_shapes_equal_queries_alone.py"),
    "kernels/rows": tuple(f"{RUNTIME}{name}.py" for name in ("key_index", "keyed_rows", "string_pool", "reorder", "opaque_values")),
    "kernels/runs": tuple(f"{RUNTIME}{name}.py" for name in ("run_matcher", "run_sharing", "run_timeouts")),
    "kernels/scalar": ("tests/unit/kernels/test_scalar.py", "tests/unit/plan/test_scalar_code.py"),
    "kernels/scan": (f"{RUNTIME}scan_matcher.py", f"{RUNTIME}anchors.py", "tests/unit/kernels/test_scan_memo.py"),
    "kernels/search": (f"{RUNTIME}searched_rows.py", "tests/property/test_search_equals_scan.py"),
    "kernels/aggregation": (
        f"{RUNTIME}aggregation_window.py",
        "tests/property/test_start_counts.py",
        "tests/property/test_aggregates_over_matches.py",
    ),
    "kernels/threads": (f"{RUNTIME}thread_matcher.py", f"{RUNTIME}searched_rows.py", f"{RUNTIME}skip_to.py"),
    "kernels/tree": tuple(f"{RUNTIME}nested_{name}.py" for name in ("patterns", "windows"))
    + (f"{RUNTIME}evaluation_choice.py", "tests/property/test_nested_equals_reference.py"),
    "kernels/vectors": ("tests/unit/expr", "tests/unit/kernels/vectors", "tests/property/test_vectors_equal_evaluate.py"),
    "plan": ("tests/unit/plan", "tests/unit/program/test_joins.py", "tests/golden/test_shown_texts.py"),
    "program": ("tests/unit/program",),
    "program/shapes": ("tests/unit/program/test_shapes.py", "tests/property/test_shapes_equal_queries_alone.py"),
    "runtime/delivery": ("tests/unit/runtime/delivery",),
    "runtime/session": tuple(f"{RUNTIME}{name}.py" for name in ("session", "session_options", "graph", "late_rows", "forged_snapshots")),
    "runtime": (f"{RUNTIME}session.py", f"{RUNTIME}graph.py"),
    "tasks": (*RANGES, "tests/unit/hosts/spark/test_chain_stands.py", f"{GOLDEN}[time ranges]", f"{GOLDEN}[keyed pass]"),
}


def concerning(module: str) -> tuple[str, ...]:
    """Of a path within the package, such as kernels/scan/scan_dfa.py. A package of `runtime` has the tests of its kernels."""
    folder = PurePosixPath(module).parent.as_posix()
    for known in (folder, folder.replace("runtime/", "kernels/"), *(parent.as_posix() for parent in PurePosixPath(folder).parents)):
        if known in BY_PACKAGE:
            return BY_PACKAGE[known] + EVERYTHING
    return EVERYTHING
