"""A store with a second one beside it: what the first has lost or damaged is fetched from the second.

The second is filled in the background: what is kept is copied at once, the rest at the start and after each pass over
all files. Nobody waits for it, and that it fails is only logged.

- Files of something large that may be refused as a whole in the end: taken back then, as no row will name them.
"""

from __future__ import annotations

import hashlib
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import structlog

from app.core.files.files import SECONDS_UNFINISHED, Files, Kept, WrappedFiles, check_packed, digest_of, inflated_slowly
from app.core.files.stored_bytes import UNREADABLE, StoreUnavailable, unpacked
from app.core.loops import Loop

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.files")

# Names that wait to be copied; what is beyond is copied at the next comparison of both stores.
MOST_QUEUED = 10_000
SECONDS_AFTER_A_FAULT = 30.0


class ReplicatedFiles(WrappedFiles):
    """The store `inner`, mended from `replica`, which a thread fills from the first file on that is kept."""

    def __init__(self, inner: Files, replica: Files) -> None:
        super().__init__(inner)
        self.replica = replica
        self._guard = threading.Lock()
        self._queued: deque[str] = deque(maxlen=MOST_QUEUED)
        self._compare = False
        self._loop = Loop("replica", self._step, retry=SECONDS_AFTER_A_FAULT)

    def close(self) -> None:
        """Stop copying; what is left is copied by a later comparison."""
        self._loop.close()
        super().close()
        self.replica.close()

    def put(self, data: bytes) -> Kept:
        """Store `data`, and have it copied."""
        return self._noted(super().put(data))

    def put_file(self, path: Path) -> Kept:
        """Store the bytes of a file, and have them copied."""
        return self._noted(super().put_file(path))

    def keep_packed(self, sha256: str, packed: IO[bytes]) -> None:
        """Store compressed bytes, and have them copied."""
        super().keep_packed(sha256, packed)
        self._wake(sha256)

    def load(self, sha256: str) -> bytes:
        """Give the bytes back, from the replica where it must be."""
        with self.opened(sha256) as file:
            return unpacked(sha256, file.read())

    def pieces(self, sha256: str) -> Iterator[bytes]:
        """Give the bytes back in pieces, from the replica where it must be."""
        return inflated_slowly(self.opened(sha256), sha256)

    def opened(self, sha256: str) -> IO[bytes]:
        """Open the compressed file, checked; a damaged one is written again from the replica before."""
        try:
            return self._checked(sha256)
        except UNREADABLE as error:
            if not self._mended(sha256):
                self.on_fault(sha256, str(error))
                raise
        except StoreUnavailable:
            with suppress(OSError, LookupError):
                return self.replica.opened(sha256)
            raise
        return self._checked(sha256)

    def examine(self, sha256: str) -> None:
        """Read the file where it is stored and check it; a damaged one is written again from the replica."""
        try:
            super().examine(sha256)
        except UNREADABLE:
            if not self._mended(sha256):
                raise

    def tidy(self, seconds: float = SECONDS_UNFINISHED) -> int:
        """Tidy up both stores, and begin to compare them."""
        removed = super().tidy(seconds) + self.replica.tidy(seconds)
        self._wake(None)
        return removed

    def copy_missing(self) -> int:
        """Copy what the replica lacks; returns how many files. Raises OSError where a store fails."""
        present = {each.sha256 for each in self.replica.stored()}
        copied = 0
        for each in self.inner.stored():
            if self._loop.closing:
                break
            if each.sha256 not in present:
                copied += self._copy(each.sha256)
        return copied

    def _checked(self, sha256: str) -> IO[bytes]:
        file = self.inner.opened(sha256)
        try:
            check_packed(sha256, file)
        except BaseException:
            file.close()
            raise
        return file

    def _mended(self, sha256: str) -> bool:
        """Write a file again from the replica; False where that cannot give it."""
        try:
            with self.replica.opened(sha256) as packed:
                self.inner.keep_packed(sha256, packed)
        except (*UNREADABLE, StoreUnavailable) as error:
            log.warning("a stored file cannot be fetched from the replica", file=sha256, error=str(error))
            return False
        log.warning("a stored file was fetched again from the replica", file=sha256)
        return True

    def _noted(self, file: Kept) -> Kept:
        self._wake(file.sha256)
        return file

    def _wake(self, sha256: str | None) -> None:
        """Have one file copied, or (None) all that the replica lacks."""
        with self._guard:
            if sha256 is None or len(self._queued) == MOST_QUEUED:
                self._compare = True
            else:
                self._queued.append(sha256)
        self._loop.start()
        self._loop.wake()

    def _step(self) -> float | None:
        """Compare both stores, or copy one file; after a failure all that the replica lacks is copied."""
        with self._guard:
            compares, self._compare = self._compare, False
            name = self._queued.popleft() if self._queued and not compares else None
        try:
            if compares:
                self.copy_missing()
            elif name is not None:
                self._copy(name)
        except OSError:
            with self._guard:
                self._compare = True
                self._queued.clear()
            raise
        return 0.0 if compares or name is not None else None

    def _copy(self, sha256: str) -> int:
        """Copy a file to the replica; returns 0 where there is nothing sound to copy."""
        try:
            with self.inner.opened(sha256) as packed:
                self.replica.keep_packed(sha256, packed)
        except UNREADABLE as error:
            log.warning("a stored file cannot be copied to the replica", file=sha256, error=str(error))
            return 0
        return 1


def stores_of(files: Files) -> list[Files]:
    """The stores that hold files: the first one, and its replica where there is one."""
    return [files.inner, files.replica] if isinstance(files, ReplicatedFiles) else [files]


class TentativeFiles(WrappedFiles):
    """The file store for the time of one attempt: what it made is removed at the end, unless rows are about to name it.

    `settle` comes right before the commit: once that is on its way, nobody knows any more whether it succeeds.
    """

    def __init__(self, files: Files) -> None:
        super().__init__(files)
        self._made: dict[str, Kept] = {}

    def put(self, data: bytes) -> Kept:
        """Store it as ever, and remember what that made; the same bytes again would look like somebody else's."""
        known = self._made.get(hashlib.sha256(data).hexdigest())
        return known if known is not None else self._noted(super().put(data))

    def put_file(self, path: Path) -> Kept:
        """The same for the bytes of a file."""
        known = self._made.get(digest_of(path))
        return known if known is not None else self._noted(super().put_file(path))

    def _noted(self, file: Kept) -> Kept:
        if file.made is not None:
            self._made[file.sha256] = file
        return file

    def settle(self) -> None:
        """Keep everything from here on."""
        self._made.clear()

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, _type: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        """Take back what is not settled."""
        for file in self._made.values():
            self.take_back(file)
