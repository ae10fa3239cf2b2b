"""The process that reads packages: `python -m app.programs.reading_process DESCRIPTOR`, started by `apart`.

It divides itself for each package. The part that reads has so much processor time and memory, no network, and the files
it was given; it leaves its result in a folder, pickled, and the part that waits tells how it ended.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.faults import PackageErrors
from app.sandbox import child, confinement

if TYPE_CHECKING:  # the process needs nothing of the part that waits for it
    from app.programs.apart import ReadRequest

MOST_REQUEST = 1 << 20
# Imported before the first package comes, so that no part has to.
WARM = ("app.packages.arrivals", "checkers.doors")


def main() -> None:
    """Read packages until the server is gone."""
    confinement.die_with_parent()
    for name in WARM:
        import_module(name)
    pipe = child.Pipe(socket.socket(fileno=int(sys.argv[1])))
    while True:
        try:
            request: ReadRequest = json.loads(pipe.receive(MOST_REQUEST))
        except child.PipeBroken:
            return
        module, _, name = request["function"].partition(":")
        function = getattr(import_module(module), name)  # here, so that the next part has it too
        pipe.send(str(_ended(request, function)).encode())


def _ended(request: ReadRequest, function: Callable[..., object]) -> int:
    """Let a part of this process call the function; returns its status, or minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            _bounded(request)
            _call(function, Path(request["folder"]))
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _bounded(request: ReadRequest) -> None:
    """Give up what reading does not need, and be ended by the kernel once the time is over."""
    confinement.die_with_parent()
    confinement.give_up_others(request["memory"])
    files = [Path(each) for each in request["files"]]
    writable = [Path(each) for each in (request["folder"], request["writable"]) if each is not None]
    confinement.give_up_folders(writable, files)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, request["seconds"])


def _call(function: Callable[..., object], folder: Path) -> None:
    try:
        with (folder / "arguments").open("rb") as file:
            arguments, named = pickle.load(file)
        result: tuple[str, object] = ("value", function(*arguments, **named))
    except PackageErrors as refused:
        result = ("refused", refused.errors)
    except MemoryError:
        result = ("memory", "")
    except Exception:
        result = ("failed", traceback.format_exc())
    with (folder / "result").open("wb") as file:
        pickle.dump(result, file, protocol=5)


if __name__ == "__main__":
    main()
