"""What docs/sources.md says is worked out by the measurements that it names: each agrees with a plain twin."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import permutations

import numpy as np
import pytest

from bench import claims, cutoffs, full_boards, small_boards, torus4_hardness
from checkers.optimiza import most_collected, read_instance
from checkers.rules.optimiza import Instance, destinations
from solvers import optimiza
from solvers.netgame.net import net_of

SQUARE = [(x, y) for x in range(3) for y in range(3)]
Cells = frozenset[int]


def boards_of_three() -> list[tuple[int, ...]]:
    """All boards with N = 3 whose first cell is the 3, in the order of the bench."""
    rows = []
    for ones, twos in small_boards.all_boards(3).tolist():
        rows.append(tuple(1 if ones >> cell & 1 else 2 if twos >> cell & 1 else 3 for cell in range(9)))
    return rows


def slow_classes(*, translations: bool) -> int:
    """Twin of Burnside's count for N = 3: put all boards that a symmetry joins into one set."""
    boards = set(permutations([1] * 4 + [2] * 4 + [3]))
    shifts = SQUARE if translations else [(0, 0)]
    classes = 0
    while boards:
        board = boards.pop()
        classes += 1
        for a, b, c, d in claims.SYMMETRIES:
            for down, right in shifts:
                places = [
                    ((a * (x - 1) + b * (y - 1) + 1 + down) % 3, (c * (x - 1) + d * (y - 1) + 1 + right) % 3)
                    for x, y in SQUARE
                ]
                image = [0] * 9
                for at, (x, y) in enumerate(places):
                    image[3 * x + y] = board[at]
                boards.discard(tuple(image))
    return classes


@pytest.mark.parametrize("translations", [True, False])
def test_boards_up_to_symmetry_are_counted_as_by_listing_them(translations: bool) -> None:
    assert claims.classes(3, translations=translations) == slow_classes(translations=translations)


def test_birthdays_of_365_days_need_23_people() -> None:
    """The known figure, with log2(365) bits in place of days: between 22 and 23 draws for an even chance."""
    assert claims.birthday_chance(20, 1205) == pytest.approx(0.5, abs=0.001)
    assert claims.birthday_states(20, 0.5) == pytest.approx(1205.6, abs=0.1)


def test_the_printed_hash_loses_bits_by_hand() -> None:
    """Worked by hand: the first of two rows is shifted by 7; before nine more its bit stands in the hash twice."""
    assert claims.printed_hash(frozenset({(0, 0), (1, 1)}), 2) == (1 << 7) ^ 2
    assert claims.printed_hash(frozenset({(0, 0)}), 9) == 1 << 56
    assert claims.printed_hash(frozenset({(0, 0)}), 10) == (1 << 63) | (1 << 3)
    met, hashes = claims.printed_hashes(30, 600, 1)
    assert hashes < met


def test_a_klein_bottle_tells_cells_apart_and_nets_have_twenty_cells_at_most() -> None:
    assert claims.kinds_of_cells(5) > 1
    assert [claims.most_cells(ropes) for ropes in (3, 4, 7, 12, 13, 48, 49, 50, 52)] == [0, 1, 2, 4, 4, 19, 20, 20, 21]
    assert claims.signed(2**31) == -(2**31)
    assert claims.queue_shares(1) == [pytest.approx(0.3103, abs=1e-4)]


def test_cut_offs_of_one_cell_and_of_two_by_hand() -> None:
    """One cell: itself and four ends, or one. Two: one cell after each of six outer ropes, none after the inner one."""
    assert cutoffs.count_nodes(net_of(cutoffs.block(1, 1))) == (1 + 4, 1 + 1)
    plain, _ = cutoffs.count_nodes(net_of(cutoffs.block(1, 2)))
    assert plain == 1 + 6 * (1 + 4) + 1


def slow_longest_walk(values: tuple[int, ...], *, by_step: bool) -> int:
    """Twin of the small boards' optima: all walks."""
    ends = destinations(Instance(3, "torus8", bytes(values))).tolist()
    steps = [[to for to in row if to >= 0 and values[to] >= values[at]] for at, row in enumerate(ends)]

    @cache
    def onwards(cell: int, used: frozenset[int | tuple[int, int]]) -> int:
        best = 0
        for to in steps[cell]:
            key = (cell, to) if by_step else to
            if key not in used:
                best = max(best, onwards(to, used | {key}))
        return values[cell] + best

    return max(onwards(cell, frozenset() if by_step else frozenset({cell})) for cell in range(9))


