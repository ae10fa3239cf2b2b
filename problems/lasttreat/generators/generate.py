"""Make lasttreat positions: `generate.py --seed N [kind=...] [t=...] [n=...] [least=...] [most=...] > positions.in`.

    kind=mixed     `t` positions with piles up to `n` and K from `least` to `most` (default). The first has nearly `n`
                   treats in each pile and the largest K; the others are, in turn by chance: drawn at random; lost;
                   one move away from lost; or a start that the printed strategy cannot answer (see `trap`)
    kind=doubles   lost positions, and their neighbours, at Wythoff's pairs whose difference is a Fibonacci number, up
                   to 10^18 with K = 10^18: a golden ratio in double precision gets them wrong

The same seed and parameters give the same bytes everywhere: the numbers come from SplitMix64 (Steele, Lea, Flood,
2014), written out below, because Python promises nothing about its own generator's derived draws.
"""

from __future__ import annotations

import argparse
import sys
from math import isqrt

DEFAULTS = {"kind": "mixed", "t": "20", "n": "10", "least": "1", "most": "10"}
LARGEST = 10**18
MASK = 2**64 - 1

Position = tuple[int, int, int]


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
    """Print the positions of the kind asked for."""
    seed, kind, numbers = read_arguments()
    positions = doubles() if kind == "doubles" else mixed(SplitMix64(seed), **numbers)
    lines = [str(len(positions)), *(f"{a} {b} {k}" for a, b, k in positions)]
    sys.stdout.write("\n".join(lines) + "\n")


def read_arguments() -> tuple[int, str, dict[str, int]]:
    """Read the seed, the kind and the numbers; what is not understood ends the program."""
    parser = argparse.ArgumentParser(description="Make lasttreat positions.")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("params", nargs="*", metavar="k=v")
    options = parser.parse_args()
    if unfit := [param for param in options.params if "=" not in param]:
        parser.error(f"expected parameters k=v, found {unfit[0]}")
    given = dict(param.split("=", 1) for param in options.params)
    if unknown := set(given) - set(DEFAULTS):
        parser.error(f"expected parameters {sorted(DEFAULTS)}, found {sorted(unknown)}")
    params = DEFAULTS | given
    kind = params.pop("kind")
    if unfit := [value for value in params.values() if not (value.isascii() and value.isdecimal())]:
        parser.error(f"expected a number, found {unfit[0]}")
    numbers = {key: int(value) for key, value in params.items()}
    if kind not in ("mixed", "doubles"):
        parser.error(f"expected a kind of mixed, doubles, found {kind}")
    if not 1 <= numbers["t"] <= 10**5 or not 3 <= numbers["n"] <= LARGEST:
        parser.error("expected t from 1 to 100000 and n from 3 to 10^18")
    if not 1 <= numbers["least"] <= numbers["most"] <= LARGEST:
        parser.error("expected 1 <= least <= most <= 10^18")
    return options.seed, kind, numbers


def lower(n: int) -> int:
    """Wythoff's lower number: floor(n * golden ratio)."""
    return (n + isqrt(5 * n * n)) // 2


def mixed(draws: SplitMix64, t: int, n: int, least: int, most: int) -> list[Position]:
    """Draw t positions, the hardest first."""
    positions = [(n - draws.below(n // 100 + 1), n - draws.below(n // 100 + 1), most)]
    while len(positions) < t:
        k = least + draws.below(most - least + 1)
        make = (at_random, lost, near, trap)[draws.below(4)]
        a, b = make(draws, n, k)
        if draws.below(2):
            a, b = b, a
        if a + b:
            positions.append((a, b, k))
    return positions


def at_random(draws: SplitMix64, n: int, k: int) -> tuple[int, int]:
    """Draw two piles."""
    return draws.below(n + 1), draws.below(n + 1)


def pair(draws: SplitMix64, most: int) -> tuple[int, int]:
    """Draw a pair whose upper number is at most `most`."""
    pairs = 2 * (most + 1) - lower(most + 1)
    d = draws.below(pairs)
    return lower(d), lower(d) + d


def lost(draws: SplitMix64, n: int, k: int) -> tuple[int, int]:
    """Draw a lost position: a pair below K + 1, multiples of K + 1 added."""
    a, b = pair(draws, min(n, k))
    return a + (k + 1) * draws.below((n - a) // (k + 1) + 1), b + (k + 1) * draws.below((n - b) // (k + 1) + 1)


def near(draws: SplitMix64, n: int, k: int) -> tuple[int, int]:
    """Draw a position that one move, taken back, leads to from a lost one."""
    a, b = lost(draws, n, k)
    first, second = ((1, 0), (0, 1), (1, 1))[draws.below(3)]
    room = min(k, n - max(a * first, b * second))
    i = 1 + draws.below(room) if room > 0 else 0
    return a + i * first, b + i * second


def trap(draws: SplitMix64, n: int, k: int) -> tuple[int, int]:
    """Draw what is left when, from a lost position, i is taken from both piles and only one passes a multiple of K + 1.

    The lost position has a pair's upper number in the first pile, the lower one plus a multiple of K + 1 in the second.
    The printed strategy answers with K + 1 - i from both, which is more than the first pile has.
    """
    low, high = pair(draws, min(n, k))
    multiples = (n - low) // (k + 1)
    if multiples == 0 or low == high:
        return lost(draws, n, k)
    i = low + 1 + draws.below(high - low)
    return high - i, low + (k + 1) * (1 + draws.below(multiples)) - i


def doubles() -> list[Position]:
    """List the positions around the pairs whose differences are Fibonacci numbers."""
    positions = []
    one, two = 1, 2
    while lower(one) + one < LARGEST:
        a, b = lower(one), lower(one) + one
        positions += [(a, b, LARGEST), (b + 1, a + 1, LARGEST), (a - 1, b - 1, LARGEST)]
        one, two = two, one + two
    return [position for position in positions if position[0] + position[1] > 0]


if __name__ == "__main__":
    main()
