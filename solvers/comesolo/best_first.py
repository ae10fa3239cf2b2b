"""The source's search: a queue of boards for each score, drawn mostly from the top, until memory ends.

A bucket is drawn from the highest one that holds a board: r begins below 1 and grows by 1.45 at every bucket, empty or
not, and the first time that it has reached 1 the last bucket passed that holds a board is taken. So the top is taken in
31 of 100 draws, and the next ones, where none is empty, in 21, 15, 10 ... The board that waits longest leaves its
queue. A board that was taken out before is dropped then, and its score counts only then. Boards are not stored: a node
knows its parent and its jump, and the board is played again from the start.

The printed program has four slips, which are not ours: rows are not checked against the border, there are 300 queues
for up to 899 scores, only the first N of them are looked at, and the bucket's number is misspelt.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.comesolo.forest import COUNT, DEEPEST, GROWTH, TOP, Forest, path_to, plant, replay
from solvers.comesolo.moves import PAD, Jumps, Rows, Tables, draw, lowest, seeded, starts
from solvers.comesolo.parts import Outcome, Split
from solvers.parts.clock import Clock

DRAWS_A_TURN = 500


def search_queues(rows: Rows, tables: Tables, split: Split, *, seed: int, clock: Clock) -> Outcome:
    """Search until the budget, the memory or the boards end, or no longer play is possible.

    One step is one board taken out of its queue, met before or not. The states are the boards put in.
    """
    bound = split.most
    state = seeded(seed)
    forest = plant(tables)
    longest = np.zeros(1, np.int64)
    while clock.running() and longest[0] < bound:
        turn = DRAWS_A_TURN if clock.steps is None else min(DRAWS_A_TURN, clock.steps - clock.taken)
        done = grow(forest, rows, tables, state, turn, longest)
        clock.step(done, best=int(longest[0]), states=forest.nodes)
        if done < turn:
            if (forest.heads < 0).all():
                bound = int(longest[0])
            break
    return Outcome(path_to(forest), forest.nodes, bound)


def grow(
    forest: Forest, rows: Rows, tables: Tables, state: NDArray[np.uint64], turn: int, longest: NDArray[np.int64]
) -> int:
    """Take out up to `turn` boards; returns how many, fewer only if none is left or memory is full."""
    return _grow(
        rows, forest.parents, forest.jumps, forest.below, forest.hashes, forest.heads, forest.tails, forest.seen,
        forest.place, tables.inside, tables.size, tables.jump_hashes, state, turn, longest,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _grow(
    rows: Rows,
    parents: NDArray[np.int32],
    jumps: Jumps,
    below: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    heads: NDArray[np.int32],
    tails: NDArray[np.int32],
    seen: NDArray[np.uint64],
    place: NDArray[np.int64],
    inside: Rows,
    size: int,
    jump_hashes: NDArray[np.uint64],
    state: NDArray[np.uint64],
    turn: int,
    longest: NDArray[np.int64],
) -> int:  # pragma: no cover - compiled
    """Draw a queue, take out its first board; unless it was taken out before, put its children into the next queue.

    TOP is the highest score put in, `longest` the highest one taken out.
    """
    mask = np.uint64(len(seen) - 1)
    legal = np.empty(size * size * 8, np.uint16)
    board = np.empty_like(rows)
    for done in range(turn):
        if place[COUNT] + len(legal) > len(parents):
            return done
        score = _draw_queue(heads, place[TOP], state)
        if score < 0:
            return done
        node = heads[score]
        heads[score] = below[node]
        if score > longest[0]:
            longest[0] = score
            place[DEEPEST] = node
        # the hash is that of the difference from the first board, 0 for itself, which no jump leads back to
        slot = hashes[node] & mask
        while seen[slot] != 0 and seen[slot] != hashes[node]:
            slot = (slot + np.uint64(1)) & mask
        if node > 0 and seen[slot] == hashes[node]:
            continue
        seen[slot] = hashes[node]
        replay(node, parents, jumps, rows, size, board)
        for i in range(_list_by_cells(board, inside, size, legal)):
            new = place[COUNT]
            place[COUNT] += 1
            parents[new] = node
            jumps[new] = legal[i]
            hashes[new] = hashes[node] ^ jump_hashes[legal[i]]
            below[new] = -1
            if heads[score + 1] < 0:
                heads[score + 1] = new
            else:
                below[tails[score + 1]] = new
            tails[score + 1] = new
            place[TOP] = max(place[TOP], score + 1)
    return turn


@njit(cache=True, nogil=True)
def _draw_queue(heads: NDArray[np.int32], top: int, state: NDArray[np.uint64]) -> int:  # pragma: no cover - compiled
    """Draw a queue that is not empty by the printed rule; -1 if all are empty."""
    while top >= 0 and heads[top] < 0:
        top -= 1
    r = draw(state, 1 << 30) / (1 << 30)
    last = -1
    for score in range(top, -1, -1):
        if heads[score] >= 0:
            last = score
        r *= GROWTH
        if r >= 1.0 and last >= 0:
            break
    return last


@njit(cache=True, nogil=True)
def _list_by_cells(rows: Rows, inside: Rows, size: int, jumps: Jumps) -> int:  # pragma: no cover - compiled
    """Write the numbers of all legal jumps into `jumps` cell by cell, as the printed loops meet them."""
    count = 0
    can = np.empty(8, np.uint64)
    for row in range(PAD, PAD + size):
        cells = np.uint64(0)
        for direction in range(8):
            can[direction] = starts(rows, inside, row, direction)
            cells |= can[direction]
        while cells:
            column = lowest(cells)
            for direction in range(8):
                if can[direction] >> np.uint64(column) & np.uint64(1):
                    jumps[count] = ((row - PAD) * size + column - PAD) * 8 + direction
                    count += 1
            cells &= cells - np.uint64(1)
    return count
