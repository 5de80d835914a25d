"""The one decorator that owns every flag of the compiler, and where compiled kernels are kept.

`@jit` marks a function that kernels call, and only they; `@jit("signature")` one that Python calls, so that `prepare` can compile it
ahead of its first use. Compiled code lies in a cache of the machine's user (`NUMBA_CACHE_DIR`, else `$XDG_CACHE_HOME/ostinato`, else
`~/.cache/ostinato`); the directory is named after the sources of the module and of all modules that it imports, because Numba
itself looks at one file only and would keep a kernel whose callee has changed. With NUMBA_DISABLE_JIT=1 functions stay Python."""

from __future__ import annotations

import gc
import hashlib
import importlib
import importlib.util
import logging
import os
import pkgutil
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numba.core.config
from numba.core.registry import CPUDispatcher

from ostinato.base.errors import OstinatoError
from ostinato.kernels._compile_clock import compile_clock
from ostinato.kernels._compile_lock import compile_lock

config: Any = numba.core.config  # its attributes are made at run time
log = logging.getLogger("ostinato")

_FLAGS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "boundscheck": False,
    "error_model": "numpy",
    "forceinline": False,
    "_nrt": True,
    "no_cfunc_wrapper": True,  # nobody calls kernels from C
    "no_rewrites": True,  # they are for array expressions and for raising exceptions
}
_IMPORT = re.compile(r"^\s*(?:from|import) (ostinato(?:\.\w+)+)(?: import (\([^)]*\)|[^\n#]+))?", re.MULTILINE)
_registered: list[tuple[Any, str]] = []  # what Python calls, with the types that most queries have
_seldom: list[tuple[Any, str]] = []  # the same with other types, compiled by their first call unless somebody warms up
_pieces: list[tuple[Any, str]] = []  # what a large kernel calls and another process can compile meanwhile
_announced: list[str] = []


def jit(function: Callable | str, *more: str) -> Any:
    """`@jit` or `@jit("int64(int64[::1])")`, with several signatures where arrays may have several types, the most common ones first; see
    the module's text."""
    if isinstance(function, str):
        return lambda body: _compiled(body, (function, *more))
    return _compiled(function, ())


def borrowing(function: Callable | str, *more: str) -> Any:
    """As `jit`, for kernels that make no array and put none into a tuple: references to arrays are not counted. Around small steps that
    get a dozen arrays the counting took nine tenths of the time."""
    if isinstance(function, str):
        return lambda body: _compiled(body, (function, *more), _nrt=False)
    return _compiled(function, (), _nrt=False)


def inlined(function: Callable | str) -> Any:
    """As a bare `@borrowing`, and copied into its callers: an array argument is up to nine machine words, so that handing a dozen of
    them to a small step costs several times the step. With a signature it is a piece: see `piece`."""
    if isinstance(function, str):
        return lambda body: _piece(_compiled(body, (), _nrt=False, forceinline=True), function)
    return _compiled(function, (), _nrt=False, forceinline=True)


def piece(signature: str) -> Any:
    """As a bare `@borrowing`, for something large that a kernel calls: where there is a second processor it is compiled there while the
    first compiles the rest of the kernel."""
    return lambda body: _piece(_compiled(body, (), _nrt=False), signature)


def _piece(dispatcher: Any, signature: str) -> Any:
    if not config.DISABLE_JIT:
        _pieces.append((dispatcher, signature))
    return dispatcher


def copied(kernel: Any) -> Any:
    """A kernel that others call, to be copied into its callers as an inlined one; nothing is stored for it."""
    return _compiled(getattr(kernel, "py_func", kernel), (), _nrt=False, forceinline=True, cache=False)


def at_first_call(function: Callable) -> Any:
    """As `borrowing`, for a kernel that Python calls and that is not compiled ahead, since queries have to ask for it. Of an inner function
    it makes a copy for Python, of which nothing is stored."""
    return _compiled(getattr(function, "py_func", function), (), from_python=True, _nrt=False, cache=not hasattr(function, "py_func"))


def user_code(body: Callable, arguments: tuple[Any, ...]) -> Any:
    """A function of a user, compiled for these types: by the rules of Python where it fails, and not stored, since what it calls may change
    without its file."""
    with compile_clock.running():
        dispatcher = numba.njit(nogil=True, error_model="python")(getattr(body, "py_func", body))
        dispatcher.compile(arguments)
    return dispatcher


