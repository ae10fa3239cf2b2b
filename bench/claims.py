"""The figures that the sources give, beside those that come out: see docs/sources.md.

Arithmetic, counts of boards up to symmetry, the hash function as it is printed, and the halves of a search. Everything
is worked out here, in whole numbers where there are any.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from math import comb, exp, factorial, log, log1p, sqrt

from rich.console import Console
from rich.table import Table

from checkers.rules.optimiza import Instance, destinations

BITS = 64
VISITED = 27_000_000
BOARDS = 10_000
SEED = 1

Row = tuple[str, str, str]
Place = tuple[int, int]
Board = frozenset[Place]


def main() -> int:
    """Print the table."""
    table = Table("claim", "source", "found", title="What the sources say, and what comes out")
    for row in [*comesolo(), *piglets(), *optimiza(), *netgame()]:
        table.add_row(*row)
    Console(width=150).print(table)
    return 0


def comesolo() -> Iterator[Row]:
    """Check the footnote about hashes, the shares of the queues, and the printed hash function."""
    yield "comesolo: states for a collision of 1 %, 64 bits", "about 10^135", f"{birthday_states(BITS, 0.01):.3g}"
    yield "comesolo: the same if the hash had 900 bits", "", f"{birthday_states(900, 0.01):.3g}"
    yield "comesolo: chance of a collision, 27 million states", "negligible", f"{birthday_chance(BITS, VISITED):.2g}"
    shares = ", ".join(f"{100 * share:.1f}" for share in queue_shares(4))
    yield "comesolo: shares of the first four queues, %", "31, 21, 14 (15), 10", shares
    met, hashes = printed_hashes(30, BOARDS, SEED)
    yield f"comesolo: hashes of {met:,} boards, 30 x 30, printed function", "no collision", f"{hashes:,} different"
    met, hashes = printed_hashes(8, BOARDS, SEED)
    yield f"comesolo: the same for {met:,} boards, 8 x 8", "no collision", f"{hashes:,} different"


def piglets() -> Iterator[Row]:
    """Check the numbers of states, and the two overflows of the listing."""
    yield "piglets: states in order, P = 4, N = 8", "16 million", f"{64**4:,}"
    yield "piglets: sorted", "700 thousand", f"{comb(64, 4):,} ({64**4 // 24:,} for N^2P / P!)"
    yield "piglets: rows of the table of distances that N = 22 uses, of 600", "", str(25**2)
    infinity = 0x2F2F2F2F
    yield "piglets: three infinities in 32 bits", "more than any sum", f"{signed(3 * infinity):,}"
    yield "piglets: four of them", "more than any sum", f"{signed(4 * infinity):,}"


def optimiza() -> Iterator[Row]:
    """Count boards up to their symmetries, and how many kinds of cells a Klein bottle has."""
    yield "optimiza: boards, N = 4", "12,108,096", f"{boards(4):,}"
    yield "optimiza: one eighth of them", "1,513,512", f"{boards(4) // 8:,}"
    yield "optimiza: up to the 8 symmetries of the square, N = 4", "1,513,512", f"{classes(4, translations=False):,}"
    yield "optimiza: up to the 128 symmetries of the torus, N = 4", "", f"{classes(4, translations=True):,}"
    yield "optimiza: one eighth of the boards, N = 5", "7,214,823,415,800", f"{boards(5) / 8:,.1f}"
    yield "optimiza: up to the 200 symmetries of the torus, N = 5", "", f"{classes(5, translations=True):,}"
    for size in (4, 5, 6, 8):
        yield f"optimiza: kinds of cells on a Klein bottle, N = {size}", "1", f"at least {kinds_of_cells(size)}"


def netgame() -> Iterator[Row]:
    """Check how many cells a net can have, and how large its tables are."""
    for ropes, claimed in ((13, "4"), (50, "20")):
        yield f"netgame: most cells with {ropes} ropes", claimed, str(most_cells(ropes))
    yield "netgame: ropes of a table of 32 MB, a byte or two bits a set", "25, 27", f"{log2(1 << 25)}, {log2(1 << 27)}"


def birthday_states(bits: int, chance: float) -> float:
    """Say how many draws of numbers of some bits have a chance of two equal ones."""
    return exp((log(2) * (bits + 1) + log(-log1p(-chance))) / 2)


def birthday_chance(bits: int, states: int) -> float:
    """Give the chance that two of so many numbers are equal."""
    return -(exp(-(states * states) / 2 ** (bits + 1)) - 1)


def queue_shares(count: int) -> list[float]:
    """Give the shares of the draws that take the first queues where none is empty: r reaches 1 there."""
    return [1.45**-at - 1.45 ** -(at + 1) for at in range(count)]


def printed_hashes(size: int, count: int, seed: int) -> tuple[int, int]:
    """Play jumps at random on boards half full; returns the different boards met and their different hashes."""
    draws = random.Random(seed)
    met: set[Board] = set()
    places = [(row, column) for row in range(size) for column in range(size)]
    while len(met) < count:
        board = frozenset(place for place in places if draws.random() < 0.5)
        jumps = legal_jumps(board, size)
        while jumps and len(met) < count:
            met |= {jumped(board, *jump) for jump in jumps}
            board = jumped(board, *draws.choice(jumps))
            jumps = legal_jumps(board, size)
    return len(met), len({printed_hash(board, size) for board in met})


def legal_jumps(board: Board, size: int) -> list[tuple[Place, Place, Place]]:
    """List jumps as three cells in a row: start, middle and landing."""
    jumps = []
    for row, column in sorted(board):
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                middle, landing = (row + down, column + right), (row + 2 * down, column + 2 * right)
                inside = 0 <= landing[0] < size and 0 <= landing[1] < size
                if inside and middle in board and landing not in board and middle != (row, column):
                    jumps.append(((row, column), middle, landing))
    return jumps


def jumped(board: Board, start: Place, middle: Place, landing: Place) -> Board:
    """Play a jump."""
    return board - {start, middle} | {landing}


def printed_hash(board: Board, size: int) -> int:
    """Hash a board by the printed rule, in 64 bits; the score is left out, since it follows from the pieces.

    The two shifts do not add up to 64 bits, so that it is no rotation: bits fall on each other and are lost.
    """
    value = 0
    for row in range(size):
        bits = sum(1 << column for column in range(size) if (row, column) in board)
        value = ((value << 7) | (value >> 53)) % 2**64 ^ bits
    return value


def signed(number: int) -> int:
    """Cut a number to 32 bits with a sign."""
    return (number + 2**31) % 2**32 - 2**31


def boards(size: int) -> int:
    """Count the boards of a size."""
    return factorial(size * size) // factorial(size + 1) ** (size - 1)


def classes(size: int, *, translations: bool) -> int:
    """Count boards up to symmetry, by Burnside's lemma: the mean of the boards that a symmetry leaves as they are."""
    shifts = [(r, c) for r in range(size) for c in range(size)] if translations else [(0, 0)]
    turns = [(a, b, c, d) for a, b, c, d in SYMMETRIES]
    fixed = 0
    for a, b, c, d in turns:
        for down, right in shifts:
            last = 0 if translations else size - 1  # the square's own symmetries turn about its middle
            offset = (last if a + b < 0 else 0, last if c + d < 0 else 0)
            image = {
                (x, y): ((a * x + b * y + offset[0] + down) % size, (c * x + d * y + offset[1] + right) % size)
                for x in range(size)
                for y in range(size)
            }
            fixed += colourings(cycle_lengths(image), (size + 1,) * (size - 1) + (1,))
    return int(Fraction(fixed, len(turns) * len(shifts)))


