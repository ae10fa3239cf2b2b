"""The pipes of a run: what is sent to the program, and what it prints, bounded."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

CHUNK = 65536


class Outlet:
    """What a program prints to one pipe."""

    def __init__(self, pipe: int) -> None:
        os.set_blocking(pipe, False)
        self.pipe = pipe
        self.text = bytearray()
        self.on_text: Callable[[bytes], None] | None = None

    def receive(self) -> bool:
        """Take what is there now; False at the end."""
        try:
            data = os.read(self.pipe, CHUNK)
        except BlockingIOError:
            return True
        self.text += data
        if data and self.on_text is not None:
            self.on_text(data)
        return bool(data)

    def drain(self, most: int) -> None:
        """Take the rest, up to so many bytes in all, of a program that has ended."""
        size = -1
        while len(self.text) != size and len(self.text) <= most:
            size = len(self.text)
            self.receive()


class Inlet:
    """Bytes or a file to send. The file itself stays outside: a program could open it again to write."""

    def __init__(self, source: Path | bytes) -> None:
        self._file = os.open(source, os.O_RDONLY) if isinstance(source, Path) else None
        self._bytes = memoryview(b"" if isinstance(source, Path) else source)

    def send(self, pipe: int) -> bool:
        """Send what the pipe takes now; False once there is no more to send, or nobody reads it."""
        if not self._bytes and self._file is not None:
            self._bytes = memoryview(os.read(self._file, CHUNK))
        if not self._bytes:
            return False
        try:
            self._bytes = self._bytes[os.write(pipe, self._bytes[:CHUNK]) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            return False
        return True

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
