"""A warm grader in reserve, so that one that is killed is replaced at once, and how graders are started at all."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

import structlog

from app.core.loops import Loop
from app.judging.service.messages import Failed, Warm, Warmed
from app.judging.service.running import GraderSettings, RunningGrader

log = structlog.get_logger()

SECONDS_BETWEEN_LOOKS = 2.0
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0


class Spares:
    """Keeps some graders warm beside those that work, and counts those that died. May be used from any thread."""

    def __init__(self, count: int, settings: GraderSettings, warm_up: Callable[[], Warm]) -> None:
        self._count = count
        self._settings = settings
        self._warm_up = warm_up
        self._changed = threading.Condition()
        self._ready: deque[RunningGrader] = deque()
        self._starting: set[RunningGrader] = set()
        self._wanted = 0
        self._is_bringing = False
        self._is_awaited = False
        self._closing = False
        self._loop = Loop("spare graders", self._work, 0.0)
        self.deaths = 0
        self.protections: dict[str, str] = {}

    def start(self) -> None:
        """Begin to keep spares."""
        if self._count:
            self._loop.start()

    @property
    def pids(self) -> list[int]:
        """Process ids of the spares that are warm."""
        with self._changed:
            return [grader.pid for grader in self._ready if grader.alive]

    def take(self) -> RunningGrader | None:
        """A warm grader: a spare, the one being started, or another started now; None once all is closed."""
        with self._changed:
            if (grader := self._taken()) is not None:
                return grader
            if self._is_bringing and not self._is_awaited:
                return self._awaited()
            self._wanted += 1
        try:
            return self._started()
        finally:
            with self._changed:
                self._wanted -= 1
                self._changed.notify_all()

    def _taken(self) -> RunningGrader | None:
        while self._ready:
            grader = self._ready.popleft()
            self._changed.notify_all()
            if grader.alive:
                return grader
            self._bury(grader)
        return None

    def _awaited(self) -> RunningGrader | None:
        """Wait for the spare that is being started: it is ahead of one that would be started beside it."""
        self._is_awaited = True
        try:
            while not self._closing:
                if (grader := self._taken()) is not None:
                    return grader
                self._changed.wait()
            return None
        finally:
            self._is_awaited = False

    def died(self) -> None:
        """Count a grader that worked and is dead."""
        with self._changed:
            self.deaths += 1

    def close(self) -> None:
        """Kill the spares and those that start."""
        with self._changed:
            self._closing = True
            for grader in (*self._ready, *self._starting):
                grader.stop()
            self._changed.notify_all()
        self._loop.close(LONGEST_PAUSE)
        with self._changed:
            while self._ready:
                self._ready.popleft().kill()

    def _work(self) -> None:
        """Start a spare where one is missing, but none beside a grader that work waits for; look whether they live."""
        with self._changed:
            for grader in [each for each in self._ready if not each.alive]:
                self._ready.remove(grader)
                self._bury(grader)
            self._is_bringing = self._is_awaited or (len(self._ready) < self._count and not self._wanted)
            if not self._is_bringing and not self._closing:
                self._changed.wait(SECONDS_BETWEEN_LOOKS)
        if self._is_bringing and (spare := self._started()) is not None:
            with self._changed:
                self._is_bringing = False
                self._ready.append(spare)
                self._changed.notify_all()

    def _bury(self, grader: RunningGrader) -> None:
        self.deaths += 1
        grader.kill()

    def _started(self) -> RunningGrader | None:
        """Start a grader; one that dies while it starts is nobody's fault: wait longer each time, and try again."""
        pause = FIRST_PAUSE
        while not self._closing:
            if (grader := self._try()) is not None:
                return grader
            with self._changed:
                self._changed.wait_for(lambda: self._closing, pause)
            pause = min(LONGEST_PAUSE, 2 * pause)
        return None

    def _try(self) -> RunningGrader | None:
        try:
            request = self._warm_up()
            grader = RunningGrader(self._settings)
            warmed = self._warmed(grader, request)
        except Exception:  # a database that is away, no process left to start, a pipe that breaks
            log.exception("a grader could not be started; it is tried again")
            return None
        if self._closing:
            grader.kill()
            return None
        if isinstance(warmed, Failed):
            log.warning("a grader died while it started; another is tried", error=warmed.error)
            with self._changed:
                self._bury(grader)
            return None
        if warmed.error:
            log.warning("a grader could not load its checkers", error=warmed.error)
        self._tell(warmed.protections)
        return grader

    def _warmed(self, grader: RunningGrader, request: Warm) -> Warmed | Failed:
        """Warm a grader that has been started; one that fails by an exception is killed."""
        with self._changed:
            self._starting.add(grader)
        try:
            return grader.warm(request)
        except BaseException:
            grader.kill()
            raise
        finally:
            with self._changed:
                self._starting.discard(grader)

    def _tell(self, protections: dict[str, str]) -> None:
        missing = {name: lack for name, lack in protections.items() if lack}
        if missing and protections != self.protections:
            log.warning("graders lack protections that this system does not give", **missing)
        self.protections = protections
