"""Make a map with piglets and haystacks: `generate.py --seed N [map=...] [place=...] [n=...] [p=...] [...] > map.in`.

    map=rand          every cell has a tree with `trees` percent (default; trees 20)
    map=maze          a maze with one way between any two cells, then `loops` percent of its walls opened (default 0)
    map=rooms         rooms of four by four cells with a door in each wall
    place=rand        piglets and haystacks anywhere (default)
    place=far         piglets near one corner, haystacks near the opposite one
    place=spread      piglets far from each other, and haystacks too
    place=gather      piglets far from each other, haystacks side by side
    place=pairs       piglets side by side in pairs, haystacks side by side in pairs elsewhere
    place=unreachable as rand, but a hedge cuts the map, and each side has another number of piglets than of haystacks

`n` is the size (1..22), `p` how many piglets (1..4). All stand in the largest part of the map that hangs together, but
for place=unreachable. The same seed and parameters give the same bytes everywhere: the numbers come from SplitMix64
(Steele, Lea, Flood, 2014), written out below, because Python promises nothing about its own generator's derived draws.
"""

from __future__ import annotations

import argparse
import sys

DEFAULTS = {"map": "rand", "place": "rand", "n": "8", "p": "2", "trees": "20", "loops": "0"}
LIMITS = {"n": (1, 22), "p": (1, 4), "trees": (0, 90), "loops": (0, 100)}
ROOM = 5
MASK = 2**64 - 1

Cell = tuple[int, int]


class Unlucky(Exception):
    """This draw cannot be finished; the next one may."""


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

    def sample(self, cells: list[Cell], count: int) -> list[Cell]:
        """Draw some of the cells, none twice."""
        if len(cells) < count:
            raise Unlucky
        rest = list(cells)
        return [rest.pop(self.below(len(rest))) for _ in range(count)]


def main() -> None:
    """Draw maps until the piglets find room on one, and print it."""
    seed, kinds, numbers = read_arguments()
    draws = SplitMix64(seed)
    for _ in range(1000):
        try:
            free = MAPS[kinds["map"]](numbers, draws)
            pigs, haystacks = place(kinds["place"], numbers, free, draws)
        except Unlucky:
            continue
        sys.stdout.write(show(numbers["n"], free, pigs, haystacks))
        return
    sys.exit("no room for the piglets on 1000 maps")


def read_arguments() -> tuple[int, dict[str, str], dict[str, int]]:
    """Read the seed and the k=v parameters; an unknown key or kind ends the program."""
    parser = argparse.ArgumentParser(description="Make a map with piglets and haystacks.")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("params", nargs="*", metavar="k=v")
    options = parser.parse_args()
    given = dict(param.split("=", 1) for param in options.params)
    if unknown := set(given) - set(DEFAULTS):
        parser.error(f"expected parameters {sorted(DEFAULTS)}, found {sorted(unknown)}")
    params = DEFAULTS | given
    numbers = {key: int(params[key]) for key in LIMITS}
    for key, (least, most) in LIMITS.items():
        if not least <= numbers[key] <= most:
            parser.error(f"expected {key} from {least} to {most}, found {numbers[key]}")
    if params["map"] not in MAPS or params["place"] not in PLACES | {"unreachable": None}:
        parser.error(f"expected a map of {sorted(MAPS)} and a place of {[*sorted(PLACES), 'unreachable']}")
    return options.seed, params, numbers


def show(n: int, free: set[Cell], pigs: list[Cell], haystacks: list[Cell]) -> str:
    """Write the input file."""
    rows = ["".join("." if (r, c) in free else "#" for c in range(n)) for r in range(n)]
    cells = [f"{r + 1} {c + 1}" for r, c in [*pigs, *haystacks]]
    return "\n".join([str(n), *rows, str(len(pigs)), *cells]) + "\n"


def random_map(numbers: dict[str, int], draws: SplitMix64) -> set[Cell]:
    """Draw every cell alone."""
    n = numbers["n"]
    return {(r, c) for r in range(n) for c in range(n) if draws.below(100) >= numbers["trees"]}


