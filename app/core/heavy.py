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
AT_ONCE_WAITING = 16
"""Work that mostly waits for a network takes little time of the processor, and some memory."""
_limiter: RunVar[CapacityLimiter] = RunVar("jurado.heavy")
_waiting: RunVar[CapacityLimiter] = RunVar("jurado.waiting")


async def run_heavy(call: Callable[[], T], *, waits: bool = False) -> T:
    """The result of `call`, made in a thread as soon as one of the few is free; `waits`: mostly for a network."""
    variable, most = (_waiting, AT_ONCE_WAITING) if waits else (_limiter, AT_ONCE)
    try:
        limiter = variable.get()
    except LookupError:
        limiter = CapacityLimiter(most)
        variable.set(limiter)
    return await run_sync(call, limiter=limiter)
