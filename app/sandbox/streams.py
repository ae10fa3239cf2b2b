"""The pipes of a run: what is sent to the program, and what it prints, bounded.

- A run from the moment its program begins: its streams, its limits, its end, and what is counted of it.

Guarantee 4: the lock lets any thread end a run, and none after its control group is gone.
"""

import os
import selectors
import threading
import time
from collections.abc import Callable
from signal import SIGKILL, SIGXCPU, SIGXFSZ
from typing import IO

from app.sandbox import groups, launch, model

CHUNK = 65536


class Outlet:
    """What a program prints to one pipe."""

    def __init__(self, pipe: int) -> None:
        os.set_blocking(pipe, False)
        self.pipe = pipe
        self.text = bytearray()

    def receive(self) -> bool:
        """Take what is there now; False at the end."""
        try:
            data = os.read(self.pipe, CHUNK)
        except BlockingIOError:
            return True
        self.text += data
        return bool(data)

    def drain(self, most: int) -> None:
        """Take the rest, up to so many bytes in all, of a program that has ended."""
        size = -1
        while len(self.text) != size and len(self.text) <= most:
            size = len(self.text)
            self.receive()


class Inlet:
    """Bytes to send to a program."""

    def __init__(self, data: bytes) -> None:
        self._left = memoryview(data)

    def send(self, pipe: int) -> bool:
        """Send what the pipe takes now; False once there is no more to send, or no one reads it."""
        try:
            self._left = self._left[os.write(pipe, self._left[:CHUNK]) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            return False
        return bool(self._left)


SIGNALED = 128
LAST_SIGNAL = 64
# A run is longer than a limit of its time by so much at the most, on each core.
SECONDS_BETWEEN_LOOKS = 0.05


class Watch:
    """Watches one run. `run` is for one thread; `kill` is for any."""

    def __init__(self, command: model.Command, group: groups.RunGroup, launched: launch.Launched) -> None:
        self._limits, self._stdin = command.limits, command.stdin or b""
        self._group, self._launched = group, launched
        process = launched.process
        self._outlets = [_outlet(process.stdout), _outlet(process.stderr)]
        self._lock = threading.Lock()
        self._ending: model.Ending | None = None
        self._killed = False
        self._gone = False
        self._began = time.monotonic()

    def run(self) -> model.Result:
        """Pass bytes to and fro until the program ends or a limit ends it, then remove all that is left of it."""
        try:
            try:
                self._pass_bytes()
            finally:
                self._group.kill()
                self._launched.wait()
            for outlet in self._outlets:
                outlet.drain(self._limits.output)
            return self._result()
        finally:
            self._remove()

    def kill(self, ending: model.Ending | None = None) -> None:
        """Kill all processes of a program, perhaps because of a limit: the first one named counts."""
        with self._lock:
            if not self._gone:
                self._ending = self._ending or ending
                self._killed = self._killed or ending is None
                self._group.kill(self._launched.process.pid)

    def _pass_bytes(self) -> None:
        status, stdin = self._launched.status, self._launched.process.stdin
        with selectors.DefaultSelector() as selector:
            selector.register(status.handle, selectors.EVENT_READ, status.read)
            for outlet in self._outlets:
                selector.register(outlet.pipe, selectors.EVENT_READ, outlet.receive)
            if stdin is not None:
                inlet = Inlet(self._stdin)
                os.set_blocking(stdin.fileno(), False)
                selector.register(stdin, selectors.EVENT_WRITE, lambda: inlet.send(stdin.fileno()))
            while not status.closed:
                for key, _ in selector.select(SECONDS_BETWEEN_LOOKS):
                    more: Callable[[], bool] = key.data
                    if not more():
                        selector.unregister(key.fileobj)
                        if key.fileobj is stdin:
                            stdin.close()
                self._hold_to_limits()

    def _hold_to_limits(self) -> None:
        """End the run if it has reached a limit."""
        if self._ending is not None:
            return
        if self._printed_too_much():
            self.kill("output")
        elif time.monotonic() >= self._began + self._limits.wall_seconds:
            self.kill("wall")
        elif self._group.cpu_seconds() >= self._limits.cpu_seconds:
            self.kill("cpu")
        elif self._group.out_of_memory():
            self.kill("memory")

    def _result(self) -> model.Result:
        code = self._launched.status.number("exit-code")
        cpu = self._group.cpu_seconds()
        ending, signal = self._ended_by(code, cpu)
        room = self._limits.output
        texts = []
        for outlet in self._outlets:
            texts.append(bytes(outlet.text[:room]))
            room -= len(texts[-1])
        return model.Result(
            ending,
            code if ending == "exit" else None,
            signal if ending == "signal" else None,
            cpu,
            time.monotonic() - self._began,
            texts[0],
            texts[1],
        )

    def _ended_by(self, code: int | None, cpu: float) -> tuple[model.Ending, int | None]:
        """What ended the run, and by which signal if it was one. What the program left is copied if it exited."""
        if self._ending is not None:
            return self._ending, None
        if self._group.out_of_memory():
            return "memory", None
        if code is None and self._killed:
            return "signal", SIGKILL
        if code is None or self._launched.private is None:
            words = self._outlets[-1].text[:1000].decode(errors="replace").split()
            raise model.SandboxFault(f"the program did not start: {' '.join(words)}")
        signal = code - SIGNALED if SIGNALED < code <= SIGNALED + LAST_SIGNAL else None
        if cpu >= self._limits.cpu_seconds or signal == SIGXCPU:
            return "cpu", None
        if signal == SIGXFSZ or self._launched.private.full() or self._printed_too_much():
            return "output", None
        if signal is not None:
            return "signal", signal
        return self._collected(), None

    def _printed_too_much(self) -> bool:
        return sum(len(outlet.text) for outlet in self._outlets) > self._limits.output

    def _collected(self) -> model.Ending:
        assert self._launched.private is not None
        try:
            self._launched.private.collect(self._limits.output)
        except launch.TooMuchLeft:
            return "output"
        return "exit"

    def _remove(self) -> None:
        with self._lock:
            self._gone = True
            self._launched.close()
            self._group.remove()


def _outlet(stream: IO[bytes] | None) -> Outlet:
    assert stream is not None
    return Outlet(stream.fileno())
