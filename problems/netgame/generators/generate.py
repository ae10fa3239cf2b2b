"""Make a net: `generate.py --seed N [kind=...] [n=...] [w=...] [h=...] [cells=...] [parts=...] [at=...] > net.in`.

    kind=random   `n` ropes drawn among those of a block of `w` x `h` cells (default)
    kind=block    the ropes of a block of `w` x `h` cells
    kind=ring     the ropes of the cells at the border of such a block; those inside a block of 3 x 3 come with them
    kind=grown    `parts` pieces grown cell by cell at drawn places apart from each other, `cells` cells in all

`n` is the number of ropes in the end: ropes are drawn to be taken away, or loose ones are drawn to be added, one cell
around the net; n=0 (default, but for random) leaves the net as it is. `at` says where on the grid it lies: `low` in the
corner of 0, `high` in that of 50, `drawn` anywhere (default). The net is turned by a quarter in half of the draws; the
order of the ropes and of their ends is drawn, too.

The same seed and parameters give the same bytes everywhere: the numbers come from SplitMix64 (Steele, Lea, Flood,
2014), written out below, because Python promises nothing about its own generator's derived draws.
"""

from __future__ import annotations

import argparse
import sys

DEFAULTS = {"kind": "random", "n": "0", "w": "3", "h": "3", "cells": "5", "parts": "1", "at": "drawn"}
BOUNDS = {"n": (0, 50), "w": (1, 16), "h": (1, 16), "cells": (1, 16), "parts": (1, 16)}
PLACES = ("low", "high", "drawn")
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
    ropes = ropes_of(MAKERS[params["kind"]](params, draws))
    ropes = with_count(ropes, int(params["n"]), draws)
    if len(ropes) < int(params["n"]):
        sys.exit(f"expected room for {params['n']} ropes, found {len(ropes)} in and one cell around the net")
    if not 1 <= len(ropes) <= MOST_ROPES:
        sys.exit(f"expected a net of 1 to {MOST_ROPES} ropes, found {len(ropes)}")
    lines = [" ".join(map(str, rope)) for rope in draws.shuffled(placed(ropes, params["at"], draws))]
    sys.stdout.write("\n".join([str(len(lines)), *lines]) + "\n")


def read_arguments() -> tuple[int, dict[str, str]]:
    """Read the seed and the k=v parameters; an unknown key ends the program."""
    parser = argparse.ArgumentParser(description="Make a net for netgame.")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("params", nargs="*", metavar="k=v")
    options = parser.parse_args()
    if wrong := [param for param in options.params if "=" not in param]:
        parser.error(f"expected k=v, found {wrong[0]}")
    given = dict(param.split("=", 1) for param in options.params)
    if unknown := set(given) - set(DEFAULTS):
        parser.error(f"expected parameters {sorted(DEFAULTS)}, found {sorted(unknown)}")
    params = DEFAULTS | given
    if params["kind"] not in MAKERS:
        parser.error(f"expected a kind of {sorted(MAKERS)}, found {params['kind']}")
    if params["at"] not in PLACES:
        parser.error(f"expected at of {list(PLACES)}, found {params['at']}")
    for name, (least, most) in BOUNDS.items():
        if not (params[name].isascii() and params[name].isdecimal() and least <= int(params[name]) <= most):
            parser.error(f"expected {name} from {least} to {most}, found {params[name]}")
    if int(params["parts"]) > int(params["cells"]):
        parser.error(f"expected parts from 1 to {params['cells']}, the cells, found {params['parts']}")
    return options.seed, params | ({"n": "12"} if params["kind"] == "random" and params["n"] == "0" else {})


def block(params: dict[str, str], _draws: SplitMix64) -> list[Cell]:
    """All cells of a block; kind=random takes ropes away from it."""
    return [(x, y) for x in range(int(params["w"])) for y in range(int(params["h"]))]


def ring(params: dict[str, str], draws: SplitMix64) -> list[Cell]:
    """The cells at the border of a block."""
    w, h = int(params["w"]), int(params["h"])
    return [(x, y) for x, y in block(params, draws) if x in (0, w - 1) or y in (0, h - 1)]


def grown(params: dict[str, str], draws: SplitMix64) -> list[Cell]:
    """Begin `parts` pieces side by side, then let a drawn piece grow by a drawn cell that touches no other piece."""
    pieces: list[list[Cell]] = [[(3 * part, draws.below(3))] for part in range(int(params["parts"]))]
    while sum(map(len, pieces)) < int(params["cells"]):
        at = draws.below(len(pieces))
        others = {cell for number, piece in enumerate(pieces) if number != at for cell in piece}
        x, y = pieces[at][draws.below(len(pieces[at]))]
        right, up = ((1, 0), (-1, 0), (0, 1), (0, -1))[draws.below(4)]
        cell = (x + right, y + up)
        if cell not in pieces[at] and not others & {cell, *neighbours(cell)}:
            pieces[at].append(cell)
    return [cell for piece in pieces for cell in piece]


def neighbours(cell: Cell) -> list[Cell]:
    """The four cells beside a cell."""
    x, y = cell
    return [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]


def ropes_of(cells: list[Cell]) -> list[Rope]:
    """The sides of cells, each once, in rising order."""
    level = {(x, y + up, x + 1, y + up) for x, y in cells for up in (0, 1)}
    upright = {(x + right, y, x + right, y + 1) for x, y in cells for right in (0, 1)}
    return sorted(level | upright)


def with_count(ropes: list[Rope], count: int, draws: SplitMix64) -> list[Rope]:
    """Take drawn ropes away, or add drawn ones of the cells in and around the net, until there are `count`."""
    if count in (0, len(ropes)):
        return ropes
    if count < len(ropes):
        return sorted(draws.shuffled(ropes)[:count])
    low_x, low_y = min(rope[0] for rope in ropes), min(rope[1] for rope in ropes)
    high_x, high_y = max(rope[2] for rope in ropes), max(rope[3] for rope in ropes)
    around = ropes_of([(x, y) for x in range(low_x - 1, high_x + 1) for y in range(low_y - 1, high_y + 1)])
    loose = sorted(set(around) - set(ropes))
    return sorted(ropes + draws.shuffled(loose)[: count - len(ropes)])


def placed(ropes: list[Rope], place: str, draws: SplitMix64) -> list[Rope]:
    """Turn the net or not, move it to its place on the grid, and swap the ends of about half of its ropes."""
    turned = [(b, a, d, c) for a, b, c, d in ropes] if draws.below(2) else ropes
    move_x = shift([x for a, _, c, _ in turned for x in (a, c)], place, draws)
    move_y = shift([y for _, b, _, d in turned for y in (b, d)], place, draws)
    moved = [(a + move_x, b + move_y, c + move_x, d + move_y) for a, b, c, d in turned]
    return [(c, d, a, b) if draws.below(2) else (a, b, c, d) for a, b, c, d in moved]


def shift(numbers: list[int], place: str, draws: SplitMix64) -> int:
    """By how much to move one coordinate so that the net lies on the grid, in the corner asked for."""
    room = GRID - (max(numbers) - min(numbers))
    return {"low": 0, "high": room}.get(place, draws.below(room + 1)) - min(numbers)


MAKERS = {"random": block, "block": block, "ring": ring, "grown": grown}

if __name__ == "__main__":
    main()
