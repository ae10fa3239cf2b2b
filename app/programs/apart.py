"""A process that reads packages and statements of others, and is killed where its time or its memory is over.

One process waits for each server, has imported what reading needs, and divides itself for every package: dividing takes
milliseconds, starting Python a second. What it gives back is pickled, and read by a reader that makes no other objects
than those a package consists of.

Guarantee 4: the lock gives the process one package at a time.
"""

import atexit
import json
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypedDict, TypeVar, cast

from app.core.faults import SLOWER, PackageError, PackageErrors, mismatch
from app.core.files.temporary import SOLVER_PREFIX, locked_folder
from app.sandbox.child import AskedProcess, PipeBroken, PipeTooSlow
from checkers.doors import N_, Phrase

T = TypeVar("T")

# Bytes of address space: inflated files, their values, and both of them pickled.
MEMORY = 4 * 2**30
# A process that gets little of the processor has so many times its processor time until it is killed.
PATIENCE = 10.0
MOST_REPLY = 1000
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


class ReadRequest(TypedDict):
    """A request to the process: `function` is `module:name`; seconds of processor, bytes of memory."""

    function: str
    folder: str
    files: list[str]
    writable: str | None
    seconds: float
    memory: int


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
            with (folder / "arguments").open("wb") as file:
                pickle.dump((list(arguments), named), file)
            asked: ReadRequest = {
                "function": f"{function.__module__}:{function.__qualname__}",
                "folder": str(folder),
                "files": [str(path.resolve()) for path in files],
                "writable": None if writable is None else str(writable.resolve()),
                "seconds": seconds,
                "memory": MEMORY,
            }
            status = self._ask(json.dumps(asked).encode(), seconds)
            if status == 0:
                with (folder / "result").open("rb") as file:
                    return cast(T, _settled(*Results(file).load()))  # what the function itself has returned
        if status in (-signal.SIGPROF, None):
            raise _too_much(N_("a package that is read in %(seconds)s s"), SLOWER, seconds=f"{seconds:g}")
        if status == -signal.SIGKILL:
            raise _too_much(N_("a package that can be read"), Phrase(N_("one that needs too much memory")))
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
            self._process = AskedProcess("app.programs.reading_process")
        return self._process


READER = Reader()
# Statements have a process beside that of packages: whoever reads one must not wait for a package's minute.
RENDERER = Reader()


@atexit.register
def _close() -> None:
    for each in (READER, RENDERER):
        with suppress(OSError):
            each.close()


def _settled(kind: str, value: object) -> object:
    """The function's result; raises what the function raised."""
    if kind == "value":
        return value
    if kind == "refused":
        raise PackageErrors(cast(Iterable[PackageError], value))
    if kind == "memory":
        raise _too_much(N_("a package that can be read"), Phrase(N_("one that needs too much memory")))
    raise RuntimeError(f"reading a package failed: {value}")


def _too_much(expected: str, found: Phrase, **values: str) -> PackageErrors:
    return PackageErrors([PackageError("", "", mismatch(expected, found, **values))])
