"""RollingBalls' loop: kernels agree with slow twins, plays stay legal, and the score claimed is the checker's."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from checkers.rollingballs import EMPTY, WALL, Instance, read_answer, read_instance, score_answer, write_answer
from solvers.rollingballs.board import arena as tables
from solvers.rollingballs.board.arena import (
    BEST_MOVES,
    BEST_POINTS,
    CELLS,
    COUNT,
    DIST,
    HIST,
    HUE,
    ID,
    INIT,
    MOST,
    MOVERS,
    POS,
    QUEUE,
    SIDE,
    STEPS,
    STRIDE,
    UNMATCHED,
    Arena,
    make_arena,
    read_best,
)
from solvers.rollingballs.board.flat import seed_random
from solvers.rollingballs.board.moves import (
    act,
    choose_unmatched,
    follow,
    land,
    reach,
    record,
    restore_state,
    roll_back,
)
from solvers.rollingballs.two_sided.across import shorten
from solvers.rollingballs.two_sided.beam import beam
from solvers.rollingballs.two_sided.crowd import beam_step, measure_walk
from solvers.rollingballs.two_sided.helpers import fetch, has_way, help_back, help_forward
from solvers.rollingballs.two_sided.loop import go_on, restart, take_landing
from solvers.rollingballs.two_sided.meet import fill, meet, scatter
from solvers.rollingballs.two_sided.solve import begin

DATA = Path(__file__).resolve().parents[2] / "problems/rollingballs/data"
MODULES = [
    *("board.moves", "board.shortening", "two_sided.across", "two_sided.beam", "two_sided.crowd"),
    *("two_sided.helpers", "two_sided.loop", "two_sided.meet"),
]
Step = Callable[[np.ndarray, int], dict[int, int]]


def sample(number: int) -> Instance:
    return read_instance((DATA / f"sample/seed-{number:03d}.in").read_bytes())


def laid_out(instance: Instance, seed: int = 5) -> Arena:
    return make_arena(instance.start, instance.target, instance.most_rolls, seed_random(seed))


def drawn(*mazes: str) -> Arena:
    """An arena of two mazes written as rows with a slash between."""
    cells = [[["#.0123456789".index(c) - 2 for c in row] for row in maze.split("/")] for maze in mazes]
    start, target = (np.array(maze, np.int8) for maze in cells)
    return make_arena(start, target, 20 * int((start >= 0).sum()), seed_random(1))


def at(row: int, column: int) -> int:
    return STRIDE * (row + 1) + column + 1


def board(arena: Arena, k: int, table: int = HUE) -> np.ndarray:
    """The colours on a side, with walls."""
    offset = k * SIDE
    hues = arena.m[offset + table : offset + table + CELLS].copy()
    hues[arena.m[offset + INIT : offset + INIT + CELLS] == WALL] = WALL
    return hues


def start_of(arena: Arena, k: int) -> np.ndarray:
    """The colours on a side before any move."""
    balls = arena.m[k * SIDE + INIT : k * SIDE + INIT + CELLS]
    return np.where(balls >= 0, arena.m[k * SIDE + tables.COL + np.maximum(balls, 0)], balls)


def moves(arena: Arena, k: int) -> list[list[int]]:
    begin = k * SIDE + HIST
    return arena.m[begin : begin + 3 * arena.m[COUNT + k]].reshape(-1, 3).tolist()


def slow_stop(cells: np.ndarray, cell: int, step: int) -> int:
    return cell if cells[cell + step] != EMPTY else slow_stop(cells, cell + step, step)


def slow_roll(cells: np.ndarray, rolls: list[tuple[int, int, int]]) -> np.ndarray:
    """Make rolls (from, to, direction) one by one; each must move a ball and end where it says."""
    cells = cells.copy()
    for cell, to, way in rolls:
        assert cells[cell] >= 0
        assert cell != to == slow_stop(cells, cell, int(STEPS[way]))
        cells[to], cells[cell] = cells[cell], EMPTY
    return cells


def check(arena: Arena) -> None:
    """Both plays are legal, all tables of the boards agree, and the goals counted as unmatched are those that are."""
    rolls = [(a, z, way) for a, z, way in moves(arena, 0)]
    assert slow_roll(start_of(arena, 0), rolls).tolist() == board(arena, 0).tolist()
    played_back = [(z, a, way) for a, z, way in reversed(moves(arena, 1))]
    assert slow_roll(board(arena, 1), played_back).tolist() == start_of(arena, 1).tolist()
    for k in range(2):
        for ball in range(arena.m[tables.BALLS + k]):
            cell = arena.m[k * SIDE + POS + ball]
            assert arena.m[k * SIDE + ID + cell] == ball
            assert arena.m[k * SIDE + HUE + cell] == arena.m[k * SIDE + tables.COL + ball]
        assert (board(arena, k) >= 0).sum() == arena.m[tables.BALLS + k]
    own, other = board(arena, 0), board(arena, 1)
    assert arena.m[UNMATCHED] == ((other >= 0) & (own != other)).sum()


def slow_ways(cells: np.ndarray, ball: int) -> dict[int, int]:
    """Twin of the search forwards: the rolls a ball needs to each cell where it can stop."""
    cells = cells.copy()
    cells[ball] = EMPTY
    rolls, layer = {ball: 0}, [ball]
    while layer:
        stops = [slow_stop(cells, cell, int(step)) for cell in layer for step in STEPS]
        distance = rolls[layer[0]] + 1
        layer = [cell for cell in dict.fromkeys(stops) if cell not in rolls]
        rolls |= dict.fromkeys(layer, distance)
    return rolls


def slow_ways_back(cells: np.ndarray, ball: int) -> dict[int, int]:
    """Twin of the search backwards, read forwards: from which cells one roll ends at a cell already known."""
    cells = cells.copy()
    cells[ball] = EMPTY
    free, known, layer = np.flatnonzero(cells == EMPTY).tolist(), {ball: 0}, {ball}
    while layer:
        distance = max(known.values()) + 1
        layer = {
            cell
            for cell in free
            if cell not in known and any(slow_stop(cells, cell, int(step)) in layer for step in STEPS)
        }
        known |= dict.fromkeys(layer, distance)
    return known


@pytest.mark.parametrize(("backward", "twin"), [(0, slow_ways), (1, slow_ways_back)])
def test_a_ball_reaches_what_its_twin_reaches(backward: int, twin: Step) -> None:
    arena = laid_out(sample(1))
    m = arena.m
    for k in range(2):
        cells = board(arena, k)
        for ball in np.flatnonzero(cells >= 0).tolist():
            count = reach(m, arena.u, ID + k * SIDE, backward, ball, 99, 0)
            cells_reached = m[QUEUE : QUEUE + count].tolist()
            assert {cell: int(m[DIST + cell]) for cell in cells_reached} == twin(cells, ball)


def test_no_further_than_asked_is_reached_and_with_a_frozen_side_nothing_by_un_rolls() -> None:
    arena = laid_out(sample(2))
    ball = int(arena.m[POS])
    near = {cell: rolls for cell, rolls in slow_ways(board(arena, 0), ball).items() if rolls <= 2}
    count = reach(arena.m, arena.u, ID, 0, ball, 2, 0)
    assert set(arena.m[QUEUE : QUEUE + count].tolist()) == set(near)
    arena.m[tables.FROZEN] = 1
    assert reach(arena.m, arena.u, ID + SIDE, 1, int(arena.m[SIDE + POS]), 9, 0) == 1


def wander(arena: Arena, random: np.random.Generator) -> None:
    """Lead a random ball of a random side to a random cell that it reaches."""
    k = int(random.integers(2))
    ball = int(random.integers(arena.m[tables.BALLS]))
    cell = int(arena.m[k * SIDE + POS + ball])
    count = reach(arena.m, arena.u, ID + k * SIDE, k, cell, 9, k)
    goal = int(arena.m[k * tables.REACH + QUEUE + int(random.integers(count))])
    follow(arena.m, k, cell, goal, k)
    assert arena.m[k * SIDE + POS + ball] == goal


@pytest.mark.parametrize("seed", range(4))
def test_moves_taken_back_leave_the_boards_as_they_were(seed: int) -> None:
    arena = laid_out(sample(2), seed)
    random = np.random.default_rng(seed)
    states = []
    for _ in range(30):
        states.append(([moves(arena, k) for k in range(2)], arena.m[:2].tolist(), board(arena, 0), board(arena, 1)))
        wander(arena, random)
        check(arena)
    for plays, (rolls, unrolls), own, other in reversed(states):
        roll_back(arena.m, rolls, unrolls)
        assert [moves(arena, k) for k in range(2)] == plays
        assert (board(arena, 0).tolist(), board(arena, 1).tolist()) == (own.tolist(), other.tolist())
    check(arena)


def test_nothing_moves_when_a_history_is_full() -> None:
    arena = drawn("0....", "....0")
    arena.m[tables.ROOM] = 0
    act(arena.m, 0, 0, at(0, 4), 2)
    assert arena.m[POS] == at(0, 0)
    check(arena)


def test_two_balls_meet_where_one_rolls_and_the_other_un_rolls() -> None:
    """The goal is in the open behind the stopper 1; read backwards its ball lies in the corner below the start."""
    arena = drawn("0.1../#####", "..01./#####")
    roll = slow_stop(board(arena, 0), at(0, 2), 1)
    act(arena.m, 0, 1, roll, 2)
    act(arena.m, 0, 1, at(0, 1), 0)
    assert meet(arena.m, arena.u, at(0, 2), 0)
    check(arena)
    assert arena.m[HUE + SIDE + at(0, 2)] != 0 or arena.m[HUE + at(0, 2)] == 0


def slow_ends(cells: np.ndarray, ball: int, step: int, k: int) -> list[int]:
    """Where one move of a ball may end: a roll against `step`'s first obstacle, or an un-roll on the ray behind."""
    if k == 0:
        to = slow_stop(cells, ball, step)
        return [] if to == ball else [to]
    behind = range(ball - step, slow_stop(cells, ball, -step) - step, -step)
    return [] if cells[ball + step] == EMPTY else list(behind)


