"""Draw a board and name the judge's player: `generate.py --seed N [kind=...] [opponent=...] [n=...] [placed=...]`.

    kind=random   the numbers in any order (default)
    kind=ragged   the copies of each number form a block that grows by its own step at drawn places, from n = 4
    n             3..20 (default 4)
    opponent      the judge's player (default optimal)
    placed        a number below n: the piece stands on a drawn cell with it; 0 (default): the judge has yet to place it

The same seed and parameters give the same bytes everywhere: the numbers come from SplitMix64 (Steele, Lea, Flood,
2014), written out below, because Python promises nothing about its own generator's derived draws.
"""

from __future__ import annotations

import argparse
import sys

DIRECTIONS = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
DEFAULTS = {"kind": "random", "opponent": "optimal", "n": "4", "placed": "0"}
KNOWN = {"kind": ("random", "ragged"), "opponent": ("adversarial", "greedy", "optimal", "random")}
SMALLEST, LARGEST = 3, 20
MASK = 2**64 - 1

Cell = tuple[int, int]


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
    seed, kind, opponent, n, placed = read_arguments()
    draws = SplitMix64(seed)
    board = any_order(n, draws) if kind == "random" else blocks(n, draws)
    rows = [" ".join(map(str, board[at : at + n])) for at in range(0, n * n, n)]
    sys.stdout.write("\n".join(["game optimiza", f"opponent {opponent}", str(n), *rows]) + "\n")
    if placed:
        cells = [at for at, number in enumerate(board) if number == placed]
        row, column = divmod(cells[draws.below(len(cells))], n)
        sys.stdout.write(f"walk {row + 1} {column + 1}\n")


def read_arguments() -> tuple[int, str, str, int, int]:
    """Read the seed and the k=v parameters; an unknown key or value ends the program."""
    parser = argparse.ArgumentParser(description="Draw a board, and name the judge's player.")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("params", nargs="*", metavar="k=v")
    options = parser.parse_args()
    given = {key: value for key, _, value in (param.partition("=") for param in options.params)}
    if unknown := set(given) - set(DEFAULTS):
        parser.error(f"expected parameters {sorted(DEFAULTS)}, found {sorted(unknown)}")
    params = DEFAULTS | given
    for name, known in KNOWN.items():
        if params[name] not in known:
            parser.error(f"expected {name} of {', '.join(known)}, found {params[name]!r}")
    sizes = {str(size): size for size in range(SMALLEST, LARGEST + 1)}
    if params["n"] not in sizes:
        parser.error(f"expected n from {SMALLEST} to {LARGEST}, found {params['n']!r}")
    numbers = {str(number): number for number in range(sizes[params["n"]])}
    if params["placed"] not in numbers:
        parser.error(f"expected placed from 0 to {len(numbers) - 1}, found {params['placed']!r}")
    return options.seed, params["kind"], params["opponent"], sizes[params["n"]], numbers[params["placed"]]


def any_order(n: int, draws: SplitMix64) -> list[int]:
    """All numbers in a drawn order."""
    numbers = [k for k in range(1, n) for _ in range(n + 1)] + [n]
    draws.shuffle(numbers)
    return numbers


def blocks(n: int, draws: SplitMix64) -> list[int]:
    """Place the numbers in a drawn order, each as a block that grows by its own step; one that is shut in continues
    elsewhere."""
    board = [n] * (n * n)
    free = {(row, column) for row in range(n) for column in range(n)}
    order = list(range(1, n))
    draws.shuffle(order)
    for k in order:
        touching: set[Cell] = set()
        for _ in range(n + 1):
            choices = sorted(touching or free)
            row, column = choices[draws.below(len(choices))]
            board[row * n + column] = k
            free.discard((row, column))
            touching |= {((row + k * down) % n, (column + k * right) % n) for down, right in DIRECTIONS}
            touching &= free
    return board


if __name__ == "__main__":
    main()
