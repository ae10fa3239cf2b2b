"""Optimiza's checker says what the statement says: worked by hand, and its tables compared with slow twins."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers import optimiza
from checkers.doors import Rejected
from checkers.numbers import place
from checkers.optimiza import (
    Answer,
    check_reference,
    most_collected,
    read_answer,
    read_instance,
    score_answer,
    write_answer,
)
from checkers.rules.optimiza import VARIANTS, Instance, destinations
from problems.optimiza.input_validators import validate

BOARD = b"4\n1 1 2 2\n1 3 3 2\n1 3 2 2\n1 3 3 4\n"
WALK = b"6\n4\n4 1\n1 1\n1 4\n3 4\n"

boards = st.tuples(st.sampled_from(sorted(VARIANTS)), st.integers(2, 9), st.integers(0, 2**32))


def make_instance(variant: str, size: int, seed: int) -> Instance:
    """A board with its numbers in any order."""
    triangle = variant == "hex"
    copies = {k: size + 1 - k if triangle else (size + 1 if k < size else 1) for k in range(1, size + 1)}
    numbers = [k for k, count in copies.items() for _ in range(count)]
    random.Random(seed).shuffle(numbers)
    widths = [row + 1 if triangle else size for row in range(size)]
    rows = [" ".join(str(numbers.pop()) for _ in range(width)) for width in widths]
    return read_instance("\n".join([f"{size} {variant}", *rows, ""]).encode())


def slow_destinations(instance: Instance, row: int, column: int) -> set[tuple[int, int]]:
    """Twin of the table: one cell at a time in each direction, as the statement says; rows and columns from 0."""
    size, variant = instance.size, instance.variant
    all_directions = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0)]
    if variant == "torus4":
        all_directions = [(down, right) for down, right in all_directions if down == 0 or right == 0]
    if variant == "hex":
        all_directions = [(down, right) for down, right in all_directions if down * right >= 0]
    found = set()
    for direction in all_directions:
        (down, right), r, c = direction, row, column
        for _ in range(instance.values[row * size + column]):
            r, c = r + down, c + right
            if variant == "klein8" and r in (-1, size):
                c, right = size - 1 - c, -right
            if variant == "hex" and not 0 <= c <= r < size:
                break
            r, c = r % size, c % size
        else:
            found.add((r, c))
    return found - {(row, column)}


@settings(max_examples=300, deadline=None)
@given(boards)
def test_every_cell_leads_where_its_slow_twin_walks(drawn: tuple[str, int, int]) -> None:
    instance = make_instance(*drawn)
    table = destinations(instance)
    for cell, ends in enumerate(table.tolist()):
        row, column = divmod(cell, instance.size)
        listed = [divmod(end, instance.size) for end in ends if end >= 0]
        expected = slow_destinations(instance, row, column) if instance.values[cell] else set()
        assert len(listed) == len(set(listed))
        assert set(listed) == expected


@settings(max_examples=100, deadline=None)
@given(boards)
def test_a_step_inside_a_layer_can_be_taken_back(drawn: tuple[str, int, int]) -> None:
    instance = make_instance(*drawn)
    table = destinations(instance)
    for cell, ends in enumerate(table.tolist()):
        for end in ends:
            if end >= 0 and instance.values[end] == instance.values[cell]:
                assert cell in table[end]


def test_a_walk_over_two_borders_collects_its_cells() -> None:
    instance = read_instance(BOARD)
    score = score_answer(instance, read_answer(WALK, instance))
    assert (score.raw, score.max_raw, score.multiplier) == (6, 34, None)
    assert score.message.text == "6 collected on 4 cells"


def test_leaving_by_the_top_of_a_klein_board_mirrors_the_columns() -> None:
    instance = read_instance(b"4 klein8\n" + BOARD[2:])
    assert read_answer(b"5\n2\n1 1\n4 4\n", instance).total == 5
    assert read_answer(b"4\n2\n1 2\n4 3\n", instance).total == 4
    with pytest.raises(Rejected, match=r"expected a cell 1 away from \(1, 2\)"):
        read_answer(b"2\n2\n1 2\n4 1\n", instance)


def test_a_triangle_has_six_directions_and_no_way_over_its_border() -> None:
    instance = read_instance(b"3 hex\n1\n2 1\n3 1 2\n")
    ways = {cell: {int(end) for end in ends if end >= 0} for cell, ends in enumerate(destinations(instance))}
    assert ways[0] == {3, 4}, "row 1 leads down, and down with one to the right"
    assert ways[3] == set(), "two cells from the left end of row 2 there is nothing but the border"
    assert ways[4] == {0, 3, 7, 8}
    assert ways[6] == set(), "a 3 in the corner leads off the board everywhere"
    assert ways[8] == {0, 6}


def test_a_cell_counts_at_each_visit_where_only_steps_may_not_repeat() -> None:
    instance = read_instance(b"3 edge8\n1 2 1\n2 3 1\n1 2 2\n")
    assert read_answer(b"3\n3\n1 1\n1 3\n1 1\n", instance).total == 3
    with pytest.raises(Rejected, match=r"^cell 4 \(line 6\): expected a step not made before, found that of cell 2"):
        read_answer(b"4\n4\n1 1\n1 3\n1 1\n1 3\n", instance)


@pytest.mark.parametrize(
    ("total", "x", "y", "best", "multiplier"),
    [
        (26, 10, 20, 26, Fraction(1)),
        (27, 10, 20, 26, Fraction(1)),
        (20, 10, 20, 26, Fraction(6, 10)),
        (23, 10, 20, 26, Fraction(8, 10)),
        (15, 10, 20, 26, Fraction(45, 100)),
        (10, 10, 20, 26, Fraction(3, 10)),
        (5, 10, 20, 26, Fraction(15, 100)),
        (10, 20, 10, 26, Fraction(3, 10)),
        (20, 20, 10, 26, Fraction(6, 10)),
        (20, 20, 20, 26, Fraction(6, 10)),
        (10, 20, 20, 26, Fraction(15, 100)),
        (26, 10, 26, 26, Fraction(1)),
        (18, 10, 26, 26, Fraction(45, 100)),
        (26, 26, 26, 26, Fraction(1)),
        (13, 26, 26, 26, Fraction(15, 100)),
    ],
)  # fmt: skip
def test_points_grow_from_anchor_to_anchor_and_the_greater_share_counts(
    total: int, x: int, y: int, best: int, multiplier: Fraction
) -> None:
    reference = f"x {x}\ny {y}\nbest {best}\n".encode()
    assert score_answer(read_instance(BOARD), Answer(total, ((1, 1),)), reference).multiplier == multiplier


@pytest.mark.parametrize(
    "reference",
    [b"", b"5\n", b"x a\ny 2\nbest 3\n", b"y 1\nx 2\nbest 3\n", b"x 1\ny 2\nbest 3\n4\n", b"x -1 y 2 best 3"],
)
def test_a_broken_reference_file_is_the_judges_fault(reference: bytes) -> None:
    instance = read_instance(BOARD)
    with pytest.raises(ValueError, match="reference: expected"):
        score_answer(instance, read_answer(WALK, instance), reference)
    with pytest.raises(Rejected, match="reference: expected"):
        check_reference(reference, instance)


@pytest.mark.parametrize("anchors", [(0, 1, 2), (3, 1, 2), (1, 3, 2), (1, 2, 35)])
def test_anchors_are_refused_that_no_walk_can_have(anchors: tuple[int, int, int]) -> None:
    x, y, best = anchors
    with pytest.raises(Rejected, match="expected 1 <= x, y <= best <= 34"):
        check_reference(f"x {x}\ny {y}\nbest {best}\n".encode(), read_instance(BOARD))


def test_an_answer_is_read_back_as_it_was_written() -> None:
    instance = read_instance(BOARD)
    answer = read_answer(WALK, instance)
    assert answer == Answer(6, ((4, 1), (1, 1), (1, 4), (3, 4)))
    assert write_answer(answer).encode() == WALK


def test_lines_are_counted_for_a_refusal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting them for each cell of a legal walk behind 2 MiB of line feeds took seconds."""
    asked: list[int] = []

    def count_lines(data: bytes, offset: int) -> str:
        asked.append(offset)
        return place(data, offset)

    monkeypatch.setattr(optimiza, "place", count_lines)
    instance, padding = read_instance(BOARD), b"\n" * 100
    assert read_answer(padding + WALK, instance).total == 6
    assert asked == []
    with pytest.raises(Rejected, match=r"^cell 2 \(line 104\): expected a cell 1 away"):
        read_answer(padding + b"2\n2\n1 1\n1 3\n", instance)
    assert len(asked) == 1


