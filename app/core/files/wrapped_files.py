"""A store around another one that asks it for everything: the base of those that do a little more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from app.core.files.files import SECONDS_UNFINISHED, Files, Kept, State, StoredFile


class WrappedFiles:
    """The store `inner` under another name."""

    def __init__(self, inner: Files) -> None:
        self.inner = inner

    @property
    def on_fault(self) -> Callable[[str, str], object]:
        """Told (sha256, error) of each file that cannot be loaded."""
        return self.inner.on_fault

    @on_fault.setter
    def on_fault(self, listener: Callable[[str, str], object]) -> None:
        self.inner.on_fault = listener

    @property
    def place(self) -> str:
        """Where the files lie."""
        return self.inner.place

    @property
    def is_slow(self) -> bool:
        """Whether storing waits for a network."""
        return self.inner.is_slow

    @property
    def least_grace(self) -> float:
        """Seconds for which nobody has kept a file's bytes before `collect` may remove it."""
        return self.inner.least_grace

    def keep(self, data: bytes) -> str:
        """Store `data` durably and return its sha256."""
        return self.put(data).sha256

    def keep_file(self, path: Path) -> str:
        """Store the bytes of a file durably and return their sha256."""
        return self.put_file(path).sha256

    def put(self, data: bytes) -> Kept:
        """Store `data` durably, and say whether that made a file."""
        return self.inner.put(data)

    def put_file(self, path: Path) -> Kept:
        """Store the bytes of a file durably, and say whether that made a file."""
        return self.inner.put_file(path)

    def keep_packed(self, sha256: str, packed: IO[bytes]) -> None:
        """Store the compressed bytes of a file as another store has them."""
        self.inner.keep_packed(sha256, packed)

    def take_back(self, file: Kept) -> bool:
        """Remove a file that `put` made, unless its bytes were kept once more."""
        return self.inner.take_back(file)

    def load(self, sha256: str) -> bytes:
        """Give the bytes back."""
        return self.inner.load(sha256)

    def pieces(self, sha256: str) -> Iterator[bytes]:
        """Give the bytes back in pieces."""
        return self.inner.pieces(sha256)

    def opened(self, sha256: str) -> IO[bytes]:
        """Open the compressed file to read."""
        return self.inner.opened(sha256)

    def examine(self, sha256: str) -> None:
        """Read the file where it is stored and check it."""
        self.inner.examine(sha256)

    def state(self, sha256: str) -> State:
        """A value that changes when the file is written again."""
        return self.inner.state(sha256)

    def stored(self) -> Iterator[StoredFile]:
        """Every file of the store."""
        return self.inner.stored()

    def collect(self, file: StoredFile) -> bool:
        """Remove a file that no row names, unless its bytes have been kept since it was listed."""
        return self.inner.collect(file)

    def tidy(self, seconds: float = SECONDS_UNFINISHED) -> int:
        """Remove what killed processes began to write."""
        return self.inner.tidy(seconds)

    def close(self) -> None:
        """Stop what goes on in the background."""
        self.inner.close()
