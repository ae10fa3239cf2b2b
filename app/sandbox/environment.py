"""The environment of graders and solvers: a list of what is passed on, so that no secret of the server is."""

from __future__ import annotations

import os

PASSED = frozenset({
    "HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "TZ", "XDG_CACHE_HOME",
    "NUMBA_CACHE_DIR", "NUMBA_CPU_FEATURES", "NUMBA_CPU_NAME", "NUMBA_DISABLE_JIT",
    "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONHOME", "PYTHONPATH", "PYTHONPYCACHEPREFIX", "PYTHONSAFEPATH",
})  # fmt: skip
"""Variables that graders get: paths of Python, its libraries and compiled kernels, and the language; no JURADO_."""

ONE_THREAD = dict.fromkeys(("MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
"""Filters hold for the thread that sets them and for those it starts: there must be no other one."""


def clean_environment() -> dict[str, str]:
    """The variables a grader or a solver is started with."""
    return {name: value for name, value in os.environ.items() if name in PASSED} | ONE_THREAD
