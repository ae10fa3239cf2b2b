"""beam-local: the program that came second in the match, as its published notes print it.

A target cell that is not right is drawn. For the numbers 1 to 10 in shuffled order a beam search moves the ball of its
colour that is nearest and that many balls around this one in all, until the target is right. The best of *all* boards
of a beam is played even if it gains nothing. It is taken back only if it is no new best while rolls are scarcer than
time.

The notes leave out what a distance is. Here the distance of a target is the walk around walls, as if there were no
balls, and that of two balls is the straight line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from checkers.rollingballs import WALL, Answer, Instance
from solvers.parts.clock import Clock
from solvers.rollingballs.forward.printed_tree import (
    FAR,
    MOST_MOVERS,
    NO_BALL,
    NO_CELL,
    Bits,
    Board,
    Numbers,
    Tree,
    draw,
    make_tree,
    put,
    search,
    stop_of,
    walk,
)

SHARE = 0.99
"""A play that is no new best stays while its share of the rolls is at most this share of the time."""


@dataclass
class Maze:
    """A maze with a border of walls, its cells in one row, and the balls on it.

    delta    from a cell to the next one: left, down, right, up
    ball     the ball on each cell, NO_BALL or NO_CELL
    place    the cell of each ball; `colour` is its colour
    wanted   the colour that each cell should have, -1 where none
    targets  the cells that should have a colour
    keys     random bits for each cell and colour: a board's hash is their exclusive or
    moved    ball, the cell it came from, and the direction, of each roll so far
    """

    width: int
    delta: Numbers
    ball: Numbers
    place: Numbers
    colour: Numbers
    wanted: Numbers
    targets: Numbers
    keys: Bits
    moved: list[tuple[int, int, int]] = field(default_factory=list)

    @property
    def right(self) -> int:
        """The number of balls on a cell of their colour."""
        return int(np.count_nonzero(self.wanted[self.place] == self.colour))

    def is_right(self, target: int) -> bool:
        """Tell whether a ball of the right colour stands on a cell."""
        ball = self.ball[target]
        return bool(ball >= 0 and self.colour[ball] == self.wanted[target])

    def play(self, moves: Iterable[tuple[int, int]]) -> None:
        """Roll balls: pairs of ball and direction."""
        for ball, direction in moves:
            self.moved.append((ball, int(self.place[ball]), direction))
            put(self.ball, self.place, ball, stop_of(self.ball, self.place[ball], self.delta[direction]))

    def take_back(self, count: int) -> None:
        """Take back all rolls but the first `count`."""
        while len(self.moved) > count:
            ball, cell, _ = self.moved.pop()
            put(self.ball, self.place, ball, cell)

    def near(self, ball: int) -> Numbers:
        """All balls, the nearest to one of them first, which is itself."""
        rows, columns = np.divmod(self.place, self.width)
        away = (rows - rows[ball]) ** 2 + (columns - columns[ball]) ** 2
        order: Numbers = np.argsort(away, kind="stable").astype(np.int32)
        return order

    def points(self) -> int:
        """Give the raw score of the board as it stands."""
        return self.right + int(np.count_nonzero(self.wanted[self.place] >= 0))


def solve_printed_beam(instance: Instance, clock: Clock, seed: int) -> Answer:
    """Search until the clock stops or all balls are right; a step is one beam search."""
    maze, tree, state = maze_of(instance), make_tree(), np.array([seed & (2**64 - 1)], np.uint64)
    best, most, points = list(maze.moved), maze.right, maze.points()
    while clock.running() and most < instance.balls:
        wrong = [int(cell) for cell in maze.targets if not maze.is_right(int(cell))]
        if not wrong:
            break
        target = wrong[int(draw(state) * len(wrong))]
        steps = walk_from(maze, target)
        for count in shuffled(MOST_MOVERS, state):
            if maze.is_right(target) or not clock.running():
                break
            before = len(maze.moved)
            maze.play(beam(maze, tree, movers_of(maze, target, steps, count), target, steps, state))
            if maze.right > most and len(maze.moved) < instance.most_rolls:
                best, most, points = list(maze.moved), maze.right, maze.points()
            elif len(maze.moved) > SHARE * clock.fraction * instance.most_rolls:
                maze.take_back(before)
            clock.step(best=points)
    clock.report(best=points, final=True)
    return answer_of(maze, best)


def maze_of(instance: Instance) -> Maze:
    """Lay a maze out."""
    width = instance.width + 2
    start, target = (np.pad(cells, 1, constant_values=WALL).ravel() for cells in (instance.start, instance.target))
    place = np.flatnonzero(start >= 0).astype(np.int32)
    ball = np.where(start == WALL, NO_CELL, NO_BALL).astype(np.int32)
    ball[place] = np.arange(len(place))
    keys = np.random.Generator(np.random.PCG64(90)).integers(1, 2**64 - 1, (len(start), 10), np.uint64)
    return Maze(
        width,
        np.array([-1, width, 1, -width], np.int32),
        ball,
        place,
        colour=start[place].astype(np.int32),
        wanted=np.where(target >= 0, target, -1).astype(np.int32),
        targets=np.flatnonzero(target >= 0).astype(np.int32),
        keys=keys,
    )


def answer_of(maze: Maze, rolls: list[tuple[int, int, int]]) -> Answer:
    """Spell rolls as an answer."""
    cells = np.array([(cell // maze.width - 1, cell % maze.width - 1, way) for _, cell, way in rolls], np.int64)
    return Answer(cells.reshape(len(rolls), 3))


def shuffled(count: int, state: Bits) -> list[int]:
    """Shuffle the numbers 1 to `count`."""
    numbers = list(range(1, count + 1))
    for last in range(count - 1, 0, -1):
        other = int(draw(state) * (last + 1))
        numbers[last], numbers[other] = numbers[other], numbers[last]
    return numbers


def movers_of(maze: Maze, target: int, steps: Numbers, count: int) -> Numbers:
    """Choose the balls to move: the ball of the target's colour that is nearest and not right, and those near it."""
    colour = maze.wanted[target]
    loose = np.flatnonzero((maze.colour == colour) & (maze.wanted[maze.place] != colour))
    nearest = int(loose[np.argmin(steps[maze.place[loose]])])
    return maze.near(nearest)[:count]


def walk_from(maze: Maze, target: int) -> Numbers:
    """Measure the steps from a cell to all others around walls, FAR where no way leads."""
    steps = np.full(len(maze.ball), FAR, np.int32)
    walk(maze.ball, maze.delta, target, steps)
    return steps


def beam(maze: Maze, tree: Tree, movers: Numbers, target: int, steps: Numbers, state: Bits) -> list[tuple[int, int]]:
    """Search from the board as it stands; returns the rolls (ball, direction) to the best board met, at least one.

    Without a roll that changes the board there is none. `value` is the movers that are right and, of equal ones, the
    sum of their distances to the target.
    """
    board = Board(maze.ball, maze.place, maze.colour, maze.wanted, maze.delta, maze.keys)
    node = search(board, tree, movers, target, steps, state)
    moves = []
    while node >= 0:
        parent, ball, _, direction = tree.links[node].tolist()
        moves.append((ball, direction))
        node = parent
    return moves[::-1]
