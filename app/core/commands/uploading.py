"""An upload with a progress bar.

- A download to a file, with a progress bar; it is never in memory as a whole.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TransferSpeedColumn,
)

from app.core.commands import output, progress
from app.core.commands.client import Client
from app.core.faults import OnStep, PackageErrors, unseen

if TYPE_CHECKING:
    from app.packages.model import Package

WORTH_A_BAR = 1 << 20


class Upload(NamedTuple):
    """A reader of what is sent, and a function to be told of what the server does with it."""

    reader: BinaryIO
    on_step: OnStep


@contextmanager
def upload_shown(source: bytes | Path) -> Iterator[Upload]:
    """Give a reader of bytes or of a file, which is never in memory as a whole.

    On a terminal a bar shows how much of a large upload has gone out, and then how far the server has come. Raises
    Failure for a file that does not open.
    """
    try:
        raw = io.FileIO(source) if isinstance(source, Path) else io.BytesIO(source)
    except OSError as error:
        raise output.Failure(f"{source!s}: {error.strerror or error}") from None
    with raw:
        total = raw.seek(0, io.SEEK_END)
        raw.seek(0)
        if total < WORTH_A_BAR or not sys.stderr.isatty():
            yield Upload(cast(BinaryIO, raw), unseen)
            return
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
        with Progress(*columns, console=output.console(err=True), transient=True) as bar:
            task = bar.add_task("upload", total=total)

            def show_step(phase: str, done: int, parts: int) -> None:
                bar.update(task, description=f"server: {phase}", completed=done, total=parts or None)

            yield Upload(bar.wrap_file(cast(BinaryIO, raw), task_id=task), show_step)


# Called with the bytes that have come, and those that come in all where the server says so.
OnSize = Callable[[int, int | None], None]


def download(client: Client, path: str, target: Path, *, code: int = 2) -> int:
    """Fetch a resource into a file; returns its bytes. Raises Failure, and then what was at `target` stays as it was.

    `code`: the exit code where the file cannot be written.
    """
    with output.new_file(target, code=code) as file, _download_shown() as on_size:
        client.fetch(path, file, on_size)
        return file.tell()


@contextmanager
def _download_shown() -> Iterator[OnSize]:
    """Show how much has come on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _size, _total: None
        return
    columns = (TextColumn("download"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=output.console(err=True), transient=True) as bar:
        task = bar.add_task("download", total=None)
        yield lambda size, total: bar.update(task, completed=size, total=total)


def read_sound(place: Path, spool: Path | None = None) -> Package:
    """Read a package from a folder, or a zip in memory or into the new file `spool`; raises Failure with all faults."""
    from app.packages.files import LARGEST, LIMITS
    from app.packages.read import read_archive, read_package

    must_exist(place)
    try:
        return (
            read_package(place)
            if place.is_dir()
            else read_archive(place, limits=LIMITS if spool is None else LARGEST, spool=spool)
        )
    except PackageErrors as errors:
        raise output.Failure(f"{place} is not a sound package:\n{progress.all_lines(errors)}", 1) from None


def must_exist(place: Path) -> None:
    """Raise Failure where there is neither a folder nor a file."""
    if not place.is_dir() and not place.is_file():
        raise output.Failure(f"{place}: expected a package's folder or zip, found nothing")
