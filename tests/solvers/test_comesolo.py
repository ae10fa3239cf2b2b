"""Comesolo's solver: every kernel agrees with a slow twin, every method gives legal plays and repeats exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers.comesolo import Answer, read_answer, read_instance, score_answer, write_answer
from solvers import comesolo
from solvers.comesolo import best_first, costs, dfs, forest, greedy, levels, moves, touched
from solvers.doors import Report
from tests.builders.boards import (
    DIRECTIONS,
    Board,
    boards,
    drawn_instance,
    make_instance,
    pieces_of,
    slow_best,
    slow_jumps,
    small_boards,
)


def slow_cost(board: Board, table: costs.Costs) -> int:
    """Twin of the beam's cost: piece by piece, neighbours counted one at a time."""
    total = 0
    for r, c in board:
        place = (r + moves.PAD) * costs.LINE + c + moves.PAD
        company = sum((r + down, c + right) in board for down, right in DIRECTIONS)
        total += int(table[0, place]) + (int(table[1, place]) if company == 0 else 0)
        total += int(table[2, place]) if company == 1 else 0
    return total


def slow_draw(state: int, bound: int) -> tuple[int, int]:
    """Twin of the random numbers: SplitMix64 in whole numbers."""
    state = (state + 0x9E3779B97F4A7C15) % 2**64
    z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    z ^= z >> 31
    return state, (z >> 32) * bound >> 32


def view_of(size: int) -> costs.Costs:
    view = costs.View(costs.Setting(3, 0.8, 0.3), ((size - 1) / 2, size / 3), [(0, 1)], 0.5)
    return costs.costs_of(view, size)


@settings(max_examples=200)
@given(boards)
def test_jumps_are_listed_and_played_as_the_rules_say(drawn: tuple[int, set[tuple[int, int]]]) -> None:
    size, pieces = drawn
    rows, tables = moves.rows_of(make_instance(size, pieces)), moves.tables_of(size)
    assert pieces_of(rows, size) == pieces
    listed = np.empty(8 * size * size, np.uint16)
    count = moves.list_jumps(rows, tables.inside, size, listed)
    expected = slow_jumps(size, pieces)
    assert sorted(listed[:count].tolist()) == sorted(expected)
    for jump, board in expected.items():
        assert pieces_of(moves.play_on(rows, np.array([jump], np.uint16), size), size) == board


@settings(max_examples=100)
@given(st.integers(0, 2**64 - 1), st.integers(1, 2**31))
def test_random_numbers_are_those_of_the_published_generator(seed: int, bound: int) -> None:
    state = moves.seeded(seed)
    expected_state, expected = slow_draw(seed, bound)
    assert (moves.draw(state, bound), int(state[0])) == (expected, expected_state)


@given(st.integers(0, 63), st.integers(0, 2**64 - 1))
def test_the_lowest_bit_is_found(place: int, above: int) -> None:
    bits = np.uint64((above << place | 1 << place) % 2**64)
    assert moves.lowest(bits) == place


@settings(max_examples=60)
@given(boards, st.integers(0, 2**32))
def test_the_list_kept_during_a_play_is_always_the_list_made_anew(
    drawn: tuple[int, set[tuple[int, int]]], seed: int
) -> None:
    size, pieces = drawn
    rows, inside = moves.rows_of(make_instance(size, pieces)), moves.tables_of(size).inside
    legal, place = np.empty(8 * size * size, np.uint16), np.full(8 * size * size, -1, np.int32)
    count = moves.list_jumps(rows, inside, size, legal)
    place[legal[:count]] = np.arange(count)
    state = moves.seeded(seed)
    while count:
        jump = int(legal[moves.draw(state, count)])
        moves.toggle(rows, size, jump)
        count = greedy._refresh(rows, inside, size, jump, legal, place, count)
        assert sorted(legal[:count].tolist()) == sorted(slow_jumps(size, pieces_of(rows, size)))
        assert place[legal[:count]].tolist() == list(range(count))