def maze(numbers: dict[str, int], draws: SplitMix64) -> set[Cell]:
    """Carve by depth-first search over the cells with even coordinates, then open some of the walls left."""
    n = numbers["n"]
    free = {(0, 0)}
    stack = [(0, 0)]
    while stack:
        r, c = stack[-1]
        ways = [(r + dr, c + dc) for dr, dc in ((-2, 0), (0, 2), (2, 0), (0, -2))]
        ways = [way for way in ways if 0 <= way[0] < n and 0 <= way[1] < n and way not in free]
        if not ways:
            stack.pop()
            continue
        way = ways[draws.below(len(ways))]
        free |= {way, ((r + way[0]) // 2, (c + way[1]) // 2)}
        stack.append(way)
    walls = [(r, c) for r in range(n) for c in range(n) if (r + c) % 2 and (r, c) not in free]
    return free | {wall for wall in walls if draws.below(100) < numbers["loops"]}


def rooms(numbers: dict[str, int], draws: SplitMix64) -> set[Cell]:
    """Put walls between rooms, and one or two doors into each stretch of wall."""
    n = numbers["n"]
    free = {(r, c) for r in range(n) for c in range(n) if r % ROOM != ROOM - 1 and c % ROOM != ROOM - 1}
    for wall in range(ROOM - 1, n, ROOM):
        for begin in range(0, n, ROOM):
            stretch = [at for at in range(begin, begin + ROOM - 1) if at < n]
            for _ in range(1 + draws.below(2)):
                free.add((wall, stretch[draws.below(len(stretch))]))
                free.add((stretch[draws.below(len(stretch))], wall))
    return free


def place(kind: str, numbers: dict[str, int], free: set[Cell], draws: SplitMix64) -> tuple[list[Cell], list[Cell]]:
    """Choose cells for piglets and haystacks, where they can reach each other unless they must not."""
    if kind == "unreachable":
        return unreachable(numbers, free, draws)
    return PLACES[kind](numbers["p"], largest_part(free), draws)


def largest_part(free: set[Cell]) -> list[Cell]:
    """Find the largest set of cells that hang together, in the order of rows."""
    rest, best = set(free), set[Cell]()
    while rest:
        part = set(distances(min(rest), rest))
        rest -= part
        best = max(best, part, key=len)
    return sorted(best)


def distances(start: Cell, free: set[Cell] | list[Cell]) -> dict[Cell, int]:
    """Count the steps of one piglet to every cell it can reach."""
    rest, steps, queue = set(free) - {start}, {start: 0}, [start]
    for r, c in queue:
        for cell in ((r - 1, c), (r, c + 1), (r + 1, c), (r, c - 1)):
            if cell in rest:
                rest.remove(cell)
                steps[cell] = steps[r, c] + 1
                queue.append(cell)
    return steps


def anywhere(p: int, part: list[Cell], draws: SplitMix64) -> tuple[list[Cell], list[Cell]]:
    """Draw all cells alike."""
    return draws.sample(part, p), draws.sample(part, p)


def far(p: int, part: list[Cell], draws: SplitMix64) -> tuple[list[Cell], list[Cell]]:
    """Draw among the cells nearest to two opposite corners."""
    ordered = sorted(part, key=lambda cell: (sum(cell), cell))
    return draws.sample(ordered[: 3 * p], p), draws.sample(ordered[-3 * p :], p)


def apart(p: int, part: list[Cell], draws: SplitMix64) -> list[Cell]:
    """Draw cells far from each other: each is the farthest of some from those before."""
    chosen = draws.sample(part, 1)
    steps = [distances(chosen[0], part)]
    while len(chosen) < p:
        some = draws.sample([cell for cell in part if cell not in chosen], min(12, len(part) - len(chosen)))
        if not some:
            raise Unlucky
        chosen.append(max(some, key=lambda cell: (min(from_[cell] for from_ in steps), cell)))
        steps.append(distances(chosen[-1], part))
    return chosen


def spread(p: int, part: list[Cell], draws: SplitMix64) -> tuple[list[Cell], list[Cell]]:
    """Draw both far from each other."""
    return apart(p, part, draws), apart(p, part, draws)


def beside(count: int, cell: Cell, part: list[Cell]) -> list[Cell]:
    """Find the cells nearest to one, itself included."""
    steps = distances(cell, part)
    if len(steps) < count:
        raise Unlucky
    return sorted(steps, key=lambda other: (steps[other], other))[:count]


def gather(p: int, part: list[Cell], draws: SplitMix64) -> tuple[list[Cell], list[Cell]]:
    """Draw piglets apart, and the haystacks around one cell."""
    return apart(p, part, draws), beside(p, draws.sample(part, 1)[0], part)


def pairs(p: int, part: list[Cell], draws: SplitMix64) -> tuple[list[Cell], list[Cell]]:
    """Draw two cells apart for the piglets, two for the haystacks, and let each have a neighbour."""
    both: list[list[Cell]] = []
    for _ in range(2):
        cells: list[Cell] = []
        for first in apart(2, part, draws):
            cells += [cell for cell in beside(3, first, part) if cell not in cells][:2]
        both.append(cells[:p])
    return both[0], both[1]


def unreachable(numbers: dict[str, int], free: set[Cell], draws: SplitMix64) -> tuple[list[Cell], list[Cell]]:
    """Plant a hedge along a row, and put one piglet more than haystacks above it."""
    n, p = numbers["n"], numbers["p"]
    hedge = n // 3 + draws.below(n // 3 + 1)
    free -= {(hedge, c) for c in range(n)}
    above, below = ([cell for cell in sorted(free) if (cell[0] < hedge) == up] for up in (True, False))
    more = 1 + draws.below(p)
    pigs = draws.sample(above, more) + draws.sample(below, p - more)
    return pigs, draws.sample(above, more - 1) + draws.sample(below, p - more + 1)


MAPS = {"rand": random_map, "maze": maze, "rooms": rooms}
PLACES = {"rand": anywhere, "far": far, "spread": spread, "gather": gather, "pairs": pairs}

if __name__ == "__main__":
    main()
