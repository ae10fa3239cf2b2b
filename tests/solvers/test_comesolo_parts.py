"""Comesolo's parts and bounds: what a few pieces can reach, which pieces never meet, and where plays are cut."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers.comesolo import read_instance
from solvers import comesolo
from solvers.comesolo import beam, cone, moves, parts, stuck
from solvers.comesolo.explore import explore
from solvers.doors import Report
from solvers.parts.clock import Clock
from tests.builders.boards import DIRECTIONS, Board, boards, make_instance, pieces_of, slow_best, slow_jumps

sparse_boards = st.integers(4, 9).flatmap(
    lambda size: st.tuples(
        st.just(size), st.sets(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), min_size=1, max_size=8)
    )
)


def slow_boards(size: int, start: Board) -> list[Board]:
    """Twin of the listing: every board that jumps lead to, those with fewer jumps first."""
    listed = [start]
    for board in listed:
        listed += [child for child in dict.fromkeys(slow_jumps(size, board).values()) if child not in listed]
    return listed


@settings(max_examples=60, deadline=None)
@given(sparse_boards)
def test_a_few_pieces_are_explored_as_by_the_slow_twin(drawn: tuple[int, set[tuple[int, int]]]) -> None:
    size, pieces = drawn
    rows, tables = moves.rows_of(make_instance(size, pieces)), moves.tables_of(size)
    expected = slow_boards(size, frozenset(pieces))
    explored = explore(rows, tables, len(expected))
    assert (explored.whole, explored.boards) == (True, len(expected))
    assert pieces_of(explored.reach, size) == frozenset().union(*expected)
    assert len(explored.play) == slow_best(size, frozenset(pieces))
    assert len(pieces_of(moves.play_on(rows, explored.play, size), size)) == len(pieces) - len(explored.play)
    if len(expected) > 1:
        assert not explore(rows, tables, len(expected) - 1).whole


@settings(max_examples=60, deadline=None)
@given(sparse_boards)
def test_what_pieces_reach_is_near_enough_and_a_landing_of_what_they_reach(
    drawn: tuple[int, set[tuple[int, int]]],
) -> None:
    size, pieces = drawn
    rows, tables = moves.rows_of(make_instance(size, pieces)), moves.tables_of(size)
    reach = explore(rows, tables, 100_000).reach
    assert not (reach & ~parts.near_enough(rows, tables)).any()
    assert not (reach & ~(rows | parts.landings(reach))).any()


@settings(max_examples=100)
@given(boards)
def test_landings_are_those_of_the_slow_twin(drawn: tuple[int, set[tuple[int, int]]]) -> None:
    size, cells = drawn
    rows = moves.rows_of(make_instance(size, cells)) & moves.tables_of(size).inside
    expected = {
        (r + 2 * down, c + 2 * right)
        for r, c in cells
        for down, right in DIRECTIONS
        if (r + down, c + right) in cells and 0 <= r + 2 * down < size and 0 <= c + 2 * right < size
    }
    assert pieces_of(parts.landings(rows) & moves.tables_of(size).inside, size) == expected


@settings(max_examples=80, deadline=None)
@given(sparse_boards)
def test_the_parts_together_are_never_below_the_longest_play_and_their_plays_go_together(
    drawn: tuple[int, set[tuple[int, int]]],
) -> None:
    size, pieces = drawn
    rows, tables = moves.rows_of(make_instance(size, pieces)), moves.tables_of(size)
    split = parts.find_parts(rows, tables)
    longest = slow_best(size, frozenset(pieces))
    assert split.most == longest  # so few pieces are explored whole, part by part
    jumps = np.concatenate([np.empty(0, np.uint16), *(part.play for part in split.parts if part.play is not None)])
    board = frozenset(pieces)
    for jump in jumps.tolist():
        board = slow_jumps(size, board)[jump]
    assert len(board) == len(pieces) - longest


def test_pieces_that_are_too_few_to_reach_each_other_are_parts() -> None:
    """Two pairs in one row, 5 cells between them: each makes one jump, and the bound of a row would say three."""
    instance = read_instance(b"9\n" + b"oo.....oo\n" + 8 * b".........\n")
    split = parts.find_parts(moves.rows_of(instance), moves.tables_of(9))
    assert [(part.pieces, part.most) for part in split.parts] == [(2, 1), (2, 1)]


def test_a_weight_tells_how_far_pieces_reach() -> None:
    """Worked by hand: two pieces in a row weigh g + g^2 = 1 on the cell before them and less on the one after it."""
    instance = read_instance(b"5\n.....\n.....\n...oo\n.....\n.....\n")
    near = pieces_of(parts.near_enough(moves.rows_of(instance), moves.tables_of(5)), 5)
    assert (2, 2) in near
    assert (2, 1) not in near


def slow_hold_back(play: list[int], size: int, near: Board, since: int) -> list[bool]:
    """Twin of the cut: cell by cell."""
    touched, later = set(near), []
    for at, jump in enumerate(play):
        (r, c), (down, right) = divmod(jump // 8, size), DIRECTIONS[jump % 8]
        cells = {(r + i * down, c + i * right) for i in range(3)}
        later.append(at >= since and bool(cells & touched))
        touched |= cells if later[-1] else set()
    return later


@settings(max_examples=60, deadline=None)
@given(boards, st.integers(0, 2**32), st.integers(0, 20))
def test_jumps_held_back_are_the_latest_near_a_place_and_the_others_can_go_first(
    drawn: tuple[int, set[tuple[int, int]]], seed: int, most: int
) -> None:
    size, pieces = drawn
    draws = np.random.default_rng(seed)
    board, play = frozenset(pieces), []
    while jumps := slow_jumps(size, board):
        play.append(int(draws.choice(sorted(jumps))))
        board = jumps[play[-1]]
    near = frozenset(map(tuple, draws.integers(0, size, (3, 2)).tolist()))
    marks = moves.board_of(moves.rows_of(make_instance(size, near)), size).astype(np.bool_)
    later = cone.hold_back_near(np.array(play, np.uint16), marks, most).tolist()
    cuts = [slow_hold_back(play, size, near, since) for since in range(len(play) + 1)]
    assert later == max((cut for cut in cuts if sum(cut) <= most), key=sum)
    first = [jump for jump, is_later in zip(play, later, strict=True) if not is_later]
    board = frozenset(pieces)
    for jump in [*first, *(jump for jump, is_later in zip(play, later, strict=True) if is_later)]:
        board = slow_jumps(size, board)[jump]
    assert len(board) == len(pieces) - len(play)


def slow_left(pieces: Board) -> int:
    """Twin of the count of stuck pieces, with the ratio's powers one by one."""
    stuck_pieces = 0
    for r, c in pieces:
        distances = [max(abs(r - row), abs(c - column)) for row, column in pieces - {(r, c)}]
        weight = sum(((5**0.5 - 1) / 2) ** distance for distance in distances)
        stuck_pieces += 1 not in distances and weight < (5**0.5 - 1) / 2 - 1e-9
    return stuck_pieces + (stuck_pieces < len(pieces))


