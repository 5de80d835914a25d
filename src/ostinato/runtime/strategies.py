"""Which matcher carries out which strategy."""

from __future__ import annotations

from ostinato.program.program import Program
from ostinato.runtime.budget import Budget
from ostinato.runtime.matcher import Matcher
from ostinato.runtime.run_matcher import RunMatcher
from ostinato.runtime.scan_matcher import ScanMatcher
from ostinato.runtime.string_pool import StringPool
from ostinato.runtime.thread_matcher import ThreadMatcher


def open_matcher(program: Program, budget: Budget, pool: StringPool) -> Matcher:
    if program.strategy == "scan":
        return ScanMatcher(program)
    if program.strategy == "threads":
        return ThreadMatcher(program, budget, pool)
    return RunMatcher(program, budget, pool)
