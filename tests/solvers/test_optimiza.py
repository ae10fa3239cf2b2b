"""Optimiza's solver: every kernel agrees with a slow twin, every exact method with plain brute force."""

from __future__ import annotations

import random
from functools import cache
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers.optimiza import Answer, read_answer, read_instance, score_answer, write_answer
from checkers.rules.optimiza import Instance, destinations
from problems.optimiza.generators import generate
from solvers import optimiza
from solvers.doors import Report, Unsolved
from solvers.optimiza import brute, frontier, greedy, layered, layers, mask_dp, rotations, search, states, trails, wary
from solvers.optimiza.board import Board, board_of
from solvers.parts.clock import Clock

PACKAGE = Path(__file__).parents[2] / "problems/optimiza"
KNOWN = {
    "edge8-N5-random": 127,
    "hex-N5-random": 9,
    "klein8-N5-random": 49,
    "torus4-N5-random": 22,
    "torus8-N5-random": 43,
    "torus8-N8-random": 77,
    "torus8-N10-ragged": 242,
    "torus8-N12-random": 145,
    "torus8-N15-ragged": 645,
    "torus8-N20-ragged": 1127,
}
EXACT = ("brute", "mask-dp", "layered")
PATHS = ("torus8", "torus4", "klein8", "hex")
Neighbours = tuple[frozenset[int], ...]


def make_instance(variant: str, size: int, seed: int, kind: str = "random") -> Instance:
    draws = generate.SplitMix64(seed)
    if kind == "random":
        rows = generate.random_board(size, variant == "hex", draws)
    else:
        directions = generate.STRAIGHT if variant == "torus4" else generate.ALL_EIGHT
        rows = generate.blocks(size, directions, kind == "dense", draws)
    lines = [f"{size} {variant}", *(" ".join(map(str, row)) for row in rows), ""]
    return read_instance("\n".join(lines).encode())


def slow_best(instance: Instance) -> int:
    """Twin of every exact method: all walks. What is used up below the value reached does not matter any more, so that
    equal rests are seen once."""
    values, table = instance.values, destinations(instance).tolist()
    ends = [[end for end in row if end >= 0 and values[end] >= values[at]] for at, row in enumerate(table)]

    @cache
    def onwards(cell: int, used: frozenset[int | tuple[int, int]]) -> int:
        best = 0
        for end in ends[cell]:
            key = (cell, end) if instance.rules.by_step else end
            if key in used:
                continue
            then = {k for k in used | {key} if values[k[0] if isinstance(k, tuple) else k] >= values[end]}
            best = max(best, values[end] + onwards(end, frozenset(then)))
        return best

    start = [cell for cell, value in enumerate(values) if value]
    return max(values[cell] + onwards(cell, frozenset(() if instance.rules.by_step else (cell,))) for cell in start)


def answer_of(instance: Instance, method: str) -> tuple[Answer, str]:
    """Solve without a clock, hold the answer against the checker, and give the note too."""
    heard: list[Report] = []
    answer = optimiza.solve(instance, method=method, seed=1, seconds=1, steps=10_000, progress=heard.append)
    assert read_answer(write_answer(answer).encode(), instance) == answer
    assert heard[-1].best == answer.total
    return answer, heard[-1].note


def slow_inside(near: Neighbours, worth: list[int], value: int) -> list[int]:
    """Twin of every solver of groups: all paths from all starts."""

    def best(cell: int, free: frozenset[int]) -> int:
        return value + max([worth[cell], *(best(other, free - {other}) for other in near[cell] & free)])

    cells = frozenset(range(len(near)))
    return [best(cell, cells - {cell}) for cell in sorted(cells)]


def drawn_group(seed: int, most: int = 8) -> tuple[Neighbours, list[int], int]:
    """Joined cells: a tree and some joins more, with any worths."""
    chance = random.Random(seed)
    count = chance.randint(2, most)
    joins = {(chance.randrange(cell), cell) for cell in range(1, count)}
    for _ in range(chance.randint(0, 2 * count)):
        a, b = chance.sample(range(count), 2)
        joins.add((min(a, b), max(a, b)))
    near = tuple(frozenset(a + b - c for a, b in joins if c in (a, b)) for c in range(count))
    return near, [chance.choice([0, chance.randint(0, 60)]) for _ in range(count)], chance.randint(1, 20)


def group_of(near: Neighbours, worth: list[int], value: int) -> layers.Group:
    masks = np.array([sum(1 << other for other in others) for others in near], np.uint64)
    return layers.Group(value, masks, np.array(worth, np.int32))


