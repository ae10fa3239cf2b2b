"""An upload with a progress bar."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rich.progress import BarColumn, DownloadColumn, Progress, ProgressColumn, Task, TextColumn, TransferSpeedColumn
from rich.text import Text

from app.core.commands.output import Failure, console
from app.core.steps import OnStep, unseen

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


class Upload(NamedTuple):
    """A reader of what is sent, and a function to be told of what the server does with it."""

    reader: CountedReader
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
        raise Failure(f"{source!s}: {error.strerror or error}") from None
    with raw:
        total = raw.seek(0, io.SEEK_END)
        raw.seek(0)
        if total < WORTH_A_BAR or not sys.stderr.isatty():
            yield Upload(CountedReader(raw, lambda _position: None), unseen)  # type: ignore[arg-type] # takes BytesIO too
            return
        columns = (TextColumn("{task.description}"), BarColumn(), Amount())
        with Progress(*columns, console=console(err=True), transient=True) as bar:
            task = bar.add_task("upload", total=total, unit="bytes")

            def show(position: int) -> None:
                text = "upload" if position < total else "sent; the server is at work"
                bar.update(task, completed=position, description=text)

            def show_step(phase: str, done: int, parts: int) -> None:
                bar.update(task, description=f"server: {phase}", completed=done, total=parts or None, unit="parts")

            yield Upload(CountedReader(raw, show), show_step)  # type: ignore[arg-type]


class Amount(ProgressColumn):
    """How much is done: of an upload in bytes and their speed, of the server's work in parts."""

    def __init__(self) -> None:
        super().__init__()
        self._of_bytes = (DownloadColumn(), TransferSpeedColumn())

    def render(self, task: Task) -> Text:
        """Say it."""
        if task.fields["unit"] == "bytes":
            return Text(" ").join(column.render(task) for column in self._of_bytes)
        return Text("" if task.total is None else f"{task.completed:.0f} of {task.total:.0f}")
