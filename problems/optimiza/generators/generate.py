"""Make an optimiza board: `generate.py --seed N [kind=...] [n=...] [variant=...] > board.in`.

    kind=random    the numbers in any order (default)
    kind=dense     the copies of each number form lattice blocks of that number's step, as round as they will
    kind=ragged    the same with blocks that grow at random places
    n              2..40 (default 10); dense and ragged are for boards that wrap, from n = 4
    variant        torus8 (default), torus4, edge8, klein8 or hex

The same seed and parameters give the same bytes everywhere: the numbers come from SplitMix64 (Steele, Lea, Flood,
2014), written out below, because Python promises nothing about its own generator's derived draws.
"""

from __future__ import annotations

import argparse
import sys

STRAIGHT = [(-1, 0), (0, -1), (0, 1), (1, 0)]
ALL_EIGHT = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
VARIANTS = ["torus8", "torus4", "edge8", "klein8", "hex"]
DEFAULTS = {"kind": "random", "n": "10", "variant": "torus8"}
MASK = 2**64 - 1

Cell = tuple[int, int]
Board = list[list[int]]


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

    def shuffle(self, items: list[int]) -> None:
        """Put a list into any order, each equally likely."""
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]


def main() -> None:
    """Draw a board and print it."""
    seed, params = read_arguments()
    n, variant = int(params["n"]), params["variant"]
    draws = SplitMix64(seed)
    if params["kind"] == "random":
        board = random_board(n, variant == "hex", draws)
    else:
        directions = STRAIGHT if variant == "torus4" else ALL_EIGHT
        board = blocks(n, directions, params["kind"] == "dense", draws)
    head = str(n) if variant == "torus8" else f"{n} {variant}"
    sys.stdout.write("\n".join([head, *(" ".join(map(str, row)) for row in board)]) + "\n")


def read_arguments() -> tuple[int, dict[str, str]]:
    """Read the seed and the k=v parameters; an unknown key or value ends the program."""
    parser = argparse.ArgumentParser(description="Make an optimiza board.")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("params", nargs="*", metavar="k=v")
    options = parser.parse_args()
    given = {key: value for key, _, value in (param.partition("=") for param in options.params)}
    if unknown := set(given) - set(DEFAULTS):
        parser.error(f"expected parameters {sorted(DEFAULTS)}, found {sorted(unknown)}")
    params = DEFAULTS | given
    if params["variant"] not in VARIANTS:
        parser.error(f"expected a variant of {VARIANTS}, found {params['variant']}")
    if params["kind"] not in ("random", "dense", "ragged"):
        parser.error(f"expected a kind of dense, ragged, random, found {params['kind']}")
    blocky = params["kind"] != "random"
    if blocky and params["variant"] in ("klein8", "hex"):
        parser.error(f"expected a board that wraps plainly for kind {params['kind']}, found {params['variant']}")
    least = 4 if blocky else 2
    if params["n"] not in map(str, range(least, 41)):
        parser.error(f"expected n from {least} to 40 for kind {params['kind']}, found {params['n']}")
    return options.seed, params


def random_board(n: int, triangle: bool, draws: SplitMix64) -> Board:
    """Put all numbers into any order."""
    copies = [n + 1 - k if triangle else (n + 1 if k < n else 1) for k in range(1, n + 1)]
    numbers = [k for k, count in enumerate(copies, start=1) for _ in range(count)]
    draws.shuffle(numbers)
    rows, at = [], 0
    for row in range(n):
        width = row + 1 if triangle else n
        rows.append(numbers[at : at + width])
        at += width
    return rows


def blocks(n: int, directions: list[Cell], compact: bool, draws: SplitMix64) -> Board:
    """Place the numbers from a drawn order, each as a block that grows by its own step; a block that is shut in by
    others continues elsewhere."""
    board = [[0] * n for _ in range(n)]
    free = {(r, c) for r in range(n) for c in range(n)}
    order = list(range(1, n))
    draws.shuffle(order)
    for k in order:
        place_number(board, free, k, n + 1, directions, compact, draws)
    (row, column) = free.pop()
    board[row][column] = n
    return board


def place_number(
    board: Board, free: set[Cell], k: int, count: int, directions: list[Cell], compact: bool, draws: SplitMix64
) -> None:
    """Place `count` copies of k on free cells."""
    n = len(board)
    touching: dict[Cell, int] = {}  # free cells one step from the block: how many of its cells they touch
    for _ in range(count):
        choices = sorted(touching) if touching else sorted(free)
        if compact and touching:
            most = max(touching.values())
            choices = [cell for cell in choices if touching[cell] == most]
        row, column = choices[draws.below(len(choices))]
        board[row][column] = k
        free.discard((row, column))
        touching.pop((row, column), None)
        for down, right in directions:
            beside = ((row + k * down) % n, (column + k * right) % n)
            if beside in free:
                touching[beside] = touching.get(beside, 0) + 1


if __name__ == "__main__":
    main()