def gain_of(group: layers.Group, near: Neighbours, walk: list[int]) -> int:
    """What a walk inside a group gains; it must be one."""
    assert len(set(walk)) == len(walk)
    assert all(b in near[a] for a, b in pairwise(walk))
    return len(walk) * group.value + int(group.worth[walk[-1]])


@pytest.mark.parametrize("part", range(4))
def test_every_exact_method_agrees_with_brute_force_on_random_small_boards(part: int) -> None:
    """More than 500 boards over all variants; every method proves what it finds."""
    for seed in range(130 * part, 130 * (part + 1)):
        variant = PATHS[seed % len(PATHS)]
        size = 2 + seed % 4 if variant == "hex" else 2 + seed % 3
        kind = "random" if variant in ("hex", "klein8") or size < 4 else ("random", "dense", "ragged")[seed % 3]
        instance = make_instance(variant, size, seed, kind)
        expected = slow_best(instance)
        for method in EXACT:
            answer, note = answer_of(instance, method)
            assert (answer.total, note) == (expected, "optimal"), (method, variant, size, seed)


def test_trails_without_a_search_are_as_long_as_the_longest() -> None:
    for seed in range(40):
        instance = make_instance("edge8", 2 + seed % 2, seed)
        expected = slow_best(instance)
        for method in ("brute", "layered") if instance.size == 2 else ("layered",):
            answer, note = answer_of(instance, method)
            assert (answer.total, note) == (expected, "optimal"), (method, seed)


def test_layered_agrees_with_the_table_of_sets_on_larger_boards() -> None:
    for seed in range(60):
        variant = ("torus8", "torus4", "klein8", "hex")[seed % 4]
        kind = "random" if variant in ("klein8", "hex") else ("dense", "ragged")[seed % 2]
        instance = make_instance(variant, 5 + seed % 11, seed, kind)
        assert answer_of(instance, "layered")[0].total == answer_of(instance, "mask-dp")[0].total, seed


@pytest.mark.parametrize(("name", "best"), KNOWN.items())
def test_the_known_answers_are_found_again(name: str, best: int) -> None:
    instance = read_instance((PACKAGE / f"generators/handmade/{name}.in").read_bytes())
    answer, note = answer_of(instance, "layered")
    assert (answer.total, note) == (best, "optimal")


def test_the_anchors_of_the_test_data_are_what_the_methods_collect_and_optima() -> None:
    for path in sorted(PACKAGE.glob("data/s*/*.in")):
        instance = read_instance(path.read_bytes())
        answer, note = answer_of(instance, "layered")
        assert note == "optimal", path.stem
        assert optimiza.write_reference(instance, answer, seed=1) == path.with_suffix(".ans").read_text()


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_walks_inside_a_group_are_as_good_as_all_paths_say(seed: int) -> None:
    near, worth, value = drawn_group(seed)
    group, expected = group_of(near, worth, value), slow_inside(near, worth, value)
    for solve in (mask_dp._Filler().solve, layered.solve_group):
        found = solve(group, Clock(1.0, 1000))
        assert (found.gains, found.proved) == (expected, True)
        for start, walk in enumerate(found.walks):
            assert walk[0] == start
            assert gain_of(group, near, walk) == expected[start]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_the_frontier_alone_proves_every_start_from_nothing(seed: int) -> None:
    near, worth, value = drawn_group(seed)
    group, count = group_of(near, worth, value), len(near)
    gains = np.array([value + w for w in worth], np.int32)
    walks = np.full((count, count), -1, np.int32)
    walks[:, 0] = np.arange(count)
    proved = np.zeros(count, np.bool_)
    layered.prove(group, gains, walks, proved, Clock(1.0, 1000))
    assert proved.all()
    assert gains.tolist() == slow_inside(near, worth, value)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_the_frontier_finds_the_cheapest_walk_below_its_limit(seed: int) -> None:
    near, worth, value = drawn_group(seed, most=6)
    chance = random.Random(seed)
    costs = states.Costs(
        np.array([chance.randint(0, 30) for _ in near], np.int32), np.array(worth, np.int32), left_out=value
    )
    group = group_of(near, worth, value)

    def cost(walk: tuple[int, ...] | list[int]) -> int:
        return int(costs.start[walk[0]] + costs.end[walk[-1]]) + value * (len(near) - len(walk))

    walks = [walk for length in range(2, len(near) + 1) for walk in permutations(range(len(near)), length)]
    cheapest = min(cost(walk) for walk in walks if all(b in near[a] for a, b in pairwise(walk)))
    for limit in (cheapest, cheapest + 1, cheapest + 50):
        ended, walk = frontier.Frontier(group.near).cheapest(costs, limit, Clock(1.0, 1000))
        assert ended
        assert bool(walk) == (limit > cheapest)
        if walk:
            gain_of(group, near, walk)
            assert min(cost(walk), cost(walk[::-1])) == cheapest


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_the_order_of_the_frontier_has_the_width_it_says(seed: int) -> None:
    near, worth, value = drawn_group(seed, most=14)
    order = np.empty(len(near), np.int32)
    width = frontier._order(group_of(near, worth, value).near, order)
    front: set[int] = set()
    widest = 0
    for at, cell in enumerate(order.tolist()):
        front |= {cell, *near[cell]} - set(order[:at].tolist())
        widest = max(widest, len(front))
        front.discard(cell)
    assert sorted(order.tolist()) == list(range(len(near)))
    assert width == widest


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 30))
def test_a_search_cut_short_claims_no_more_than_it_has_and_turns_only_gain(seed: int, visits: int) -> None:
    near, worth, value = drawn_group(seed, most=10)
    group, count = group_of(near, worth, value), len(near)
    gains, walks = np.zeros(count, np.int32), np.full((count, count), -1, np.int32)
    proved = np.zeros(count, np.bool_)
    search.go_deep(group.near, group.worth, value, visits, gains, walks, proved)
    before = gains.copy()
    search.turn_fronts(group.near, value, gains, walks)
    assert (gains >= before).all()
    before = gains.copy()
    rotations.turn_ends(group.near, group.worth, value, visits, gains, walks, proved)
    assert (gains >= before).all()
    expected = np.array(slow_inside(near, worth, value)) if count <= 8 else None
    for start in range(count):
        assert gain_of(group, near, [cell for cell in walks[start].tolist() if cell >= 0]) == gains[start]
        assert gains[start] <= search.highest(group.worth, value, start)
        if expected is not None:
            assert gains[start] == expected[start] if proved[start] else gains[start] <= expected[start]