def slow_boards(cells: np.ndarray, most: int, k: int) -> list[np.ndarray]:
    """Every board that at most `most` moves of side k lead to, the first one left out."""
    seen, layer = {cells.tobytes()}, [cells]
    boards: list[np.ndarray] = []
    for _ in range(most):
        following = []
        for now in layer:
            for ball in np.flatnonzero(now >= 0).tolist():
                for to in [to for step in STEPS.tolist() for to in slow_ends(now, ball, step, k)]:
                    moved = now.copy()
                    moved[ball], moved[to] = EMPTY, now[ball]
                    if moved.tobytes() not in seen:
                        seen.add(moved.tobytes())
                        following.append(moved)
        boards += following
        layer = following
    return boards


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize(
    ("start", "target"),
    [
        ("0..../#.#.#/1...0", "..0../#.#.#/0...1"),
        ("0.1../.#.../....#", ".0.../.#.1./....#"),
        ("0.0#/.##./1..#", ".0.#/.##./.10#"),
    ],
)
def test_a_beam_wide_enough_plays_the_best_of_all_boards_and_makes_each_once(start: str, target: str, k: int) -> None:
    arena = drawn(start, target) if k == 0 else drawn(target, start)
    m = arena.m
    balls, other = int(m[tables.BALLS]), (1 - k) * SIDE
    goal = int(m[other + POS])
    walk = measure_walk(m, goal)
    m[MOVERS : MOVERS + balls] = np.arange(balls)
    m[tables.MARK_NOW] = 1
    hue, goals = m[other + HUE + goal], board(arena, 1 - k)

    def value(cells: np.ndarray) -> tuple[int, int]:
        own = np.flatnonzero(cells >= 0)
        right = int((cells[own] == goals[own]).sum())
        away = sum(100_000 if cell == goal and cells[cell] != hue else int(m[walk + cell]) for cell in own)
        return right, -away

    boards = slow_boards(board(arena, k), 20, k)
    made = beam(*arena, k, goal, balls, 250, walk)
    check(arena)
    best = max(value(cells) for cells in boards)
    assert value(board(arena, k))[0] == best[0]
    if best[0] < balls and len(boards) < 250:
        assert made == len(boards)
        assert value(board(arena, k)) == best