def entry_for_c(signature: Any, function: Callable) -> Any:
    """Something that has an address. Nothing is stored: it may contain others."""
    with compile_clock.running():
        return numba.cfunc(signature, error_model="python")(function)


class InnerFunction(CPUDispatcher):
    """What only kernels call: what Python would need for a call is not compiled, a fifth of the time that compiling takes."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        name = self.py_func.__name__
        raise TypeError(f"{name} is compiled for calls from other kernels only: give it a signature, or call at_first_call({name})")


def _compiled(function: Callable, signatures: Sequence[str], from_python: bool = False, **flags: bool) -> Any:
    if config.DISABLE_JIT:
        return function
    is_inner = not signatures and not from_python
    chosen = config.CACHE_DIR
    directory = cache_directory() / f"{function.__module__.removeprefix('ostinato.')}-{_source_digest(function.__module__)}"
    config.CACHE_DIR = str(directory)  # read while the decorator runs; other users of Numba keep their own setting
    try:
        dispatcher = numba.njit(**{**_FLAGS, "no_cpython_wrapper": is_inner, **flags})(function)
    finally:
        config.CACHE_DIR = chosen
    if is_inner:
        dispatcher.__class__ = InnerFunction  # Numba's decorator takes no class
    if flags.get("cache", True):
        _guard(dispatcher, function, directory)
    _registered.extend((dispatcher, signature) for signature in signatures[:1])
    _seldom.extend((dispatcher, signature) for signature in signatures[1:])
    return dispatcher


def _guard(dispatcher: Any, function: Callable, directory: Path) -> None:
    """Let one process compile a module at a time. Numba's cache writes its index before the code and numbers files without a lock:
    processes that start together would overwrite each other. A signature that is marked as stored is only read, without the lock."""
    compile_unguarded = dispatcher.compile

    def mark(signature: Any) -> tuple[Any, Path]:
        # without the return type: the cache would keep what is compiled with one apart from what a call asks for
        arguments, _ = numba.core.sigutils.normalize_signature(signature)
        return arguments, directory / f"{function.__name__}-{_digest(f'{arguments!r} {_place(function)}')}.stored"

    def compile_guarded(signature: Any) -> Any:
        arguments, stored = mark(signature)
        if stored.exists():
            return compile_unguarded(arguments)
        with compile_clock.running(), compile_lock(directory.parent / f"{directory.name}.lock"), _garbage_left():
            if not stored.exists():
                _announce(function.__name__)
            with _room_in(directory.parent):
                entry = compile_unguarded(arguments)
                directory.mkdir(parents=True, exist_ok=True)
                stored.touch()
            return entry

    found: set[str] = set()  # what was stored once is not looked for again

    def is_stored(signature: str) -> bool:
        if signature not in found and mark(signature)[1].exists():
            found.add(signature)
        return signature in found

    dispatcher.compile = compile_guarded
    dispatcher.is_stored = is_stored


@contextmanager
def _room_in(cache: Path) -> Iterator[None]:
    try:
        yield
    except OSError as cause:
        raise OstinatoError(
            f"Compiled kernels cannot be stored in {cache}",
            detail=cause.strerror or str(cause),
            hint="Make room there (some 50 MB), or name another directory in NUMBA_CACHE_DIR",
        ) from cause


@contextmanager
def _garbage_left() -> Iterator[None]:
    """Numba makes so many objects that collecting garbage among them takes a tenth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _announce(kernel: str) -> None:
    """Once per process for people, each kernel for those who look closely."""
    if not _announced:
        _announced.append(kernel)
        log.warning(
            "Ostinato compiles the kernels of this kind of query; for each kind this happens once per machine and takes up to half a minute"
        )
    log.info("compiling kernel %s", kernel)


@cache
def cache_directory() -> Path:
    wanted = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    home = Path(wanted) if wanted else Path.home() / ".cache"
    tag = f"{sys.implementation.cache_tag}-numba{numba.__version__}"
    for parent in (home, Path(tempfile.gettempdir()) / f"ostinato-{os.getuid() if hasattr(os, 'getuid') else 'user'}"):
        directory = parent / "ostinato" / tag
        if _writable(directory):
            return directory
        log.warning("cannot write compiled kernels to %s", directory)
    return Path(tempfile.mkdtemp(prefix="ostinato-kernels-"))


