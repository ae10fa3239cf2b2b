"""Opens the file stores that settings and commands name.

- Content-addressed files below one folder, each on the disk before anyone is told of it.
"""

import fcntl
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import structlog
import zstandard

from app.core.clock import utc_now
from app.core.files import files as base
from app.core.files import s3, stored_bytes
from app.core.files.temporary import UNFINISHED, sync, sync_folder
from app.core.settings import Settings

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.files")

LOCK = ".lock"
FOLDER = re.compile(r"[0-9a-f]{2}")


class LocalFiles:
    """Files below one folder."""

    is_slow = False
    is_durable = True
    least_grace = 0.0

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.on_fault: Callable[[str, str], object] = lambda _sha256, _error: None
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, sha256: str) -> Path:
        """The path of the file of that sha256, if it is stored."""
        return self.folder / base.name_of(sha256)

    @property
    def place(self) -> str:
        """The folder."""
        return str(self.folder)

    def keep(self, data: bytes) -> str:
        """Store `data` durably and return its sha256; a damaged file of that name is written again."""
        sha256 = hashlib.sha256(data).hexdigest()
        self._keep(sha256, lambda file: file.write(zstandard.compress(data, base.LEVEL)))
        return sha256

    def keep_file(self, path: Path) -> str:
        """Store the bytes of a file durably, in pieces, and return their sha256."""
        sha256 = base.digest_of(path)
        with path.open("rb") as source:
            compressor, size = zstandard.ZstdCompressor(base.LEVEL), path.stat().st_size
            self._keep(sha256, lambda file: compressor.copy_stream(source, file, size, base.PIECE, base.PIECE))
        return sha256

    def keep_packed(self, sha256: str, packed: IO[bytes]) -> None:
        """Store the compressed bytes of a file as another store has them, checked; a damaged file is written again."""
        base.check_packed(sha256, packed)
        self._keep(sha256, lambda file: shutil.copyfileobj(packed, file, base.PIECE))

    def _keep(self, sha256: str, write: Callable[[IO[bytes]], object]) -> None:
        """Make the file of that sha256, or say that it has just been kept where it is whole."""
        target = self.path(sha256)
        if self._is_whole(sha256) and self._touch(target):
            # Another thread may have renamed it a moment ago and not have come to this yet.
            self._make_durable(target)
        else:
            self.write(sha256, write)

    def _is_whole(self, sha256: str) -> bool:
        """Whether the bytes of that sha256 are stored, read in pieces."""
        try:
            self.examine(sha256)
        except stored_bytes.FileMissing:
            return False
        except OSError as error:
            log.warning("a stored file cannot be read: it is written again", file=sha256, error=str(error))
            return False
        return True

    def write(self, sha256: str, write: Callable[[IO[bytes]], object]) -> None:
        """Make the file of that sha256, in which `write` puts the compressed bytes."""
        target = self.path(sha256)
        target.parent.mkdir(exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=UNFINISHED)
        try:
            with os.fdopen(handle, "w+b") as file:
                write(file)
                file.flush()
                os.utime(file.fileno(), (now := utc_now().timestamp(), now))
                if self.is_durable:
                    sync(file.fileno())
            # Whole under its name or not at all, whatever is killed when.
            with self._locked(fcntl.LOCK_SH):
                os.replace(name, target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        self._make_durable(target)

    def load(self, sha256: str) -> bytes:
        """Read, inflate and check the file; raises FileMissing or FileDamaged, and says so to `on_fault`."""
        return b"".join(self.pieces(sha256))

    def examine(self, sha256: str) -> None:
        """Read the file and check it, in pieces."""
        for _ in base.inflated_slowly(self.opened(sha256), sha256):
            pass

    def state(self, sha256: str) -> base.State:
        """A value that changes when the file is written again; None where it is missing."""
        try:
            about = self.path(sha256).stat()
        except OSError:
            return None
        return about.st_ino, about.st_size, about.st_mtime_ns

    def pieces(self, sha256: str) -> Iterator[bytes]:
        """Yield the bytes in pieces, each inflated when it is asked for; raises FileMissing at once.

        What is damaged is known only at the end: then FileDamaged is raised in place of the last piece.
        """
        try:
            file = self.opened(sha256)
        except stored_bytes.FileMissing as error:
            self.on_fault(sha256, str(error))
            raise
        return self._reporting(sha256, base.inflated_slowly(file, sha256))

    def _reporting(self, sha256: str, pieces: Iterator[bytes]) -> Iterator[bytes]:
        try:
            yield from pieces
        except stored_bytes.FileDamaged as error:
            self.on_fault(sha256, str(error))
            raise

    def collect(self, file: base.StoredFile) -> bool:
        """Remove a file that no row names, unless its bytes have been kept since it was listed."""
        path = self.path(file.sha256)
        with self._locked():
            if not path.exists() or path.stat().st_mtime > file.stored_at:
                return False
            path.unlink()
        return True

    def remove(self, sha256: str) -> None:
        """Remove a file, whoever else keeps it."""
        self.path(sha256).unlink(missing_ok=True)

    @contextmanager
    def _locked(self, how: int = fcntl.LOCK_EX) -> Iterator[None]:
        """Hold the lock by which a file is removed, or by those who keep one as they say so (guarantee 1)."""
        # For reading alone: a command that ran as root may have made it.
        with open(os.open(self.folder / LOCK, os.O_RDONLY | os.O_CREAT, 0o644), "rb") as lock:
            fcntl.flock(lock, how)
            yield

    def _touch(self, path: Path) -> bool:
        """Say that a file has just been kept; False if it has gone."""
        with self._locked(fcntl.LOCK_SH):
            try:
                os.utime(path, (now := utc_now().timestamp(), now))
            except FileNotFoundError:
                return False
        return True

    def stored(self) -> Iterator[base.StoredFile]:
        """Every file of the store, in no order; what comes or goes in the meantime may be among them."""
        for folder in self._folders():
            for path in sorted(folder.iterdir()):
                if (sha256 := base.sha256_of(f"{folder.name}/{path.name}")) is not None:
                    with suppress(FileNotFoundError):
                        about = path.stat()
                        yield base.StoredFile(sha256, about.st_size, about.st_mtime)

    def tidy(self, seconds: float = base.SECONDS_UNFINISHED) -> int:
        """Remove what killed processes began to write, if it is that old."""
        removed = 0
        for folder in self._folders():
            for path in folder.glob(f"{UNFINISHED}*"):
                with suppress(FileNotFoundError):
                    if utc_now().timestamp() - path.stat().st_mtime >= seconds:
                        path.unlink()
                        removed += 1
        return removed

    def _folders(self) -> list[Path]:
        return sorted(each for each in self.folder.iterdir() if FOLDER.fullmatch(each.name))

    def opened(self, sha256: str) -> IO[bytes]:
        """Open the compressed file to read; raises FileMissing."""
        try:
            return self.path(sha256).open("rb")
        except FileNotFoundError:
            raise stored_bytes.FileMissing(f"no stored file {sha256}") from None

    def _make_durable(self, target: Path) -> None:
        if self.is_durable:
            sync_folder(target.parent)
            sync_folder(self.folder)


def open_files(settings: Settings) -> base.Files:
    """Open the file store of the settings; raises OSError where a folder cannot be made, or an extra is missing."""
    url = settings.files
    if not url.startswith(s3.S3):
        return LocalFiles(folder_of(url))
    from app.core.files import s3_files  # which uses a folder itself

    copies = s3_files.FileCache(settings.home / "cache" / "files", settings.files_cache_bytes)
    return s3_files.S3Files(s3.Bucket(s3.address_of(url), settings.files_seconds), copies)


def folder_of(url: str) -> Path:
    """The folder of an address file:///..."""
    return Path(url.removeprefix("file://"))
