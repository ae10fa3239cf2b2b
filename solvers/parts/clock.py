"""The one clock of every search: a budget of seconds, or of steps when a run must repeat exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

from checkers.doors import Exact
from solvers.doors import Progress, Report

SECONDS_BETWEEN_REPORTS = 0.1


@dataclass
class Clock:
    """Tells a search when to stop. With `steps` given, time does not count: the same steps give the same run.

    `most` is the best raw score that a solver has proven possible, told with every report. `timer` reads seconds;
    `process_time` makes figures that stand on a busy machine.
    """

    seconds: float
    steps: int | None = None
    progress: Progress | None = None
    timer: Callable[[], float] = perf_counter
    seconds_between_reports: float = SECONDS_BETWEEN_REPORTS
    started: float = field(init=False)
    taken: int = 0
    stopped: bool = False
    most: Exact | None = None
    _reported: float = 0.0

    def __post_init__(self) -> None:
        self.started = self.timer()

    @property
    def elapsed(self) -> float:
        """Seconds since the search began."""
        return self.timer() - self.started

    @property
    def fraction(self) -> float:
        """Share of the budget used, 0..1."""
        used = self.elapsed / self.seconds if self.steps is None else self.taken / max(self.steps, 1)
        return min(1.0, used)

    def running(self) -> bool:
        """True while there is budget left and no one asked to stop."""
        return not self.stopped and self.fraction < 1.0

    def step(self, count: int = 1, *, best: Exact | None = None, states: int = 0, note: str = "") -> bool:
        """Count `count` steps, report now and then, and say whether to continue."""
        self.taken += count
        self.report(best=best, states=states, note=note)
        return self.running()

    def report(self, *, best: Exact | None = None, states: int = 0, note: str = "", final: bool = False) -> None:
        """Tell the listener how far the search is, at most every tenth of a second unless `final`."""
        if self.progress is None:
            return
        now = self.elapsed
        if not final and now - self._reported < self.seconds_between_reports:
            return
        self._reported = now
        fraction = 1.0 if final else self.fraction
        if self.progress(Report(fraction, best, states, note, self.taken, self.most)) is False:
            self.stopped = True
