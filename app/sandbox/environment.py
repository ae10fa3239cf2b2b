"""The environment of graders and solvers: a list of what is passed on, so that no secret of the server is.

- Which protections of the sandbox this system gives, for whoever looks at a server.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping

# Variables that graders get: paths of Python, its libraries and compiled kernels, and the language; no JURADO_.
PASSED = frozenset({
    "HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "TZ", "XDG_CACHE_HOME",
    "NUMBA_CACHE_DIR", "NUMBA_CPU_FEATURES", "NUMBA_CPU_NAME", "NUMBA_DISABLE_JIT",
    "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONHOME", "PYTHONPATH", "PYTHONPYCACHEPREFIX", "PYTHONSAFEPATH",
})  # fmt: skip

# Filters hold for the thread that sets them and for those it starts: there must be no other one.
ONE_THREAD = dict.fromkeys(("MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def clean_environment() -> dict[str, str]:
    """The variables a grader or a solver is started with."""
    return {name: value for name, value in os.environ.items() if name in PASSED} | ONE_THREAD


SECONDS_BETWEEN_LOOKS = 60.0


class ProtectionState:
    """Tries the protections when somebody first asks, and again from time to time while one of them is missing."""

    def __init__(self, look: Callable[[], Mapping[str, str]]) -> None:
        self._look = look
        self._lacks: Mapping[str, str] = {}
        self._next = 0.0

    def lacks(self) -> Mapping[str, str]:
        """Each protection by name, with what is missing; empty where it is on. May take a tenth of a second."""
        old = time.monotonic() >= self._next
        if not self._lacks or (old and any(self._lacks.values())):  # two threads may look at once: nothing is lost
            self._lacks = self._look()
            self._next = time.monotonic() + SECONDS_BETWEEN_LOOKS
        return self._lacks

    def forget(self) -> None:
        """Look again at what is missing when somebody asks next."""
        self._next = 0.0
