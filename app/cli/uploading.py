"""An upload with a progress bar."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

from app.cli.output import console

WORTH_A_BAR = 1 << 20


class CountedReader(io.BytesIO):
    """Bytes that report how far they have been read."""

    def __init__(self, data: bytes, on_position: Callable[[int], None]) -> None:
        super().__init__(data)
        self._on_position = on_position

    def read(self, size: int | None = -1, /) -> bytes:
        """Read on, and report the position."""
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
