"""Netgame's checker says what the statement says: worked by hand, and compared with a twin that plays with ropes."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest

from checkers.doors import Rejected
from checkers.netgame import (
    FIRST,
    SECOND,
    Answer,
    check_reference,
    read_answer,
    read_instance,
    score_answer,
    winning_ropes,
    write_answer,
)
from checkers.rules.netgame import Instance, sides_of, whole_cells

PROBLEM = Path(__file__).parents[2] / "problems/netgame"

# Two cells side by side, (0,0) and (1,0), and a rope that bounds nothing:
#   +-+-+
#   | | |
#   +-+-+-
# Rope 6 lies between the cells: cutting it ends the game. After any other legal cut one cell is left for the other.
NET = b"8\n0 0 1 0\n2 0 1 0\n0 0 0 1\n0 1 1 1\n1 1 2 1\n1 1 1 0\n2 0 2 1\n3 0 2 0\n"
WINS = b"1\n6\n"

# Worked by hand: what is drawn, the winner and all winning ropes.
BY_HAND = {
    "a rope alone": (b"1\n7 7 7 8\n", []),
    "three sides of a cell": (b"3\n0 0 0 1\n0 1 1 1\n1 1 1 0\n", []),
    "a cell": (b"4\n0 0 0 1\n0 1 1 1\n1 1 1 0\n1 0 0 0\n", [1, 2, 3, 4]),
    "a cell in the far corner": (b"4\n50 50 49 50\n49 49 50 49\n49 50 49 49\n50 49 50 50\n", [1, 2, 3, 4]),
    "two cells side by side": (NET, [6]),
    "two cells one above the other": (b"7\n5 5 6 5\n5 6 6 6\n5 7 6 7\n5 5 5 6\n6 5 6 6\n5 6 5 7\n6 6 6 7\n", [2]),
    # Each cut opens one cell, and there are two.
    "two cells that touch at a corner": (
        b"8\n0 0 1 0\n0 1 1 1\n0 0 0 1\n1 0 1 1\n1 1 2 1\n1 2 2 2\n1 1 1 2\n2 1 2 2\n",
        [],
    ),
    # Cells A B C in a row: opening B (rope 2 above it, 5 below it) leaves two apart, which are lost. A or C alone
    # leaves two side by side, and AB or BC leaves one: won.
    "a row of three cells": (
        b"10\n0 1 1 1\n1 1 2 1\n2 1 3 1\n0 0 1 0\n1 0 2 0\n2 0 3 0\n0 0 0 1\n1 0 1 1\n2 0 2 1\n3 0 3 1\n",
        [2, 5],
    ),
    # Whatever is cut, the second player leaves two cells that touch at a corner, or none.
    "a square of four cells": (
        b"12\n0 0 1 0\n1 0 2 0\n0 1 1 1\n1 1 2 1\n0 2 1 2\n1 2 2 2\n"
        b"0 0 0 1\n0 1 0 2\n1 0 1 1\n1 1 1 2\n2 0 2 1\n2 1 2 2\n",
        [],
    ),
}

# Handed down with the inputs of the same names: the winner and all winning ropes.
KNOWN = {
    "sample/01-sample": "1 6",
    "sample/02-sample": "2",
    "secret/1-n13/101-one-rope": "2",
    "secret/1-n13/102-cell-at-0-0": "1 1 2 3 4",
    "secret/1-n13/103-cell-at-49-49": "1 1 2 3 4",
    "secret/1-n13/104-square-2x2": "2",
    "secret/3-n50/301-block-4x5": "1 34",
    "secret/3-n50/302-row-1x16": "1 5 16 21 31 34",
    "secret/3-n50/303-block-4x5-minus": "2",
}

Ropes = frozenset[frozenset[tuple[int, int]]]


def drawn(width: int, height: int) -> list[tuple[int, int, int, int]]:
    """All ropes of a block of cells, smaller ends first."""
    level = [(x, y, x + 1, y) for x in range(width) for y in range(height + 1)]
    return level + [(x, y, x, y + 1) for x in range(width + 1) for y in range(height)]


def slow_cuts(ropes: Ropes) -> set[frozenset[tuple[int, int]]]:
    """Twin of the legal cuts: go around every unit square and see whether all four ropes are there."""
    found: set[frozenset[tuple[int, int]]] = set()
    for x in range(5):
        for y in range(5):
            ring = [(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)]
            sides = {frozenset({ring[i], ring[i - 1]}) for i in range(4)}
            found |= sides if sides <= ropes else set()
    return found


@cache
def slow_wins(ropes: Ropes) -> bool:
    """Twin of the table: play every cut."""
    return any(not slow_wins(ropes - {rope}) for rope in slow_cuts(ropes))


def slow_winning(instance: Instance) -> set[int]:
    """Twin of the winning ropes."""
    ropes = [frozenset({(a, b), (c, d)}) for a, b, c, d in instance.ropes]
    everything = frozenset(ropes)
    legal = slow_cuts(everything)
    return {i for i, rope in enumerate(ropes, 1) if rope in legal and not slow_wins(everything - {rope})}


def test_the_winning_ropes_are_those_of_a_slow_twin_that_plays_every_cut() -> None:
    for seed in range(500):
        draws = random.Random(seed)
        ropes = drawn(*draws.choice([(1, 1), (2, 1), (2, 2), (4, 1), (3, 2)]))
        draws.shuffle(ropes)
        instance = Instance(tuple(ropes[: draws.randint(max(1, len(ropes) - 4), len(ropes))]))
        assert winning_ropes(instance) == slow_winning(instance)


def test_small_nets_come_out_as_by_hand() -> None:
    for name, (data, winning) in BY_HAND.items():
        assert winning_ropes(read_instance(data)) == set(winning), name


def test_eight_cells_in_a_ring_make_the_ninth_whole() -> None:
    cells = [(x, y) for x in range(3) for y in range(3) if (x, y) != (1, 1)]
    sides = {(x, y + up, x + 1, y + up) for x, y in cells for up in (0, 1)}
    sides |= {(x + right, y, x + right, y + 1) for x, y in cells for right in (0, 1)}
    instance = Instance(tuple(sorted(sides)))
    assert len(instance.ropes) == 24
    assert (1, 1) in whole_cells(instance)
    assert sorted(side.bit_count() for side in sides_of(whole_cells(instance), 24)) == [1] * 12 + [2] * 12


@pytest.mark.parametrize(("case", "expected"), KNOWN.items())
def test_the_answers_handed_down_are_reproduced(case: str, expected: str) -> None:
    instance = read_instance((PROBLEM / f"data/{case}.in").read_bytes())
    winner, *winning = map(int, expected.split())
    assert winning_ropes(instance) == set(winning)
    assert winner == (FIRST if winning else SECOND)
    assert (PROBLEM / f"data/{case}.ans").read_text().split() == expected.split()


@pytest.mark.parametrize("reference", [WINS, None])
def test_a_right_answer_is_worth_all_and_a_wrong_one_is_rejected_with_and_without_a_reference(
    reference: bytes | None,
) -> None:
    instance = read_instance(NET)
    score = score_answer(instance, Answer(FIRST, 6), reference)
    assert (score.raw, score.max_raw, score.multiplier, score.message.text) == (1, 1, 1, "right")
    for wrong in (Answer(SECOND), Answer(FIRST, 1), Answer(FIRST, 8)):
        with pytest.raises(Rejected, match=r"^answer: expected the winner and.*, found a wrong answer$"):
            score_answer(instance, wrong, reference)


def test_what_is_wrong_with_an_answer_is_not_told() -> None:
    said = set()
    for wrong in (Answer(SECOND), Answer(FIRST, 1)):
        with pytest.raises(Rejected) as caught:
            score_answer(read_instance(NET), wrong, WINS)
        said.add(str(caught.value))
    assert len(said) == 1


@pytest.mark.parametrize(
    "reference", [b"", b"1\n", b"2\n6\n", b"3\n", b"1\n9\n", b"1\n0\n", b"1\n6 6\n", b"1\n6 5\n", b"1\nx\n", b"1 -6\n"]
)
def test_a_broken_reference_file_is_the_judges_fault(reference: bytes) -> None:
    instance = read_instance(NET)
    with pytest.raises(ValueError, match="reference: expected"):
        score_answer(instance, Answer(FIRST, 6), reference)
    with pytest.raises(Rejected, match="reference: expected"):
        check_reference(reference, instance)


@pytest.mark.parametrize(("reference", "found"), [(b"2\n", "2"), (b"1\n5 6\n", "1 with the ropes 5 6")])
def test_a_reference_file_that_is_not_true_is_refused(reference: bytes, found: str) -> None:
    with pytest.raises(Rejected) as caught:
        check_reference(reference, read_instance(NET))
    assert str(caught.value) == f"reference: expected 1 with the ropes 6, found {found}"
    assert check_reference(WINS, read_instance(NET)).raw == 1


@pytest.mark.parametrize("answer", [Answer(SECOND), Answer(FIRST, 6), Answer(FIRST, 1)])
def test_an_answer_is_read_back_as_it_was_written(answer: Answer) -> None:
    assert read_answer(write_answer(answer).encode(), read_instance(NET)) == answer


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "end of file: expected the winner, 1 or 2, found an empty file"),
        (b"1", "end of file: expected the rope to cut, 1 to 8, found nothing after 1"),
        (b"1\n9\n", "line 2: expected the rope to cut, 1 to 8, found 9"),
        (b"1\n0\n", "line 2: expected the rope to cut, 1 to 8, found 0"),
        (b"2\n\n6\n", "line 3: expected nothing after 2, found 6"),
        (b"\n3\n", "line 2: expected the winner, 1 or 2, found 3"),
        (b"1 4294967302\n", "line 1: expected the rope to cut, 1 to 8, found 4294967302"),
        (b"1 6 6", 'line 1: expected at most 2 numbers, found more: "6"'),
    ],
)
def test_a_rejection_says_where_what_was_expected_and_what_was_found(data: bytes, text: str) -> None:
    with pytest.raises(Rejected) as caught:
        read_answer(data, read_instance(NET))
    assert str(caught.value) == text


@pytest.mark.parametrize("first", [b"", b"0", b"51", b"01", b"+1", b"1 ", b"\xd9\xa1", b"1.0", b"1" + b"0" * 5000])
def test_a_net_has_1_to_50_ropes(first: bytes) -> None:
    with pytest.raises(Rejected, match=r"^line 1: expected a number of ropes from 1 to 50"):
        read_instance(first + b"\n0 0 0 1\n")


@pytest.mark.parametrize("rope", [b"0 0 0 0", b"0 0 1 1", b"0 0 0 2", b"5 5 3 5", b"50 0 0 50"])
def test_a_rope_has_length_1(rope: bytes) -> None:
    with pytest.raises(Rejected, match=r"^line 2: expected a rope of length 1 along a grid line"):
        read_instance(b"1\n" + rope + b"\n")


@pytest.mark.parametrize(
    "rope", [b"50 50 51 50", b"-1 0 0 0", b"00 0 0 1", b"0 0 0", b"0 0 0 1 ", b"0\t0 0 1", b"0 0 0 1\r"]
)
def test_a_rope_is_four_numbers_on_the_grid(rope: bytes) -> None:
    with pytest.raises(Rejected, match=r"^line 2: expected four numbers from 0 to 50 with single spaces"):
        read_instance(b"1\n" + rope + b"\n")


@pytest.mark.parametrize("again", [b"3 4 3 5", b"3 5 3 4"])
def test_a_rope_is_there_once_whichever_end_comes_first(again: bytes) -> None:
    with pytest.raises(Rejected, match=r"^line 4: expected a new rope, found the rope of line 2 again$"):
        read_instance(b"3\n3 4 3 5\n3 4 4 4\n" + again + b"\n")