@pytest.mark.parametrize(("side", "count"), [(6, 36), (7, 41), (8, 41)])
def test_blocks_that_wrap_around_are_proved_too(side: int, count: int) -> None:
    """The widest groups there are: any cells of a small torus of eight neighbours each."""
    for seed in range(3):
        chance = random.Random(seed)
        cells = chance.sample([(r, c) for r in range(side) for c in range(side)], count)
        near = tuple(
            frozenset(
                b
                for b, other in enumerate(cells)
                if b != a and all((x - y) % side in (0, 1, side - 1) for x, y in zip(cell, other, strict=True))
            )
            for a, cell in enumerate(cells)
        )
        group = group_of(near, [chance.choice([0, chance.randint(300, 900)]) for _ in cells], 8)
        found = layered.solve_group(group, Clock(1.0, 1000))
        assert found.proved
        assert [gain_of(group, near, walk) for walk in found.walks] == found.gains


@given(st.integers(1, 2**64 - 1))
def test_bits_are_counted_and_the_lowest_is_found(bits: int) -> None:
    assert search.count_bits(np.uint64(bits)) == bits.bit_count()
    assert search.lowest(np.uint64(bits)) == (bits & -bits).bit_length() - 1


def slow_walk_back(instance: Instance, end: int, *, warily: bool = False) -> list[int]:
    """Twin of the greedy walks, in the statement's words; `warily` prefers the fewest ways on, none last."""
    values, table = instance.values, destinations(instance).tolist()
    walk, used = [end], {end}
    steps: set[tuple[int, int]] = set()
    while True:
        here = walk[0]
        before = [cell for cell in range(len(values)) if here in table[cell] and 0 < values[cell] <= values[here]]
        if instance.rules.by_step:
            before = [cell for cell in before if (cell, here) not in steps]
        else:
            before = [cell for cell in before if cell not in used]
        if not before:
            return walk

        def ways(cell: int) -> int:
            others = [at for at in range(len(values)) if cell in table[at] and values[at] == values[cell]]
            free = [at for at in others if ((at, cell) not in steps if instance.rules.by_step else at not in used)]
            return len(free) or 1000

        chosen = max(before, key=lambda cell: (values[cell], -ways(cell) if warily else 0, -cell))
        steps.add((chosen, here))
        used.add(chosen)
        walk.insert(0, chosen)


