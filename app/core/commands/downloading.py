"""A download to a file, with a progress bar; it is never in memory as a whole."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from app.core.commands.client import Client
from app.core.commands.output import console, new_file

OnSize = Callable[[int, int | None], None]
"""Called with the bytes that have come, and those that come in all where the server says so."""


def download(client: Client, path: str, target: Path, *, code: int = 2) -> int:
    """Fetch a resource into a file; returns its bytes. Raises Failure, and then what was at `target` stays as it was.

    `code`: the exit code where the file cannot be written.
    """
    with new_file(target, code=code) as file, _download_shown() as on_size:
        client.fetch(path, file, on_size)
        return file.tell()


@contextmanager
def _download_shown() -> Iterator[OnSize]:
    """Show how much has come on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _size, _total: None
        return
    columns = (TextColumn("download"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console(err=True), transient=True) as bar:
        task = bar.add_task("download", total=None)
        yield lambda size, total: bar.update(task, completed=size, total=total)
