"""Our changes to the source's best-first search: stacks instead of queues, and no board is put in twice.

The bucket is drawn as in `best_first.py`, but r grows only at buckets that hold a board, so that the draw never falls
through a gap. The last board put into a bucket is taken first: the search goes down before it goes wide. A board counts
as met when it is put in, which saves the room of its copies. When memory is full, all begins anew with other draws.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.comesolo.forest import COUNT, DEEPEST, GROWTH, TOP, Forest, path_to, plant, replay
from solvers.comesolo.moves import Jumps, Rows, Tables, draw, list_jumps, seeded
from solvers.parts.clock import Clock

EXPANSIONS_A_TURN = 200


def search_stacks(rows: Rows, tables: Tables, bound: int, *, seed: int, clock: Clock) -> tuple[Jumps, int]:
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
        replay(node, parents, jumps, rows, size, board)
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
