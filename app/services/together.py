"""Work that many wait for at once is done once, in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

T = TypeVar("T")


async def together(
    waiting: dict[Any, Any], key: object, work: Callable[[], T], limiter: CapacityLimiter | None = None
) -> T:
    """Do some work in a thread, once for all who wait for it at this moment."""
    task: asyncio.Task[T] | None = waiting.get(key)
    if task is None:
        task = asyncio.create_task(run_sync(work, limiter=limiter))
        waiting[key] = task
        task.add_done_callback(lambda _: waiting.pop(key, None))
    return await asyncio.shield(task)
