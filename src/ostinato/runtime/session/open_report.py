"""Which report shows the results of an operator. Only the one that is needed is loaded."""

from __future__ import annotations

from importlib import import_module

from ostinato.program.instances import InstanceAutomaton
from ostinato.program.intervals import IntervalPattern
from ostinato.program.pattern import Pattern
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.output.report import Report
from ostinato.runtime.rows.string_pool import StringPool


def open_report(pattern: Pattern, budget: Budget, pool: StringPool) -> Report:
    if isinstance(pattern, InstanceAutomaton):
        report: Report = import_module("ostinato.runtime.instances.instance_report").InstanceReport(pattern, pool, budget)
        return report
    if isinstance(pattern, IntervalPattern):
        shown: Report = import_module("ostinato.runtime.intervals.interval_report").IntervalReport(pattern, pool, budget)
        return shown
    return Report(pattern, pool, budget)