def _writable(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(directory, os.W_OK)


def _place(function: Callable) -> str:
    """What Numba goes by besides the sources: where the file lies, and when it was written. Another checkout, or the same one after a
    file was written again, has to compile although its sources are the same."""
    path = function.__code__.co_filename
    return f"{path} {os.stat(path).st_mtime_ns}" if os.path.exists(path) else path


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


@cache
def _source_digest(module: str) -> str:
    """Of the module and of everything of this package that it imports."""
    seen: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen[name] = _source(name)
            waiting += _imported(seen[name])
    return _digest("\0".join(seen[name] for name in sorted(seen)))


def _imported(source: str) -> list[str]:
    """The modules of this package that a source imports, also where it imports them out of a sub-package."""
    found = []
    for module, names in _IMPORT.findall(source):
        found.append(module)
        if names and hasattr(sys.modules.get(module) or importlib.import_module(module), "__path__"):
            found += [f"{module}.{name}" for name in re.findall(r"(\w+)(?: as \w+)?", names)]
    return found


def _source(module: str) -> str:
    spec = sys.modules[module].__spec__ if module in sys.modules else importlib.util.find_spec(module)
    loader: Any = spec.loader if spec is not None else None
    source = loader.get_source(module) if hasattr(loader, "get_source") else None
    return source or ""


def _import_kernels() -> None:
    package = importlib.import_module("ostinato.kernels")
    for found in pkgutil.walk_packages(package.__path__, "ostinato.kernels."):
        importlib.import_module(found.name)


def is_warm() -> bool:
    """Whether every kernel of the modules imported so far lies compiled in the cache (or nothing is compiled at all)."""
    return not _missing()


def warm_up(progress: Callable[[str, int, int], None] | None = None) -> int:
    """Compile every kernel that there is and that is not stored yet, for all types; returns how many these were."""
    _import_kernels()
    _registered.extend(_seldom)
    _seldom.clear()
    return prepare(progress)


def prepare(progress: Callable[[str, int, int], None] | None = None) -> int:
    """Compile the kernels of the modules that this process has imported, if this machine has not done so; returns how many these were.
    A query imports what its strategy needs: nobody waits for the kernels of a strategy that is not used. `progress(name, number, total)`
    is told before each. Where there is a second processor, another process begins with pieces of the heaviest, then at the other end."""
    missing = _missing()
    if not missing:
        return 0
    if progress is not None:
        _announced.append("whoever is told of the progress announces it")
    other = _second_process(sorted({dispatcher.py_func.__module__ for dispatcher, _ in [*missing, *_pieces]}))
    for number, (dispatcher, signature) in enumerate(missing):
        if progress is not None:
            progress(dispatcher.py_func.__name__, number + 1, len(missing))
        dispatcher.compile(signature)
    if other is not None:
        with compile_clock.running():
            ended = other.wait()
        if ended != 0:
            log.warning("the process that helped to compile kernels ended with code %d", ended)
    return len(missing)


def _missing(kernels: Sequence[tuple[Any, str]] | None = None) -> list[tuple[Any, str]]:
    """Heaviest first."""
    missing = [kernel for kernel in (_registered if kernels is None else kernels) if not kernel[0].is_stored(kernel[1])]
    return sorted(missing, key=lambda kernel: -len(kernel[0].py_func.__code__.co_code))


def _second_process(modules: Sequence[str]) -> subprocess.Popen | None:
    if (os.cpu_count() or 1) < 2:
        return None
    try:
        return subprocess.Popen([sys.executable, "-c", _FROM_THE_END, *modules])
    except OSError as cause:
        log.info("kernels are compiled by one process: %s", cause)
        return None


_FROM_THE_END = "import sys; from ostinato.kernels._jit import compile_from_the_end; compile_from_the_end(sys.argv[1:])"


def compile_from_the_end(modules: Sequence[str]) -> None:
    """What the second process does."""
    _announced.append("the first process announces it")
    for module in modules:
        importlib.import_module(module)
    missing = _missing()
    for dispatcher, signature in [*_missing(_pieces), *_apart(missing), *reversed(missing)]:
        try:
            dispatcher.compile(signature)
        except OstinatoError:  # the first process meets it too, and tells
            raise SystemExit(1) from None


def _apart(missing: Sequence[tuple[Any, str]]) -> list[tuple[Any, str]]:
    """Lightest first, those in another module than the heaviest: that one is locked for as long as the first process compiles it."""
    return [kernel for kernel in reversed(missing) if kernel[0].py_func.__module__ != missing[0][0].py_func.__module__]
