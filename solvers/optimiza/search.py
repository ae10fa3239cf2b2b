"""Walks inside one group of joined cells, found by going deep: first to the cell with the fewest ways on.

Every start is searched for a number of visits. A search that comes to its end proves its walk; one that is cut short
leaves a good walk. A good walk is then turned at its front: if its start touches its t-th cell, the stretch before that
cell can be walked the other way round, which gives a walk just as good from the cell before it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit, trailing_zeros
from solvers.optimiza.board import Masks, Numbers

ONE = np.uint64(1)
Whole = int | np.int64
Flags = NDArray[np.bool_]


def offer(near: Masks, worth: Numbers, value: int, walk: Numbers, gains: Numbers, walks: Numbers) -> None:
    """Keep a walk, or its way back, where it betters its start's, and spread it."""
    for way in (walk, walk[::-1].copy()):
        keep(way, len(way), len(way) * value + int(worth[way[-1]]), gains, walks)
    turn_fronts(near, value, gains, walks)


@njit(cache=True, nogil=True)
def count_bits(bits: np.uint64) -> Whole:  # pragma: no cover - compiled; its slow twin is in the tests
    """Count the ones."""
    bits = bits - ((bits >> np.uint64(1)) & np.uint64(0x5555555555555555))
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True)
def lowest(bits: np.uint64) -> Whole:  # pragma: no cover - compiled; its slow twin is in the tests
    """Give the place of the lowest one of a number that is not 0."""
    return np.int64(trailing_zeros(bits))  # type: ignore[call-arg] # numba gives it its first argument


@njit(cache=True, nogil=True)
def go_deep(
    near: Masks, worth: Numbers, value: int, visits: int, gains: Numbers, walks: Numbers, proved: Flags
) -> int:  # pragma: no cover - compiled; its slow twin is in the tests
    """Search from every start that is not proved; returns the visits made.

    gains[start] is the best gain, walks[start] its cells (-1 behind the last one). Both may hold walks already.
    """
    count = len(near)
    walk = np.empty(count, np.int32)
    ways = np.empty(count, np.uint64)
    made = 0
    for start in range(count):
        most = highest(worth, value, start)
        if gains[start] == most:
            proved[start] = True
        if proved[start]:
            continue
        left = visits
        depth = 1
        walk[0] = start
        free = ((ONE << np.uint64(count)) - ONE) ^ (ONE << np.uint64(start))
        ways[0] = near[start] & free
        keep(walk, 1, value + worth[start], gains, walks)
        while depth > 0 and left > 0 and gains[start] < most:
            if ways[depth - 1] == 0:
                depth -= 1
                free |= ONE << np.uint64(walk[depth])
                continue
            cell = narrowest(near, ways[depth - 1], free)
            ways[depth - 1] ^= ONE << np.uint64(cell)
            free ^= ONE << np.uint64(cell)
            walk[depth] = cell
            depth += 1
            left -= 1
            keep(walk, depth, depth * value + worth[cell], gains, walks)
            ways[depth - 1] = near[cell] & free
            if _bound(near, worth, ways[depth - 1], free, depth, value) <= gains[start]:
                ways[depth - 1] = np.uint64(0)
        made += visits - left
        proved[start] = left > 0
        if not proved[start]:
            turn_fronts(near, value, gains, walks)
    return made


@njit(cache=True, nogil=True)
def highest(worth: Numbers, value: int, start: int) -> int:  # pragma: no cover - compiled
    """Bound the gain from a start: all cells and the best other end, or the start alone."""
    most: int = 0
    for end in range(len(worth)):
        if end != start:
            most = max(most, worth[end])
    alone: int = value + worth[start]
    return max(len(worth) * value + most, alone)


@njit(cache=True, nogil=True)
def turn_fronts(near: Masks, value: int, gains: Numbers, walks: Numbers) -> None:  # pragma: no cover - compiled
    """Turn and lengthen the front of every walk, and cut it off, until no start gains by it."""
    count = len(near)
    fresh = np.ones(count, np.bool_)
    walk = np.empty(count, np.int32)
    more = True
    while more:
        more = False
        for start in range(count):
            if not fresh[start] or gains[start] == 0:
                continue
            fresh[start] = False
            length = 0
            used = np.uint64(0)
            while length < count and walks[start, length] >= 0:
                used |= ONE << np.uint64(walks[start, length])
                length += 1
            for at in range(1, length):
                first = walks[start, at]
                if gains[start] - at * value > gains[first]:  # the walk without its first cells
                    walk[: length - at] = walks[start, at:length]
                    _set(walk, length - at, gains[start] - at * value, gains, walks)
                    fresh[first] = more = True
                if at >= 2 and (near[start] >> np.uint64(first)) & ONE:
                    first = walks[start, at - 1]
                    if gains[start] > gains[first]:
                        for i in range(at):
                            walk[i] = walks[start, at - 1 - i]
                        walk[at:length] = walks[start, at:length]
                        _set(walk, length, gains[start], gains, walks)
                        fresh[first] = more = True
            beside = near[start] & ~used
            for first in range(count):
                if (beside >> np.uint64(first)) & ONE and gains[start] + value > gains[first]:
                    walk[0] = first
                    walk[1 : length + 1] = walks[start, :length]
                    _set(walk, length + 1, gains[start] + value, gains, walks)
                    fresh[first] = more = True


@njit(cache=True, nogil=True)
def keep(walk: Numbers, length: int, gain: int, gains: Numbers, walks: Numbers) -> None:  # pragma: no cover - compiled
    """Keep a walk for its start if it gains more than the one kept so far."""
    if gain > gains[walk[0]]:
        _set(walk, length, gain, gains, walks)


@njit(cache=True, nogil=True)
def _set(walk: Numbers, length: int, gain: int, gains: Numbers, walks: Numbers) -> None:  # pragma: no cover - compiled
    start = walk[0]
    gains[start] = gain
    walks[start, :length] = walk[:length]
    walks[start, length:] = -1


@njit(cache=True, nogil=True)
def narrowest(near: Masks, ways: np.uint64, free: np.uint64) -> Whole:  # pragma: no cover - compiled
    """Choose the cell with the fewest free cells around it, the first of equals."""
    chosen: Whole = -1
    fewest: Whole = 65
    for cell in range(len(near)):
        if (ways >> np.uint64(cell)) & ONE:
            around = count_bits(near[cell] & free)
            if around < fewest:
                chosen, fewest = cell, around
    return chosen


@njit(cache=True, nogil=True)
def _bound(
    near: Masks, worth: Numbers, ways: np.uint64, free: np.uint64, depth: int, value: int
) -> Whole:  # pragma: no cover - compiled
    """Bound what a walk can still gain by going on: all free cells that it reaches, and the best end among them."""
    reached = ways
    fresh = ways
    most = 0
    while fresh:
        spread = np.uint64(0)
        for cell in range(len(near)):
            if (fresh >> np.uint64(cell)) & ONE:
                spread |= near[cell]
                most = max(most, worth[cell])
        fresh = spread & free & ~reached
        reached |= fresh
    return (depth + count_bits(reached)) * value + most if reached else 0
