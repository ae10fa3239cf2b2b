"""Draw a won start of the last treat: `generate.py --seed N [kind=...] [opponent=...] [n=...] [least=...] [most=...]`.

    kind=near      one move, taken back, from a drawn lost position (default)
    kind=trap      the same, where the greatest winning move leads to a position from which a diagonal move crosses a
                   multiple of K + 1 in one pile only, beside a smaller pile: the printed strategy has no answer to it

Piles have up to `n` treats (10), K is from `least` (1) to `most` (10); `opponent` (optimal) is the judge's player.

The same seed and parameters give the same bytes everywhere: the numbers come from SplitMix64 (Steele, Lea, Flood,
2014), written out below, because Python promises nothing about its own generator's derived draws.
"""

from __future__ import annotations

import argparse
import sys
from math import isqrt

DEFAULTS = {"kind": "near", "opponent": "optimal", "n": "10", "least": "1", "most": "10"}
KINDS = ("near", "trap")
OPPONENTS = ("adversarial", "greedy", "one", "optimal", "random")
LARGEST = 10**18
MASK = 2**64 - 1

Pair = tuple[int, int]


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
    """Print the start asked for."""
    seed, kind, opponent, n, least, most = read_arguments()
    draws = SplitMix64(seed)
    start = None
    while start is None:
        k = least + draws.below(most - least + 1)
        start = taken_back(draws, n, k, is_trap=kind == "trap")
    a, b = start[::-1] if draws.below(2) else start
    sys.stdout.write(f"game lasttreat\nopponent {opponent}\n{a} {b} {k}\n")


def read_arguments() -> tuple[int, str, str, int, int, int]:
    """Read the seed, the kind, the opponent and the numbers; an unknown parameter ends the program."""
    parser = argparse.ArgumentParser(description="Draw a won start of the last treat.")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("params", nargs="*", metavar="k=v")
    options = parser.parse_args()
    if unfit := [param for param in options.params if "=" not in param]:
        parser.error(f"expected parameters k=v, found {unfit[0]}")
    given = dict(param.split("=", 1) for param in options.params)
    if unknown := set(given) - set(DEFAULTS):
        parser.error(f"expected parameters {sorted(DEFAULTS)}, found {sorted(unknown)}")
    params = DEFAULTS | given
    for name, known in (("kind", KINDS), ("opponent", OPPONENTS)):
        if params[name] not in known:
            parser.error(f"expected {name} of {', '.join(known)}, found {params[name]}")
    words = [params[name] for name in ("n", "least", "most")]
    if unfit := [word for word in words if not (word.isascii() and word.isdecimal())]:
        parser.error(f"expected a number, found {unfit[0]}")
    n, least, most = map(int, words)
    if not (4 <= n <= LARGEST and 1 <= least <= most <= LARGEST):
        parser.error("expected n from 4 and 1 <= least <= most, all up to 10^18")
    if params["kind"] == "trap" and least + 1 > n - 1:
        parser.error(f"expected n of {least + 2} or more for a trap, found {n}")
    return options.seed, params["kind"], params["opponent"], n, least, most


def lower(n: int) -> int:
    """Wythoff's lower number: floor(n * golden ratio)."""
    return (n + isqrt(5 * n * n)) // 2


def partner(number: int) -> int:
    """The other number of its pair (a_n, a_n + n)."""
    quotient = lower(number) - number
    return number + quotient + 1 if number and lower(quotient + 1) == number else quotient


def taken_back(draws: SplitMix64, n: int, k: int, *, is_trap: bool) -> Pair | None:
    """Draw a lost position, and a position from which a move leads to it; None where there is none this time."""
    lost = drawn_trap(draws, n, k) if is_trap else drawn_lost(draws, n, k)
    if lost is None:
        return None
    first, second = ((1, 0), (0, 1), (1, 1))[draws.below(3)]
    room = min(k, n - max(lost[0] * first, lost[1] * second))
    if room < 1:
        return None
    number = 1 + draws.below(room)
    start = lost[0] + number * first, lost[1] + number * second
    return start if not is_trap or after_greatest(start, k) == lost else None


def drawn_lost(draws: SplitMix64, n: int, k: int) -> Pair:
    """Draw a pair with numbers up to K, and add multiples of K + 1."""
    a, b = drawn_pair(draws, min(n, k))
    return a + (k + 1) * draws.below((n - a) // (k + 1) + 1), b + (k + 1) * draws.below((n - b) // (k + 1) + 1)


def drawn_trap(draws: SplitMix64, n: int, k: int) -> Pair | None:
    """Draw a lost position whose smaller pile is a pair's upper number, the other one the lower and multiples."""
    low, high = drawn_pair(draws, min(n, k))
    multiples = (n - low) // (k + 1)
    return None if multiples < 1 or low == high else (high, low + (k + 1) * (1 + draws.below(multiples)))


def drawn_pair(draws: SplitMix64, most: int) -> Pair:
    """Draw a pair whose upper number is at most `most`."""
    d = draws.below(2 * (most + 1) - lower(most + 1))
    return lower(d), lower(d) + d


def after_greatest(start: Pair, k: int) -> Pair:
    """Make the greatest move that wins from the remainders by K + 1, which is the printed strategy's first."""
    r, s = start[0] % (k + 1), start[1] % (k + 1)
    both = min(r, s) - lower(abs(r - s))
    moves = [(r - partner(s), 0), (0, s - partner(r)), (both, both)]
    legal = [move for move in moves if min(move) >= 0 and max(move) > 0]
    x, y = min(legal, key=lambda move: (-sum(move), move), default=(0, 0))
    return start[0] - x, start[1] - y


if __name__ == "__main__":
    main()
