"""Which matcher carries out which strategy. Only the one that is needed is loaded: a worker that starts cold reads fewer kernels."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from ostinato.program.carried_negations import uncarried
from ostinato.program.program import Program
from ostinato.program.start_negations import start_negations
from ostinato.runtime.matcher import Matcher
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.session.budget import Budget

MATCHERS = {
    "scan": ("ostinato.runtime.scan.scan_matcher", "ScanMatcher"),
    "threads": ("ostinato.runtime.threads.thread_matcher", "ThreadMatcher"),
    "runs": ("ostinato.runtime.runs.run_matcher", "RunMatcher"),
    "compact": ("ostinato.runtime.compact.compact_matcher", "CompactMatcher"),
    "backtrack": ("ostinato.runtime.backtrack.backtrack_matcher", "BacktrackMatcher"),
}
WITHOUT_LISTING = {"compact": ("ostinato.runtime.tally.tally_matcher", "TallyMatcher")}
GRAPHS = ("compact", "runs")  # whose matches are a graph already; those of others are listed before they are compressed


def tallied(program: Program) -> bool:
    """Whether the matcher itself counts and sums up, and reports no single match."""
    return program.strategy in WITHOUT_LISTING and program.output in ("count", "aggregates") and not uncarried(program).negations


def open_matcher(program: Program, budget: Budget, pool: StringPool, in_order: bool = False) -> Matcher:
    """`in_order`: matches come in the order of their completing events over all calls, also where some are decided late."""
    filtered = uncarried(program)
    if program.output == "compressed" and (filtered.negations or program.strategy not in GRAPHS):
        program, filtered = replace(program, output="all"), replace(filtered, output="all")
    by_start = start_negations(program)
    if by_start is not None:
        starts: Matcher = import_module("ostinato.runtime.tally.start_counts").StartCounts(program, by_start, budget, pool)
        return starts
    if filtered.negations:
        absence = import_module("ostinato.runtime.negation.absence")
        inner = open_matcher(absence.without_negations(program), budget, pool)
        return absence.AbsenceMatcher(filtered, inner, budget, pool, in_order)
    module, name = (WITHOUT_LISTING if tallied(program) else MATCHERS)[program.strategy]
    return getattr(import_module(module), name)(program, budget, pool)