def test_a_stopper_is_fetched_for_a_goal_in_the_open() -> None:
    """Ball 1 stops in the open only once 0 lies before the wall, and is free only once 0 has gone there."""
    arena = drawn("0..../1####", "...10/.####")
    arena.m[MOVERS : MOVERS + 2] = (0, 1)
    goal = at(0, 3)
    arena.m[tables.MARK_NOW] = 1
    beam(*arena, 0, goal, 2, 30, measure_walk(arena.m, goal))
    check(arena)
    assert arena.m[UNMATCHED] == 0
    assert moves(arena, 0) == [[at(0, 0), at(0, 4), 2], [at(1, 0), at(0, 0), 3], [at(0, 0), at(0, 3), 2]]


@pytest.mark.parametrize("k", [0, 1])
def test_a_wide_beam_ends_where_the_two_balls_meet(k: int) -> None:
    """Where the ball of the goal has moved too, it stands on the first mover's cell."""
    arena = laid_out(sample(3))
    m, met = arena.m, 0
    for _ in range(60):
        goal = int(choose_unmatched(arena.m, arena.u, 1 - k))
        others = moves(arena, 1 - k)
        beam_step(*arena, k, goal, 1)
        check(arena)
        if len(moves(arena, 1 - k)) > len(others):
            met += 1
            cell = int(m[k * SIDE + POS + m[MOVERS]])
            assert m[HUE + cell] == m[SIDE + HUE + cell] >= 0
    assert met > 3


