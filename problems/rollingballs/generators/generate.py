"""Make an official test case of RollingBalls from its seed, byte for byte: `generate.py --seed 4 > 4.in`.

The original tester draws from Java's `SecureRandom.getInstance("SHA1PRNG")` after `setSeed(seed)`. Everything of Java
that matters here is in :class:`Sha1Prng`; the draws below stand in the tester's order, which must not change.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from dataclasses import dataclass

STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))
SHORTEST_SIDE, LONGEST_SIDE = 10, 60
LEAST_WALLS, MOST_WALLS = 10, 30
LEAST_BALLS, MOST_BALLS = 5, 20
MOST_COLOURS = 10
SMALL_SEEDS = 3
DIGEST_SIZE = 20

Maze = list[list[str]]


class Sha1Prng:
    """Java's SHA1PRNG: the state is hashed for 20 bytes of output, then becomes state + output + 1."""

    def __init__(self, seed: int) -> None:
        """Seed with a Java `long`, which SecureRandom turns into 8 bytes, the lowest first."""
        self.state = hashlib.sha1((seed % 2**64).to_bytes(8, "little")).digest()
        self.ready = b""

    def next_bytes(self, count: int) -> bytes:
        """Take `count` bytes of output; what is left of a block is kept for the next call."""
        while len(self.ready) < count:
            output = hashlib.sha1(self.state).digest()
            self._advance(output)
            self.ready += output
        taken, self.ready = self.ready[:count], self.ready[count:]
        return taken

    def next_int(self, bound: int) -> int:
        """Draw from 0..bound-1 as `java.util.Random.nextInt(bound)` does from 31 bits at a time."""
        drawn = int.from_bytes(self.next_bytes(4), "big") >> 1
        if bound & (bound - 1) == 0:
            return bound * drawn >> 31
        while drawn - drawn % bound + bound - 1 >= 2**31:
            drawn = int.from_bytes(self.next_bytes(4), "big") >> 1
        return drawn % bound

    def _advance(self, output: bytes) -> None:
        """Add output + 1 to the state, lowest byte first, with Java's signed bytes: a carry may be -1, 0 or 1."""
        carry = 1
        state = bytearray(DIGEST_SIZE)
        for i in range(DIGEST_SIZE):
            total = _signed(self.state[i]) + _signed(output[i]) + carry
            state[i] = total & 255
            carry = total >> 8
        if state == self.state:
            state[0] = (state[0] + 1) & 255
        self.state = bytes(state)


def _signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte


@dataclass(frozen=True)
class Shape:
    """The sizes drawn first: rows, columns, number of colours, and the shares of walls and balls in percent."""

    height: int
    width: int
    colours: int
    walls: int
    balls: int


def draw_shape(random: Sha1Prng, seed: int) -> Shape:
    """Draw the sizes; the three first seeds are the small examples, after the same draws."""
    sides = LONGEST_SIDE - SHORTEST_SIDE + 1
    height = random.next_int(sides) + SHORTEST_SIDE
    width = random.next_int(sides) + SHORTEST_SIDE
    colours = random.next_int(MOST_COLOURS) + 1
    if seed <= SMALL_SEEDS:
        height = width = SHORTEST_SIDE * seed
        colours = seed
    walls = random.next_int(MOST_WALLS - LEAST_WALLS + 1) + LEAST_WALLS
    balls = random.next_int(MOST_BALLS - LEAST_BALLS + 1) + LEAST_BALLS
    return Shape(height, width, colours, walls, balls)


def draw_target(random: Sha1Prng, shape: Shape) -> Maze:
    """Draw the target maze cell by cell, again from scratch until it holds a ball."""
    while True:
        maze = [[_draw_cell(random, shape) for _ in range(shape.width)] for _ in range(shape.height)]
        if balls_of(maze):
            return maze


def _draw_cell(random: Sha1Prng, shape: Shape) -> str:
    if random.next_int(100) < shape.walls:
        return "#"
    if random.next_int(100) < shape.balls:
        return str(random.next_int(shape.colours))
    return "."


def balls_of(maze: Maze) -> list[tuple[int, int]]:
    """List the (row, column) of every ball, row by row."""
    return [(r, c) for r, row in enumerate(maze) for c, cell in enumerate(row) if cell not in "#."]


def roll_randomly(random: Sha1Prng, maze: Maze, at: tuple[int, int]) -> tuple[int, int]:
    """Roll the ball at `at` in one of its free directions, drawn; return where it stops. No draw if it is stuck."""
    free = [step for step in STEPS if _is_free(maze, at[0] + step[0], at[1] + step[1])]
    if not free:
        return at
    down, right = free[random.next_int(len(free))]
    row, column = at
    while _is_free(maze, row + down, column + right):
        row, column = row + down, column + right
    maze[row][column], maze[at[0]][at[1]] = maze[at[0]][at[1]], "."
    return row, column


def _is_free(maze: Maze, row: int, column: int) -> bool:
    return 0 <= row < len(maze) and 0 <= column < len(maze[0]) and maze[row][column] == "."


def generate(seed: int) -> str:
    """Make the input file of a seed: the start maze, then the target maze, each behind its number of rows."""
    random = Sha1Prng(seed)
    target = draw_target(random, draw_shape(random, seed))
    maze = [row.copy() for row in target]
    balls = balls_of(maze)
    for _ in range(random.next_int(10 * len(balls)) + 3 * len(balls)):
        chosen = random.next_int(len(balls))
        balls[chosen] = roll_randomly(random, maze, balls[chosen])
    for ball, (row, column) in enumerate(balls):
        if target[row][column] == maze[row][column]:
            balls[ball] = roll_randomly(random, maze, (row, column))
    return "".join(f"{len(each)}\n" + "".join("".join(row) + "\n" for row in each) for each in (maze, target))


def main() -> None:
    """Print the input of one seed."""
    parser = argparse.ArgumentParser(description="Print an official RollingBalls input.")
    parser.add_argument("--seed", type=int, required=True, help="1 or more")
    seed = parser.parse_args().seed
    if seed < 1:
        sys.exit(f"--seed: expected 1 or more, found {seed}")
    sys.stdout.write(generate(seed))


if __name__ == "__main__":
    main()
