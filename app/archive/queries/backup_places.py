"""Where backups lie: a folder, or objects below an address of S3, with the same names in both."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from app.core.db.migrate import sync, sync_folder
from app.core.files import files, open_files, s3_files
from app.core.files.s3 import S3, Address, Bucket, NoObject, address_of

MANIFEST = "manifest.json"
FILES = "files"
DATABASE = "jurado-"
UNFINISHED = ".new-"
# Copies that lie on this machine while files go to S3 or come from it; none of them is read twice.
CACHE_BYTES = 64 * 2**20


class BackupError(Exception):
    """A place holds no finished backup, or something else than described; or the databases do not allow a copy."""


def place_of(where: str, home: Path, seconds: float) -> Place:
    """The place of an address s3://... or of a folder; `home` has room for what is on its way."""
    if not where.startswith(S3):
        return BackupFolder(Path(where))
    return BackupBucket(address_of(where), home / "cache" / "backup", seconds)


class BackupFolder:
    """A backup in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = open_files.LocalFiles(folder / FILES)

    @property
    def shown(self) -> str:
        """The folder."""
        return str(self.folder)

    def prepare(self) -> None:
        """Make the folder; one with anything else is not ours to write to."""
        self.folder.mkdir(parents=True, exist_ok=True)
        _refuse_others(self.shown, "folder", [each.name for each in self.folder.iterdir()])

    def manifest(self) -> bytes | None:
        """The manifest, if there is one."""
        path = self.folder / MANIFEST
        return path.read_bytes() if path.exists() else None

    def finish(self, manifest: bytes) -> None:
        """Write it, and replace the one before."""
        os.sync()  # the manifest says that everything is there: also after a power cut
        handle, name = tempfile.mkstemp(dir=self.folder, prefix=UNFINISHED)
        with os.fdopen(handle, "wb") as file:
            file.write(manifest)
            file.flush()
            sync(file.fileno())
        os.replace(name, self.folder / MANIFEST)
        sync_folder(self.folder)

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        """Its own path."""
        yield self.folder / name

    @contextmanager
    def reading(self, name: str) -> Iterator[Path]:
        """Its own path."""
        path = self.folder / name
        if not path.is_file():
            raise FileNotFoundError(path)
        yield path

    def keep_only(self, database: str) -> None:
        """Remove the others, and what SQLite left beside them."""
        for path in self.folder.glob(f"{DATABASE}*.db*"):
            if not path.name.startswith(database):
                path.unlink()

    def remove_file(self, sha256: str) -> None:
        """Remove it."""
        self.files.remove(sha256)


class BackupBucket:
    """A backup below an address of S3. What is on its way lies in `folder` meanwhile."""

    def __init__(self, address: Address, folder: Path, seconds: float) -> None:
        self._bucket = Bucket(address, seconds)
        self._folder = folder
        below = replace(address, prefix="/".join(filter(None, (address.prefix, FILES))))
        self.files = s3_files.S3Files(Bucket(below, seconds), s3_files.FileCache(folder, CACHE_BYTES))

    @property
    def shown(self) -> str:
        """The address without its secret."""
        return self._bucket.address.shown

    def prepare(self) -> None:
        """Look at what is below the address."""
        _refuse_others(self.shown, "prefix", self._bucket.names())

    def manifest(self) -> bytes | None:
        """The manifest, if there is one."""
        try:
            return self._bucket.first(MANIFEST, files.PIECE)[0]
        except NoObject:
            return None

    def finish(self, manifest: bytes) -> None:
        """Put it in place of the one before."""
        self._bucket.replace(MANIFEST, manifest)

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        """A path on this machine, whose file is sent in parts."""
        with tempfile.TemporaryDirectory(dir=self._folder, prefix=UNFINISHED) as folder:
            path = Path(folder) / name
            yield path
            self._bucket.send(name, lambda: _pieces(path), s3_files.PART)

    @contextmanager
    def reading(self, name: str) -> Iterator[Path]:
        """A copy on this machine, fetched in parts."""
        with tempfile.TemporaryDirectory(dir=self._folder, prefix=UNFINISHED) as folder:
            path = Path(folder) / name
            try:
                size = self._bucket.about(name)["size"]
            except NoObject:
                raise FileNotFoundError(f"{self.shown}/{name}") from None
            with path.open("wb") as file:
                for start in range(0, size, s3_files.PART):
                    file.write(self._bucket.range(name, start, min(start + s3_files.PART, size)))
            yield path

    def keep_only(self, database: str) -> None:
        """Remove the others."""
        for name in self._bucket.names():
            if name.startswith(DATABASE) and name != database:
                self._bucket.remove(name)

    def remove_file(self, sha256: str) -> None:
        """Remove it: nobody but backups keeps anything here."""
        self.files.bucket.remove(files.name_of(sha256))
        self.files.cache.remove(sha256)


# A place where a backup lies: its manifest, its database, and the store of its files.
Place = BackupFolder | BackupBucket


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(files.PIECE):
            yield piece


def _refuse_others(shown: str, kind: str, names: list[str]) -> None:
    others = [name for name in names if name not in {MANIFEST, FILES} and not name.startswith((DATABASE, UNFINISHED))]
    if others:
        raise BackupError(f"{shown}: expected a {kind} for backups alone, found {others[0]} in it")
