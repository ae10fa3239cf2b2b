"""An upload with a progress bar."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from app.cli.output import Failure, console

WORTH_A_BAR = 1 << 20


class CountedReader(io.BufferedReader):
    """Reads a file or bytes, and reports how far it has come."""

    def __init__(self, raw: io.RawIOBase, on_position: Callable[[int], None]) -> None:
        super().__init__(raw)
        self._on_position = on_position

    def read(self, size: int | None = -1, /) -> bytes:
        """Read on, and report the position."""
        data = super().read(size)
        self._on_position(self.tell())
        return data


@contextmanager
def upload_shown(source: bytes | Path) -> Iterator[CountedReader]:
    """Give a reader of bytes or of a file, which is never in memory as a whole.

    On a terminal a bar shows how much of a large upload has gone out. Raises Failure for a file that does not open.
    """
    try:
        raw = io.FileIO(source) if isinstance(source, Path) else io.BytesIO(source)
    except OSError as error:
        raise Failure(f"{source!s}: {error.strerror or error}") from None
    with raw:
        total = raw.seek(0, io.SEEK_END)
        raw.seek(0)
        if total < WORTH_A_BAR or not sys.stderr.isatty():
            yield CountedReader(raw, lambda _position: None)  # type: ignore[arg-type] # takes BytesIO as well
            return
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
        with Progress(*columns, console=console(err=True), transient=True) as bar:
            task = bar.add_task("upload", total=total)

            def show(position: int) -> None:
                text = "upload" if position < total else "sent; the server is at work"
                bar.update(task, completed=position, description=text)

            yield CountedReader(raw, show)  # type: ignore[arg-type]
