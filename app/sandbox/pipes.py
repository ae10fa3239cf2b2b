"""A private pipe between the server and one grader: whole messages, bounded in size and time, and open files.

A message is its length in 8 bytes and as many bytes. Nothing of it is unpickled, and half a message holds nobody longer
than the time given.
"""

import os
import socket
import struct
import time

LENGTH = struct.Struct("!Q")
MOST_DESCRIPTORS = 1


class PipeTooSlow(Exception):
    """No whole message came, or went, in the time given."""


class PipeBroken(Exception):
    """The other end is closed, or what it sent is no message."""


class MessageTooLarge(Exception):
    """The other end announces more bytes than it may."""


class Pipe:
    """One end of a pipe. Seconds are those until the whole message has passed; None: as long as it takes."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def close(self) -> None:
        """Close this end."""
        self._end.close()

    def send(self, message: bytes, seconds: float | None = None, descriptor: int | None = None) -> None:
        """Send a message, and with it an open file."""
        until = _until(seconds)
        try:
            self._wait(until)
            header = LENGTH.pack(len(message))
            if descriptor is None:
                self._end.sendall(header + message)
                return
            socket.send_fds(self._end, [header], [descriptor])
            self._wait(until)
            self._end.sendall(message)
        except TimeoutError:
            raise PipeTooSlow from None
        except OSError as error:
            raise PipeBroken(str(error)) from None

    def receive(self, most: int, seconds: float | None = None) -> bytes:
        """Receive a message of at most so many bytes; open files that come with it are closed by the kernel."""
        until = _until(seconds)
        (length,) = LENGTH.unpack(self._exactly(LENGTH.size, until))
        if length > most:
            raise MessageTooLarge(f"expected a message of at most {most} bytes, found {length}")
        return self._exactly(length, until)

    def receive_file(self, most: int) -> tuple[bytes, int | None]:
        """Receive a message and the open file that came with it, if one did."""
        try:
            header, descriptors, _, _ = socket.recv_fds(self._end, LENGTH.size, MOST_DESCRIPTORS)
        except OSError as error:
            raise PipeBroken(str(error)) from None
        if len(header) < LENGTH.size:
            header += self._exactly(LENGTH.size - len(header), None)
        (length,) = LENGTH.unpack(header)
        if length > most:
            for descriptor in descriptors:
                os.close(descriptor)
            raise MessageTooLarge(f"expected a message of at most {most} bytes, found {length}")
        return self._exactly(length, None), descriptors[0] if descriptors else None

    def _exactly(self, size: int, until: float | None) -> bytes:
        data = bytearray(size)
        view, at = memoryview(data), 0
        try:
            while at < size:
                self._wait(until)
                count = self._end.recv_into(view[at:])
                if count == 0:
                    raise PipeBroken("the other end is closed")
                at += count
        except TimeoutError:
            raise PipeTooSlow from None
        except OSError as error:
            raise PipeBroken(str(error)) from None
        return bytes(data)

    def _wait(self, until: float | None) -> None:
        """Let the next call wait until then, and no longer."""
        if until is None:
            self._end.settimeout(None)
            return
        left = until - time.monotonic()
        if left <= 0:
            raise PipeTooSlow
        self._end.settimeout(left)


def _until(seconds: float | None) -> float | None:
    return None if seconds is None else time.monotonic() + seconds
