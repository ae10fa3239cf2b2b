"""What a submission sends: one file as it is, several as a zip, counted while it goes out."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

from app.cli.names import read_file
from app.cli.output import Failure, console
from app.packages.zips import zip_bytes

WORTH_A_BAR = 1 << 20


def pack(paths: Sequence[Path]) -> tuple[str, bytes]:
    """Give the name and bytes to upload: a single file unchanged, else a zip of all files, folders looked into.

    Raises Failure where there is nothing, something cannot be read, or two files have one name.
    """
    files = [file for path in paths for file in (files_below(path) if path.is_dir() else [path])]
    if not files:
        raise Failure(f"expected answer files, found none in {', '.join(map(str, paths))}")
    if len(files) == 1 and not paths[0].is_dir():
        return files[0].name, read_file(files[0], "file")
    return "answers.zip", zipped(files)


def files_below(folder: Path) -> list[Path]:
    """The files of a folder and the folders in it, but not hidden ones."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return [path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts)]


def zipped(files: Sequence[Path]) -> bytes:
    """Zip files by their names alone: the server looks at nothing else of a path."""
    names: dict[str, Path] = {}
    for path in files:
        if path.name in names:
            raise Failure(f"expected one file of each name, found {names[path.name]} and {path}")
        names[path.name] = path
    return zip_bytes({name: read_file(path, "file") for name, path in names.items()})


def unpack(data: bytes, folder: Path) -> None:
    """Write the files of a zip that the server sent into a folder, by their names alone; it is made if missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                (folder / Path(name).name).write_bytes(archive.read(name))
    except OSError as error:
        raise Failure(f"{folder}: {error.strerror}") from None
    except zipfile.BadZipFile as error:
        raise Failure(f"expected a zip from the server, found something else: {error}", 1) from None


class CountedReader(io.BytesIO):
    """Bytes that tell how far somebody has read them."""

    def __init__(self, data: bytes, on_position: Callable[[int], None]) -> None:
        super().__init__(data)
        self._on_position = on_position

    def read(self, size: int | None = -1, /) -> bytes:
        """Read on, and tell."""
        data = super().read(size)
        self._on_position(self.tell())
        return data


@contextmanager
def upload_shown(data: bytes) -> Iterator[CountedReader]:
    """Give a reader of the data; on a terminal a bar shows how much of a large upload has gone out."""
    if len(data) < WORTH_A_BAR or not sys.stderr.isatty():
        yield CountedReader(data, lambda _position: None)
        return
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console(err=True), transient=True) as bar:
        task = bar.add_task("upload", total=len(data))
        yield CountedReader(data, lambda position: bar.update(task, completed=position))
