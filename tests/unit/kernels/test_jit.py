import importlib.util
import os
import resource
import subprocess
import sys
import textwrap
from types import SimpleNamespace

import pytest

from ostinato.base.errors import OstinatoError
from ostinato.kernels import _jit

MODULE = """
from ostinato.kernels._jit import jit

@jit
def twice(x):
    return 2 * x

@jit("int64(int64[::1])")
def total(values):
    sum = 0
    for v in values:
        sum += twice(v)
    return sum
"""

RUN = """
import logging, sys
import numpy as np
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
import ostinato.kernels
ostinato.kernels.__path__.append(sys.argv[1])
from ostinato.kernels import toy
print(toy.total(np.arange(5)))
"""


def run(tmp_path, **environment):
    module = tmp_path / "toy.py"
    if not module.exists():  # written again, it would be another file
        module.write_text(textwrap.dedent(MODULE))
    command = [sys.executable, "-c", RUN, str(tmp_path)]
    source = os.path.dirname(os.path.dirname(os.path.dirname(_jit.__file__)))
    variables = {**os.environ, "PYTHONPATH": source, "XDG_CACHE_HOME": str(tmp_path / "cache"), **environment}
    variables.pop("NUMBA_CACHE_DIR", None)
    return subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True)


def output(process):
    text, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return text.splitlines()


def test_workers_that_start_together_compile_once_and_later_ones_only_load(tmp_path):
    texts = [output(process) for process in [run(tmp_path) for _ in range(3)]]
    assert [lines[-1] for lines in texts] == ["20"] * 3
    assert sum(line.startswith("compiling kernel total") for lines in texts for line in lines) == 1
    assert output(run(tmp_path)) == ["20"]


def test_functions_stay_python_without_the_compiler(tmp_path):
    assert output(run(tmp_path, NUMBA_DISABLE_JIT="1")) == ["20"]


def test_the_cache_of_a_module_depends_on_what_it_imports():
    digests = {name: _jit._source_digest(f"ostinato.kernels.{name}") for name in ("_jit", "_compile_lock")}
    assert len(set(digests.values())) == 2
    imported = ["ostinato.base.errors", "ostinato.kernels._compile_clock", "ostinato.kernels._compile_lock"]
    assert _jit._imported(_jit._source("ostinato.kernels._jit")) == imported


def test_a_module_that_is_imported_out_of_its_package_counts():
    lines = (
        "from ostinato.kernels.compact import start_heaps as nodes, compact_best",
        "from ostinato.kernels.rows.grouping import (\n    put,\n)",
    )
    assert _jit._imported("\n".join(lines)) == [
        "ostinato.kernels.compact",
        "ostinato.kernels.compact.start_heaps",
        "ostinato.kernels.compact.compact_best",
        "ostinato.kernels.rows.grouping",
    ]


def test_what_is_missing_is_compiled_once_heaviest_first(monkeypatch):
    def light():
        return 1

    def heavy(x):
        return [x + 1, x * 2, x - 3, x / 4, x % 5]

    class Recorded:
        def __init__(self, function):
            self.py_func, self.stored = function, False

        def compile(self, signature):
            self.stored = True

        def is_stored(self, signature):
            return self.stored

    kernels = [(Recorded(light), "void()"), (Recorded(heavy), "void(int64)")]
    told, started = [], []
    monkeypatch.setattr(_jit, "_registered", kernels)
    monkeypatch.setattr(_jit, "_pieces", [])
    monkeypatch.setattr(_jit, "_second_process", lambda modules: started.append(modules))
    assert not _jit.is_warm()
    assert _jit.prepare(lambda *step: told.append(step)) == 2
    assert told == [("heavy", 1, 2), ("light", 2, 2)] and started == [[__name__]]
    assert _jit.is_warm() and _jit.prepare() == 0


def test_what_only_kernels_call_refuses_to_be_called(tmp_path):
    """It has no entry for Python: a call would end the process."""
    inner = _jit.jit(lambda x: 2 * x)
    assert isinstance(inner, _jit.InnerFunction)
    with pytest.raises(TypeError, match="for calls from other kernels only"):
        inner(3)
    assert _jit.at_first_call(inner)(3) == 6


def test_seldom_types_wait_for_their_first_call_unless_somebody_warms_up(monkeypatch, tmp_path):
    monkeypatch.setattr(_jit, "cache_directory", lambda: tmp_path)  # where nothing is stored yet
    for name in ("_registered", "_seldom", "_pieces"):
        monkeypatch.setattr(_jit, name, [])
    monkeypatch.setattr(_jit, "_import_kernels", lambda: None)
    monkeypatch.setattr(_jit, "_second_process", lambda modules: None)
    kernel = _jit.jit("int64(int64)", "float64(float64)")(_twice)
    _jit.prepare()
    assert [str(types[0]) for types in kernel.overloads] == ["int64"]
    _jit.warm_up()
    assert [str(types[0]) for types in kernel.overloads] == ["int64", "float64"]


def test_the_second_process_keeps_clear_of_the_module_that_the_first_compiles():
    def kernel(module):
        return SimpleNamespace(py_func=SimpleNamespace(__module__=module)), "void()"

    heavy, middle, same = kernel("a"), kernel("b"), kernel("a")
    assert _jit._apart([heavy, middle, same]) == [middle]
    assert _jit._apart([]) == []


def _twice(x):
    return x + x


def test_the_same_source_in_another_place_is_not_taken_for_compiled(tmp_path, monkeypatch):
    """Numba keeps what it compiles by the path of the file and the time at which it was written."""
    monkeypatch.setattr(_jit, "cache_directory", lambda: tmp_path / "cache")
    monkeypatch.setattr(_jit, "_registered", [])

    def loaded(path):
        spec = importlib.util.spec_from_file_location("ostinato_two_places", path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "ostinato_two_places", module)
        spec.loader.exec_module(module)
        return module.total

    one, other = tmp_path / "one.py", tmp_path / "other.py"
    for path in (one, other):
        path.write_text(MODULE)
    signature = "int64(int64[::1])"
    kernel = loaded(one)
    kernel.compile(signature)
    assert kernel.is_stored(signature) and loaded(one).is_stored(signature)
    again = loaded(other)
    assert not again.is_stored(signature)
    again.compile(signature)
    assert again.is_stored(signature) and sum(again.stats.cache_hits.values()) == 0
    os.utime(one, (1, 1))
    assert not loaded(one).is_stored(signature)


def test_no_room_for_compiled_kernels(tmp_path, monkeypatch):
    monkeypatch.setattr(_jit, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(_jit, "_registered", [])
    kernel = _jit.jit("int64(int64)")(_twice)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, most))  # a limit on the size of files is met as a full disk is
    try:
        with pytest.raises(OstinatoError, match="cannot be stored in") as caught:
            _jit.prepare()
        assert caught.value.hint is not None and "NUMBA_CACHE_DIR" in caught.value.hint
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    assert not kernel.is_stored("int64(int64)")
    assert kernel(4) == 8


def test_an_unwritable_home_is_replaced(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(_jit.tempfile, "gettempdir", lambda: str(tmp_path / "other"))
    assert str(_jit.cache_directory.__wrapped__()).startswith(str(tmp_path / "other"))
    assert importlib.import_module("ostinato.kernels._jit") is _jit