@settings(max_examples=40)
@given(boards, st.integers(1, 12))
def test_every_level_of_the_beam_has_the_boards_jumps_and_costs_of_its_slow_twin(
    drawn: tuple[int, set[tuple[int, int]]], width: int
) -> None:
    size, pieces = drawn
    tables, table = moves.tables_of(size), view_of(size)
    level = levels.first_level(moves.rows_of(make_instance(size, pieces)), tables, table)
    for _ in range(6):
        level_boards = [pieces_of(rows, size) for rows in level.rows]
        offered: dict[Board, int] = {}
        for i, board in enumerate(level_boards):
            expected = slow_jumps(size, board)
            stretch = slice(int(level.begin[i]), int(level.begin[i + 1]))
            changes = dict(zip(level.jumps[stretch].tolist(), level.changes[stretch].tolist(), strict=True))
            cost = slow_cost(board, table)
            assert level.costs[i] == cost
            assert changes == {jump: slow_cost(child, table) - cost for jump, child in expected.items()}
            offered |= {child: slow_cost(child, table) for child in expected.values()}
        chosen = levels.choose(level, tables, width)
        assert sorted(chosen.costs.tolist()) == sorted(offered.values())[:width]
        assert chosen.whole == (len(offered) <= width)
        assert len(set(chosen.hashes.tolist())) == len(chosen.hashes)
        level = levels.build(level, chosen, tables, table)


@settings(max_examples=150)
@given(boards)
def test_the_cost_of_a_board_is_that_of_its_slow_twin(drawn: tuple[int, set[tuple[int, int]]]) -> None:
    size, pieces = drawn
    table = view_of(size)
    assert touched.cost_of(moves.rows_of(make_instance(size, pieces)), table) == slow_cost(frozenset(pieces), table)


@settings(max_examples=60)
@given(small_boards)
def test_complete_searches_find_the_longest_play(
    drawn: tuple[int, set[tuple[int, int]]],
) -> None:
    size, pieces = drawn
    longest = slow_best(size, frozenset(pieces))
    instance = make_instance(size, pieces)
    for method in ("dfs", "best-first"):
        assert comesolo.solve(instance, method=method, seed=3, seconds=1, steps=200_000).count == longest


def test_depth_first_search_goes_on_where_it_was_interrupted() -> None:
    instance = drawn_instance(6, 0.5)
    tables = moves.tables_of(6)
    whole, parts = (dfs.new_stack(moves.rows_of(instance), tables) for _ in range(2))
    state, other = moves.seeded(5), moves.seeded(5)
    dfs.go_on(whole, tables, state, 500)
    for turn in (1, 99, 400):
        dfs.go_on(parts, tables, other, turn)
    assert whole.place.tolist() == parts.place.tolist()
    assert whole.rows.tolist() == parts.rows.tolist()
    assert whole.best[: whole.place[dfs.BEST]].tolist() == parts.best[: parts.place[dfs.BEST]].tolist()


def slow_queue(filled: list[bool], state: int) -> tuple[int, int]:
    """Twin of the printed draw: the last queue passed that is not empty when r has reached 1; empty ones count too."""
    top = max((score for score, is_filled in enumerate(filled) if is_filled), default=-1)
    state, drawn = slow_draw(state, 2**30)
    r, last = drawn / 2**30, -1
    for score in range(top, -1, -1):
        last = score if filled[score] else last
        r *= 1.45
        if r >= 1:
            break
    return state, last


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.integers(0, 2**64 - 1))
def test_a_queue_is_drawn_by_the_printed_rule(filled: list[bool], seed: int) -> None:
    heads = np.where(filled, 7, -1).astype(np.int32)
    assert best_first._draw_queue(heads, len(filled) - 1, moves.seeded(seed)) == slow_queue(filled, seed)[1]


def test_the_top_queues_are_drawn_as_often_as_the_source_says() -> None:
    """31, 21, 15 and 10 of 100 draws where no queue is empty; where every second one is, a gap adds its share."""
    full, gaps = np.full(30, 7, np.int32), np.full(30, 7, np.int32)
    gaps[0::2] = -1
    state = moves.seeded(1)
    draws = [best_first._draw_queue(full, 29, state) for _ in range(20_000)]
    assert [draws.count(score) / 200 for score in (29, 28, 27, 26)] == pytest.approx([31, 21, 15, 10], abs=1)
    draws = [best_first._draw_queue(gaps, 29, state) for _ in range(20_000)]
    assert [draws.count(score) / 200 for score in (29, 27, 25)] == pytest.approx([31 + 21, 15 + 10, 7 + 5], abs=1)


