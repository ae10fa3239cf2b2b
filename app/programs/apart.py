"""A process that reads packages and statements of others, and is killed where its time or its memory is over.

One process waits for each server, has imported what reading needs, and divides itself for every package: dividing takes
milliseconds, starting Python a second. The part that reads has so much processor time and memory, no network, and the
files it was given. It leaves its result pickled in a folder, which is read by a reader that makes no other objects than
those a package consists of; the part that waits tells how it ended.

Guarantee 4: the lock gives the process one package at a time.
"""

import atexit
import os
import pickle
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

from app.core.faults import SLOWER, PackageError, PackageErrors, mismatch
from app.core.files.temporary import SOLVER_PREFIX, locked_folder
from app.sandbox import confinement
from app.sandbox.child import AskedProcess, Pipe, PipeBroken, PipeTooSlow
from checkers.doors import N_, Phrase

T = TypeVar("T")

# Bytes of address space: inflated files, their values, and both of them pickled.
MEMORY = 4 * 2**30
# A process that gets little of the processor has so many times its processor time until it is killed.
PATIENCE = 10.0
MOST_REPLY = 1000
MOST_REQUEST = 2**30
# Imported before the first package comes, so that no part has to.
WARM = ("app.packages.arrivals", "checkers.doors")
OF_PACKAGES = (
    "app.core.faults",
    "app.core.messages",
    "app.packages.",
    "app.domain.",
    "app.programs.model",
    "app.archive.service.package_files",
    "app.archive.service.judging",
)
PLAIN = frozenset({
    ("builtins", "frozenset"), ("builtins", "set"), ("builtins", "list"), ("builtins", "dict"),
    ("collections", "defaultdict"), ("fractions", "Fraction"), ("datetime", "date"), ("datetime", "datetime"),
    ("datetime", "timedelta"), ("datetime", "timezone"), ("checkers.doors", "Phrase"),
})  # fmt: skip


class ReadRequest(NamedTuple):
    """A function to call with its arguments, its seconds of processor, and the files and folders that it may use."""

    function: Callable[..., object]
    arguments: Sequence[object]
    named: dict[str, object]
    seconds: float
    readable: list[Path]
    folder: Path
    writable: list[Path]


class Results(pickle.Unpickler):
    """Reads what the process gives back: classes of packages and plain values, no functions."""

    def find_class(self, module: str, name: str) -> object:
        """Give a class that results consist of; raises UnpicklingError for anything else."""
        if (module, name) in PLAIN:
            plain: object = super().find_class(module, name)
            return plain
        if module.startswith(OF_PACKAGES) and module in sys.modules and "." not in name:
            value: object = super().find_class(module, name)
            if isinstance(value, type) and value.__module__ == module:
                return value
        raise pickle.UnpicklingError(f"expected a class of packages, found {module}.{name}")


class Reader:
    """A process that waits. `read` may be called from any thread; a process reads one thing at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: AskedProcess | None = None

    @property
    def pid(self) -> int | None:
        """The process's id while it runs."""
        process = self._process
        return process.pid if process is not None and process.alive else None

    def read(
        self,
        function: Callable[..., T],
        arguments: Sequence[object],
        seconds: float,
        files: Sequence[Path] = (),
        writable: Path | None = None,
        **named: object,
    ) -> T:
        """Call a function of a module there, with so many seconds of processor.

        It may read `files` and write below the folder `writable`; `named` are further arguments.

        Raises what the function raises if that is PackageErrors, and PackageErrors where it is over its time or memory.
        """
        with self._lock, locked_folder(SOLVER_PREFIX) as folder:
            readable = [path.resolve() for path in files]
            places = [folder] if writable is None else [folder, writable.resolve()]
            asked = ReadRequest(function, arguments, named, seconds, readable, folder, places)
            status = self._ask(pickle.dumps(tuple(asked)), seconds)
            if status == 0:
                with (folder / "result").open("rb") as file:
                    return cast(T, _settled(*Results(file).load()))  # what the function itself has returned
        if status in (-signal.SIGPROF, None):
            raise _too_much(N_("a package that is read in %(seconds)s s"), SLOWER, seconds=f"{seconds:g}")
        if status == -signal.SIGKILL:
            raise _too_large()
        raise RuntimeError(f"the process that reads packages ended with status {status}")

    def close(self) -> None:
        """Kill the process; the next package starts another one."""
        if self._process is not None:
            self._process.end()
        self._process = None

    def _ask(self, request: bytes, seconds: float) -> int | None:
        """The exit of the part that read: 0, a status, or minus a signal; None where no reply came in time."""
        for _attempt in range(2):  # the process may have been killed since it was last asked
            pipe = self._started().pipe
            try:
                pipe.send(request, PATIENCE)
                return int(pipe.receive(MOST_REPLY, seconds * PATIENCE + PATIENCE))
            except PipeTooSlow:
                self.close()
                return None
            except PipeBroken:
                self.close()
        raise RuntimeError("the process that reads packages ends before it has read any")

    def _started(self) -> AskedProcess:
        if self._process is not None and not self._process.alive:
            self.close()
        if self._process is None:
            self._process = AskedProcess("app.programs.apart")
        return self._process


READER = Reader()
# Statements have a process beside that of packages: whoever reads one must not wait for a package's minute.
RENDERER = Reader()
atexit.register(READER.close)
atexit.register(RENDERER.close)


def _settled(kind: str, value: object) -> object:
    """The function's result; raises what the function raised."""
    if kind == "value":
        return value
    if kind == "refused":
        raise PackageErrors(cast(Iterable[PackageError], value))
    raise RuntimeError(f"reading a package failed: {value}")


def _too_much(expected: str, found: Phrase, **values: str) -> PackageErrors:
    return PackageErrors([PackageError("", "", mismatch(expected, found, **values))])


def _too_large() -> PackageErrors:
    return _too_much(N_("a package that can be read"), Phrase(N_("too much memory")))


def main() -> None:
    """Read packages until the server is gone."""
    confinement.die_with_parent()
    for name in WARM:
        import_module(name)
    pipe = Pipe(socket.socket(fileno=int(sys.argv[1])))
    while True:
        try:
            asked = pickle.loads(pipe.receive(MOST_REQUEST))  # imports its module here, so that the next part has it
        except PipeBroken:
            return
        pipe.send(str(_ended(ReadRequest(*asked))).encode())


def _ended(asked: ReadRequest) -> int:
    """Let a part of this process call the function; returns its status, or minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            _bound(asked)
            result = _called(asked)
            with (asked.folder / "result").open("wb") as file:
                pickle.dump(result, file, protocol=5)
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _bound(asked: ReadRequest) -> None:
    """Give up what reading does not need, and be ended by the kernel once the time is over."""
    confinement.die_with_parent()
    confinement.give_up_others(MEMORY)
    confinement.give_up_folders(asked.writable, asked.readable)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, asked.seconds)


def _called(asked: ReadRequest) -> tuple[str, object]:
    try:
        return "value", asked.function(*asked.arguments, **asked.named)
    except PackageErrors as refused:
        return "refused", refused.errors
    except MemoryError:
        return "refused", _too_large().errors
    except Exception:
        return "failed", traceback.format_exc()


if __name__ == "__main__":
    main()
