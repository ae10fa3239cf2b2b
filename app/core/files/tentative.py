"""Files of something large that may be refused as a whole in the end: taken back then, as no row will name them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import TracebackType
from typing import Self

from app.core.files.files import Files, Kept, digest_of
from app.core.files.wrapped_files import WrappedFiles


class TentativeFiles(WrappedFiles):
    """The file store for the time of one attempt: what it made is removed at the end, unless rows are about to name it.

    `settle` comes right before the commit: once that is on its way, nobody knows any more whether it succeeds.
    """

    def __init__(self, files: Files) -> None:
        super().__init__(files)
        self._made: dict[str, Kept] = {}

    def put(self, data: bytes) -> Kept:
        """Store it as ever, and remember what that made; the same bytes again would look like somebody else's."""
        known = self._made.get(hashlib.sha256(data).hexdigest())
        return known if known is not None else self._noted(super().put(data))

    def put_file(self, path: Path) -> Kept:
        """The same for the bytes of a file."""
        known = self._made.get(digest_of(path))
        return known if known is not None else self._noted(super().put_file(path))

    def _noted(self, file: Kept) -> Kept:
        if file.made is not None:
            self._made[file.sha256] = file
        return file

    def settle(self) -> None:
        """Keep everything from here on."""
        self._made.clear()

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, _type: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        """Take back what is not settled."""
        for file in self._made.values():
            self.take_back(file)
