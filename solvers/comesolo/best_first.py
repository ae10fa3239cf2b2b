"""The editorial's search: one bucket of boards for each score, drawn mostly from the top, and no board twice.

A bucket is drawn from the highest down: r begins below 1 and grows by 1.45 at each bucket until it reaches 1, so that
the top is taken in 31 of 100 draws, the next in 21, then 15, 10 ... Boards are not stored: a node knows its parent and
its jump, and the board is played again from the start. When memory is full, all begins anew with other draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.comesolo.moves import Jumps, Rows, Tables, draw, list_jumps, seeded, toggle
from solvers.parts.clock import Clock

MOST_NODES = 1 << 23
EXPANSIONS_A_TURN = 200
GROWTH = 1.45
COUNT, DEEPEST, TOP = 0, 1, 2


@dataclass(frozen=True)
class Forest:
    """The nodes met. Node i came from `parents[i]` by `jumps[i]`; `below[i]` is the next node in its bucket.

    `heads[k]` is the last node put into the bucket of score k, or -1. `seen` is an open table of hashes, 0 where free.
    `place` holds the number of nodes, the node with the longest play, and its length.
    """

    parents: NDArray[np.int32]
    jumps: Jumps
    below: NDArray[np.int32]
    hashes: NDArray[np.uint64]
    heads: NDArray[np.int32]
    seen: NDArray[np.uint64]
    place: NDArray[np.int64]

    @property
    def nodes(self) -> int:
        """The number of boards met."""
        return int(self.place[COUNT])

    def is_full(self, tables: Tables) -> bool:
        """True if the children of one more board might not fit."""
        return self.nodes + 8 * tables.size**2 > MOST_NODES


def search_best_first(rows: Rows, tables: Tables, bound: int, *, seed: int, clock: Clock) -> tuple[Jumps, int]:
    """Search until the budget ends or a play reaches `bound`. One step is one board taken out. Returns play, states."""
    state = seeded(seed)
    forest = plant(tables)
    best = path_to(forest)
    states = 0
    while clock.running() and len(best) < bound:
        turn = EXPANSIONS_A_TURN if clock.steps is None else min(EXPANSIONS_A_TURN, clock.steps - clock.taken)
        before = forest.nodes
        done = grow(forest, rows, tables, state, turn)
        states += forest.nodes - before
        if forest.place[TOP] > len(best):
            best = path_to(forest)
        clock.step(done, best=len(best), states=states)
        if done < turn and not forest.is_full(tables):
            break
        if done < turn:
            forest = plant(tables)
    return best, states


def plant(tables: Tables) -> Forest:
    """Begin with the first board alone in its bucket."""
    cells = tables.size**2
    forest = Forest(
        parents=np.empty(MOST_NODES, np.int32),
        jumps=np.empty(MOST_NODES, np.uint16),
        below=np.empty(MOST_NODES, np.int32),
        hashes=np.empty(MOST_NODES, np.uint64),
        heads=np.full(cells + 1, -1, np.int32),
        seen=np.zeros(2 * MOST_NODES, np.uint64),
        place=np.array([1, 0, 0], np.int64),
    )
    forest.parents[0] = forest.below[0] = -1
    forest.hashes[0] = 0
    forest.heads[0] = 0
    return forest


def path_to(forest: Forest) -> Jumps:
    """Collect the jumps that lead to the node with the longest play."""
    node = int(forest.place[DEEPEST])
    play = []
    while node > 0:
        play.append(int(forest.jumps[node]))
        node = int(forest.parents[node])
    return np.array(play[::-1], np.uint16)


def grow(forest: Forest, rows: Rows, tables: Tables, state: NDArray[np.uint64], turn: int) -> int:
    """Take out up to `turn` boards; returns how many, fewer only if none is left or memory is full."""
    return _grow(
        rows, forest.parents, forest.jumps, forest.below, forest.hashes, forest.heads, forest.seen, forest.place,
        tables.inside, tables.size, tables.jump_hashes, state, turn,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _grow(
    rows: Rows,
    parents: NDArray[np.int32],
    jumps: Jumps,
    below: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    heads: NDArray[np.int32],
    seen: NDArray[np.uint64],
    place: NDArray[np.int64],
    inside: Rows,
    size: int,
    jump_hashes: NDArray[np.uint64],
    state: NDArray[np.uint64],
    turn: int,
) -> int:  # pragma: no cover - compiled
    """Draw a bucket, take out its last board, put in its children; a board counts as seen when it is put in."""
    mask = np.uint64(len(seen) - 1)
    legal = np.empty(size * size * 8, np.uint16)
    board = np.empty_like(rows)
    top = place[TOP]
    for done in range(turn):
        if place[COUNT] + len(legal) > len(parents):
            return done
        score = _draw_bucket(heads, top, state)
        if score < 0:
            return done
        node = heads[score]
        heads[score] = below[node]
        board[:] = rows
        ancestor = node
        while ancestor > 0:
            toggle(board, size, np.int64(jumps[ancestor]))
            ancestor = parents[ancestor]
        for i in range(list_jumps(board, inside, size, legal)):
            child = hashes[node] ^ jump_hashes[legal[i]]
            slot = child & mask
            while seen[slot] != 0 and seen[slot] != child:
                slot = (slot + np.uint64(1)) & mask
            if seen[slot] == child:
                continue
            seen[slot] = child
            new = place[COUNT]
            place[COUNT] += 1
            parents[new] = node
            jumps[new] = legal[i]
            hashes[new] = child
            below[new] = heads[score + 1]
            heads[score + 1] = new
            if score + 1 > top:
                top = score + 1
                place[TOP] = top
                place[DEEPEST] = new
    return turn


@njit(cache=True, nogil=True)
def _draw_bucket(heads: NDArray[np.int32], top: int, state: NDArray[np.uint64]) -> int:  # pragma: no cover - compiled
    """Draw a bucket that is not empty, from the highest down; the lowest if r stays below 1, -1 if all are empty."""
    r = draw(state, 1 << 30) / (1 << 30)
    lowest = -1
    for score in range(top, -1, -1):
        if heads[score] < 0:
            continue
        lowest = score
        r *= GROWTH
        if r >= 1.0:
            return score
    return lowest
