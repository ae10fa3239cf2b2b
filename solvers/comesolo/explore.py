"""Every board that a few pieces can make: which cells they reach, and the longest play."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.comesolo.moves import Jumps, Rows, Tables, list_jumps, toggle


@dataclass(frozen=True)
class Explored:
    """All boards behind one: their number, the cells that ever hold a piece, and a longest play.

    If `whole` is false there are more boards than there was room for, and nothing is proven.
    """

    boards: int
    reach: Rows
    play: Jumps
    whole: bool


def explore(rows: Rows, tables: Tables, room: int) -> Explored:
    """List every board that jumps lead to, at most `room` of them."""
    count, reach, parents, jumps, whole = _explore(rows, tables.inside, tables.size, tables.jump_hashes, room)
    play = []
    node = count - 1  # the last one met is among those with the most jumps
    while node > 0:
        play.append(int(jumps[node]))
        node = int(parents[node])
    return Explored(count, reach, np.array(play[::-1], np.uint16), whole)


@njit(cache=True, nogil=True)
def _explore(
    rows: Rows, inside: Rows, size: int, jump_hashes: NDArray[np.uint64], room: int
) -> tuple[int, Rows, NDArray[np.int32], Jumps, bool]:  # pragma: no cover - compiled
    """Go through the boards breadth-first, each once; the hash of a board is that of its difference from the first."""
    slots = 64
    while slots < 2 * room:
        slots *= 2
    seen = np.zeros(slots, np.uint64)
    mask = np.uint64(slots - 1)
    boards = np.empty((room, len(rows)), np.uint64)
    hashes = np.zeros(room, np.uint64)
    parents = np.empty(room, np.int32)
    jumps = np.empty(room, np.uint16)
    legal = np.empty(8 * size * size, np.uint16)
    reach = rows.copy()
    boards[0] = rows
    count = 1
    at = 0
    while at < count:
        for i in range(list_jumps(boards[at], inside, size, legal)):
            child = hashes[at] ^ jump_hashes[legal[i]]
            slot = child & mask
            while seen[slot] != 0 and seen[slot] != child:
                slot = (slot + np.uint64(1)) & mask
            if seen[slot] == child:
                continue
            if count == room:
                return count, reach, parents, jumps, False
            seen[slot] = child
            boards[count] = boards[at]
            toggle(boards[count], size, np.int64(legal[i]))
            reach |= boards[count]
            hashes[count] = child
            parents[count] = at
            jumps[count] = legal[i]
            count += 1
        at += 1
    return count, reach, parents, jumps, True
