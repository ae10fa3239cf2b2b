"""Boards of Optimiza with a prime N on which one walk visits all cells, made by rule and followed by the checker.

Row k, from 1 to N - 1, has the value k in every cell, and row 0 has each of 1 to N once. The walk begins in row 0. From
its cell of value k it goes k down into row k, visits that row in steps of k to one side (N is a prime, so that they
meet every column), and goes k back up into row 0, one step of k beside the column it came from. With the sides in turn,
the columns in row 0 are 0, 1, -1, 2, -2 and so on: all of them. No step is diagonal, so that this is a board of torus4
too. For composite N there is no such board: docs/sources.md has the proof.
"""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from checkers.optimiza import Answer, most_collected, read_answer, write_answer
from checkers.rules.optimiza import Instance

PRIMES = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)

Place = tuple[int, int]


def main() -> int:
    """Print what the checker says of the walks; 1 if one does not collect the whole board."""
    table = Table("N", "whole board", "torus8", "torus4", title="Full walks")
    odd = False
    for size in PRIMES:
        walk = full_walk(size)
        boards = [board_of_walk(size, variant, walk) for variant in ("torus8", "torus4")]
        totals = [collected(board, walk) for board in boards]
        odd |= totals != [most_collected(board) for board in boards]
        table.add_row(str(size), str(most_collected(boards[0])), *map(str, totals))
    Console(width=100).print(table)
    return int(odd)


def full_walk(size: int) -> list[Place]:
    """Give the walk for an odd prime, as rows and columns from 0."""
    walk, column = [], 0
    for value in range(1, size):
        side = 1 if value % 2 else -1
        walk += [(0, column), *((value, (column - side * value * step) % size) for step in range(size))]
        column = (column + side * value) % size
    return [*walk, (0, column)]


def board_of_walk(size: int, variant: str, walk: list[Place]) -> Instance:
    """Give each cell the length of the step that leaves it, and N to the last one."""
    values = bytearray(size * size)
    for at, (row, column) in enumerate(walk):
        values[row * size + column] = at // (size + 1) + 1
    return Instance(size, variant, bytes(values))


def collected(board: Instance, walk: list[Place]) -> int:
    """Let the checker follow a walk; returns what it collects."""
    total = sum(board.values[row * board.size + column] for row, column in walk)
    answer = Answer(total, tuple((row + 1, column + 1) for row, column in walk))
    return read_answer(write_answer(answer).encode(), board).total