def test_wrong_colours_fill_the_goals_that_no_right_one_reaches() -> None:
    """Each ball is walled in with the goal of the other: half of the points can be had, and more cannot."""
    arena = drawn("0..#1..", "..1#..0")
    restart(arena.m, 0)
    assert arena.m[BEST_POINTS] == 0
    fill(arena.m, arena.u)
    check(arena)
    record(arena.m)
    assert (arena.m[UNMATCHED], arena.m[BEST_POINTS]) == (2, 2)


def test_balls_without_a_goal_are_scattered_and_matched_ones_stay() -> None:
    arena = laid_out(sample(2))
    restart(arena.m, 0)
    go_on(*arena, 600_000)
    own, goals = board(arena, 0), board(arena, 1)
    scatter(arena.m, arena.u)
    check(arena)
    after = board(arena, 0)
    on_goals = (own >= 0) & (goals >= 0)
    assert after[on_goals].tolist() == own[on_goals].tolist()


@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("frozen", [0, 1])
def test_the_loop_keeps_both_plays_legal_and_what_it_claims_is_what_the_checker_scores(
    number: int, frozen: int
) -> None:
    instance = sample(number)
    arena = laid_out(instance)
    restart(arena.m, frozen)
    for _ in range(8):
        go_on(*arena, 300_000)
        check(arena)
        answer = read_best(arena)
        score = score_answer(instance, read_answer(write_answer(answer).encode(), instance))
        assert score.raw == arena.m[BEST_POINTS]
        assert len(answer.rolls) == arena.m[BEST_MOVES] <= instance.most_rolls
        assert not frozen or not moves(arena, 1)


@pytest.mark.parametrize("number", [2, 3])
def test_boards_that_agree_land_on_the_target(number: int) -> None:
    arena = laid_out(sample(number))
    restart(arena.m, 0)
    for _ in range(200):
        if arena.m[UNMATCHED]:
            go_on(*arena, 1_000_000)
    assert arena.m[UNMATCHED] == 0
    points, rolls = land(arena.m, 0)
    assert points == 2 * arena.m[tables.BALLS_B]
    assert rolls == arena.m[COUNT] + arena.m[COUNT + 1] <= arena.m[MOST]


@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("seed", [1, 2])
def test_shortening_keeps_plays_legal_and_goals_matched_and_makes_fewer_moves(number: int, seed: int) -> None:
    arena, random = laid_out(sample(number), seed), np.random.default_rng(seed)
    for _ in range(200):
        wander(arena, random)
    before, unmatched = int(arena.m[:2].sum()), int(arena.m[UNMATCHED])
    shorten(arena.m, arena.u, 2000)
    check(arena)
    assert arena.m[UNMATCHED] == unmatched
    assert arena.m[:2].sum() < before


def test_a_ball_that_went_a_long_way_round_goes_straight() -> None:
    """Down, right and up again to the corner that one roll to the right leads to."""
    arena = drawn("0../.../1..", ".../..0/1..")
    for to, way in [(at(1, 0), 1), (at(1, 2), 2), (at(0, 2), 3)]:
        act(arena.m, 0, 0, to, way)
    check(arena)
    for _ in range(20):
        shorten(arena.m, arena.u, 50)
    assert moves(arena, 0) == [[at(0, 0), at(0, 2), 2]]
    check(arena)


