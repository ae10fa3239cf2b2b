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
from numba import njit
from numpy.typing import NDArray

from checkers.rollingballs import WALL, Answer, Instance
from solvers.parts.clock import Clock

DEPTH = 20
WIDTH = 250
MOST_MOVERS = 10
SHARE = 0.99
"""A play that is no new best stays while its share of the rolls is at most this share of the time."""

NOISE = 1e-2
BLOCKED = 1e9
"""The distance of a ball of another colour that stands on the target."""

MOST_NODES = WIDTH * DEPTH * 4 * MOST_MOVERS + 4 * MOST_MOVERS
SLOTS = 1 << 19
NO_BALL, NO_CELL = -1, -2
FAR = 1 << 20

Numbers = NDArray[np.int32]
Bits = NDArray[np.uint64]


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
            _put(self.ball, self.place, ball, _stop(self.ball, self.place[ball], self.delta[direction]))

    def take_back(self, count: int) -> None:
        """Take back all rolls but the first `count`."""
        while len(self.moved) > count:
            ball, cell, _ = self.moved.pop()
            _put(self.ball, self.place, ball, cell)

    def near(self, ball: int) -> Numbers:
        """All balls, the nearest to one of them first, which is itself."""
        rows, columns = np.divmod(self.place, self.width)
        away = (rows - rows[ball]) ** 2 + (columns - columns[ball]) ** 2
        order: Numbers = np.argsort(away, kind="stable").astype(np.int32)
        return order

    def points(self) -> int:
        """Give the raw score of the board as it stands."""
        return self.right + int(np.count_nonzero(self.wanted[self.place] >= 0))


@dataclass
class Tree:
    """The room of a beam search: a node has a parent, a ball, the cell it came from, a direction and a value."""

    links: Numbers = field(default_factory=lambda: np.empty((MOST_NODES, 4), np.int32))
    value: NDArray[np.float64] = field(default_factory=lambda: np.empty((MOST_NODES, 2), np.float64))
    slots: Numbers = field(default_factory=lambda: np.empty(MOST_NODES, np.int32))
    used: Bits = field(default_factory=lambda: np.zeros(SLOTS, np.uint64))


def solve_printed_beam(instance: Instance, clock: Clock, seed: int) -> Answer:
    """Search until the clock stops or all balls are right; a step is one beam search."""
    maze, tree, state = maze_of(instance), Tree(), np.array([seed & (2**64 - 1)], np.uint64)
    best, most, points = list(maze.moved), maze.right, maze.points()
    while clock.running() and most < instance.balls:
        wrong = [int(cell) for cell in maze.targets if not maze.is_right(int(cell))]
        if not wrong:
            break
        target = wrong[int(_draw(state) * len(wrong))]
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
        other = int(_draw(state) * (last + 1))
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
    _walk(maze.ball, maze.delta, target, steps)
    return steps


def beam(maze: Maze, tree: Tree, movers: Numbers, target: int, steps: Numbers, state: Bits) -> list[tuple[int, int]]:
    """Search from the board as it stands; returns the rolls (ball, direction) to the best board met, at least one.

    Without a roll that changes the board there is none. `value` is the movers that are right and, of equal ones, the
    sum of their distances to the target.
    """
    node = _beam(
        maze.ball, maze.place, maze.colour, maze.wanted, maze.delta, maze.keys, movers, target, steps,
        tree.links, tree.value, tree.slots, tree.used, state,
    )  # fmt: skip
    moves = []
    while node >= 0:
        parent, ball, _, direction = tree.links[node].tolist()
        moves.append((ball, direction))
        node = parent
    return moves[::-1]


