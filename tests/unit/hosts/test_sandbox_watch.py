from __future__ import annotations

import time

import pytest

from ostinato.base.errors import SandboxError
from ostinato.hosts.sandbox import Sandbox, Watch
from ostinato.kernels._compile_clock import compile_clock


def test_compiling_kernels_is_not_the_time_of_the_query() -> None:
    watch = Watch(Sandbox(seconds=0.2))
    with compile_clock.running():
        time.sleep(0.4)
        watch.check()
    watch.check()
    time.sleep(0.3)
    with pytest.raises(SandboxError, match=r"longer than the 0.2 seconds"):
        watch.check()