def slow_printed(size: int, start: Board, seed: int, draws: int) -> tuple[int, int, int]:
    """Twin of the printed search: queues as lists of boards; the best score taken out, boards put in, draws used."""
    queues: list[list[Board]] = [[] for _ in range(size * size)]
    queues[0].append(start)
    met: set[Board] = set()
    put_in, best, state = 1, 0, seed
    for turn in range(draws):
        state, score = slow_queue([bool(queue) for queue in queues], state)
        if score < 0:
            return best, put_in, turn
        board = queues[score].pop(0)
        best = max(best, score)
        if board in met:
            continue
        met.add(board)
        children = [child for _, child in sorted(slow_jumps(size, board).items())]
        queues[score + 1] += children
        put_in += len(children)
    return best, put_in, draws


@settings(max_examples=30, deadline=None)
@given(small_boards, st.integers(0, 2**32), st.integers(1, 80))
def test_best_first_takes_out_what_the_printed_search_does(
    drawn: tuple[int, set[tuple[int, int]]], seed: int, draws: int
) -> None:
    size, pieces = drawn
    tables, longest, met = moves.tables_of(size), np.zeros(1, np.int64), forest.plant(moves.tables_of(size))
    state = moves.seeded(seed)
    done = best_first.grow(met, moves.rows_of(make_instance(size, pieces)), tables, state, draws, longest)
    expected = slow_printed(size, frozenset(pieces), seed, draws)
    assert (int(longest[0]), met.nodes, done) == expected
    assert len(forest.path_to(met)) == expected[0]


def test_the_only_jump_of_two_pieces_is_found_and_then_the_queues_are_empty() -> None:
    """Worked by hand on `oo.` above an empty board: one jump, to the right; then the queues are empty."""
    instance = read_instance(b"3\noo.\n...\n...\n")
    met, longest, tables = forest.plant(moves.tables_of(3)), np.zeros(1, np.int64), moves.tables_of(3)
    assert best_first.grow(met, moves.rows_of(instance), tables, moves.seeded(1), 9, longest) == 2
    assert (met.nodes, int(longest[0]), forest.path_to(met).tolist()) == (2, 1, [4])


@pytest.mark.parametrize("method", comesolo.METHODS)
def test_a_method_gives_a_legal_play_and_the_same_one_for_the_same_seed_and_steps(method: str) -> None:
    instance = drawn_instance(11, 0.4)
    steps = {"greedy": 20, "dfs": 3000, "best-first": 400, "beam": 6000}[method]
    first, second = (comesolo.solve(instance, method=method, seed=9, seconds=1, steps=steps) for _ in range(2))
    assert first == second
    assert read_answer(write_answer(first).encode(), instance) == first
    assert first.count > instance.pieces // 2


@pytest.mark.parametrize("method", comesolo.METHODS)
def test_a_search_that_is_asked_to_stop_gives_its_best_so_far(method: str) -> None:
    instance = drawn_instance(30, 0.3)
    heard: list[Report] = []

    def stop(report: Report) -> bool:
        heard.append(report)
        return False

    answer = comesolo.solve(instance, method=method, seed=1, seconds=3600, progress=stop)
    assert read_answer(write_answer(answer).encode(), instance) == answer
    assert answer.count > 0
    assert heard[-1].fraction == 1.0
    assert heard[-1].best == answer.count


def test_the_seconds_given_are_honoured_and_states_are_counted() -> None:
    heard: list[Report] = []
    comesolo.solve(drawn_instance(30, 0.3), method="beam", seed=1, seconds=0.3, progress=heard.append)
    assert heard[-1].states > 0


def test_the_beam_eats_all_but_one_of_a_board_made_backwards_and_says_so() -> None:
    instance = read_instance(b"5\n..o..\n.ooo.\n.oo..\n..o..\n.....\n")
    heard: list[Report] = []
    answer = comesolo.solve(instance, method="beam", seed=1, seconds=60, progress=heard.append)
    assert answer.count == instance.pieces - 1
    assert heard[-1].note == "optimal"


def test_the_reference_file_holds_both_anchors_and_gives_the_reference_all_points() -> None:
    instance = drawn_instance(10, 0.5)
    answer = comesolo.solve(instance, method=comesolo.REFERENCE, seed=1, seconds=1, steps=20_000)
    text = comesolo.write_reference(instance, answer, seed=1)
    assert text == comesolo.write_reference(instance, answer, seed=1)
    assert score_answer(instance, answer, text.encode()).multiplier == 1
    assert score_answer(instance, Answer(answer.jumps[:4]), text.encode()).multiplier != 1
