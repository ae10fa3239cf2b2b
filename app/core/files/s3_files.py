"""Content-addressed files on S3: an object is created once, checked at each read, and copied to this machine for it.

S3 cannot remove an object only if no one has kept it since, so both sides follow one order. Whoever removes puts up a
mark, looks at the object's time, removes the object, and takes the mark down. Whoever keeps bytes whose object is older
than an hour writes it again, then looks for the mark, then looks for the object. Either the remover sees the new time,
or the keeper sees the mark or misses the object, and writes it again. Younger objects are never removed (guarantee 1).
"""

import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import IO

import structlog
import zstandard

from app.core.clock import utc_now
from app.core.files import files as base
from app.core.files.open_files import LocalFiles
from app.core.files.s3 import Bucket, NoObject, ObjectExists
from app.core.files.stored_bytes import UNREADABLE, FileDamaged, FileMissing, StoreUnavailable

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.files")

# Bytes of one request: larger files are sent and fetched in so many, each within its own time.
PART = 8 * 2**20
MARKS = "removing/"
SECONDS_YOUNG = 3600.0
SECONDS_TO_REMOVE = 10.0
SECONDS_BETWEEN_LOOKS = 0.2


# Of the bound, how much stays when room is made: else each new file would make room for itself.
SHARE_LEFT = 0.9
# Of the bound, how much a process adds before it looks at what all have added.
SHARE_UNSEEN = 0.05


class FileCache(LocalFiles):
    """Copies on this machine, of about `most` bytes: those read last stay. Any number of processes may share them.

    Each is checked when it is read: nothing here need survive a loss of power.
    """

    is_durable = False

    def __init__(self, folder: Path, most: int) -> None:
        super().__init__(folder)
        self._most = most
        self._unseen = most  # what earlier processes left is looked at with the first copy

    def opened(self, sha256: str) -> IO[bytes]:
        """Open the compressed copy, which counts as read now; raises FileMissing."""
        file = super().opened(sha256)
        self._touch(self.path(sha256))
        return file

    def make_room(self, size: int) -> None:
        """Count a new copy; where there is too much, drop what was read longest ago, down to a share of the bound."""
        self._unseen += size
        if self._unseen <= self._most * SHARE_UNSEEN:
            return
        self._unseen = 0
        copies = sorted(self.stored(), key=lambda each: each.stored_at)
        left = sum(each.size for each in copies)
        least = self._most * SHARE_LEFT if left > self._most else left
        for each in copies:
            if left <= least:
                break
            self.remove(each.sha256)  # of two processes that make room at once, each drops some
            left -= each.size


