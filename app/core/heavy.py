"""Heavy work of single requests, in threads and only so much of it at once: the others keep the interpreter's time.

- JSON of strangers: counted before it is parsed, parsed beside the event loop where it is large, and not too deep.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter
from anyio.lowlevel import RunVar
from anyio.to_thread import run_sync

from app.core.errors import BadRequest
from app.core.messages import N_
from app.domain.documents import JsonValue

T = TypeVar("T")
AT_ONCE = 2
# Bytes that are read without changing threads, which would cost more than reading them.
LIGHT = 64 * 1024
# Work that mostly waits for a network takes little time of the processor, and some memory.
AT_ONCE_WAITING = 16
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


DEEPEST = 64
MOST_OF_AN_ACCOUNT = 5_000
# Values of a document; imports of many objects have a bound of their own.
MOST_OF_AN_ADMIN = 50_000
# Strings, the last one perhaps cut off: whatever the bytes, a search never looks twice at one of them.
TEXTS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
MARKS = (b",", b"[", b"{")


async def read_json(data: bytes, most: int) -> JsonValue:
    """The value of a JSON text of at most `most` values; raises BadRequest, or ValueError where it is no JSON."""
    return _read(data, most) if len(data) <= LIGHT else await run_heavy(lambda: _read(data, most))


def check_values(data: bytes, most: int) -> None:
    """Raise BadRequest for a JSON text of more than `most` values, arrays and objects counted twice, unparsed."""
    # Marks inside of texts are no values, but looking for texts takes ten times as long.
    if _marks(data) >= most and _marks(TEXTS.sub(b"", data)) >= most:
        raise BadRequest(N_("expected at most %(most)s values, found more"), where="body", most=most)


def is_within(value: object, most: int, deepest: int = DEEPEST) -> bool:
    """Whether a value has at most so many values, nested at most so deep."""
    level, count = [value], 1
    for _ in range(deepest):
        inner = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list))
        level = []
        for values in inner:
            count += len(values)
            if count > most:
                return False
            level.extend(each for each in values if isinstance(each, dict | list))
        if not level:
            return True
    return False


def _read(data: bytes, most: int) -> JsonValue:
    check_values(data, most)
    try:
        value: JsonValue = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadRequest(
            N_("expected UTF-8, found byte %(byte)s at %(start)s"),
            where="body",
            byte=error.object[error.start],
            start=error.start,
        ) from None
    except json.JSONDecodeError:
        raise  # whoever asks says where
    except ValueError as error:  # a number of thousands of digits
        raise BadRequest(N_("expected JSON, found %(found)s"), where="body", found=str(error)[:80]) from None
    except RecursionError:
        raise BadRequest(
            N_("expected values nested at most %(most)s deep, found deeper ones"), where="body", most=DEEPEST
        ) from None
    if not is_within(value, most=len(data) + 1):
        raise BadRequest(
            N_("expected values nested at most %(most)s deep, found deeper ones"), where="body", most=DEEPEST
        )
    return value


def _marks(data: bytes) -> int:
    return sum(map(data.count, MARKS))
