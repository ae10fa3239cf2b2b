"""Solvers: a program reads an input on standard input and writes an answer, bounded, watched and ended at will.

A solver that improves its answer may write lines of JSON to standard error: `{"fraction": 0.5, "best": 17, "states": 9,
"note": "...", "answer": "..."}`, every key optional. Where its time is over, the last `answer` counts.

Guarantee 4: the lock lets any thread end a run, also before it starts.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypedDict, TypeGuard, final

from app.programs.model import ProgramFault, exit_code, plain, unexpected
from app.programs.tools import Bounds, Tool, ToolDesk
from app.sandbox.model import Result

SECONDS_BETWEEN = 0.5
ALMOST = 0.99
LONGEST_NOTE = 200
MOST_UNREAD = 2**26
MOST_STATES = 2**63
OVER_TIME = frozenset({"cpu", "wall"})


@final
class SolverReport(TypedDict):
    """The progress of a run: `fraction` 0 to 1, the best raw score so far, the states seen, a note."""

    fraction: float
    best: int | float | None
    states: int
    note: str


OnReport = Callable[[SolverReport], None]


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer that a solver made, its last report, and whether its time was over before it ended."""

    answer: bytes
    report: SolverReport
    stopped: bool
    seconds: float


class Solving:
    """One run of a solver. `kill` may be called from any thread at any time, also before the start."""

    def __init__(self, on_report: OnReport) -> None:
        self._on_report = on_report
        self._report: SolverReport = {"fraction": 0.0, "best": None, "states": 0, "note": ""}
        self._answer: bytes | None = None
        self._line = bytearray()
        self._seconds = self._shown = 0.0
        self._kill: Callable[[], None] | None = None
        self._killed = ""
        self._lock = threading.Lock()

    def kill(self, why: str = "it was cancelled") -> None:
        """End the run and all its processes; the first reason is the one that counts."""
        with self._lock:
            self._killed = self._killed or why
            if self._kill is not None:
                self._kill()

    def run(self, desk: ToolDesk, tool: Tool, data: bytes, bounds: Bounds, options: Mapping[str, str]) -> Answered:
        """Solve an input; `options` are its environment. Raises ProgramFault where there is no answer in the end."""
        command = desk.command(tool, (), bounds, stdin=data, environment=options)
        began = time.monotonic()
        self._seconds = bounds.seconds
        if self._killed:
            raise ProgramFault(self._killed)
        result = desk.sandbox.run(command, self)
        if self._killed:
            raise ProgramFault(self._killed)
        return self._answered(result, time.monotonic() - began)

    def begun(self, kill: Callable[[], None]) -> None:
        """Learn how to end the run."""
        with self._lock:
            self._kill = kill
            if self._killed:
                kill()

    def wrote(self, errors: bytes) -> None:
        """Take what the solver has written to standard error: whole lines are read as reports."""
        self._line += errors
        *lines, rest = bytes(self._line[-MOST_UNREAD:]).split(b"\n")
        self._line = bytearray(rest)
        for line in lines:
            if line.startswith(b"{"):
                self._read(line)

    def passed(self, seconds: float) -> None:
        """Report the time now and then, as a solver may report nothing itself."""
        if seconds - self._shown < SECONDS_BETWEEN:
            return
        self._shown = seconds
        fraction = max(self._report["fraction"], min(ALMOST, seconds / self._seconds))
        self._on_report({**self._report, "fraction": fraction})

    def _read(self, line: bytes) -> None:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(value, dict):
            return
        if isinstance(answer := value.get("answer"), str):
            self._answer = answer.encode("utf-8", "replace")
        report = self._report
        fraction, best, states, note = (value.get(key) for key in ("fraction", "best", "states", "note"))
        self._report = {
            "fraction": min(1.0, max(0.0, fraction)) if _is_number(fraction) else report["fraction"],
            "best": best if _is_number(best) else report["best"],
            "states": states if isinstance(states, int) and abs(states) < MOST_STATES else report["states"],
            "note": plain(note)[:LONGEST_NOTE] if isinstance(note, str) else "",
        }
        self._on_report(self._report)

    def _answered(self, result: Result, seconds: float) -> Answered:
        if result.ending in OVER_TIME and self._answer is not None:
            return Answered(self._answer, self._report, True, seconds)
        if (code := exit_code(result)) != 0:
            raise unexpected(code, "0", result)
        answer = result.stdout or self._answer
        if answer is None:
            raise ProgramFault("expected an answer on standard output, found nothing")
        return Answered(answer, self._report, False, seconds)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63
