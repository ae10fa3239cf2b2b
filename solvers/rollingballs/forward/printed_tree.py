"""The beam search of beam-local: its room, and the kernels that roll balls on a board and back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit

DEPTH = 20
WIDTH = 250
MOST_MOVERS = 10
NOISE = 1e-2
BLOCKED = 1e9
"""The distance of a ball of another colour that stands on the target."""

MOST_NODES = WIDTH * DEPTH * 4 * MOST_MOVERS + 4 * MOST_MOVERS
SLOTS = 1 << 19
NO_BALL, NO_CELL = -1, -2
FAR = 1 << 20

Numbers = NDArray[np.int32]
Bits = NDArray[np.uint64]


class Board(NamedTuple):
    """The arrays of a maze that a beam reads and, while it searches, rolls on: see `Maze`."""

    ball: Numbers
    place: Numbers
    colour: Numbers
    wanted: Numbers
    delta: Numbers
    keys: Bits


class Tree(NamedTuple):
    """The room of a beam search.

    links  int32[nodes, 4]: parent, ball, the cell it came from, direction
    value  float64[nodes, 2]: movers that are right, sum of distances
    slots  int32[nodes]: the slot of each node's hash in `used`
    used   uint64[SLOTS]: hashes, 0 where a slot is free
    """

    links: Numbers
    value: NDArray[np.float64]
    slots: Numbers
    used: Bits


def make_tree() -> Tree:
    """Make room for the largest beam."""
    links, slots = np.empty((MOST_NODES, 4), np.int32), np.empty(MOST_NODES, np.int32)
    return Tree(links, np.empty((MOST_NODES, 2), np.float64), slots, np.zeros(SLOTS, np.uint64))


@njit(cache=True, nogil=True)
def draw(state: Bits) -> float:  # pragma: no cover - compiled
    """Draw from 0 to below 1: 53 bits of SplitMix64."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return float(z >> np.uint64(11)) / 9007199254740992.0


@njit(cache=True, nogil=True)
def stop_of(ball: Numbers, cell: int, delta: int) -> int:  # pragma: no cover - compiled
    """Roll from a cell until the next one is not free."""
    while ball[cell + delta] == NO_BALL:
        cell += delta
    return cell


@njit(cache=True, nogil=True)
def put(ball: Numbers, place: Numbers, number: int, cell: int) -> None:  # pragma: no cover - compiled
    """Move a ball to a cell."""
    ball[place[number]] = NO_BALL
    ball[cell] = number
    place[number] = cell


@njit(cache=True, nogil=True)
def walk(ball: Numbers, delta: Numbers, target: int, steps: Numbers) -> None:  # pragma: no cover - compiled
    """Fill `steps`, FAR everywhere, with the steps to the target around walls."""
    queue = np.empty(len(ball), np.int32)
    queue[0] = target
    steps[target] = 0
    tail = 1
    for head in range(len(ball)):
        if head == tail:
            return
        for way in delta:
            cell = queue[head] + way
            if ball[cell] != NO_CELL and steps[cell] == FAR:
                steps[cell] = steps[queue[head]] + 1
                queue[tail] = cell
                tail += 1


@njit(cache=True, nogil=True)
def _is_new(key: np.uint64, used: Bits, slots: Numbers, count: int) -> bool:  # pragma: no cover - compiled
    """Put a hash into the table; its slot is noted under `count`, so that the table can be emptied."""
    mask = np.uint64(len(used) - 1)
    slot = key & mask
    while used[slot] != 0:
        if used[slot] == key:
            return False
        slot = (slot + np.uint64(1)) & mask
    used[slot] = key
    slots[count] = slot
    return True


@njit(cache=True, nogil=True)
def _is_better(value: NDArray[np.float64], one: int, other: int) -> bool:  # pragma: no cover - compiled
    """Compare two nodes: more movers that are right, then the smaller distance."""
    if value[one, 0] != value[other, 0]:
        return bool(value[one, 0] > value[other, 0])
    return bool(value[one, 1] < value[other, 1])


@njit(cache=True, nogil=True)
def _select(value: NDArray[np.float64], first: int, end: int, best: Numbers) -> int:  # pragma: no cover - compiled
    """Put the best nodes of a level into `best`, the best first; returns how many."""
    count = 0
    for node in range(first, end):
        if count == len(best) and not _is_better(value, node, best[count - 1]):
            continue
        at = min(count, len(best) - 1)
        while at > 0 and _is_better(value, node, best[at - 1]):
            best[at] = best[at - 1]
            at -= 1
        best[at] = node
        count = min(count + 1, len(best))
    return count


