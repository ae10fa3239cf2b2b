"""The duel: who wins, and how much, agrees with all plays of small boards."""

from __future__ import annotations

from functools import cache
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.doors import Rejected
from checkers.rules.optimiza import VARIANTS, Instance, destinations
from games.doors import draws
from games.optimiza import GAME
from games.optimiza.duel import Duel
from games.optimiza.matching import in_every_maximum_matching
from games.optimiza.position import Position
from tests.builders.examples import every

KINDS = [name for name, rules in VARIANTS.items() if not rules.by_step]


def drawn_board(size: int, variant: str, seed: int) -> Instance:
    """A board with the copies its variant asks for, in drawn places."""
    random = Random(f"{size} {variant} {seed}")
    triangle = VARIANTS[variant].triangle
    copies = {k: size + 1 - k if triangle else (size + 1 if k < size else 1) for k in range(1, size + 1)}
    values = [k for k, count in copies.items() for _ in range(count)]
    random.shuffle(values)
    rows = [[values.pop() if not triangle or column <= row else 0 for column in range(size)] for row in range(size)]
    return Instance(size, variant, bytes(value for row in rows for value in row))


def all_plays(board: Instance) -> dict[int, int]:
    """Twin of the solver: the outcome of each cell by all plays, with nothing known of layers."""
    ways = destinations(board).tolist()
    values = board.values

    @cache
    def outcome(cell: int, visited: frozenset[int]) -> int:
        ends = [end for end in ways[cell] if end >= 0 and values[end] >= values[cell] and end not in visited]
        best = max((-outcome(end, visited | {end}) for end in ends), default=None)
        if best is None:
            return -values[cell]
        return best + values[cell] if best > 0 else best - values[cell]

    return {cell: outcome(cell, frozenset({cell})) for cell in range(len(values)) if values[cell]}


def small_boards() -> list[Instance]:
    """More than 500 boards: 3 x 3 and 4 x 4 of each variant, and triangles of side 5."""
    square = [drawn_board(size, kind, seed) for size, kind, seed in product((3, 4), KINDS, range(62))]
    return square + [drawn_board(5, "hex", seed) for seed in range(20)]


def test_solved_boards_agree_with_all_plays_on_500_small_ones() -> None:
    """`make test` tries a third of them, of each size and variant."""
    boards = small_boards()
    assert len(boards) > 500
    for board in every(3, boards):
        duel = Duel(board)
        assert duel.exact
        assert duel.fresh == all_plays(board), board


def test_matchings_and_the_search_ahead_name_the_winners_of_all_plays() -> None:
    """As on boards whose groups are large."""
    for board in every(3, small_boards()[::2], 1):
        duel, played = Duel(board, largest_group=0), all_plays(board)
        assert not duel.exact
        assert {cell: outcome > 0 for cell, outcome in duel.fresh.items()} == {c: o > 0 for c, o in played.items()}
        assert {cell: duel.wins(cell, frozenset({cell})) for cell in played} == {c: o > 0 for c, o in played.items()}
        assert all(abs(outcome) >= board.values[cell] for cell, outcome in duel.fresh.items())


@given(edges=st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda edge: edge[0] < edge[1])))
def test_a_vertex_is_in_every_maximum_matching_if_without_it_they_are_smaller(edges: set[tuple[int, int]]) -> None:
    graph = {at: [b if a == at else a for a, b in edges if at in (a, b)] for at in range(9)}

    @cache
    def largest(vertices: frozenset[int]) -> int:
        if not vertices:
            return 0
        first, rest = min(vertices), vertices - {min(vertices)}
        return max([largest(rest), *(1 + largest(rest - {near}) for near in graph[first] if near in rest)])

    everything = frozenset(graph)
    for vertex in graph:
        assert in_every_maximum_matching(graph, vertex) is (largest(everything - {vertex}) < largest(everything))


@pytest.mark.parametrize("name", GAME.opponents)
@pytest.mark.parametrize("kind", KINDS)
def test_b_played_by_optimal_always_wins_a_large_dense_board_too(kind: str, name: str) -> None:
    board = drawn_board(9, kind, 1)
    dense = Instance(9, kind, bytes(sorted(board.values))) if kind != "hex" else board
    for seed, start in product(range(2), (board, dense)):
        position, number = Position(start), 0
        while not GAME.over(position):
            number += 1
            player = GAME.opponents["optimal" if GAME.to_move(position) else name]
            position = GAME.apply(position, player.choose(position, draws(seed, number)))
        assert GAME.winner(position) == 1


def test_the_winner_by_optimal_takes_the_prize_that_was_computed() -> None:
    for seed in range(40):
        board = drawn_board(4, "torus8", seed)
        prize = min(map(abs, all_plays(board).values()))
        position, number = Position(board), 0
        while not GAME.over(position):
            number += 1
            position = GAME.apply(position, GAME.opponents["optimal"].choose(position, draws(seed, number)))
        assert (GAME.winner(position), position.prize) == (1, prize)


def test_who_begins_on_the_greatest_cell_loses_at_once() -> None:
    position = GAME.start(GAME.sample)
    corner = GAME.apply(GAME.apply(position, "2 2"), "A")
    assert GAME.over(corner)
    assert GAME.winner(corner) == 1


@pytest.mark.parametrize(
    ("end", "fault"),
    [
        ("walk 1 1\nbegins C\n", "line 7: expected"),
        ("walk 1 1 2 1\n", "line 7: expected"),
        ("walk 1 1 3 3\n", "line 6, cell 2: expected"),
        ("walk 1 1 1 2 1 1\nbegins A\n", "line 6, cell 3: expected a cell not visited before"),
        ("walk 5 1\n", "line 6, cell 1: expected a cell r c of the board"),
        ("walk 1\n", "line 6: expected"),
        ("walk 1 1", "line 6: expected"),
    ],
)
def test_a_damaged_walk_is_rejected_with_its_line(end: str, fault: str) -> None:
    with pytest.raises(Rejected, match=fault):
        GAME.start(GAME.sample + end)


def test_boards_on_which_cells_may_repeat_have_no_duel() -> None:
    with pytest.raises(Rejected, match="edge8"):
        GAME.start(GAME.sample.replace("4\n", "4 edge8\n", 1))
