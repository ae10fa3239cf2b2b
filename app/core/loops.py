"""Background work: a thread that runs a step again and again, whatever the step raises.

Guarantee 1 and 7 rest on it: what waits in rows is done, and others take over, only while the loops of a process run.
A failed step is logged and counted, and tried again after a moment. `states()` shows every running loop of the process
to `/health/ready`, `/metrics` and `jurado status`.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import structlog

from app.core.clock import utc_now

T = TypeVar("T")

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.loops")

SECONDS_AFTER_A_FAULT = 0.5
FOREVER = threading.TIMEOUT_MAX


@dataclass(frozen=True, slots=True)
class LoopState:
    """What became of a loop's steps: the last success, the failures, and the error of the last step if it failed."""

    name: str
    succeeded: datetime | None
    failures: int
    error: str


class Loop:
    """Calls `step` in its own thread: first after `delay` seconds, then every `seconds`, or sooner after `wake`.

    A step may return the seconds until the next one; None: the usual ones. `seconds=FOREVER` waits for `wake` alone.
    A failed step is tried again after `retry` seconds, and not sooner.
    """

    def __init__(
        self,
        name: str,
        step: Callable[[], float | None],
        seconds: float = FOREVER,
        *,
        delay: float = 0.0,
        retry: float = SECONDS_AFTER_A_FAULT,
    ) -> None:
        self._name = name
        self._step = step
        self._seconds = seconds
        self._delay = delay
        self._retry = retry
        self._wanted = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._succeeded: datetime | None = None
        self._failures = 0
        self._error = ""

    @property
    def closing(self) -> bool:
        """Whether `close` has been called: a long step ends early then."""
        return self._closing.is_set()

    @property
    def alive(self) -> bool:
        """Whether its thread runs."""
        return self._thread.is_alive()

    @property
    def state(self) -> LoopState:
        """What became of the steps so far."""
        return LoopState(self._name, self._succeeded, self._failures, self._error)

    def start(self) -> None:
        """Begin; nothing for a loop that has begun."""
        if self in _running or self.closing:
            return
        _running.append(self)
        self._thread.start()

    def wake(self) -> None:
        """Run the next step now, or at once after the present one."""
        self._wanted.set()

    def wait(self, seconds: float) -> bool:
        """Let a step pause; True, at once, when the loop is closed."""
        return self._closing.wait(seconds)

    def close(self, seconds: float | None = None) -> None:
        """Stop after the present step and wait for it, at most so many seconds."""
        self._closing.set()
        self._wanted.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(seconds)
        if self in _running:
            _running.remove(self)

    def _run(self) -> None:
        pause = self._delay
        while True:
            self._wanted.wait(min(pause, FOREVER))
            self._wanted.clear()
            if self.closing:
                return
            pause = self._once()

    def _once(self) -> float:
        """Run one step; returns the seconds until the next."""
        try:
            pause = self._step()
        except Exception as error:
            self._failures += 1
            before, self._error = self._error, str(error) or type(error).__name__
            if self._error != before:  # a database that is away fails the same way twice a second
                log.exception("background work failed and is tried again", loop=self._name)
            self._closing.wait(self._retry)  # also if it is woken in the meantime: a rush must not hammer what is away
            return 0.0
        if self._error:
            log.info("background work succeeds again", loop=self._name)
        self._succeeded, self._error = utc_now(), ""
        return self._seconds if pause is None else pause


_running: list[Loop] = []


def states() -> list[LoopState]:
    """The states of the loops that run in this process, by name."""
    return sorted((loop.state for loop in _running.copy()), key=lambda state: state.name)


def give(future: Future[T], result: T) -> None:
    """Set the result of a future unless its waiter has cancelled it or it is done."""
    with suppress(InvalidStateError):
        future.set_result(result)


def fail(future: Future[T], error: BaseException) -> None:
    """Set the exception of a future unless its waiter has cancelled it or it is done."""
    with suppress(InvalidStateError):
        future.set_exception(error)
