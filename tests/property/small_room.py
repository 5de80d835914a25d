"""Tables that start with room for next to nothing, so that a few rows make each of them grow, and the last place of each is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from ostinato.kernels.rows import hashing, string_table
from ostinato.runtime.aggregation import aggregation_store
from ostinato.runtime.backtrack import backtrack_store
from ostinato.runtime.compact import compact_store
from ostinato.runtime.instances import instance_store
from ostinato.runtime.matches import listing, match_list, ordered_matches
from ostinato.runtime.output import report
from ostinato.runtime.rows import column_reader, keyed_rows, row_symbols
from ostinato.runtime.runs import run_reading, run_store
from ostinato.runtime.scan import scan_matcher
from ostinato.runtime.search import search_store
from ostinato.runtime.threads import thread_matcher, thread_store

LEAST_ROOM = (
    (backtrack_store, "FIRST_CAPACITY", 1),
    (column_reader, "MANY", 1),
    (compact_store, "FIRST_CAPACITY", 1),
    (hashing, "MIN_SLOTS", 2),
    (instance_store, "AT_A_TIME", 1),
    (instance_store, "FIRST_CAPACITY", 1),
    (keyed_rows, "FEW_ROWS", 1),
    (listing, "LEAST_PART", 1),
    (match_list, "FIRST_MATCHES", 1),
    (match_list, "FIRST_WALK", 1),
    (ordered_matches, "MOVED_AT_ONCE", 1),
    (report, "SHOWN_AT_ONCE", 1),
    (row_symbols, "FIRST_SLOTS", 2),
    (run_reading, "FIRST_DEPTH", 1),
    (run_store, "FIRST_CAPACITY", 2),
    (scan_matcher, "MIN_MATCHES", 1),
    (scan_matcher, "MIN_MEMO", 2),
    (search_store, "MIN_BLOCKS", 1),
    (string_table, "FIRST_BYTES", 1),
    (string_table, "FIRST_SLOTS", 2),
    (aggregation_store, "FIRST_CAPACITY", 1),
    (thread_matcher, "MIN_MATCHES", 1),
    (thread_store, "MIN_NODES", 4),
    (thread_store, "MIN_ROOM", 1),
)


@contextmanager
def small_room() -> Iterator[None]:
    with ExitStack() as stack:
        for module, name, least in LEAST_ROOM:
            assert getattr(module, name) > least, (module, name)
            stack.enter_context(patch.object(module, name, least))
        yield
