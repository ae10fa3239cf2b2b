"""Draw a net and name the judge's player: `generate.py --seed N [kind=...] [opponent=...] [n=...] ...`.

    kind=block   the ropes of a block of `w` x `h` cells (default, 3 x 3)
    kind=grown   `cells` cells (5) that grow from one by drawn neighbours

`n` is the number of ropes in the end: drawn ropes are taken away until there are so many; 0 (default): all stay. The
order of the ropes and of their ends is drawn. The net lies at a drawn place of the grid. `opponent` (optimal) is the
judge's player.

The same seed and parameters give the same bytes everywhere: the numbers come from SplitMix64 (Steele, Lea, Flood,
2014), written out below, because Python promises nothing about its own generator's derived draws.
"""

from __future__ import annotations

import argparse
import sys

DEFAULTS = {"kind": "block", "opponent": "optimal", "n": "0", "w": "3", "h": "3", "cells": "5"}
BOUNDS = {"n": (0, 50), "w": (1, 16), "h": (1, 16), "cells": (1, 16)}
OPPONENTS = ("adversarial", "greedy", "one", "optimal", "random")
GRID = 50
MOST_ROPES = 50
MASK = 2**64 - 1

Cell = tuple[int, int]
Rope = tuple[int, int, int, int]


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

    def shuffled(self, ropes: list[Rope]) -> list[Rope]:
        """Give the ropes in a drawn order."""
        mixed = list(ropes)
        for last in range(len(mixed) - 1, 0, -1):
            other = self.below(last + 1)
            mixed[last], mixed[other] = mixed[other], mixed[last]
        return mixed


def main() -> None:
    """Draw a net and print it."""
    seed, params = read_arguments()
    draws = SplitMix64(seed)
    w, h = int(params["w"]), int(params["h"])
    is_block = params["kind"] == "block"
    cells = [(x, y) for x in range(w) for y in range(h)] if is_block else grown(int(params["cells"]), draws)
    ropes = draws.shuffled(ropes_of(cells))
    count = int(params["n"]) or len(ropes)
    if not count <= min(len(ropes), MOST_ROPES):
        sys.exit(f"expected a net of at most {MOST_ROPES} ropes and n of at most {len(ropes)}, found {count}")
    lines = [" ".join(map(str, rope)) for rope in placed(ropes[:count], draws)]
    sys.stdout.write("\n".join(["game netgame", f"opponent {params['opponent']}", str(count), *lines]) + "\n")


def read_arguments() -> tuple[int, dict[str, str]]:
    """Read the seed and the k=v parameters; an unknown key or value ends the program."""
    parser = argparse.ArgumentParser(description="Draw a net, and name the judge's player.")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("params", nargs="*", metavar="k=v")
    options = parser.parse_args()
    if unfit := [param for param in options.params if "=" not in param]:
        parser.error(f"expected k=v, found {unfit[0]}")
    given = dict(param.split("=", 1) for param in options.params)
    if unknown := set(given) - set(DEFAULTS):
        parser.error(f"expected parameters {sorted(DEFAULTS)}, found {sorted(unknown)}")
    params = DEFAULTS | given
    for name, known in (("kind", ("block", "grown")), ("opponent", OPPONENTS)):
        if params[name] not in known:
            parser.error(f"expected {name} of {', '.join(known)}, found {params[name]}")
    for name, (least, most) in BOUNDS.items():
        if not (params[name].isascii() and params[name].isdecimal() and least <= int(params[name]) <= most):
            parser.error(f"expected {name} from {least} to {most}, found {params[name]}")
    return options.seed, params


def grown(count: int, draws: SplitMix64) -> list[Cell]:
    """Begin with a cell, and add drawn neighbours of drawn cells."""
    cells = [(0, 0)]
    while len(cells) < count:
        x, y = cells[draws.below(len(cells))]
        right, up = ((1, 0), (-1, 0), (0, 1), (0, -1))[draws.below(4)]
        if (x + right, y + up) not in cells:
            cells.append((x + right, y + up))
    return cells


def ropes_of(cells: list[Cell]) -> list[Rope]:
    """The sides of cells, each once, in rising order."""
    level = {(x, y + up, x + 1, y + up) for x, y in cells for up in (0, 1)}
    upright = {(x + right, y, x + right, y + 1) for x, y in cells for right in (0, 1)}
    return sorted(level | upright)


def placed(ropes: list[Rope], draws: SplitMix64) -> list[Rope]:
    """Move the net to a drawn place of the grid, and swap the ends of about half of its ropes."""
    move_x = shift([x for a, _, c, _ in ropes for x in (a, c)], draws)
    move_y = shift([y for _, b, _, d in ropes for y in (b, d)], draws)
    moved = [(a + move_x, b + move_y, c + move_x, d + move_y) for a, b, c, d in ropes]
    return [(c, d, a, b) if draws.below(2) else (a, b, c, d) for a, b, c, d in moved]


def shift(numbers: list[int], draws: SplitMix64) -> int:
    """By how much to move one coordinate so that the net lies on the grid."""
    return draws.below(GRID - (max(numbers) - min(numbers)) + 1) - min(numbers)


if __name__ == "__main__":
    main()
