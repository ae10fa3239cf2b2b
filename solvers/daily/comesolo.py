"""Comesolo of the day: boards drawn backwards from one piece, so that all pieces but one can be eaten.

No play eats more than the pieces less one, and the jumps taken back, played forwards, eat that many: Z is proved by its
answer. X is the play that always makes the first jump, row by row; Y is the longest of 200 random plays. A board counts
as hard where both stay well below Z.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import count

from solvers.daily.puzzle import Draws, Puzzle

BOARDS = {"small": (5, 11), "medium": (7, 20), "large": (8, 30)}
"""The side of the board and its pieces."""
SHORT = {"small": 1, "medium": 2, "large": 2}
"""How much shorter than Z the longest random play is, at least."""
PLAYS = 200
DIRECTIONS = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]

Jump = tuple[int, int, int]
"""The cells of a jump: its start, what it eats, and where it lands."""


def make_comesolo(size: str, draws: Draws) -> Puzzle:
    """Draw boards until one is hard enough."""
    side, pieces = BOARDS[size]
    most = pieces - 1
    for drawn in count(1):
        board, play = taken_back(side, pieces, draws)
        if len(play) < most:
            continue
        x = len(play_on(side, board, None))
        y = 0
        for _ in range(PLAYS):
            y = max(y, len(play_on(side, board, draws)))
            if y > most - SHORT[size]:
                break
        else:
            if x < y:
                return Puzzle("comesolo", size, write_board(side, board), write_play(side, play), x, y, most, drawn)
    raise AssertionError("boards do not end")


@cache
def jumps_of(side: int) -> Sequence[Jump]:
    """List the jumps that stay on a board, row by row."""
    return [
        (row * side + column, (row + down) * side + column + right, (row + 2 * down) * side + column + 2 * right)
        for row in range(side)
        for column in range(side)
        for down, right in DIRECTIONS
        if 0 <= row + 2 * down < side and 0 <= column + 2 * right < side
    ]


def taken_back(side: int, pieces: int, draws: Draws) -> tuple[list[bool], list[Jump]]:
    """Take drawn jumps back from one piece at a drawn place; give the board and the play that leads to that piece.

    The play is shorter than `pieces - 1` where no more jumps could be taken back.
    """
    board = [False] * (side * side)
    board[draws.below(side * side)] = True
    play: list[Jump] = []
    while len(play) < pieces - 1:
        choices = [jump for jump in jumps_of(side) if board[jump[2]] and not board[jump[1]] and not board[jump[0]]]
        if not choices:
            break
        start, eaten, landing = choices[draws.below(len(choices))]
        board[start], board[eaten], board[landing] = True, True, False
        play.append((start, eaten, landing))
    return board, play[::-1]


def play_on(side: int, board: Sequence[bool], draws: Draws | None) -> list[Jump]:
    """Play until no piece can jump: drawn jumps, or always the first one."""
    cells = list(board)
    play = []
    while choices := [jump for jump in jumps_of(side) if cells[jump[0]] and cells[jump[1]] and not cells[jump[2]]]:
        start, eaten, landing = choices[0 if draws is None else draws.below(len(choices))]
        cells[start], cells[eaten], cells[landing] = False, False, True
        play.append((start, eaten, landing))
    return play


def write_board(side: int, board: Sequence[bool]) -> str:
    """Render a board as an input."""
    rows = ["".join("o" if cell else "." for cell in board[at : at + side]) for at in range(0, side * side, side)]
    return "\n".join([str(side), *rows]) + "\n"


def write_play(side: int, play: Sequence[Jump]) -> str:
    """Render a play as an answer."""
    rows = [(*divmod(start, side), *divmod(landing, side)) for start, _, landing in play]
    return "\n".join([str(len(rows)), *(" ".join(map(str, row)) for row in rows)]) + "\n"
