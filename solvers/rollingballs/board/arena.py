"""The arena: all memory of a search in three flat arrays, in which every table begins at a constant offset.

`m` int32 holds boards, moves and the cells below `SCALARS`; `u` uint64 holds the random state, Zobrist keys and hashes;
`f` float64 holds the values of beam children. Kernels that take three arrays compile in a fraction of the time that
they take with a record of fifty.

A cell is `64 * (row + 1) + column + 1`, so that steps are constants and the border is wall. Side 0 (F) is rolled from
the start, side 1 (B) un-rolled from the target; the tables of side k lie `k * SIDE` further. A move is three numbers:
the cell before, the cell after and the direction of the roll. An un-roll leads from before to after against its
direction: the roll that it stands for goes from after to before.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from checkers.rollingballs import EMPTY, WALL, Answer

Ints = NDArray[np.int32]
Words = NDArray[np.uint64]
Floats = NDArray[np.float64]
Maze = NDArray[np.int8]

STRIDE, CELLS, COLOURS = 64, 4096, 10
STEPS = np.array([-1, STRIDE, 1, -STRIDE], np.int64)
SPARE_MOVES = 3000
MOST_MOVES = 20 * 3600 + SPARE_MOVES
MOST_MOVERS, WIDEST, DEEPEST = 16, 250, 20
MOST_CHILDREN = WIDEST * 10 * 4

# Scalars, at the beginning of `m`.
_scalars = count()
COUNT = next(_scalars)  # moves made on side 0; those of side 1 stand beside
COUNT_B = next(_scalars)
UNMATCHED = next(_scalars)  # goals of B whose cell has no ball of the colour on F
BALLS = next(_scalars)  # balls of side 0; those of side 1 stand beside
BALLS_B = next(_scalars)
MOST = next(_scalars)  # moves allowed in all
ROOM = next(_scalars)  # moves that a history can hold
WORK = next(_scalars)  # work done, some 5 ns each; set to 0 by whoever calls the loop
FROZEN = next(_scalars)  # 1: no un-rolls
STAMP_NOW = next(_scalars)  # number of the last breadth-first search
BEAM_NOW = next(_scalars)  # number of the last beam, 1..65535
STALL = next(_scalars)  # turns of the loop since the last gain
LOSS = next(_scalars)  # unmatched goals that a turn may leave above the fewest of the restart
GENERATION = next(_scalars)
GENERATIONS = next(_scalars)
PATIENCE = next(_scalars)
FEWEST = next(_scalars)  # unmatched goals of the restart's best state
KEPT = next(_scalars)  # moves of the best state on side 0; those of side 1 stand beside
KEPT_B = next(_scalars)
BEST_POINTS = next(_scalars)  # points2 of the best landing
BEST_MOVES = next(_scalars)
ENDED = next(_scalars)  # 1: the restart is over
MOST_POINTS = next(_scalars)  # points2 that cannot be passed
CHAIN = next(_scalars)  # cells that helpers were brought to in this turn
MARK_NOW = next(_scalars)  # number of the last set of cells in `MARK`
BEAM_BEST = next(_scalars)  # name of the best node of a beam, 0 if there is none
BEAM_SCORE = next(_scalars)  # movers that stand right in it
SCALARS = 64

# Tables of a side.
_offsets = [SCALARS]


def _place(size: int) -> int:
    """Give the next `size` entries to a table and return its offset."""
    _offsets.append(_offsets[-1] + size)
    return _offsets[-2]


ID = _place(CELLS)  # WALL, EMPTY or the number of the ball there
HUE = _place(CELLS)  # colour of the ball there, or EMPTY
INIT = _place(CELLS)  # `ID` before any move
POS = _place(CELLS)  # cell of each ball
COL = _place(CELLS)  # colour of each ball; balls are numbered by colour
FIRST = _place(16)  # first ball of each colour, and one after the last
HIST = _place(3 * MOST_MOVES)
KEEP = _place(3 * MOST_MOVES)  # moves of the restart's best state
SIDE = _offsets[-1] - SCALARS
_place(SIDE)

# Tables of a breadth-first search; there are three of them, each `REACH` further.
STAMP = _place(CELLS)  # number of the search that reached the cell
DIST = _place(CELLS)
PARENT = _place(CELLS)
WAY = _place(CELLS)
QUEUE = _place(CELLS)
REACH = _offsets[-1] - STAMP
SETS = 3
_place((SETS - 1) * REACH)

BEST = _place(3 * MOST_MOVES)  # moves of the best landing
LAND = _place(CELLS)  # colours of a board that is being landed
PATH = _place(CELLS)  # cells and ways of one ball's way
GAME = _place(CELLS)  # board of a shortening pass
MOVER = _place(MOST_MOVES)  # ball of each move
NEXT = _place(MOST_MOVES)  # next move of the same ball, or -1
LATER = _place(CELLS)  # first move known of each ball while `NEXT` is filled
WINDOW = _place(4 * MOST_MOVES)
LIST = _place(CELLS)  # unmatched balls in random order
CANDIDATE = _place(CELLS)  # balls that may meet
OWN_MOVE = _place(64)  # next moves of one ball
MARK = _place(CELLS)  # cells that the other side reaches
CHAINED = _place(16)

WALK_SLOTS = 64
WALK_OWNER = _place(WALK_SLOTS)  # goal whose distances a slot holds
WALK = _place(WALK_SLOTS * CELLS)  # steps from each cell to the goal around walls, no balls; FAR if there is no way
FAR = 1000

NEAR = _place(2 * MOST_MOVERS)  # nearest balls found so far and their distances
MOVERS = _place(MOST_MOVERS)  # balls of a beam
MOVER_HUE = _place(MOST_MOVERS)
NODE = _place(2 * WIDEST * MOST_MOVERS)  # cells of the movers, in this level and the next
NODE_SCORE = _place(2 * WIDEST)
NODE_NAME = _place(2 * WIDEST)
TREE_PARENT = _place(1 + DEEPEST * WIDEST)
TREE_MOVE = _place(1 + DEEPEST * WIDEST)  # mover * 4 + way
TREE_CELL = _place(1 + DEEPEST * WIDEST)  # where that move ends
CHILD_PARENT = _place(MOST_CHILDREN)
CHILD_MOVE = _place(MOST_CHILDREN)
CHILD_CELL = _place(MOST_CHILDREN)
CHILD_SCORE = _place(MOST_CHILDREN)
SIZE_M = _offsets[-1]

# Tables of `u`; u[0] is the random state.
ZOBRIST = 1
NODE_HASH = ZOBRIST + COLOURS * CELLS
CHILD_HASH = NODE_HASH + 2 * WIDEST
SEEN_BITS = 18
SEEN = CHILD_HASH + MOST_CHILDREN
SIZE_U = SEEN + 2**SEEN_BITS

# Tables of `f`.
CHILD_KEY = 0
SORTED = MOST_CHILDREN
NODE_DIST = 2 * MOST_CHILDREN
BEST_KEY = NODE_DIST + 2 * WIDEST
SIZE_F = BEST_KEY + 1


class Arena(NamedTuple):
    """The three arrays that every kernel takes."""

    m: Ints
    u: Words
    f: Floats


def make_arena(start: Maze, target: Maze, most_moves: int, random: Words) -> Arena:
    """Lay out two mazes, int8[height, width], for at most `most_moves` moves in all.

    `random` uint64[1] is the random state to begin with. The mazes may hold different balls.
    """
    arena = Arena(np.zeros(SIZE_M, np.int32), np.zeros(SIZE_U, np.uint64), np.zeros(SIZE_F))
    m, u = arena.m, arena.u
    u[0] = random[0]
    u[ZOBRIST : ZOBRIST + COLOURS * CELLS] = np.random.SeedSequence(90).generate_state(COLOURS * CELLS, np.uint64)
    for k, maze in enumerate((start, target)):
        cells = np.full((CELLS // STRIDE, STRIDE), WALL, np.int32)
        cells[1 : maze.shape[0] + 1, 1 : maze.shape[1] + 1] = maze
        flat = cells.ravel()
        balls = np.flatnonzero(flat >= 0)
        balls = balls[np.argsort(flat[balls], kind="stable")]
        side = slice(k * SIDE, None)
        m[side][ID : ID + CELLS] = np.where(flat == WALL, WALL, EMPTY)
        m[side][ID + balls] = np.arange(len(balls))
        m[side][INIT : INIT + CELLS] = m[side][ID : ID + CELLS]
        m[side][HUE : HUE + CELLS] = np.maximum(flat, EMPTY)
        m[side][POS : POS + len(balls)] = balls
        m[side][COL : COL + len(balls)] = flat[balls]
        m[side][FIRST : FIRST + COLOURS + 1] = np.searchsorted(flat[balls], np.arange(COLOURS + 1))
        m[BALLS + k] = len(balls)
    own, other = m[HUE : HUE + CELLS], m[SIDE + HUE : SIDE + HUE + CELLS]
    m[UNMATCHED] = ((other >= 0) & (own != other)).sum()
    m[MOST], m[ROOM] = most_moves, min(most_moves + SPARE_MOVES, MOST_MOVES)
    m[BEST_POINTS], m[MOST_POINTS] = -1, 2 * m[BALLS_B]
    return arena


def read_best(arena: Arena) -> Answer:
    """Return the moves of the best landing as an answer."""
    m = arena.m
    moves = m[BEST : BEST + 3 * int(m[BEST_MOVES])].reshape(-1, 3).astype(np.int64)
    rows, columns = np.divmod(moves[:, 0], STRIDE)
    return Answer(np.stack((rows - 1, columns - 1, moves[:, 2]), axis=1))
