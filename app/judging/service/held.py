"""Judgements that wait for the sandbox: without it no program of a package runs, and that is no verdict on anybody."""

from __future__ import annotations

import threading

import structlog

log = structlog.get_logger()

LOOKS_BEFORE_ANOTHER_TRY = 3
"""The sandbox is asked for again after so many looks, a quarter of a minute."""


class HeldBack:
    """The judgements that wait. They stay open in their rows; what is here is only memory."""

    def __init__(self) -> None:
        self._judgements: set[int] = set()
        self._error = ""
        self._looks = 0
        self._guard = threading.Lock()

    def __contains__(self, judgement_id: object) -> bool:
        with self._guard:
            return judgement_id in self._judgements

    def hold(self, judgement_id: int, error: str) -> None:
        """Let a judgement wait until the sandbox is asked for again."""
        with self._guard:
            if error != self._error:
                log.error("no program of a package can run: what needs one waits", error=error)
            self._judgements.add(judgement_id)
            self._error = error

    def look(self) -> set[int]:
        """The judgements that still wait; now and then all are let go."""
        with self._guard:
            self._looks += bool(self._judgements)
            if self._looks >= LOOKS_BEFORE_ANOTHER_TRY:
                self._judgements, self._looks = set(), 0
            if not self._judgements:
                return set()
            return set(self._judgements)
