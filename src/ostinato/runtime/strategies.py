"""Which matcher carries out which strategy. Only the one that is needed is loaded: a worker that starts cold reads fewer kernels."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from ostinato.program.analysis.carried_negations import uncarried
from ostinato.program.analysis.start_negations import start_negations
from ostinato.program.negation import Negation
from ostinato.program.pattern import EventPattern, Pattern
from ostinato.program.tree import TreePattern
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.matcher import Matcher
from ostinato.runtime.rows.string_pool import StringPool

MATCHERS = {
    "scan": ("ostinato.runtime.scan.scan_matcher", "ScanMatcher"),
    "threads": ("ostinato.runtime.threads.thread_matcher", "ThreadMatcher"),
    "runs": ("ostinato.runtime.runs.run_matcher", "RunMatcher"),
    "compact": ("ostinato.runtime.compact.compact_matcher", "CompactMatcher"),
    "backtrack": ("ostinato.runtime.backtrack.backtrack_matcher", "BacktrackMatcher"),
    "intervals": ("ostinato.runtime.intervals.interval_matcher", "IntervalMatcher"),
    "instances": ("ostinato.runtime.instances.instance_matcher", "InstanceMatcher"),
}
WITHOUT_LISTING = {"compact": ("ostinato.runtime.aggregation.aggregation_matcher", "AggregationMatcher")}
GRAPHS = ("compact", "runs")  # whose matches are a graph already; those of others are listed before they are compressed


def accumulates(pattern: Pattern) -> bool:
    """Whether the matcher itself counts and sums up, and reports no single match."""
    return pattern.evaluation in WITHOUT_LISTING and pattern.output in ("count", "aggregates") and not _filtering(pattern)


def open_matcher(pattern: Pattern, budget: Budget, pool: StringPool, in_order: bool = False) -> Matcher:
    """`in_order`: matches come in the order of their completing events over all calls, also where some are decided late."""
    if isinstance(pattern, EventPattern):
        if pattern.output == "compressed" and (_filtering(pattern) or pattern.evaluation not in GRAPHS):
            pattern = replace(pattern, output="all")
        by_start = start_negations(pattern)
        if by_start is not None:
            starts: Matcher = import_module("ostinato.runtime.aggregation.start_counts").StartCounts(pattern, by_start, budget, pool)
            return starts
        if _filtering(pattern):
            negation = import_module("ostinato.runtime.negation.negation_matcher")
            inner = open_alone(negation.candidates(pattern), budget, pool)
            return negation.NegationMatcher(uncarried(pattern), inner, budget, pool, in_order)
    if isinstance(pattern, TreePattern):
        tree: Matcher = import_module("ostinato.runtime.tree.tree_matcher").TreeMatcher(pattern, budget, pool, in_order)
        return tree
    return open_alone(pattern, budget, pool)


def open_alone(pattern: Pattern, budget: Budget, pool: StringPool) -> Matcher:
    """The matcher of the pattern without what filters its matches."""
    module, name = (WITHOUT_LISTING if accumulates(pattern) else MATCHERS)[pattern.evaluation]
    return getattr(import_module(module), name)(pattern, budget, pool)


def _filtering(pattern: Pattern) -> tuple[Negation, ...]:
    """The negations that no matcher carries while it follows partial matches."""
    return uncarried(pattern).negations if isinstance(pattern, EventPattern) else ()