@settings(max_examples=60, deadline=None)
@given(sparse_boards)
def test_boards_are_given_up_only_if_more_pieces_are_left_than_allowed(
    drawn: tuple[int, set[tuple[int, int]]],
) -> None:
    size, pieces = drawn
    rows, least = moves.rows_of(make_instance(size, pieces))[None, :], slow_left(frozenset(pieces))
    assert least <= len(pieces) - slow_best(size, frozenset(pieces))
    for allowed in range(len(pieces) + 2):
        assert stuck.leave_more(rows, allowed).tolist() == [least > allowed]


def test_a_lone_piece_three_cells_from_a_pair_is_stuck() -> None:
    """Worked by hand: the pair weighs g^3 + g^4 = g^2 on its cell, and g would be needed; one cell nearer it does."""
    far, near = read_instance(b"5\noo..o\n" + 4 * b".....\n"), read_instance(b"5\noo.o.\n" + 4 * b".....\n")
    assert stuck.leave_more(np.stack((moves.rows_of(far), moves.rows_of(near))), 1).tolist() == [True, False]


def test_a_beam_that_left_nothing_out_lowers_the_bound_to_its_play() -> None:
    """The bound is given as all pieces but one; the beam finds that less is possible."""
    rows = moves.rows_of(read_instance(b"4\no..o\n....\n.oo.\no..o\n"))
    part = parts.Part(rows, 5, None)
    outcome = beam.search_beam(rows, moves.tables_of(4), parts.Split((part,)), seed=1, clock=Clock(60, 100_000))
    assert len(outcome.jumps) == outcome.most == slow_best(4, pieces_of(rows, 4))


def test_a_method_that_tried_everything_says_that_its_play_is_longest() -> None:
    """On this board less can be eaten than all pieces but one, and no method knows it beforehand."""
    instance = read_instance(b"4\no..o\n....\n.oo.\no..o\n")
    for method in ("dfs", "best-first", "beam"):
        heard: list[Report] = []
        answer = comesolo.solve(instance, method=method, seed=1, seconds=60, progress=heard.append)
        assert answer.count == slow_best(4, pieces_of(moves.rows_of(instance), 4))
        assert heard[-1].note == "optimal"