@pytest.mark.parametrize("variant", ["torus8", "torus4", "edge8", "klein8", "hex"])
def test_greedy_walks_are_those_of_the_statement(variant: str) -> None:
    for seed in range(6):
        instance = make_instance(variant, 4 + seed % 3, seed)
        board = board_of(instance)
        slow = {int(end): slow_walk_back(instance, int(end)) for end in board.cells}
        for end, walk in slow.items():
            assert greedy.walk_back(board, end).tolist() == walk
        greatest = instance.values.index(instance.size)
        others = [sum(instance.values[cell] for cell in walk) for end, walk in slow.items() if end != greatest]
        x, y = (optimiza.solve(instance, method=m, seed=1, seconds=60).total for m in ("greedy-x", "greedy-y"))
        assert (x, y) == (sum(instance.values[cell] for cell in slow[greatest]), max(others))


@pytest.mark.parametrize("variant", ["torus8", "torus4", "edge8", "klein8", "hex"])
def test_wary_walks_are_those_of_their_slow_twin(variant: str) -> None:
    for seed in range(6):
        instance = make_instance(variant, 4 + seed % 3, seed)
        board = board_of(instance)
        slow = {int(end): slow_walk_back(instance, int(end), warily=True) for end in board.cells}
        for end, walk in slow.items():
            assert wary.walk_back_warily(board, end).tolist() == walk
        most = max(board.sum_of(np.array(walk)) for walk in slow.values())
        assert optimiza.solve(instance, method="greedy-wary", seed=1, seconds=60).total == most


def test_a_wary_walk_collects_the_whole_board_of_two_by_hand() -> None:
    """Worked by hand: three cells of value 1, each beside all others, lead one into the next and then into the 2."""
    board = board_of(read_instance(b"2\n1 1\n1 2\n"))
    assert board.sum_of(wary.walk_back_warily(board, 3)) == 5


def test_the_greedy_walk_worked_out_by_hand() -> None:
    """To the 4 from the 3 beside it, three more 3 (the first row by row), then all 1."""
    instance = read_instance(b"4\n1 1 2 2\n1 3 3 2\n1 3 2 2\n1 3 3 4\n")
    answer = optimiza.solve(instance, method="greedy-x", seed=1, seconds=60)
    assert answer.total == 21
    assert answer.cells == ((4, 1), (3, 1), (2, 1), (1, 1), (1, 2), (2, 3), (2, 2), (3, 2), (4, 3), (4, 4))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (["n=1"], "expected n from 2 to 40 for kind random, found 1"),
        (["n=41"], "expected n from 2 to 40 for kind random, found 41"),
        (["n=3", "kind=dense"], "expected n from 4 to 40 for kind dense, found 3"),
        (["n=4.5"], "expected n from 2 to 40 for kind random, found 4.5"),
        (["n="], "expected n from 2 to 40 for kind random, found "),
        (["n"], "expected n from 2 to 40 for kind random, found "),
        (["size=4"], "expected parameters ['kind', 'n', 'variant'], found ['size']"),
        (["kind=round"], "expected a kind of dense, ragged, random, found round"),
        (["kind=ragged", "variant=hex"], "expected a board that wraps plainly for kind ragged, found hex"),
    ],
)
def test_the_generator_says_what_it_cannot_make(
    params: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["generate.py", "--seed", "1", *params])
    with pytest.raises(SystemExit) as ended:
        generate.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(f"error: {message}\n")


def test_brute_force_goes_on_where_it_was_interrupted() -> None:
    board = board_of(make_instance("torus8", 6, 3))
    whole, parts = interrupted(board, [4000]), interrupted(board, [1, 99, 1900, 2000])
    assert whole == parts


def interrupted(board: Board, turns: list[int]) -> tuple[list[int], list[int]]:
    """Search in several turns; gives the place and the best walk so far."""
    cells, steps, best = (np.zeros(len(board.values) + 1, np.int32) for _ in range(3))
    used, place = np.zeros(len(board.values), np.bool_), np.zeros(6, np.int64)
    for turn in turns:
        brute._go_on(board.values, board.begin, board.to, board.by_step, cells, steps, used, place, best, turn)
    return place.tolist(), best.tolist()


def test_brute_force_counts_the_cells_that_it_visited() -> None:
    """On two cells of 1 and none else to go to from 2: from each 1 the other two 1 and the 2, in every order."""
    found = brute.walk_everywhere(board_of(read_instance(b"2\n1 1\n1 2\n")), Clock(60.0, 10))
    walks = [walk for length in range(1, 5) for walk in permutations((1, 1, 1, 2), length) if 2 not in walk[:-1]]
    assert (found.states, found.proved) == (len(walks), True)