class S3Files:
    """Files as objects `ab/cdef....zst` of a bucket."""

    is_slow = True
    least_grace = 2 * SECONDS_YOUNG

    def __init__(
        self,
        bucket: Bucket,
        cache: FileCache,
        now: Callable[[], datetime] = utc_now,
        *,
        part: int = PART,
        seconds_to_remove: float = SECONDS_TO_REMOVE,
    ) -> None:
        self.on_fault: Callable[[str, str], object] = lambda _sha256, _error: None
        self.bucket = bucket
        self.cache = cache
        self._now = now
        self._part = part
        self._seconds_to_remove = seconds_to_remove
        self._is_exclusive: bool | None = None

    @property
    def place(self) -> str:
        """The address, without its secret."""
        return self.bucket.address.shown

    def keep(self, data: bytes) -> str:
        """Store `data` and return its sha256: once this returns, S3 has it. A damaged object is written again."""
        sha256 = hashlib.sha256(data).hexdigest()
        packed = zstandard.compress(data, base.LEVEL)
        # Only small objects can be created without replacing one that has come in the meantime.
        if len(packed) <= self._part:
            self._put_small(sha256, packed)
        else:
            with self._spool() as file:
                file.write(packed)
                self._put_large(sha256, file)
        return sha256

    def keep_file(self, path: Path) -> str:
        """Store the bytes of a file, in pieces, and return their sha256."""
        sha256, size = base.digest_of(path), path.stat().st_size
        with path.open("rb") as source, self._spool() as file:
            zstandard.ZstdCompressor(base.LEVEL).copy_stream(source, file, size, base.PIECE, base.PIECE)
            self._put_packed(sha256, file)
        return sha256

    def keep_packed(self, sha256: str, packed: IO[bytes]) -> None:
        """Store the compressed bytes of a file as another store has them, checked; a damaged object is replaced."""
        base.check_packed(sha256, packed)
        self._put_packed(sha256, packed)

    def load(self, sha256: str) -> bytes:
        """Give the bytes back, checked; raises FileMissing or FileDamaged, and says so to `on_fault`."""
        return b"".join(self.pieces(sha256))

    def pieces(self, sha256: str) -> Iterator[bytes]:
        """Yield the bytes in pieces; raises FileMissing or FileDamaged at once."""
        return base.inflated_slowly(self.opened(sha256), sha256)

    def opened(self, sha256: str) -> IO[bytes]:
        """Open the compressed copy on this machine, fetched where it is missing or damaged, and checked."""
        try:
            return self._copy(sha256) or self._fetch(sha256)
        except UNREADABLE as error:
            self.on_fault(sha256, str(error))
            raise

    def examine(self, sha256: str) -> None:
        """Read the object, whatever the cache has, and check it."""
        with self._spool() as file:
            self._receive(sha256, file)

    def state(self, sha256: str) -> base.State:
        """Changes with the copy on this machine, and when S3 answers again."""
        return self.bucket.recovered, *(self.cache.state(sha256) or ())[:2]  # without when it was read

    def stored(self) -> Iterator[base.StoredFile]:
        """Every file of the store."""
        for each in self.bucket.listed():
            if (sha256 := base.sha256_of(each["path"])) is not None:
                yield base.StoredFile(sha256, each["size"], each["last_modified"].timestamp())

    def collect(self, file: base.StoredFile) -> bool:
        """Remove a file that no row names, unless its bytes have been kept since it was listed."""
        name, mark = base.name_of(file.sha256), MARKS + file.sha256
        try:
            self.bucket.create(mark, b"")
        except ObjectExists:
            return False  # someone else is at it; `tidy` takes down what was forgotten
        try:
            if not self._marks_are_exclusive(mark):
                return False
            began = time.monotonic()
            if self.bucket.about(name)["last_modified"].timestamp() > file.stored_at:
                return False
            if self._age(file.stored_at) < self.least_grace or time.monotonic() - began > self._seconds_to_remove:
                return False
            self.bucket.remove(name)
            self.cache.remove(file.sha256)
        except NoObject:
            return False
        finally:
            self.bucket.remove(mark)
        return True

    def _marks_are_exclusive(self, mark: str) -> bool:
        """Whether the store refuses to create what is there: else two could remove at once, and nothing is removed."""
        if self._is_exclusive is None:
            try:
                self.bucket.create(mark, b"")
            except ObjectExists:
                self._is_exclusive = True
            else:
                self._is_exclusive = False
                log.error("the store ignores create-only puts: no file is ever removed from it", place=self.place)
        return self._is_exclusive

    def tidy(self, seconds: float = base.SECONDS_UNFINISHED) -> int:
        """Take down old marks, and remove what killed processes began to copy."""
        old = [each["path"] for each in self.bucket.listed(MARKS) if self._age_of(each["last_modified"]) >= seconds]
        for mark in old:
            self.bucket.remove(mark)
        return len(old) + self.cache.tidy(seconds)

    def _put_packed(self, sha256: str, file: IO[bytes]) -> None:
        file.flush()
        file.seek(0)
        if os.fstat(file.fileno()).st_size <= self._part:
            self._put_small(sha256, file.read())
        else:
            self._put_large(sha256, file)

    def _put_small(self, sha256: str, packed: bytes) -> None:
        name = base.name_of(sha256)
        try:
            self.bucket.create(name, packed)
        except ObjectExists:
            self._keep_existing(sha256, lambda: self.bucket.replace(name, packed))
        try:
            self.cache.write(sha256, lambda file: file.write(packed))
            self.cache.make_room(len(packed))
        except OSError as error:  # it is stored all the same
            log.warning("a stored file cannot be copied to the cache", file=sha256, error=str(error))

    def _put_large(self, sha256: str, file: IO[bytes]) -> None:
        """Send a file in parts; S3 has no create-only for these, and the same bytes twice are the same object."""
        name = base.name_of(sha256)

        def send() -> None:
            self.bucket.send(name, lambda: _pieces(file), self._part)

        try:
            self.bucket.about(name)
        except NoObject:
            send()
        else:
            self._keep_existing(sha256, send)

    def _keep_existing(self, sha256: str, write: Callable[[], object]) -> None:
        """See to it that an object that is there is sound, and that no one removes it as long unused."""
        name = base.name_of(sha256)
        try:
            self.examine(sha256)
            if self._age_of(self.bucket.about(name)["last_modified"]) < SECONDS_YOUNG:
                return
        except FileDamaged as error:
            log.warning("a stored file cannot be read: it is written again", file=sha256, error=str(error))
        except (FileMissing, NoObject):
            pass  # it has just been removed
        write()
        self._wait_for_removers(sha256)
        try:
            self.bucket.about(name)
        except NoObject:
            write()

    def _wait_for_removers(self, sha256: str) -> None:
        until = time.monotonic() + self._seconds_to_remove
        while time.monotonic() < until:
            try:
                self.bucket.about(MARKS + sha256)
            except NoObject:
                return
            time.sleep(SECONDS_BETWEEN_LOOKS)
        raise StoreUnavailable(f"{self.place}: {sha256} is being removed; it can be kept once that is over")

    def _copy(self, sha256: str) -> IO[bytes] | None:
        """The copy on this machine, checked; a damaged one is dropped."""
        try:
            file = self.cache.opened(sha256)
        except FileMissing:
            return None
        try:
            base.check_packed(sha256, file)
        except OSError as error:
            file.close()
            log.warning("a copy of a stored file is damaged: it is fetched again", file=sha256, error=str(error))
            self.cache.remove(sha256)
            return None
        return file

    def _fetch(self, sha256: str) -> IO[bytes]:
        """Copy the object to this machine; two threads that want it both do."""
        self.cache.write(sha256, lambda file: self._receive(sha256, file))
        try:
            copy = self.cache.opened(sha256)
        except FileMissing:  # another thread or process made room
            copy = self._spool()
            self._receive(sha256, copy)
        self.cache.make_room(os.fstat(copy.fileno()).st_size)
        return copy

    def _spool(self) -> IO[bytes]:
        return tempfile.TemporaryFile(dir=self.cache.folder)

    def _receive(self, sha256: str, file: IO[bytes]) -> None:
        """Write an object to a file, in parts, and check it; raises FileMissing or FileDamaged."""
        name = base.name_of(sha256)
        try:
            data, size = self.bucket.first(name, self._part)
            file.write(data)
            for start in range(len(data), size, self._part):
                file.write(self.bucket.range(name, start, min(start + self._part, size)))
        except NoObject:
            raise FileMissing(f"no stored file {sha256}") from None
        file.flush()
        file.seek(0)
        base.check_packed(sha256, file)

    def _age_of(self, moment: datetime) -> float:
        return self._age(moment.timestamp())

    def _age(self, moment: float) -> float:
        return self._now().timestamp() - moment


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    while piece := file.read(base.PIECE):
        yield piece
