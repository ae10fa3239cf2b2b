"""A beam search over the rolls of a few balls while all others stand still: the engine of `beam-local`.

A board of the beam is only the cells of its movers; putting them on the real board and taking them off again costs
less than copying it. Boards are told apart by a Zobrist hash in which balls of one colour are the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.flat import Cells, Ints, Random, draw, worth

MOST_MOVERS = 12
WIDEST = 250
DEEPEST = 20
_SEEN_BITS = 15
ROLL_TO_GOAL, ROLL_TO_STOPPER = 0.3, 0.2
_NOISE = 1e-2
_FAR = 40
Floats = NDArray[np.float64]
Hashes = NDArray[np.uint64]


class Beam(NamedTuple):
    """Room for one search at a time. Level arrays hold two levels, this and the next; `heap_*` the best children."""

    cells: Ints  # [2, WIDEST, MOST_MOVERS] where the movers are
    points: Ints  # [2, WIDEST]
    hashes: Hashes  # [2, WIDEST]
    nodes: Ints  # [2, WIDEST] index into parents
    parents: Ints  # [1 + DEEPEST * WIDEST]
    moves: Ints  # the same: mover * 4 + way
    places: Ints  # the same: where the mover comes to rest
    heap_values: Floats  # [WIDEST] a heap, the least first
    heap_items: Ints  # [WIDEST, 4] parent, move, landing cell, points
    heap_hashes: Hashes  # [WIDEST]
    seen: Hashes  # [2 ** _SEEN_BITS] open addressing, 0 is free
    keys: Hashes  # [10, cells of the board]
    colours: Ints  # [MOST_MOVERS]
    found: Ints  # [DEEPEST, 3] the way to the best board: mover, way, where it comes to rest


def make_beam(cells: int) -> Beam:
    """Make room for searches on a board of `cells` cells."""
    return Beam(
        np.zeros((2, WIDEST, MOST_MOVERS), np.int32),
        np.zeros((2, WIDEST), np.int32),
        np.zeros((2, WIDEST), np.uint64),
        np.zeros((2, WIDEST), np.int32),
        np.zeros(1 + DEEPEST * WIDEST, np.int32),
        np.zeros(1 + DEEPEST * WIDEST, np.int32),
        np.zeros(1 + DEEPEST * WIDEST, np.int32),
        np.zeros(WIDEST, np.float64),
        np.zeros((WIDEST, 4), np.int32),
        np.zeros(WIDEST, np.uint64),
        np.zeros(2**_SEEN_BITS, np.uint64),
        np.random.SeedSequence(90).generate_state(10 * cells, np.uint64).astype(np.uint64).reshape(10, cells),
        np.zeros(MOST_MOVERS, np.int32),
        np.zeros((DEEPEST, 3), np.int32),
    )


@njit(cache=True, nogil=True)
def search(
    cells: Cells,
    target: Cells,
    weight: Ints,
    steps: Ints,
    movers: Ints,
    count: int,
    goal: int,
    to_goal: Ints,
    to_stopper: Ints,
    width: int,
    depth: int,
    backward: bool,
    room: Beam,
    random: Random,
) -> tuple[int, int, int]:  # pragma: no cover - compiled
    """Move the first `count` of `movers` for more points; a board is worth points, then nearness to goal and stopper.

    `to_goal` and `to_stopper` are distances by cell for balls of the goal's colour and for the others, `weight` says
    how often a goal's points count, `backward` that balls un-roll. Returns (gain in points2, number of rolls in
    `room.found`, boards made); a board without gain counts only if the goal is filled. (-99, 0, ...) if there is none.
    """
    wanted = target[goal]
    room.seen[:] = 0
    now = 0
    start_hash = np.uint64(1)
    for m in range(count):
        room.cells[0, 0, m] = movers[m]
        room.colours[m] = cells[movers[m]]
        start_hash ^= room.keys[room.colours[m], movers[m]]
    for m in range(count):
        cells[movers[m]] = EMPTY
    room.points[0, 0] = 0
    room.hashes[0, 0] = start_hash
    room.nodes[0, 0] = 0
    _note(room.seen, start_hash)
    living, nodes, made = 1, 1, 0
    best_node, best_rank = -1, -1
    for _ in range(depth):
        kept = 0
        for b in range(living):
            goal_least, goal_second, goal_mover = _FAR, _FAR, -1
            stopper_least, stopper_second, stopper_mover = _FAR, _FAR, -1
            for m in range(count):
                at = room.cells[now, b, m]
                cells[at] = room.colours[m]
                if room.colours[m] == wanted and to_goal[at] < goal_second:
                    if to_goal[at] < goal_least:
                        goal_least, goal_second, goal_mover = to_goal[at], goal_least, m
                    else:
                        goal_second = to_goal[at]
                if m > 0 and to_stopper[at] < stopper_second:
                    if to_stopper[at] < stopper_least:
                        stopper_least, stopper_second, stopper_mover = to_stopper[at], stopper_least, m
                    else:
                        stopper_second = to_stopper[at]
            for m in range(count):
                at = room.cells[now, b, m]
                colour = room.colours[m]
                others_goal = goal_second if goal_mover == m else goal_least
                others_stopper = stopper_second if stopper_mover == m else stopper_least
                kept_points = room.points[now, b] - weight[at] * worth(colour, target[at])
                for way in range(4):
                    step = steps[way]
                    if backward:
                        if cells[at + step] == EMPTY:
                            continue
                        step = -step
                    to = at
                    while cells[to + step] == EMPTY:
                        to += step
                        if not backward and cells[to + step] == EMPTY:
                            continue
                        made += 1
                        points = kept_points + weight[to] * worth(colour, target[to])
                        near_goal = min(others_goal, to_goal[to]) if colour == wanted else others_goal
                        near_stopper = min(others_stopper, to_stopper[to]) if m > 0 else others_stopper
                        value = (
                            points
                            - ROLL_TO_GOAL * near_goal
                            - ROLL_TO_STOPPER * near_stopper
                            + _NOISE * draw(random, 1024) / 1024.0
                        )
                        if kept == width and value <= room.heap_values[0]:
                            continue
                        board = room.hashes[now, b] ^ room.keys[colour, at] ^ room.keys[colour, to]
                        if not _note(room.seen, board):
                            continue
                        kept = _push(room, kept, width, value, b, m * 4 + way, to, points, board)
            for m in range(count):
                cells[room.cells[now, b, m]] = EMPTY
        if kept == 0:
            break
        then = 1 - now
        for i in range(kept):
            b, move, to, points = (
                room.heap_items[i, 0],
                room.heap_items[i, 1],
                room.heap_items[i, 2],
                room.heap_items[i, 3],
            )
            filled = False
            for m in range(count):
                where = to if m == move // 4 else room.cells[now, b, m]
                room.cells[then, i, m] = where
                filled |= where == goal and room.colours[m] == wanted
            room.points[then, i] = points
            room.hashes[then, i] = room.heap_hashes[i]
            room.nodes[then, i] = nodes
            room.parents[nodes] = room.nodes[now, b]
            room.moves[nodes] = move
            room.places[nodes] = to
            rank = 2 * (points + 99) + (1 if filled else 0)
            if (filled or points > 0) and rank > best_rank:
                best_rank = rank
                best_node = nodes
            nodes += 1
        living, now = kept, then
        if best_rank >= 2 * (1 + 99):
            break
    for m in range(count):
        cells[movers[m]] = room.colours[m]
    if best_node < 0:
        return -99, 0, made
    length = 0
    node = best_node
    while node > 0:
        length += 1
        node = room.parents[node]
    node = best_node
    for i in range(length - 1, -1, -1):
        room.found[i, 0] = room.moves[node] // 4
        room.found[i, 1] = room.moves[node] % 4
        room.found[i, 2] = room.places[node]
        node = room.parents[node]
    return best_rank // 2 - 99, length, made


@njit(cache=True, nogil=True)
def _note(seen: Hashes, board: int) -> bool:  # pragma: no cover - compiled
    """Remember a board; False if it was seen before (or if the table is full there)."""
    mask = len(seen) - 1
    slot = np.int64(board & np.uint64(mask))
    for _ in range(64):
        if seen[slot] == 0:
            seen[slot] = board
            return True
        if seen[slot] == board:
            return False
        slot = (slot + 1) & mask
    return False


@njit(cache=True, nogil=True)
def _push(
    room: Beam, kept: int, width: int, value: float, b: int, move: int, to: int, points: int, board: int
) -> int:  # pragma: no cover - compiled
    """Put a child on the heap, in place of the worst if it is full; return how many there are."""
    values, items, hashes = room.heap_values, room.heap_items, room.heap_hashes
    if kept < width:
        i = kept
        kept += 1
        while i > 0 and values[(i - 1) // 2] > value:
            up = (i - 1) // 2
            values[i] = values[up]
            items[i] = items[up]
            hashes[i] = hashes[up]
            i = up
    else:
        i = 0
        while True:
            child = 2 * i + 1
            if child >= kept:
                break
            if child + 1 < kept and values[child + 1] < values[child]:
                child += 1
            if values[child] >= value:
                break
            values[i] = values[child]
            items[i] = items[child]
            hashes[i] = hashes[child]
            i = child
    values[i] = value
    items[i, 0] = b
    items[i, 1] = move
    items[i, 2] = to
    items[i, 3] = points
    hashes[i] = board
    return kept
