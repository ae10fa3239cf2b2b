"""Heavy work of single requests, in threads and only so much of it at once: the others keep the interpreter's time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter
from anyio.lowlevel import RunVar
from anyio.to_thread import run_sync

T = TypeVar("T")
AT_ONCE = 2
LIGHT = 64 * 1024
"""Bytes that are read without changing threads, which would cost more than reading them."""
_limiter: RunVar[CapacityLimiter] = RunVar("jurado.heavy")


async def run_heavy(call: Callable[[], T]) -> T:
    """The result of `call`, made in a thread as soon as one of the few for heavy work is free."""
    try:
        limiter = _limiter.get()
    except LookupError:
        limiter = CapacityLimiter(AT_ONCE)
        _limiter.set(limiter)
    return await run_sync(call, limiter=limiter)
