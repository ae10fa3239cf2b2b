"""A grader process: `python -m app.judging.service.grader FD MEMORY` answers requests on a pipe until it closes.

It runs checkers, which may raise, loop, eat memory, or be taken over by an answer; the server beside it kills it then
and starts another. It has no file but those the server hands it, and no way out but the pipe (`confinement`).
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Iterator

from app.core.files.stored_bytes import FileMissing, unpacked
from app.judging.service.grade import Grader, UnreadableFile
from app.judging.service.messages import (
    MOST_REQUEST,
    Failed,
    Given,
    Grade,
    Need,
    Reply,
    Request,
    Unreadable,
    Validate,
    Warm,
    Warmed,
    encoded,
    request_of,
)
from app.sandbox import confinement
from app.sandbox.kernels import keep_what_may_be_kept
from app.sandbox.pipes import Pipe, PipeBroken

ERROR_LENGTH = 4000
NICENESS = 5  # taking submissions goes before judging them


def main(prepare: Callable[[], None] = keep_what_may_be_kept) -> None:
    """Serve one pipe, after `prepare` has loaded what checkers share."""
    descriptor, memory = int(sys.argv[1]), int(sys.argv[2])
    confinement.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then closes the pipe
    os.nice(NICENESS)
    prepare()
    pipe = Pipe(socket.socket(fileno=descriptor))
    Serving(pipe, confinement.give_up_others(memory)).serve()


class HandedFiles:
    """Reads files that the server opens, one for each Need; it opens only those of the request at hand."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe

    def load(self, sha256: str) -> bytes:
        """Ask for a file, inflate and check it."""
        self._pipe.send(encoded(Need(sha256)))
        data, descriptor = self._pipe.receive_file(MOST_REQUEST)
        given = request_of(data)
        if not isinstance(given, Given) or descriptor is None:
            raise FileMissing(getattr(given, "missing", "") or f"no stored file {sha256}")
        with os.fdopen(descriptor, "rb") as file:
            return unpacked(sha256, file.read())


class Serving:
    """Answers what comes on a pipe; the first thing to come is Warm, and after it the process is confined."""

    def __init__(self, pipe: Pipe, protections: confinement.Report) -> None:
        self._pipe = pipe
        self._protections = protections
        self._grader = Grader(HandedFiles(pipe))

    def serve(self) -> None:
        """Answer requests one by one until the other end is closed."""
        while True:
            try:
                request = request_of(self._pipe.receive(MOST_REQUEST))
                for reply in self._answer(request):
                    self._pipe.send(encoded(reply))
            except PipeBroken:
                return

    def _answer(self, request: Request) -> Iterator[Reply]:
        """Answer a request; whatever a checker raises becomes Failed, and ends the process."""
        if isinstance(request, Warm):
            yield self._warm(request)
            return
        try:
            match request:
                case Grade():
                    yield from self._grader.grade(request)
                case Validate():
                    yield self._grader.validate(request)
                case _:
                    yield Failed("a file came that was not asked for")
        except PipeBroken:
            raise
        except UnreadableFile as fault:
            yield Unreadable(str(fault), sha256=fault.sha256)
        except Exception:
            yield Failed(traceback.format_exc()[-ERROR_LENGTH:])

    def _warm(self, request: Warm) -> Warmed:
        error = ""
        try:
            self._grader.warm(request)
        except PipeBroken:
            raise
        except Exception:
            error = traceback.format_exc()[-ERROR_LENGTH:]
        if confinement.WRITES not in self._protections:
            self._protections = {**self._protections, **confinement.give_up_files()}
        return Warmed(self._protections, error)


if __name__ == "__main__":
    main()
