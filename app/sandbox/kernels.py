"""Numba's cache for processes that may not write: compiled kernels are read from it, and new ones stay in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec

P = ParamSpec("P")


def keep_what_may_be_kept() -> None:
    """Let numba go on where its cache cannot be written; without this a kernel that is compiled late ends a check."""
    from numba.core import caching  # dear, and a grader whose checker has no kernels need not load it

    for owner, name in ((caching._CacheLocator, "ensure_cache_path"), (caching.IndexDataCacheFile, "save")):
        setattr(owner, name, _forgiving(getattr(owner, name)))


def _forgiving(write: Callable[P, object]) -> Callable[P, None]:
    def tried(*args: P.args, **named: P.kwargs) -> None:
        try:
            write(*args, **named)
        except OSError:
            return  # expected: the process is confined, and only speed is lost

    return tried
