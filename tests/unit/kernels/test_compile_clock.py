from __future__ import annotations

import pytest

from ostinato.kernels import _compile_clock
from ostinato.kernels._compile_clock import CompileClock


def test_it_runs_once_however_many_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10.0]
    monkeypatch.setattr(_compile_clock.time, "monotonic", lambda: now[0])
    clock = CompileClock()
    with clock.running():
        now[0] = 12.0
        with clock.running():
            now[0] = 15.0
        assert clock.seconds == 5.0
    now[0] = 100.0
    assert clock.seconds == 5.0


def test_it_stops_when_compiling_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(_compile_clock.time, "monotonic", lambda: now[0])
    clock = CompileClock()
    with pytest.raises(ValueError), clock.running():
        now[0] = 1.0
        raise ValueError
    now[0] = 9.0
    assert clock.seconds == 1.0