def test_the_table_of_sets_reports_the_sets_that_it_has_seen() -> None:
    heard: list[Report] = []

    class EveryStep(Clock):
        def report(self, **what: object) -> None:
            heard.append(Report(self.fraction, states=what["states"]))  # type: ignore[arg-type]

    clock = EveryStep(60.0, 10_000)
    found = mask_dp.fill_masks(board_of(make_instance("torus8", 17, 1, "dense")), clock)
    states = [report.states for report in heard]
    assert states == sorted(states)
    assert states[-1] == found.states >= clock.taken * mask_dp.SETS_A_STEP > 0


def test_longest_trails_use_every_step_but_a_shortest_way_back() -> None:
    triangle_with_tail = [[1, 2], [0, 2], [0, 1, 3], [2]]
    lengths = trails.longest_trails(triangle_with_tail)
    assert lengths.tolist() == [[8, 7, 7, 6], [7, 8, 7, 6], [7, 7, 8, 7], [6, 6, 7, 8]]
    for start in range(4):
        for end in range(4):
            trail = trails.longest_trail(triangle_with_tail, start, end)
            assert (trail[0], trail[-1], len(trail) - 1) == (start, end, lengths[start, end])
            assert len(set(pairwise(trail))) == len(trail) - 1


@pytest.mark.parametrize("method", sorted(optimiza.METHODS))
def test_a_method_that_is_asked_to_stop_gives_its_best_so_far(method: str) -> None:
    instance = make_instance("torus8", 20, 1, "dense")
    heard: list[Report] = []

    def stop(report: Report) -> bool:
        heard.append(report)
        return False

    answer = optimiza.solve(instance, method=method, seed=1, seconds=3600, progress=stop)
    assert read_answer(write_answer(answer).encode(), instance) == answer
    assert (heard[-1].fraction, heard[-1].best) == (1.0, answer.total)


def test_without_budget_the_reference_still_walks_well_and_claims_nothing() -> None:
    instance = make_instance("torus8", 30, 2, "ragged")
    heard: list[Report] = []
    short = optimiza.solve(instance, method="layered", seed=1, seconds=1, steps=1, progress=heard.append)
    best, note = answer_of(instance, "layered")
    assert (heard[-1].note, note) == ("", "optimal")
    assert best.total * 9 // 10 < short.total <= best.total


def test_the_table_of_sets_says_what_is_beyond_it() -> None:
    with pytest.raises(Unsolved, match="joins 24 cells"):
        optimiza.solve(make_instance("torus8", 23, 1, "dense"), method="mask-dp", seed=1, seconds=60)
    with pytest.raises(Unsolved, match="say nothing where steps"):
        optimiza.solve(make_instance("edge8", 5, 1), method="mask-dp", seed=1, seconds=60)


@pytest.mark.parametrize("steps", [0, 2, 20])
def test_out_of_budget_the_table_of_sets_gives_the_best_walk_of_the_layers_done(steps: int) -> None:
    instance = make_instance("torus8", 18, 1, "dense")
    heard: list[Report] = []
    answer = optimiza.solve(instance, method="mask-dp", seed=1, seconds=60, steps=steps, progress=heard.append)
    assert read_answer(write_answer(answer).encode(), instance) == answer
    assert (heard[-1].best, heard[-1].note) == (answer.total, "")
    assert 18 <= answer.total < answer_of(instance, "layered")[0].total


def test_no_board_with_a_composite_size_lets_a_walk_visit_all_cells() -> None:
    """Inside the layer of N's greatest divisor a walk stays on q * q cells, q the least prime."""
    for seed in range(5):
        instance = make_instance("torus8", 6, seed, "dense")
        answer, _ = answer_of(instance, "layered")
        inside = sum(instance.values[(r - 1) * 6 + c - 1] == 3 for r, c in answer.cells)
        assert inside <= 4


def test_the_reference_file_gives_greedy_walks_their_shares() -> None:
    instance = make_instance("torus8", 12, 5, "ragged")
    answers = {method: answer_of(instance, method)[0] for method in ("greedy-x", "greedy-y", "layered")}
    reference = optimiza.write_reference(instance, answers["layered"], seed=1).encode()
    shares = {method: score_answer(instance, answer, reference).multiplier for method, answer in answers.items()}
    assert [float(share or 0) for share in shares.values()] == [0.3, 0.6, 1.0]
