"""Netgame's solver: every exact method agrees with a brute force over ropes, written from the statement alone."""

from __future__ import annotations

import random
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from checkers.netgame import FIRST, SECOND, Answer, read_instance, winning_ropes
from checkers.rules.netgame import Instance, Rope, whole_cells
from solvers import netgame
from solvers.doors import Report, Unsolved
from solvers.netgame import ropes
from solvers.netgame.net import net_of
from solvers.parts.clock import Clock
from tests.builders.examples import every

Ropes = frozenset[Rope]
GENERATOR = Path(__file__).parents[2] / "problems/netgame/generators/generate.py"


def slow_cuts(ropes: Ropes) -> list[Rope]:
    """Twin of the legal cuts: the sides of every unit square with all four ropes."""
    squares = [
        {(x, y, x + 1, y), (x, y + 1, x + 1, y + 1), (x, y, x, y + 1), (x + 1, y, x + 1, y + 1)}
        for x in range(6)
        for y in range(6)
    ]
    return sorted({rope for square in squares if square <= ropes for rope in square})


@cache
def slow_wins(ropes: Ropes) -> bool:
    """Twin of every method: the player to move wins if some cut leaves the other one lost."""
    return any(not slow_wins(ropes - {rope}) for rope in slow_cuts(ropes))


def slow_winning(instance: Instance) -> list[int]:
    """Twin of the winning first cuts, by their numbers from 1."""
    ropes = frozenset(instance.ropes)
    cuts = slow_cuts(ropes)
    return [at for at, rope in enumerate(instance.ropes, 1) if rope in cuts and not slow_wins(ropes - {rope})]


def drawn_net(seed: int) -> Instance:
    draws = random.Random(seed)
    width, height = draws.choice([(1, 1), (1, 2), (2, 2), (1, 5), (2, 3)])
    level = [(x, y, x + 1, y) for x in range(width) for y in range(height + 1)]
    upright = [(x, y, x, y + 1) for x in range(width + 1) for y in range(height)]
    ropes = level + upright
    draws.shuffle(ropes)
    return Instance(tuple(ropes[: max(1, len(ropes) - draws.randint(0, 4))]))


@pytest.mark.parametrize("method", netgame.METHODS)
def test_every_method_agrees_with_the_brute_force_on_600_nets(method: str) -> None:
    for seed in range(600):
        instance = drawn_net(seed)
        if method == "figures" and len(instance.ropes) > 13:
            continue
        winning = slow_winning(instance)
        answer = netgame.solve(instance, method=method, seed=1, seconds=10.0)
        assert answer.winner == (FIRST if winning else SECOND)
        assert answer.rope in (winning or [0])
        lines = [f"{FIRST}", " ".join(map(str, winning))] if winning else [f"{SECOND}"]
        assert netgame.write_reference(instance, answer, seed=1).split("\n") == [*lines, ""]


Cells = frozenset[tuple[int, int]]


def slow_openings(cells: Cells) -> list[Cells]:
    """Twin of the cuts in the words of the statement's other form: two neighbours, or one with fewer than four."""
    found = []
    for x, y in sorted(cells):
        beside = {(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)} & cells
        found += [frozenset({(x, y), other}) for other in beside if other > (x, y)]
        found += [frozenset({(x, y)})] if len(beside) < 4 else []
    return found


@cache
def slow_opener_wins(cells: Cells) -> bool:
    """Twin of every method on nets with inner cells and in pieces, which are too large to be played rope by rope."""
    return any(not slow_opener_wins(cells - opened) for opened in slow_openings(cells))


def net_around(cells: Cells, draws: random.Random) -> Instance:
    """The ropes of cells and a loose one, in a drawn order."""
    level = {(x, y + up, x + 1, y + up) for x, y in cells for up in (0, 1)}
    upright = {(x + right, y, x + right, y + 1) for x, y in cells for right in (0, 1)}
    ropes_there = sorted({*level, *upright, (30, 30, 30, 31)})
    draws.shuffle(ropes_there)
    return Instance(tuple(ropes_there))


