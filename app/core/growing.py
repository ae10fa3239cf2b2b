"""Replies that are sent while they are made: a thread writes a temporary file, and the client reads it as it grows.

So the first byte comes early, the memory does not grow with the reply, and whatever the maker holds (a snapshot of the
database, say) is held for as long as making takes, however slow the client is (guarantee 4): hence the thread.
"""

import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Protocol

CHUNK = 2**18


class Sink(Protocol):
    """The file that the maker writes to, forwards only."""

    def write(self, data: bytes, /) -> int:
        """Append."""
        ...

    def flush(self) -> None:
        """Do nothing: writes are not buffered."""
        ...


class Abandoned(Exception):
    """The reader has gone."""


class GrowingFile:
    """A temporary file that `make` fills in a thread of its own, and `chunks` reads from the beginning.

    What `make` raises is raised to the reader, behind what was written before.
    """

    def __init__(self, make: Callable[[Sink], None]) -> None:
        self._file = tempfile.TemporaryFile(prefix="jurado-reply-", buffering=0)  # noqa: SIM115 - closed by `close`
        self._make = make
        self._changed = threading.Condition()
        self._size = 0
        self._ended = self._abandoned = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="reply", daemon=True)
        self._thread.start()

    def write(self, data: bytes, /) -> int:
        """Append, in the maker's thread; raises Abandoned where nobody reads any more."""
        if self._abandoned:
            raise Abandoned
        count = self._file.write(data)
        with self._changed:
            self._size += count
            self._changed.notify_all()
        return count

    def flush(self) -> None:
        """Do nothing: every write is in the file already."""

    def wait_for_first(self) -> None:
        """Block until there is a first byte; raises what `make` raised before it."""
        self._wait(0)

    def chunks(self) -> Iterator[bytes]:
        """The whole package in pieces, as they are written; blocks."""
        at = 0
        while at < (size := self._wait(at)):
            data = os.pread(self._file.fileno(), min(CHUNK, size - at), at)
            at += len(data)
            yield data

    def close(self) -> None:
        """Stop making and take the file away; blocks for the write at hand."""
        self._abandoned = True
        self._thread.join()
        self._file.close()

    def _wait(self, at: int) -> int:
        """Wait until there is more than `at`, or no more comes; returns how much there is."""
        with self._changed:
            self._changed.wait_for(lambda: self._size > at or self._ended)
            if self._size <= at and self._error is not None:
                raise self._error
            return self._size

    def _run(self) -> None:
        try:
            self._make(self)
        except BaseException as error:
            self._error = error  # raised again to the reader, who knows what to do about it
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()
