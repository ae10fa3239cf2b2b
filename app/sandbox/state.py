"""Which protections of the sandbox this system gives, for whoever looks at a server."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

SECONDS_BETWEEN_LOOKS = 60.0


class ProtectionState:
    """Tries the protections when somebody first asks, and again from time to time while one of them is missing."""

    def __init__(self, look: Callable[[], Mapping[str, str]]) -> None:
        self._look = look
        self._lock = threading.Lock()
        self._lacks: Mapping[str, str] = {}
        self._next = 0.0

    def lacks(self) -> Mapping[str, str]:
        """Each protection by name, with what is missing; empty where it is on. May take a tenth of a second."""
        with self._lock:
            old = time.monotonic() >= self._next
            if not self._lacks or (old and any(self._lacks.values())):
                self._lacks = self._look()
                self._next = time.monotonic() + SECONDS_BETWEEN_LOOKS
            return self._lacks

    def forget(self) -> None:
        """Look again at what is missing when somebody asks next."""
        self._next = 0.0
