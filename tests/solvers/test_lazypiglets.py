"""LazyPiglets' solver: all methods agree with a plain search by the statement's words, and the plans are legal."""

from __future__ import annotations

import random
import subprocess
import sys
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np
import pytest

from checkers.lazypiglets import Answer, Cell, Instance, read_answer, read_instance, score_answer, write_answer
from solvers import lazypiglets
from solvers.doors import Report, Unsolved
from solvers.lazypiglets import astar, bounds, maps, marks, runs, seen, two_ended
from solvers.lazypiglets.work import Work
from solvers.parts.clock import Clock
from tests.builders.examples import every

PACKAGE = Path(__file__).parents[2] / "problems/lazypiglets"
HANDED_DOWN = {  # the answers that came with the maps
    "01-8-4-15-rand": 17,
    "02-12-3-20-rand": 25,
    "03-22-1-25-maze": 27,
    "05-22-2-10-far": 41,
    "06-22-3-20-spread": 18,
    "08-22-4-20-spread": 29,
    "10-22-4-0-rooms": 53,
    "13-22-4-30-rand": 44,
    "15-unreachable": -1,
    "16-start-is-goal": 0,
}
SHIFTS = ((-1, 0), (0, 1), (1, 0), (0, -1))
State = frozenset[Cell]