SYMMETRIES = (
    *((1, 0, 0, 1), (-1, 0, 0, 1), (1, 0, 0, -1), (-1, 0, 0, -1)),
    *((0, 1, 1, 0), (0, -1, 1, 0), (0, 1, -1, 0), (0, -1, -1, 0)),
)
"""Turns and mirrors of a square, as matrices row by row."""


def cycle_lengths(image: dict[Place, Place]) -> tuple[int, ...]:
    """Give the lengths of the cycles of a permutation, the longest first."""
    left, lengths = set(image), []
    while left:
        length, place = 0, next(iter(left))
        while place in left:
            left.remove(place)
            place = image[place]
            length += 1
        lengths.append(length)
    return tuple(sorted(lengths, reverse=True))


@cache
def colourings(lengths: tuple[int, ...], copies: tuple[int, ...]) -> int:
    """Count the ways to give each cycle a value, so that each value gets as many cells as it has copies."""
    ways = {copies: 1}
    for length in lengths:
        after: dict[tuple[int, ...], int] = {}
        for left, count in ways.items():
            for at, rest in enumerate(left):
                if rest >= length:
                    key = (*left[:at], rest - length, *left[at + 1 :])
                    after[key] = after.get(key, 0) + count
        ways = after
    return sum(ways.values())


def kinds_of_cells(size: int) -> int:
    """Count cells of a Klein bottle that a shape tells apart: how many cells two moves reach, by the moves' lengths."""
    reach = [destinations(Instance(size, "klein8", bytes([k]) * size * size)).tolist() for k in range(1, size + 1)]

    def shape(cell: int) -> tuple[int, ...]:
        ends = [{end for end in row[cell] if end >= 0} for row in reach]
        twice = [{end for at in first for end in row[at] if end >= 0} for first in ends for row in reach]
        return (*map(len, ends), *map(len, twice))

    return len({shape(cell) for cell in range(size * size)})


def most_cells(ropes: int) -> int:
    """Find the most cells of a net: k cells have at least 2k + ceil(2 sqrt k) sides (Harary and Harborth, 1976)."""
    cells = 0
    while 2 * (cells + 1) + -int(-2 * sqrt(cells + 1) // 1) <= ropes:
        cells += 1
    return cells


def log2(number: int) -> int:
    """Give the exponent of a power of two."""
    return number.bit_length() - 1