@pytest.mark.parametrize("method", ["ropes-all", "ropes", "cells", "dp", "grundy"])
def test_inner_cells_and_pieces_come_out_as_of_a_brute_force_over_cells(method: str) -> None:
    """500 nets of up to 11 cells drawn in a block of 4 x 3: cells with four neighbours, rings, cells that lie apart.

    `make test` tries a third of them.
    """
    inner, seeds = 0, every(3, range(500))
    for seed in seeds:
        draws = random.Random(seed)
        cells = frozenset(draws.sample([(x, y) for x in range(4) for y in range(3)], draws.randint(6, 11)))
        instance = net_around(cells, draws)
        whole = frozenset(whole_cells(instance))
        inner += any(len({(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)} & whole) == 4 for x, y in whole)
        if method == "ropes-all" and len(instance.ropes) > 27:
            continue
        answer = netgame.solve(instance, method=method, seed=1, seconds=60.0)
        assert answer.winner == (FIRST if slow_opener_wins(whole) else SECOND)
        if answer.winner == FIRST:
            cut = instance.ropes[answer.rope - 1]
            left = Instance(tuple(rope for rope in instance.ropes if rope != cut))
            assert len(whole_cells(left)) < len(whole)
            assert not slow_opener_wins(frozenset(whole_cells(left)))
    assert inner > len(seeds) // 5


BLOCK = tuple((x, y, x + 1, y) for x in range(5) for y in range(5)) + tuple(
    (x, y, x, y + 1) for x in range(6) for y in range(4)
)
CELL = (*BLOCK[:2], (0, 0, 0, 1), (1, 0, 1, 1))


@pytest.mark.parametrize("method", ["ropes-all", "ropes", "cells", "dp", "grundy"])
def test_a_search_that_runs_out_of_steps_or_time_or_is_stopped_has_no_answer(method: str) -> None:
    net = Instance(BLOCK)
    with pytest.raises(Unsolved, match=r"^out of steps after 3 states"):
        netgame.solve(net, method=method, seed=1, seconds=1.0, steps=3)
    with pytest.raises(Unsolved, match=r"^out of time after \d+ states"):
        netgame.solve(net, method=method, seed=1, seconds=1e-9)
    heard: list[Report] = []

    def listen(report: Report) -> bool:
        heard.append(report)
        return False

    clock = Clock(10.0, progress=listen)
    clock.report(final=True)
    with pytest.raises(Unsolved, match=r"^stopped after 0 states"):
        netgame.METHODS[method].search(net_of(net), clock)


def test_figures_have_no_answer_for_more_than_13_ropes() -> None:
    with pytest.raises(Unsolved, match=r"right up to 13 ropes, found 49$"):
        netgame.solve(Instance(BLOCK), method="figures", seed=1, seconds=1.0)
    with pytest.raises(Unsolved, match=r"^out of time"):
        netgame.solve(Instance(CELL), method="figures", seed=1, seconds=1e-9)


def test_sets_of_ropes_are_too_many_where_sets_of_cells_are_not() -> None:
    heard: list[Report] = []
    with pytest.raises(Unsolved, match=r"^out of memory after \d{7} sets of ropes$"):
        netgame.solve(Instance(BLOCK), method="ropes-all", seed=1, seconds=60.0, progress=heard.append)
    assert all(report.states <= ropes.SLOTS for report in heard)
    assert netgame.solve(Instance(BLOCK), method="cells", seed=1, seconds=60.0).winner == FIRST


@pytest.mark.parametrize("seed", range(6))
def test_sets_of_ropes_suffice_for_every_net_of_25_ropes(seed: int) -> None:
    """Three rows of three cells and a loose rope are the most cells there can be; the order of the ropes is drawn."""
    draws = random.Random(seed)
    ropes_there = [rope for rope in BLOCK if max(rope) <= 3] + [(9, 9, 9, 10)]
    draws.shuffle(ropes_there)
    assert len(ropes_there) == 25
    instance = Instance(tuple(ropes_there))
    assert netgame.solve(instance, method="ropes-all", seed=1, seconds=60.0, steps=300_000) == Answer(SECOND)