def slow_duel(values: tuple[int, ...]) -> list[int]:
    """Twin of the duel: what the last to move takes from each first cell, negative where that is the second player."""
    ends = destinations(Instance(3, "torus8", bytes(values))).tolist()

    def play(cell: int, used: Cells, total: int) -> int:
        prizes = [
            -play(to, used | {to}, total + values[to])
            for to in ends[cell]
            if to >= 0 and values[to] >= values[cell] and to not in used
        ]
        return max(prizes) if prizes else -total

    return [play(cell, frozenset({cell}), values[cell]) for cell in range(9)]


def test_all_boards_with_three_are_measured_as_by_trying_all_walks() -> None:
    columns, wins = small_boards.measure(3, small_boards.all_boards(3))
    rows = boards_of_three()
    assert len(rows) == small_boards.EXPECTED[3]
    for at, values in enumerate(rows):
        duel = slow_duel(values)
        assert columns["best"][at] == slow_longest_walk(values, by_step=False)
        assert columns["a"][at] == min(map(abs, duel))
        assert wins[at].tolist() == [sum(p > 0 for p, v in zip(duel, values, strict=True) if v == k) for k in range(4)]
        for method, name in (("greedy-x", "x"), ("greedy-y", "y")):
            board = Instance(3, "torus8", bytes(values))
            answer = optimiza.solve(board, method=method, seed=1, seconds=10.0, steps=100)
            assert columns[name][at] == answer.total, (values, name)
    for at in range(0, len(rows), 7):
        edges = optimiza.solve(Instance(3, "edge8", bytes(rows[at])), method="layered", seed=1, seconds=60.0)
        assert columns["edges"][at] == edges.total


def test_the_full_walk_of_three_by_hand() -> None:
    """Worked by hand: 1 in row 0, row 1 leftwards, up to the 2 beside, row 2 rightwards, and up to the 3."""
    walk = full_boards.full_walk(3)
    assert walk == [(0, 0), (1, 0), (1, 2), (1, 1), (0, 1), (2, 1), (2, 0), (2, 2), (0, 2)]
    assert full_boards.board_of_walk(3, "torus4", walk).values == bytes([1, 2, 3, 1, 1, 1, 2, 2, 2])


@pytest.mark.parametrize("size", full_boards.PRIMES)
def test_the_checker_follows_a_full_walk_for_every_prime(size: int) -> None:
    walk = full_boards.full_walk(size)
    for variant in ("torus8", "torus4"):
        board = full_boards.board_of_walk(size, variant, walk)
        assert read_instance(written(board)) == board
        assert full_boards.collected(board, walk) == most_collected(board)


def written(board: Instance) -> bytes:
    """Write a board as an input file, which only is one if every value has its copies."""
    rows = (board.values[at : at + board.size] for at in range(0, len(board.values), board.size))
    return "\n".join([f"{board.size} {board.variant}", *(" ".join(map(str, row)) for row in rows), ""]).encode()


def test_some_boards_with_four_agree_with_the_solver() -> None:
    boards = small_boards.all_boards(4)[:: 756_756 // 12]
    columns, _ = small_boards.measure(4, boards)
    for at, (ones, twos, threes) in enumerate(boards.tolist()):
        masks = (1, threes, twos, ones)
        values = bytes(next(4 - k for k, mask in enumerate(masks) if mask >> cell & 1) for cell in range(16))
        for variant, name in (("torus8", "best"), ("edge8", "edges")):
            answer = optimiza.solve(Instance(4, variant, values), method="layered", seed=1, seconds=60.0)
            assert columns[name][at] == answer.total


def test_a_board_made_of_a_graph_has_the_right_numbers_and_the_graphs_longest_path() -> None:
    """The proof's construction on a comb of nine cells, which has no Hamilton path, and on a line, which is one."""
    comb = frozenset({(0, c) for c in range(5)} | {(1, c) for c in (0, 2, 4)} | {(2, 2)})
    line = frozenset((0, c) for c in range(9))
    size = 61
    for graph in (comb, line):
        board = torus4_hardness.board_of_graph(graph, size)
        copies = Counter(np.frombuffer(board.values, np.uint8).tolist())
        assert copies == Counter(dict.fromkeys(range(1, size), size + 1) | {size: 1})
        walk = optimiza.solve(board, method="layered", seed=1, seconds=60.0)
        assert walk.total == torus4_hardness.longest_path(graph) * (size - 1)
    assert torus4_hardness.longest_path(comb) < 9 == torus4_hardness.longest_path(line)
    with pytest.raises(ValueError, match="far above 9, found 23"):
        torus4_hardness.board_of_graph(line, 23)