def drawn(seed: int) -> Instance:
    """A small map with up to four piglets, one in six or so unreachable."""
    draws = random.Random(seed)
    size = draws.randint(3, 5)
    everywhere = [(r, c) for r in range(1, size + 1) for c in range(1, size + 1)]
    trees = set(draws.sample(everywhere, draws.randint(0, len(everywhere) // 2)))
    free = [cell for cell in everywhere if cell not in trees]
    count = draws.randint(1, 4 if size < 5 else 3)
    return Instance(
        size,
        bytes(cell in trees for cell in everywhere),
        tuple(draws.sample(free, count)),
        tuple(draws.sample(free, count)),
    )


def handmade(name: str) -> Instance:
    return read_instance((PACKAGE / "generators/handmade" / f"{name}.in").read_bytes())


def slow_steps(instance: Instance, pigs: State) -> set[State]:
    """Twin of the listing of steps: all states one step on, in the words of the statement."""
    after = set()
    for row, column in pigs:
        for down, right in SHIFTS:
            beside, behind = (row + down, column + right), (row + 2 * down, column + 2 * right)
            landing = behind if beside in pigs else beside
            if instance.is_inside(landing) and not instance.is_tree(landing) and landing not in pigs:
                after.add(pigs - {(row, column)} | {landing})
    return after


def slow_distances(instance: Instance, start: State) -> dict[State, int]:
    """Twin of every search: the steps to all states that can be reached."""
    steps, queue = {start: 0}, [start]
    for pigs in queue:
        for after in slow_steps(instance, pigs):
            if after not in steps:
                steps[after] = steps[pigs] + 1
                queue.append(after)
    return steps


def slow_answer(instance: Instance) -> int:
    return slow_distances(instance, frozenset(instance.pigs)).get(frozenset(instance.haystacks), -1)


def solve(instance: Instance, method: str, **limits: object) -> Answer:
    return lazypiglets.solve(instance, method=method, seed=1, **({"seconds": 60.0} | limits))  # type: ignore[arg-type]


@pytest.mark.parametrize("part", range(10))
def test_every_method_agrees_with_the_plain_search_and_plans_are_legal(part: int) -> None:
    for seed in every(3, range(60 * part, 60 * part + 60), part % 3):
        instance = drawn(seed)
        expected = slow_answer(instance)
        for method in lazypiglets.METHODS:
            answer = solve(instance, method)
            assert answer.steps == expected, (seed, method)
            if method == "reference" and expected > 0:
                assert answer.has_plan
                assert read_answer(write_answer(answer).encode(), instance) == answer


def test_the_reference_needs_no_plan_from_the_beam(monkeypatch: pytest.MonkeyPatch) -> None:
    """A beam may lose every way; the layers from both ends then find a shortest plan on their own."""
    monkeypatch.setattr(two_ended, "search_beam", lambda *_, **__: None)
    for seed in range(60):
        instance = drawn(seed)
        expected = slow_answer(instance)
        if expected == 0:
            continue  # the one plan that a beam cannot miss
        answer = lazypiglets.search(instance, "reference", Work(Clock(60.0)))
        assert answer.steps == expected, seed
        assert read_answer(write_answer(answer).encode(), instance) == answer


@pytest.mark.parametrize("name", HANDED_DOWN)
def test_the_reference_finds_the_answers_that_came_with_the_maps_and_a_plan(name: str) -> None:
    instance = handmade(name)
    answer = solve(instance, "reference")
    expected = b"%d\n" % HANDED_DOWN[name]
    assert score_answer(instance, read_answer(write_answer(answer).encode(), instance), expected).multiplier == 1
    assert answer.has_plan or HANDED_DOWN[name] == -1


@pytest.mark.parametrize("name", ["01-8-4-15-rand", "02-12-3-20-rand", "05-22-2-10-far", "06-22-3-20-spread"])
@pytest.mark.parametrize("method", lazypiglets.METHODS)
def test_all_methods_agree_on_middling_maps(name: str, method: str) -> None:
    assert solve(handmade(name), method).steps == HANDED_DOWN[name]


@pytest.mark.parametrize("seed", range(40))
def test_ranks_have_no_gaps_and_lead_back_to_the_cells(seed: int) -> None:
    field = maps.field_of(drawn(seed))
    state = np.empty(4, np.int64)
    for rank in range(field.states):
        maps.unrank(rank + field.offset, field.choose, state)
        assert (np.diff(state) > 0).all()
        assert field.rank(state) == rank


@pytest.mark.parametrize("seed", range(60))
def test_the_steps_listed_are_those_of_the_statement(seed: int) -> None:
    instance = drawn(seed)
    field = maps.field_of(instance)
    after = np.empty((16, 4), np.int64)
    listed = {
        frozenset(field.cells[cell] for cell in state if cell < field.free)
        for state in after[: maps.list_steps(field.start, field.beside, after)].tolist()
    }
    assert listed == slow_steps(instance, frozenset(instance.pigs))


def slow_runs(instance: Instance, pigs: State) -> int:
    """Twin of the runs that someone must cross on foot, cell by cell."""
    size, hay = instance.size, set(instance.haystacks)
    free = {(r, c) for r in range(1, size + 1) for c in range(1, size + 1) if not instance.is_tree((r, c))}

    def is_owed(rail: Cell, down: int, right: int) -> bool:
        """Tell whether the two sides of a rail need piglets from each other."""
        back, ahead = (rail[0] - down, rail[1] - right), (rail[0] + down, rail[1] + right)
        side = [back]
        for row, column in side:
            around = {(row + dr, column + dc) for dr, dc in SHIFTS} & free - {rail, *side}
            side += around
        return {back, ahead} <= free and ahead not in side and len(pigs & set(side)) != len(hay & set(side))

    count = 0
    for (row, column), (down, right) in product(sorted(free), ((0, 1), (1, 0))):
        if (row - down, column - right) in free:
            continue
        line = [(row, column)]
        while (line[-1][0] + down, line[-1][1] + right) in free:
            line.append((line[-1][0] + down, line[-1][1] + right))
        for rails in (line[::2], line[1::2]):
            beside = {(r + k * right, c + k * down) for r, c in rails for k in (-1, 1)}
            if len(line) > 2 and not beside & free and not set(rails) & (pigs | hay):
                count += any(is_owed(rail, down, right) for rail in rails)
    return count


def small_maze(seed: int, *params: str) -> Instance:
    command = [sys.executable, str(PACKAGE / "generators/generate.py"), "--seed", str(seed), "map=maze", *params]
    return read_instance(subprocess.run(command, capture_output=True, check=True).stdout)


def test_runs_are_crossed_on_foot() -> None:
    """Worked by hand: from end to end of an S with three runs one piglet takes 3 leaps, and 3 + 3 steps in truth."""
    instance = read_instance(b"3\n...\n##.\n...\n1\n1 1\n3 1\n")
    field = maps.field_of(instance)
    tables = bounds.bounds_to(field.goal, field)
    assert bounds.assignment(field.start, tables.leap, tables.back) == 3
    assert runs.count_runs(field.start, tables.runs.cells, tables.runs.counts) == 3
    assert solve(instance, "reference").steps == 6


def test_runs_that_fit_no_word_any_more_are_left_out() -> None:
    """A comb of 22 x 22 has more rails that part the map than there are bits; the counted ones still hold."""
    teeth = ["." * 22] * 2 + [".#" * 11] * 20
    text = "\n".join(["22", *teeth, "1", "22 1", "22 21"]) + "\n"
    field = maps.field_of(read_instance(text.encode()))
    tables = bounds.bounds_to(field.goal, field)
    crossed = runs.count_runs(field.start, tables.runs.cells, tables.runs.counts)
    assert 0 <= crossed <= slow_runs(read_instance(text.encode()), frozenset({(22, 1)}))
    assert bounds.assignment(field.start, tables.leap, tables.back) + crossed <= 60


@pytest.mark.parametrize("instance", [*map(drawn, range(60)), *(small_maze(seed, "n=5", "p=3") for seed in range(6))])
def test_no_bound_is_more_than_the_steps_that_are_needed(instance: Instance) -> None:
    field = maps.field_of(instance)
    tables = bounds.bounds_to(field.goal, field)
    numbers = {cell: number for number, cell in enumerate(field.cells)}
    padding = list(range(field.free, field.free + 4 - field.pigs))
    for pigs, steps in slow_distances(instance, frozenset(instance.haystacks)).items():
        state = np.array(sorted([*(numbers[cell] for cell in pigs), *padding]), np.int64)
        crossed = runs.count_runs(state, tables.runs.cells, tables.runs.counts)
        assert crossed == slow_runs(instance, pigs)
        assert bounds.assignment(state, tables.leap, tables.back) + crossed <= steps
        assert bounds.is_within(state, steps, tables.pairs)
        assert bounds.first_jumps(state, tables.pairs) <= 4 * steps


@pytest.mark.parametrize("seed", range(20))
def test_the_best_assignment_changes_by_one_at_most_in_a_step(seed: int) -> None:
    """What the classes of a layer and A* rely on."""
    field = maps.field_of(drawn(seed))
    tables = bounds.bounds_to(field.goal, field)
    after = np.empty((16, 4), np.int64)
    here = bounds.assignment(field.start, tables.leap, tables.back)
    for state in after[: maps.list_steps(field.start, field.beside, after)]:
        assert abs(bounds.assignment(state, tables.leap, tables.back) - here) <= 1


def slow_estimate(instance: Instance, pigs: State, name: str, exact: dict[State, int]) -> int:
    """Twin of the estimates: the best of all assignments by distances measured cell by cell."""
    if name in ("0", "perfect"):
        return exact[pigs] if name == "perfect" else 0

    def distances(start: Cell) -> dict[Cell, int]:
        steps, queue = {start: 0}, [start]
        for cell in queue:
            for down, right in SHIFTS:
                for length in range(1, 3 if name == "jumps" else 2):
                    to = (cell[0] + length * down, cell[1] + length * right)
                    if not instance.is_inside(to) or instance.is_tree(to):
                        break
                    if to not in steps:
                        steps[to] = steps[cell] + 1
                        queue.append(to)
        return steps

    far = [distances(hay) for hay in instance.haystacks]
    share = 1 if name == "jumps" else 2
    return min(
        sum(-(-far[hay].get(pig, 500) // share) for pig, hay in zip(sorted(pigs), order, strict=True))
        for order in permutations(range(len(far)))
    )


def slow_astar(instance: Instance, name: str) -> tuple[int, int, int]:
    """Twin of A*: a plain list of waiting states, sorted at each turn; steps, states expanded, states met."""
    goal, start = frozenset(instance.haystacks), frozenset(instance.pigs)
    exact = slow_distances(instance, goal)
    depths, waiting, expanded = {start: 0}, [(0, start)], 0
    while goal not in depths:
        waiting.sort(key=lambda entry: (-entry[0], sorted(entry[1])))
        pigs = waiting.pop()[1]
        expanded += 1
        for after in slow_steps(instance, pigs):
            if after not in depths or depths[after] > depths[pigs] + 1:
                depths[after] = depths[pigs] + 1
                waiting.append((depths[after] + slow_estimate(instance, after, name, exact), after))
    return depths[goal], expanded, len(depths)


@pytest.mark.parametrize("name", astar.ESTIMATES)
def test_a_star_expands_and_meets_the_states_of_its_slow_twin(name: str) -> None:
    for seed in range(12):
        instance = drawn(seed)
        field = maps.field_of(instance)
        if field.is_reachable() and field.states < 3000:
            counts = astar.search_by(astar.ESTIMATES[name](field), field, Work(Clock(60.0)))
            assert counts == slow_astar(instance, name), seed


def test_the_estimate_jumps_over_free_cells_and_over_no_tree() -> None:
    """Worked by hand: 4 steps lead round the tree, 3 with a jump over the free middle; over the tree it would be 1."""
    field = maps.field_of(read_instance(b"3\n.#.\n...\n.#.\n1\n1 1\n1 3\n"))
    estimates = {name: astar.ESTIMATES[name](field) for name in ("0", "half", "jumps")}
    assert {n: int(bounds.assignment(field.start, e.leap, e.back)) for n, e in estimates.items()} == {
        "0": 0,
        "half": 2,
        "jumps": 3,
    }
    assert astar.search_by(astar.ESTIMATES["perfect"](field), field, Work(Clock(60.0))) == (4, 4, 7)


def lane(words: np.ndarray, high: int, low: int, kind: int, q: int) -> int:
    return int(words[high, low, kind]) >> (bounds.BITS * q) & ((1 << bounds.BITS) - 1)


def test_six_lanes_are_compared_and_added_as_six_numbers() -> None:
    draws = np.random.default_rng(1)
    one, first = draws.integers(0, 300, (2, 7, 7, 6)).astype(np.int16)
    table = np.minimum(one, one.swapaxes(0, 1))
    leap, back, pairs = bounds.packed(table), bounds.packed(table[:, :, ::-1]), bounds.paired(table, first)
    cut, cut_first = (np.minimum(numbers, bounds.LARGEST).astype(np.int64) for numbers in (table, first))
    splits = [(0, 1, 2, 3), (0, 2, 1, 3), (0, 3, 1, 2)]
    for _ in range(50):
        four = np.sort(draws.choice(7, 4, replace=False))
        sums = [(cut[four[a], four[b]] + cut[four[c], four[d]][::-1]).min() for a, b, c, d in splits]
        assert bounds.assignment(four, leap, back) == min(sums)
        jumps = []
        for i in range(4):
            a, b, c, d = (four[(i + k) % 4] for k in range(4))
            rest = {b: (c, d), c: (b, d), d: (b, c)}
            jumps.append(min((cut_first[a, o] + cut[x, y][::-1]).min() for o, (x, y) in rest.items()))
        assert bounds.first_jumps(four, pairs) == sum(jumps)
        for room in range(0, 600, 7):
            assert bounds.is_within(four, room, pairs) == (max(jumps) <= room)


@pytest.mark.parametrize("seed", [1, 4, 8])
def test_the_table_of_first_jumps_is_the_least_over_all_jumps(seed: int) -> None:
    field = maps.field_of(drawn(seed))
    pairs = bounds.bounds_to(field.goal, field).pairs
    walks, leaps, beside = field.walks.astype(int), field.leaps.astype(int), field.beside
    jumps = [
        (start, beside[start, k], beside[beside[start, k], k])
        for start, k in product(range(field.free), range(4))
        if beside[start, k] >= 0 and beside[beside[start, k], k] >= 0
    ]

    def least(a: int, b: int, q: int) -> int:
        x, y = (field.goal[k] for k in bounds.PAIRS[q])
        walking = min(walks[a, x] + leaps[b, y], walks[a, y] + leaps[b, x])
        jumping = [
            walks[a, s] + leaps[b, m] + 1 + min(leaps[to, x] + leaps[m, y], leaps[to, y] + leaps[m, x])
            for s, m, to in jumps
        ]
        return min([walking, *jumping, bounds.LARGEST])

    for (low, high), q in product(combinations(range(len(beside)), 2), range(6)):
        assert lane(pairs, high, low, bounds.LOWER, q) == least(low, high, q)
        assert lane(pairs, high, low, bounds.UPPER, q) == least(high, low, q)


@pytest.mark.parametrize("seed", range(40))
def test_cells_are_found_from_any_cells_before_them(seed: int) -> None:
    field = maps.field_of(drawn(seed))
    draws = random.Random(seed)
    expected, four = np.empty(4, np.int64), np.zeros(4, np.int64)
    for _ in range(200):
        rank = draws.randrange(field.states) + field.offset
        maps.unrank(rank, field.choose, expected)
        maps.unrank_next(rank, field.choose, four)
        assert (four == expected).all()


@pytest.mark.parametrize("seed", range(40))
def test_the_states_listed_for_a_layer_are_those_one_step_away_that_are_not_marked(seed: int) -> None:
    field = maps.field_of(drawn(seed))
    table = marks.marks_of(field.states)
    start = field.rank(field.start)
    table.put(start, marks.FROM_START)
    after = np.empty((16, 4), np.int64)
    expected = {tuple(row): field.rank(row) for row in after[: maps.list_steps(field.start, field.beside, after)]}
    if expected:
        table.put(expected.popitem()[1], marks.DEAD)
    table.make_room(16)
    ranks, cells = np.empty(16, np.uint64), np.empty(16, np.int64)
    count, pages = two_ended.list_unmet(
        np.array([start], np.uint32), field.offset, field.choose, field.beside, marks.FROM_START,
        table.places, table.words, table.pages, np.zeros(4, np.int64), ranks, cells,
    )  # fmt: skip
    assert pages == np.count_nonzero(table.places)
    listed = {}
    for rank, packed in zip(ranks[:count].tolist(), cells[:count].tolist(), strict=True):
        two_ended.put_in_order(packed, after[0])
        listed[tuple(after[0])] = rank
    assert listed == expected


def test_marks_of_ranks_are_those_of_a_plain_dict_and_pages_lie_only_where_they_are() -> None:
    draws = random.Random(1)
    table = marks.marks_of(10**8)
    expected: dict[int, int] = {}
    for _ in range(20_000):
        rank = draws.randrange(1000) + draws.choice([0, 255, 10**5, 10**8 - 1000])
        if rank not in expected:
            expected[rank] = draws.randint(1, 3)
            table.put(rank, np.uint64(expected[rank]))
    for rank in (*expected, *range(1000), *range(10**8 - 1000, 10**8)):
        key = np.uint64(rank)
        page = table.places[rank >> 8]
        word = int(table.words[marks.word_of(key, table.places)]) if page else 0
        assert word >> int(marks.shift_of(key)) & 3 == expected.get(rank, 0)
    assert table.pages == len({rank >> 8 for rank in expected})
    assert table.held < 2**21


def test_a_set_of_ranks_grows_and_forgets_nothing() -> None:
    ranks = np.random.default_rng(1).integers(0, 2**32 - 1, 150_000)
    known = seen.Seen()
    for start in range(0, len(ranks), 10_000):
        known.make_room(10_000)
        known.added(sum(seen.put(known.slots, rank) for rank in ranks[start : start + 10_000]))
    assert known.count == len(set(ranks.tolist()))
    assert not any(seen.put(known.slots, rank) for rank in ranks[:1000])


def test_classes_are_widened_in_both_numbers() -> None:
    classes = np.zeros((9, 9), np.uint8)
    classes[4, 1] = classes[8, 8] = 1
    wide = {(int(f), int(n)) for f, n in np.argwhere(two_ended.widened(classes, 2))}
    assert wide == {
        (f, n) for f in range(9) for n in range(9) if (abs(f - 4) <= 2 and abs(n - 1) <= 2) or min(f, n) > 5
    }


@pytest.mark.parametrize("method", lazypiglets.METHODS)
def test_a_search_without_time_or_steps_says_so_and_has_no_answer(method: str) -> None:
    instance = handmade("10-22-4-0-rooms")
    with pytest.raises(Unsolved, match=r"steps ended|MiB would be needed"):
        solve(instance, method, steps=20)
    with pytest.raises(Unsolved, match=r"s ended|MiB would be needed"):
        solve(instance, method, seconds=0.05)


@pytest.mark.parametrize("method", lazypiglets.METHODS)
def test_a_search_reports_and_can_be_stopped(method: str) -> None:
    heard: list[Report] = []

    def listen(report: Report) -> bool:
        heard.append(report)
        return False

    instance = handmade("01-8-4-15-rand" if method == "bfs" else "10-22-4-0-rooms")
    if method == "bfs":
        lazypiglets.warm_up(method)
    with pytest.raises(Unsolved, match="it was stopped"):
        lazypiglets.search(instance, method, Work(Clock(60.0, None, listen, _reported=-1.0)))
    assert len(heard) == 1


def test_the_last_report_of_an_unreachable_map_tells_no_number_of_steps() -> None:
    heard: list[Report] = []
    solve(handmade("15-unreachable"), "reference", progress=lambda report: bool(heard.append(report)) or True)
    assert heard[-1].note == "optimal: the haystacks cannot be reached"