@pytest.mark.parametrize("seed", range(8))
def test_the_exact_methods_agree_on_the_largest_nets(seed: int) -> None:
    """Blocks of 20 cells without some ropes and with loose ones, in any order: who wins is the same for all."""
    draws = random.Random(seed)
    loose = tuple((x, 40, x + 1, 40) for x in range(5))
    net = list(BLOCK + loose)
    draws.shuffle(net)
    instance = Instance(tuple(net[: 50 - seed // 2]))
    answers = [netgame.solve(instance, method=method, seed=1, seconds=60.0) for method in ("cells", "dp", "grundy")]
    winning = winning_ropes(instance)
    for answer in answers:
        assert answer.rope in winning if answer.winner == FIRST else not winning


def slow_useful(ropes_left: Ropes) -> Ropes:
    """Twin of the pruning: the ropes that some whole cell has as a side."""
    return frozenset(slow_cuts(ropes_left))


def slow_is_shared(ropes_left: Ropes, rope: Rope) -> bool:
    """Tell whether a rope is a side of two whole cells."""
    x, y, right, _ = rope
    shifts = [(0, -1), (0, 0)] if right > x else [(-1, 0), (0, 0)]
    corners = [(x + across, y + up) for across, up in shifts]
    return all(
        {(a, b, a + 1, b), (a, b + 1, a + 1, b + 1), (a, b, a, b + 1), (a + 1, b, a + 1, b + 1)} <= ropes_left
        for a, b in corners
    )


def slow_settled(ropes_left: Ropes, order: tuple[Rope, ...], rules: ropes.Rules, known: dict[Ropes, bool]) -> bool:
    """Twin of the search: settle a set of ropes and note it in `known`; True if the player to move wins."""
    cuts = slow_cuts(ropes_left)
    won = False
    for rope in order:
        if rope not in cuts or (won and rules.stops):
            continue
        left = ropes_left - {rope}
        left = slow_useful(left) if rules.drops else left
        won |= not (known[left] if left in known else slow_settled(left, order, rules, known))
    known[ropes_left] = won
    return won


@pytest.mark.parametrize("stops", [True, False])
@pytest.mark.parametrize("drops", [True, False])
def test_a_search_over_ropes_settles_the_sets_of_its_slow_twin(drops: bool, stops: bool) -> None:
    rules = ropes.Rules(drops, stops)
    for seed in range(40):
        instance = drawn_net(seed)
        first = frozenset(instance.ropes)
        known: dict[Ropes, bool] = {}
        inner = [rope for rope in instance.ropes if slow_is_shared(first, rope)]
        order = (*inner, *(rope for rope in instance.ropes if rope not in inner)) if drops else instance.ropes
        slow_settled(slow_useful(first) if drops else first, order, rules, known)
        memory = ropes.settle(net_of(instance), Clock(60.0), rules)
        assert memory.settled == len(known), seed


def test_useful_ropes_of_two_cells_in_a_row_are_three_sets_by_hand() -> None:
    """Worked by hand: nothing cut, either cell open, both open. Kept, useless ropes tell 23 sets apart.

    Nothing cut; the rope between; one of three outer ropes of either cell; and next to it the rope between, or one of
    the three outer ropes of the other cell.
    """
    two_cells = Instance(tuple(rope for rope in BLOCK if max(rope[0], rope[2]) <= 2 and max(rope[1], rope[3]) <= 1))
    net = net_of(two_cells)
    assert ropes.settle(net, Clock(60.0), ropes.Rules(True, False)).settled == 4
    assert ropes.settle(net, Clock(60.0), ropes.Rules(False, False)).settled == 1 + 1 + 6 + 6 + 9


def test_without_useless_ropes_there_are_no_more_sets_of_ropes_than_of_cells() -> None:
    """The largest net: all that level two needs is level three's million."""
    memory = ropes.settle(net_of(Instance(BLOCK)), Clock(600.0), ropes.Rules())
    assert memory.settled < 2**20


def test_progress_is_told_and_ends_with_the_states_settled() -> None:
    heard: list[Report] = []
    netgame.solve(Instance(BLOCK), method="dp", seed=1, seconds=60.0, progress=heard.append)
    assert (heard[-1].fraction, heard[-1].states, heard[-1].note) == (1.0, 2**20 - 1, "optimal")


def test_no_reference_is_made_of_a_wrong_answer() -> None:
    for answer in (Answer(SECOND), Answer(FIRST, 5)):
        with pytest.raises(ValueError, match="expected a right answer"):
            netgame.write_reference(Instance((*CELL, (8, 8, 8, 9))), answer, seed=1)
    with pytest.raises(ValueError, match="expected a right answer"):
        netgame.write_reference(Instance(((8, 8, 8, 9),)), Answer(FIRST, 1), seed=1)


@pytest.mark.parametrize(
    "param",
    [
        *("n=51", "n=x", "w=0", "w=\u0663", "cells=x", "parts=6", "at=middle", "kind=other", "foo", "foo=1"),
        *("kind=block w=1 h=1 n=50", "kind=block w=9 h=9"),
    ],
)
def test_the_generator_says_what_it_cannot_make(param: str) -> None:
    made = generate(*param.split())
    assert (made.returncode > 0, made.stdout) == (True, b"")
    assert b"expected" in made.stderr
    assert b"Traceback" not in made.stderr


@pytest.mark.parametrize("count", [1, 13, 24])
def test_the_generator_makes_as_many_ropes_as_it_is_asked_for(count: int) -> None:
    assert len(read_instance(generate("kind=block", "w=1", "h=1", f"n={count}").stdout).ropes) == count


def generate(*params: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, str(GENERATOR), "--seed", "9", *params]
    return subprocess.run(command, capture_output=True, check=False)
