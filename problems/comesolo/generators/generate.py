"""Make a comesolo board: `generate.py --seed N [kind=...] [n=...] [density=...] [pieces=...] > board.in`.

    kind=random    every cell holds a piece with `density` percent (default; density 50)
    kind=onehole   a full board with one hole at a drawn place
    kind=disc      a full disc in the middle of the board, with one hole near its centre
    kind=islands   blocks of `block` cells (default 5) a side at `density` percent with a gap of two between them
    kind=back      drawn backwards from one piece, so that all pieces but one can be eaten; up to `pieces` pieces

The same seed and parameters give the same bytes everywhere: the numbers come from SplitMix64 (Steele, Lea, Flood,
2014), written out below, because Python promises nothing about its own generator's derived draws.
"""

from __future__ import annotations

import argparse
import sys

DIRECTIONS = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
DEFAULTS = {"kind": "random", "n": "10", "density": "50", "pieces": "0", "block": "5"}
MASK = 2**64 - 1

Board = list[list[bool]]


class SplitMix64:
    """The 64-bit generator of Steele, Lea and Flood."""

    def __init__(self, seed: int) -> None:
        self.state = seed & MASK

    def next(self) -> int:
        """Draw 64 bits."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, bound: int) -> int:
        """Draw 0..bound-1, every value equally likely (draws in the incomplete last stretch are thrown away)."""
        limit = (MASK + 1) // bound * bound
        while True:
            drawn = self.next()
            if drawn < limit:
                return drawn % bound


def main() -> None:
    """Draw boards until one has a legal jump, and print it."""
    seed, params = read_arguments()
    draws = SplitMix64(seed)
    for _ in range(1000):
        board = make(params, draws)
        if has_jump(board):
            lines = [str(len(board)), *("".join("o" if cell else "." for cell in row) for row in board)]
            sys.stdout.write("\n".join(lines) + "\n")
            return
    sys.exit("no board with a legal jump in 1000 draws")


def read_arguments() -> tuple[int, dict[str, str]]:
    """Read the seed and the k=v parameters; an unknown key ends the program."""
    parser = argparse.ArgumentParser(description="Make a comesolo board.")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("params", nargs="*", metavar="k=v")
    options = parser.parse_args()
    given = dict(param.split("=", 1) for param in options.params)
    if unknown := set(given) - set(DEFAULTS):
        parser.error(f"expected parameters {sorted(DEFAULTS)}, found {sorted(unknown)}")
    params = DEFAULTS | given
    if not 3 <= int(params["n"]) <= 30:
        parser.error(f"expected n from 3 to 30, found {params['n']}")
    if params["kind"] not in MAKERS:
        parser.error(f"expected a kind of {sorted(MAKERS)}, found {params['kind']}")
    return options.seed, params


def make(params: dict[str, str], draws: SplitMix64) -> Board:
    """Draw one board of the kind asked for."""
    return MAKERS[params["kind"]](params, draws)


def random_board(params: dict[str, str], draws: SplitMix64) -> Board:
    """Fill every cell with the same chance."""
    n, density = int(params["n"]), int(params["density"])
    return [[draws.below(100) < density for _ in range(n)] for _ in range(n)]


def onehole(params: dict[str, str], draws: SplitMix64) -> Board:
    """Fill the board and make a hole."""
    n = int(params["n"])
    board = [[True] * n for _ in range(n)]
    board[draws.below(n)][draws.below(n)] = False
    return board


def disc(params: dict[str, str], draws: SplitMix64) -> Board:
    """Fill a disc (twice the coordinates, so that all stays whole) and make a hole near its centre."""
    n = int(params["n"])
    middle = n - 1
    board = [[(2 * r - middle) ** 2 + (2 * c - middle) ** 2 <= (n - 2) ** 2 for c in range(n)] for r in range(n)]
    board[n // 2 - 1 + draws.below(3)][n // 2 - 1 + draws.below(3)] = False
    return board


def islands(params: dict[str, str], draws: SplitMix64) -> Board:
    """Fill blocks that lie two cells apart."""
    n, density, block = int(params["n"]), int(params["density"]), int(params["block"])
    size = block + 2
    inside = [i % size < block for i in range(n)]
    return [[inside[r] and inside[c] and draws.below(100) < density for c in range(n)] for r in range(n)]


def back(params: dict[str, str], draws: SplitMix64) -> Board:
    """Take jumps back from a single piece: the jumper returns and the eaten piece comes alive."""
    n, pieces = int(params["n"]), int(params["pieces"])
    board = [[False] * n for _ in range(n)]
    board[draws.below(n)][draws.below(n)] = True
    count = 1
    while choices := back_jumps(board):
        if count == (pieces or n * n):
            break
        r, c, down, right = choices[draws.below(len(choices))]
        board[r][c] = False
        board[r + down][c + right] = True
        board[r + 2 * down][c + 2 * right] = True
        count += 1
    return board


def back_jumps(board: Board) -> list[tuple[int, int, int, int]]:
    """List the pieces and directions that have two empty cells in a row behind them."""
    n = len(board)
    return [
        (r, c, down, right)
        for r in range(n)
        for c in range(n)
        if board[r][c]
        for down, right in DIRECTIONS
        if 0 <= r + 2 * down < n and 0 <= c + 2 * right < n
        if not board[r + down][c + right] and not board[r + 2 * down][c + 2 * right]
    ]


def has_jump(board: Board) -> bool:
    """Say whether any piece can jump."""
    n = len(board)
    return any(
        board[r][c] and board[r + down][c + right] and not board[r + 2 * down][c + 2 * right]
        for r in range(n)
        for c in range(n)
        for down, right in DIRECTIONS
        if 0 <= r + 2 * down < n and 0 <= c + 2 * right < n
    )


MAKERS = {"random": random_board, "onehole": onehole, "disc": disc, "islands": islands, "back": back}

if __name__ == "__main__":
    main()