@njit(cache=True, nogil=True)
def _away(cell: int, colour: int, target: int, wanted: Numbers, steps: Numbers) -> float:  # pragma: no cover - compiled
    """Measure a mover's distance to the target."""
    if cell == target and wanted[target] != colour:
        return BLOCKED
    return float(steps[cell])


@njit(cache=True, nogil=True)
def _replay(board: Board, tree: Tree, node: int, path: Numbers) -> int:  # pragma: no cover - compiled
    """Make the rolls that lead from the root to a node; return how many, and their nodes in `path`, the last first."""
    length = 0
    while node >= 0:
        path[length] = node
        length += 1
        node = tree.links[node, 0]
    for k in range(length - 1, -1, -1):
        number, direction = tree.links[path[k], 1], tree.links[path[k], 3]
        cell = stop_of(board.ball, board.place[number], board.delta[direction])
        put(board.ball, board.place, number, cell)
    return length


@njit(cache=True, nogil=True)
def _roll_each(
    board: Board, tree: Tree, movers: Numbers, target: int, steps: Numbers, state: Bits, node: int, count: int
) -> int:  # pragma: no cover - compiled
    """Make children of the node that stands on the board; returns the number of nodes, which was `count`."""
    key, right, distance = _worth(board, movers, target, steps)
    if node >= 0:
        distance = tree.value[node, 1]
    for number in movers:
        cell, colour = board.place[number], board.colour[number]
        for direction in range(4):
            stop = stop_of(board.ball, cell, board.delta[direction])
            if stop == cell:
                continue
            after = key ^ board.keys[cell, colour] ^ board.keys[stop, colour]
            if not _is_new(after, tree.used, tree.slots, count):
                continue
            links, value = tree.links[count], tree.value[count]
            links[0], links[1], links[2], links[3] = node, number, cell, direction
            value[0] = right - (board.wanted[cell] == colour) + (board.wanted[stop] == colour)
            value[1] = (
                distance
                - _away(cell, colour, target, board.wanted, steps)
                + _away(stop, colour, target, board.wanted, steps)
                + NOISE * draw(state)
            )
            count += 1
    return count


@njit(cache=True, nogil=True)
def _worth(
    board: Board, movers: Numbers, target: int, steps: Numbers
) -> tuple[np.uint64, float, float]:  # pragma: no cover - compiled
    """Hash the movers' cells, count those that are right, and sum their distances without noise."""
    key, right, distance = np.uint64(0), 0.0, 0.0
    for number in movers:
        cell, colour = board.place[number], board.colour[number]
        key ^= board.keys[cell, colour]
        right += board.wanted[cell] == colour
        distance += _away(cell, colour, target, board.wanted, steps)
    return key, right, distance


@njit(cache=True, nogil=True)
def search(
    board: Board, tree: Tree, movers: Numbers, target: int, steps: Numbers, state: Bits
) -> int:  # pragma: no cover - compiled
    """Return the best node met, -1 where no mover can roll; the board is left as it was.

    The root is no node: its hash stands in the last slot, and `best[0]` is -1 for it on the first turn.
    """
    value, slots, used = tree.value, tree.slots, tree.used
    _is_new(_worth(board, movers, target, steps)[0], used, slots, len(slots) - 1)
    best = np.full(WIDTH, -1, np.int32)
    chosen, width, count, first = -1, 1, 0, 0
    path = np.empty(DEPTH + 1, np.int32)
    for level in range(DEPTH + 1):
        for at in range(width):
            node = best[at]
            if node >= 0 and (chosen < 0 or _is_better(value, node, chosen)):
                chosen = node
            done = node >= 0 and value[node, 0] >= len(movers)
            if level < DEPTH and not done:
                length = _replay(board, tree, node, path)
                count = _roll_each(board, tree, movers, target, steps, state, node, count)
                for k in range(length):
                    put(board.ball, board.place, tree.links[path[k], 1], tree.links[path[k], 2])
            if done:
                break
        width = _select(value, first, count, best)
        first = count
        if width == 0:
            break
    for k in range(count):
        used[slots[k]] = 0
    used[slots[len(slots) - 1]] = 0
    return chosen