def test_a_ball_that_stops_others_meanwhile_keeps_its_way() -> None:
    """Ball 0 goes to the right, is hit by 1, and comes back: it would be shorter to stay, but 1 would roll on."""
    arena = drawn("0../#.#/1..", "0../#.#/1..")
    for ball, to, way in [(0, at(0, 2), 2), (0, at(0, 0), 0)]:
        act(arena.m, 0, ball, to, way)
    for _ in range(20):
        shorten(arena.m, arena.u, 50)
    assert moves(arena, 0) == []
    for ball, to, way in [(0, at(0, 2), 2), (1, at(2, 2), 2), (0, at(0, 0), 0)]:
        act(arena.m, 0, ball, to, way)
    for _ in range(20):
        shorten(arena.m, arena.u, 50)
    assert moves(arena, 0) == [[at(2, 0), at(2, 2), 2]]
    check(arena)


def test_the_best_state_is_restored_and_a_landing_goes_on_without_un_rolls() -> None:
    arena = laid_out(sample(3))
    restart(arena.m, 0)
    go_on(*arena, 1_500_000)
    fewest = int(arena.m[tables.FEWEST])
    restore_state(arena.m)
    check(arena)
    assert arena.m[UNMATCHED] == fewest
    record(arena.m)
    points = int(arena.m[BEST_POINTS])
    take_landing(arena.m, arena.u)
    check(arena)
    assert not moves(arena, 1)
    assert int(arena.m[BEST_POINTS]) == points
    own, goals = board(arena, 0), board(arena, 1)
    assert points == sum(2 if own[cell] == goals[cell] else int(own[cell] >= 0) for cell in np.flatnonzero(goals >= 0))


@pytest.mark.parametrize("k", [0, 1])
def test_a_ball_fetched_stands_on_the_cell_and_those_that_are_to_stay_do(k: int) -> None:
    arena = laid_out(sample(3))
    m, fetched = arena.m, 0
    for cell in np.flatnonzero(board(arena, k) == EMPTY).tolist():
        stays, before = int(m[k * SIDE + POS + 7]), board(arena, k)
        if m[k * SIDE + ID + cell] == EMPTY and fetch(m, arena.u, k, cell, stays, stays):
            fetched += 1
            assert m[k * SIDE + ID + cell] >= 0
            assert m[k * SIDE + POS + 7] == stays
            check(arena)
        else:
            assert board(arena, k).tolist() == before.tolist()
        if fetched == 20:
            break
    assert fetched == 20


@pytest.mark.parametrize("number", [2, 3])
def test_helpers_keep_both_plays_legal_and_stand_where_the_chain_says(number: int) -> None:
    arena, random = laid_out(sample(number)), np.random.default_rng(3)
    m, came = arena.m, [0, 0]
    for _ in range(60):
        ball, back = int(random.integers(m[tables.BALLS])), int(random.integers(2))
        cell = int(m[back * SIDE + POS + ball])
        if (help_back if back else help_forward)(m, arena.u, cell):
            came[back] += 1
            chain = m[tables.CHAINED : tables.CHAINED + m[tables.CHAIN]].tolist()
            assert chain
            assert all(m[back * SIDE + ID + helper] >= 0 for helper in chain[-1:])
            assert m[back * SIDE + POS + ball] == cell
        check(arena)
    assert min(came) > 5


def test_a_ball_stops_in_a_corner_and_not_in_the_open() -> None:
    arena = drawn("0..../...../.....", "0..../...../.....")
    assert has_way(arena.m, 0, at(0, 4))
    assert not has_way(arena.m, 0, at(1, 2))
    assert not has_way(arena.m, 1, at(1, 2))


def test_a_restart_with_few_balls_ends_sooner_than_one_with_many() -> None:
    turns = []
    for number in (1, 2):
        arena = laid_out(sample(number))
        begin(arena, forward=False)
        turns.append(int(arena.m[tables.PATIENCE] * arena.m[tables.GENERATIONS]))
    assert turns[0] == 80 < turns[1]


def test_every_kernel_has_one_signature() -> None:
    """A second one would be compiled where it is met first, while a clock runs."""
    kernels = [
        value
        for name in MODULES
        for value in vars(importlib.import_module(f"solvers.rollingballs.{name}")).values()
        if isinstance(value, Dispatcher)
    ]
    assert len(kernels) > len(MODULES)
    assert {len(kernel.signatures) for kernel in kernels} == {1}
