"""Small closed parts of a maze searched completely: the most points2 that any rolls reach in one of them.

The balls of a part are listed by colour and, within a colour, by cell; six bits a ball make a key that is exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.rollingballs.board.flat import Cells, Ints, worth

MOST_CELLS, MOST_BALLS = 63, 10
MOST_KEYS = 1 << 17
_BITS = 6
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
Keys = NDArray[np.uint64]


def exhaust(cells: Cells, target: Cells, steps: Ints, part: Ints) -> int | None:
    """Return the most points2 in `part`, the cells of a closed part; None if it is too large to search.

    `cells` and `target` are flat boards with walls around.
    """
    balls = part[cells[part] >= 0]
    if len(part) > MOST_CELLS or len(balls) > MOST_BALLS:
        return None
    balls = balls[np.argsort(cells[balls], kind="stable")]
    numbers = np.full(len(cells), -1, np.int32)
    numbers[part] = np.arange(len(part), dtype=np.int32)
    neighbours = numbers[part[:, None] + steps[None, :]].astype(np.int32)
    slots, keys = np.zeros(4 * MOST_KEYS, np.int32), np.zeros(MOST_KEYS, np.uint64)
    most = int(_search(neighbours, numbers[balls], cells[balls], target[part], slots, keys))
    return None if most < 0 else most


@njit(cache=True, nogil=True)
def _search(
    neighbours: Ints, balls: Ints, colours: Cells, target: Cells, slots: Ints, keys: Keys
) -> int:  # pragma: no cover - compiled
    """Try all rolls from all boards found; -1 if there are more boards than room."""
    count = len(balls)
    at, moved, held = balls.copy(), balls.copy(), np.zeros(len(neighbours), np.bool_)
    keys[0] = _pack(at)
    _find(slots, keys, keys[0], 0)
    head, tail, best = 0, 1, 0
    while head < tail:
        key = keys[head]
        head += 1
        points = 0
        held[:] = False
        for b in range(count):
            at[b] = (key >> np.uint64(_BITS * b)) & np.uint64(MOST_CELLS)
            held[at[b]] = True
            points += worth(colours[b], target[at[b]])
        best = max(best, points)
        for b in range(count):
            for way in range(4):
                to = at[b]
                while neighbours[to, way] >= 0 and not held[neighbours[to, way]]:
                    to = neighbours[to, way]
                if to == at[b]:
                    continue
                moved[:] = at
                _put(moved, colours, b, to)
                key = _pack(moved)
                if _find(slots, keys, key, tail):
                    continue
                if tail == len(keys):
                    return -1
                keys[tail] = key
                tail += 1
    return best


@njit(cache=True, nogil=True)
def _put(at: Ints, colours: Cells, ball: int, to: int) -> None:  # pragma: no cover - compiled
    """Move a ball and keep the cells of its colour in order."""
    at[ball] = to
    while ball > 0 and colours[ball - 1] == colours[ball] and at[ball - 1] > at[ball]:
        at[ball - 1], at[ball] = at[ball], at[ball - 1]
        ball -= 1
    while ball + 1 < len(at) and colours[ball + 1] == colours[ball] and at[ball + 1] < at[ball]:
        at[ball + 1], at[ball] = at[ball], at[ball + 1]
        ball += 1


@njit(cache=True, nogil=True)
def _pack(at: Ints) -> np.uint64:  # pragma: no cover - compiled
    key = np.uint64(0)
    for b in range(len(at)):
        key |= np.uint64(at[b]) << np.uint64(_BITS * b)
    return key


@njit(cache=True, nogil=True)
def _find(slots: Ints, keys: Keys, key: np.uint64, number: int) -> bool:  # pragma: no cover - compiled
    """True if `key` is known; otherwise it gets `number`. A slot holds a key's number + 1."""
    mask = np.uint64(len(slots) - 1)
    slot = ((key * _SPREAD) >> np.uint64(20)) & mask
    while slots[slot] != 0:
        if keys[slots[slot] - 1] == key:
            return True
        slot = (slot + np.uint64(1)) & mask
    if number < len(keys):
        slots[slot] = number + 1
    return False
