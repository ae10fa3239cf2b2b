"""New files with secrets: made before anything is asked of the server, readable by their owner alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Self

from app.core.commands.output import Failure


class NewFile:
    """A file that did not exist, made at once so that nothing is lost later; removed if nothing is written to it.

    Without a path there is none, and `write` is not called.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._written = False

    def __enter__(self) -> Self:
        """Make the file; raises Failure where there is one already."""
        if self.path is not None:
            try:
                self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            except FileExistsError:
                raise Failure(f"{self.path}: expected a new file, found one that is there already") from None
            except OSError as error:
                raise Failure(f"{self.path}: {error.strerror or error}", 1) from None
        return self

    def __exit__(self, *_error: object) -> None:
        """Close the file, and remove it if it is empty."""
        if self.path is None:
            return
        os.close(self._file)
        if not self._written:
            self.path.unlink()

    def write(self, text: str) -> None:
        """Write text in UTF-8, all of it."""
        self._written = True
        data = memoryview(text.encode())
        while data:
            data = data[os.write(self._file, data) :]