@settings(max_examples=100, deadline=None)
@given(boards)
def test_no_walk_collects_more_than_the_bound(drawn: tuple[str, int, int]) -> None:
    instance = make_instance(*drawn)
    table, chance = destinations(instance), random.Random(drawn[2])
    cell = chance.choice([at for at, value in enumerate(instance.values) if value])
    walk, used = [cell], {cell}
    while True:
        ends = [end for end in table[cell].tolist() if end >= 0 and instance.values[end] >= instance.values[cell]]
        ends = [end for end in ends if ((cell, end) if instance.rules.by_step else end) not in used]
        if not ends:
            break
        end = chance.choice(ends)
        used.add((cell, end) if instance.rules.by_step else end)
        cell = end
        walk.append(cell)
    cells = [(cell // instance.size + 1, cell % instance.size + 1) for cell in walk]
    answer = Answer(sum(instance.values[cell] for cell in walk), tuple(cells))
    assert read_answer(write_answer(answer).encode(), instance) == answer
    assert answer.total <= most_collected(instance)


@pytest.mark.parametrize("head", [b"", b"1", b"41", b"04", b"+4", b"4.0", b"\xd9\xa4", b"1" + b"0" * 4000])
def test_a_board_has_a_size_from_2_to_40(head: bytes) -> None:
    with pytest.raises(Rejected, match="line 1: expected a size from 2 to 40"):
        read_instance(head + BOARD[1:])


@pytest.mark.parametrize("variant", [b"", b"duel", b"TORUS8", b"torus8 ", b"hex\r", b"\xff"])
def test_a_board_has_a_variant_that_is_known(variant: bytes) -> None:
    with pytest.raises(Rejected, match="line 1: expected a variant of torus8, torus4, edge8, klein8, hex"):
        read_instance(b"4 " + variant + BOARD[1:])


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (BOARD[:-1], "end of file: expected 4 rows, each ended by a line feed, found no line feed at the end"),
        (BOARD + b"\n", "end of file: expected 4 rows, each ended by a line feed, found 5 rows"),
        (BOARD.replace(b"4\n", b"5\n", 1), "end of file: expected 5 rows, each ended by a line feed, found 4 rows"),
        (BOARD.replace(b"1 1 2 2", b"1 1 2"), "line 2: expected 4 numbers, found 3"),
        (BOARD.replace(b"1 1 2 2", b"1 1  2 2"), 'line 2: expected numbers 1..4 with single spaces between, found ""'),
        (BOARD.replace(b"3 4", b"3 5"), 'line 5: expected numbers 1..4 with single spaces between, found "5"'),
        (BOARD.replace(b"3 4", b"3 04"), 'line 5: expected numbers 1..4 with single spaces between, found "04"'),
        (BOARD.replace(b"3 4", b"4 4"), "board: expected 5 times the number 3, found 4"),
        (BOARD.replace(b"3 4", b"3 3"), "board: expected 5 times the number 3, found 6"),
    ],
)
def test_a_malformed_board_is_refused_with_the_place(data: bytes, text: str) -> None:
    with pytest.raises(Rejected) as caught:
        read_instance(data)
    assert str(caught.value) == text


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Up to three times: put a word in, take some bytes out, exchange two numbers, or put a word behind the size."""
    words = b" |\n|\r|\t|\0|0|1|2|01|-1|+1|40|41|hex|klein8| edge8|torus4|duel|\xef\xbb\xbf|\xc2\xa0|\x0c".split(b"|")
    for _ in range(chance.randrange(4)):
        begin = chance.randrange(len(data) + 1)
        kind = chance.randrange(4)
        if kind == 3:
            head, end, rows = data.partition(b"\n")
            data = head + chance.choice([b" torus8", b" klein8", b" hex", b" ", b"\t"]) + end + rows
        elif kind == 2:
            numbers = data.split(b" ")
            i, j = chance.randrange(len(numbers)), chance.randrange(len(numbers))
            numbers[i], numbers[j] = numbers[j], numbers[i]
            data = b" ".join(numbers)
        else:
            data = data[:begin] + (chance.choice(words) if kind else b"") + data[begin + chance.randrange(3) :]
    return data


def is_board(data: bytes) -> bool:
    try:
        read_instance(data)
    except Rejected:
        return False
    return True


def is_valid(data: bytes) -> bool:
    try:
        validate.validate(data)
    except validate.Malformed:
        return False
    return True


def test_the_validator_refuses_the_boards_that_the_checker_refuses() -> None:
    folder, chance = Path(__file__).parents[2] / "problems/optimiza/data", random.Random(1)
    samples = [path.read_bytes() for path in sorted(folder.glob("*/*.in")) if path.stat().st_size < 200]
    verdicts = []
    for _ in range(4000):
        data = damaged(chance.choice(samples), chance)
        assert is_board(data) == is_valid(data), data
        verdicts.append(is_board(data))
    assert min(verdicts.count(True), verdicts.count(False)) > 500


def test_every_refusal_of_the_package_is_in_the_words_written_beside_it() -> None:
    folder = Path(__file__).parents[2] / "problems/optimiza/data/invalid_output"
    seen = 0
    for path in sorted(folder.glob("*.out")):
        instance = optimiza.read_instance(path.with_suffix(".in").read_bytes())
        with pytest.raises(Rejected) as caught:
            read_answer(path.read_bytes(), instance)
        description = path.with_suffix(".yaml").read_text().removeprefix("description: ").strip()
        assert str(caught.value) == json.loads(description)
        seen += 1
    assert seen >= 50
