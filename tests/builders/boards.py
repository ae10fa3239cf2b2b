"""Boards of comesolo and their slow twins: jumps by the rules' own words, and the longest play by trying all."""

from __future__ import annotations

from functools import cache

import numpy as np
from hypothesis import strategies as st

from checkers.comesolo import Instance
from solvers.comesolo import moves

DIRECTIONS = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
Board = frozenset[tuple[int, int]]

boards = st.integers(3, 8).flatmap(
    lambda size: st.tuples(st.just(size), st.sets(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))))
)
small_boards = st.integers(3, 4).flatmap(
    lambda size: st.tuples(
        st.just(size), st.sets(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=8)
    )
)


def make_instance(size: int, pieces: set[tuple[int, int]] | Board) -> Instance:
    return Instance(size, bytes((r, c) in pieces for r in range(size) for c in range(size)))


def drawn_instance(size: int, density: float, seed: int = 1) -> Instance:
    cells = np.random.default_rng(seed).random(size * size) < density
    return Instance(size, cells.astype(np.uint8).tobytes())


def slow_jumps(size: int, board: set[tuple[int, int]] | Board) -> dict[int, Board]:
    """Twin of every list of jumps: each legal jump's number and the board behind it, by the rules' own words."""
    jumps = {}
    for r, c in board:
        for direction, (down, right) in enumerate(DIRECTIONS):
            middle, landing = (r + down, c + right), (r + 2 * down, c + 2 * right)
            on_board = 0 <= landing[0] < size and 0 <= landing[1] < size
            if on_board and middle in board and landing not in board:
                jumps[(r * size + c) * 8 + direction] = frozenset((board - {(r, c), middle}) | {landing})
    return jumps


@cache
def slow_best(size: int, board: Board) -> int:
    """Twin of the complete searches: the longest play there is."""
    return max((1 + slow_best(size, child) for child in slow_jumps(size, board).values()), default=0)


def pieces_of(rows: moves.Rows, size: int) -> Board:
    return frozenset((int(r), int(c)) for r, c in np.argwhere(moves.board_of(rows, size)))
