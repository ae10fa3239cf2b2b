"""A grader process: `python -m app.grading.grader FD FILES MEMORY` answers requests on a pipe until it closes.

It runs checkers, which may raise, loop or eat memory; the server beside it kills it then and starts another.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import traceback
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

from app.grading.grade import Grader, UnreadableFile
from app.grading.messages import Failed, Grade, Reply, Request, Unreadable, Validate, Warm
from app.storage.files import LocalFiles

PR_SET_PDEATHSIG = 1
ERROR_LENGTH = 4000
NICENESS = 5  # taking submissions goes before judging them


def main() -> None:
    """Serve one pipe."""
    descriptor, folder, memory = int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then closes the pipe
    limit_memory(memory)
    os.nice(NICENESS)
    serve(Connection(descriptor), Grader(LocalFiles(folder)))


def serve(pipe: Connection, grader: Grader) -> None:
    """Answer requests one by one until the other end is closed."""
    while True:
        try:
            request: Request = pipe.recv()
        except EOFError:
            return
        for reply in answer(grader, request):
            pipe.send(reply)


def answer(grader: Grader, request: Request) -> Iterator[Reply]:
    """Do what is asked; whatever a checker raises becomes Failed, and ends it."""
    try:
        match request:
            case Grade():
                yield from grader.grade(request)
            case Validate():
                yield grader.validate(request)
            case Warm():
                yield grader.warm(request)
    except UnreadableFile as fault:
        yield Unreadable(str(fault), fault.sha256)
    except Exception:
        yield Failed(traceback.format_exc()[-ERROR_LENGTH:])


def die_with_parent() -> None:
    """Ask the kernel to kill this process when the server dies, so that no orphan keeps a core busy."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def limit_memory(size: int) -> None:
    """Bound this process's memory: a checker that asks for more gets MemoryError."""
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


if __name__ == "__main__":
    main()
