"""Numba's cache for processes that may not write: compiled kernels are read from it, and new ones stay in memory."""

from __future__ import annotations

from typing import Any


def keep_what_may_be_kept() -> None:
    """Let numba go on where its cache cannot be written; without this a kernel that is compiled late ends a check."""
    from numba.core import caching  # dear, and a grader whose checker has no kernels need not load it

    for owner, name in ((caching._CacheLocator, "ensure_cache_path"), (caching.IndexDataCacheFile, "save")):
        setattr(owner, name, _forgiving(getattr(owner, name)))


def _forgiving(write: Any) -> Any:
    def tried(*args: Any) -> None:
        try:
            write(*args)
        except OSError:
            return  # expected: the process is confined, and only speed is lost

    return tried