@njit(cache=True, nogil=True)
def _draw(state: Bits) -> float:  # pragma: no cover - compiled
    """Draw from 0 to below 1: 53 bits of SplitMix64."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return float(z >> np.uint64(11)) / 9007199254740992.0


@njit(cache=True, nogil=True)
def _stop(ball: Numbers, cell: int, delta: int) -> int:  # pragma: no cover - compiled
    """Roll from a cell until the next one is not free."""
    while ball[cell + delta] == NO_BALL:
        cell += delta
    return cell


@njit(cache=True, nogil=True)
def _put(ball: Numbers, place: Numbers, number: int, cell: int) -> None:  # pragma: no cover - compiled
    """Move a ball to a cell."""
    ball[place[number]] = NO_BALL
    ball[cell] = number
    place[number] = cell


@njit(cache=True, nogil=True)
def _walk(ball: Numbers, delta: Numbers, target: int, steps: Numbers) -> None:  # pragma: no cover - compiled
    queue = np.empty(len(ball), np.int32)
    queue[0] = target
    steps[target] = 0
    tail = 1
    for head in range(len(ball)):
        if head == tail:
            return
        for way in delta:
            cell = queue[head] + way
            if ball[cell] != NO_CELL and steps[cell] == FAR:
                steps[cell] = steps[queue[head]] + 1
                queue[tail] = cell
                tail += 1


@njit(cache=True, nogil=True)
def _is_new(key: np.uint64, used: Bits, slots: Numbers, count: int) -> bool:  # pragma: no cover - compiled
    """Put a hash into the table; its slot is noted under `count`, so that the table can be emptied."""
    mask = np.uint64(len(used) - 1)
    slot = key & mask
    while used[slot] != 0:
        if used[slot] == key:
            return False
        slot = (slot + np.uint64(1)) & mask
    used[slot] = key
    slots[count] = slot
    return True


@njit(cache=True, nogil=True)
def _is_better(value: NDArray[np.float64], one: int, other: int) -> bool:  # pragma: no cover - compiled
    """Compare two nodes: more movers that are right, then the smaller distance."""
    if value[one, 0] != value[other, 0]:
        return bool(value[one, 0] > value[other, 0])
    return bool(value[one, 1] < value[other, 1])


@njit(cache=True, nogil=True)
def _select(value: NDArray[np.float64], first: int, end: int, best: Numbers) -> int:  # pragma: no cover - compiled
    """Put the best nodes of a level into `best`, the best first; returns how many."""
    count = 0
    for node in range(first, end):
        if count == len(best) and not _is_better(value, node, best[count - 1]):
            continue
        at = min(count, len(best) - 1)
        while at > 0 and _is_better(value, node, best[at - 1]):
            best[at] = best[at - 1]
            at -= 1
        best[at] = node
        count = min(count + 1, len(best))
    return count


@njit(cache=True, nogil=True)
def _away(cell: int, colour: int, target: int, wanted: Numbers, steps: Numbers) -> float:  # pragma: no cover - compiled
    """Measure a mover's distance to the target."""
    if cell == target and wanted[target] != colour:
        return BLOCKED
    return float(steps[cell])


@njit(cache=True, nogil=True)
def _beam(
    ball: Numbers,
    place: Numbers,
    colour: Numbers,
    wanted: Numbers,
    delta: Numbers,
    keys: Bits,
    movers: Numbers,
    target: int,
    steps: Numbers,
    links: Numbers,
    value: NDArray[np.float64],
    slots: Numbers,
    used: Bits,
    state: Bits,
) -> int:  # pragma: no cover - compiled
    """Return the best node met, -1 where no mover can roll; the board is left as it was.

    The root is no node: its hash stands in the last slot, and `best[0]` is -1 for it on the first turn.
    """
    root = np.uint64(0)
    right = 0.0
    distance = 0.0
    for number in movers:
        root ^= keys[place[number], colour[number]]
        right += wanted[place[number]] == colour[number]
        distance += _away(place[number], colour[number], target, wanted, steps)
    _is_new(root, used, slots, len(slots) - 1)
    best = np.full(WIDTH, -1, np.int32)
    chosen, width, count, first = -1, 1, 0, 0
    path = np.empty(DEPTH + 1, np.int32)
    for level in range(DEPTH + 1):
        for at in range(width):
            node = best[at]
            if node >= 0 and (chosen < 0 or _is_better(value, node, chosen)):
                chosen = node
            if level == DEPTH:
                continue
            length = 0
            up = node
            while up >= 0:
                path[length] = up
                length += 1
                up = links[up, 0]
            key = root
            for k in range(length - 1, -1, -1):
                number = links[path[k], 1]
                key ^= keys[place[number], colour[number]]
                _put(ball, place, number, _stop(ball, place[number], delta[links[path[k], 3]]))
                key ^= keys[place[number], colour[number]]
            score = value[node, 0] if node >= 0 else right
            whole = value[node, 1] if node >= 0 else distance
            if node < 0 or score < len(movers):
                for number in movers:
                    cell = place[number]
                    for direction in range(4):
                        stop = _stop(ball, cell, delta[direction])
                        if stop == cell:
                            continue
                        after = key ^ keys[cell, colour[number]] ^ keys[stop, colour[number]]
                        if not _is_new(after, used, slots, count):
                            continue
                        links[count, 0], links[count, 1], links[count, 2], links[count, 3] = (
                            node,
                            number,
                            cell,
                            direction,
                        )
                        value[count, 0] = score - (wanted[cell] == colour[number]) + (wanted[stop] == colour[number])
                        value[count, 1] = (
                            whole
                            - _away(cell, colour[number], target, wanted, steps)
                            + _away(stop, colour[number], target, wanted, steps)
                            + NOISE * _draw(state)
                        )
                        count += 1
            for k in range(length):
                _put(ball, place, links[path[k], 1], links[path[k], 2])
            if node >= 0 and score >= len(movers):
                break
        width = _select(value, first, count, best)
        first = count
        if width == 0:
            break
    for k in range(count):
        used[slots[k]] = 0
    used[slots[len(slots) - 1]] = 0
    return chosen
