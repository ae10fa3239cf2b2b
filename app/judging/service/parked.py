"""Judgements that wait for a file: one that is missing or damaged is no fault of the answer, and no verdict."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from app.core.files.files import State

log = structlog.get_logger()

LOOKS_BEFORE_ANOTHER_TRY = 12
"""A file that has not changed is tried again after so many looks, a minute: a disk may read what it could not."""


@dataclass
class FileFault:
    """A stored file that a grader could not read, why, and the judgements that wait for it."""

    sha256: str
    error: str
    judgements: set[int] = field(default_factory=set)
    state: State = None
    looks: int = 0


class Parked:
    """The judgements that wait for files of a store, whose `state(sha256)` changes when one is written again.

    They stay open in their rows; what is here is only memory. `on_fault` is told (sha256, error) of each file that is
    waited for, again whenever it was tried in vain.
    """

    def __init__(self, state: Callable[[str], State]) -> None:
        self._state = state
        self.on_fault: Callable[[str, str], object] = lambda _sha256, _error: None
        self._faults: dict[str, FileFault] = {}
        self._guard = threading.Lock()

    def __contains__(self, judgement_id: object) -> bool:
        with self._guard:
            return any(judgement_id in fault.judgements for fault in self._faults.values())

    def park(self, judgement_id: int, sha256: str, error: str) -> None:
        """Let a judgement wait until the file is another one, or a minute has passed."""
        with self._guard:
            is_new = sha256 not in self._faults
            if is_new:
                log.error("a stored file cannot be read: what needs it waits", sha256=sha256, error=error)
                self._faults[sha256] = FileFault(sha256, error, state=self._state(sha256))
            self._faults[sha256].judgements.add(judgement_id)
        if is_new:
            self.on_fault(sha256, error)

    def look(self) -> set[int]:
        """The judgements that still wait; those whose file has changed are let go."""
        with self._guard:
            for sha256, fault in list(self._faults.items()):
                fault.looks += 1
                if self._state(sha256) != fault.state or fault.looks >= LOOKS_BEFORE_ANOTHER_TRY:
                    del self._faults[sha256]
            return {id_ for fault in self._faults.values() for id_ in fault.judgements}

    def faults(self) -> list[FileFault]:
        """The files that are waited for."""
        with self._guard:
            return list(self._faults.values())
