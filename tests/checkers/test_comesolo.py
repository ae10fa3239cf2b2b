"""Comesolo's checker says what the statement says: worked by hand, and its kernels compared with slow twins."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers import comesolo
from checkers.comesolo import Answer, Instance, read_answer, read_instance, score_answer, write_answer
from checkers.doors import Rejected

BOARD = b"4\noo..\n.o..\n..o.\no..o\n"
PLAY = b"5\n0 0 0 2\n0 2 2 0\n3 0 1 0\n3 3 1 1\n1 0 1 2\n"
DIRECTIONS = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]

boards = st.integers(3, 7).flatmap(
    lambda size: st.lists(st.booleans(), min_size=size * size, max_size=size * size).map(
        lambda cells: Instance(size, bytes(cells))
    )
)


def slow_replay(instance: Instance, jumps: list[list[int]]) -> tuple[int, int]:
    """Twin of the replay: jump by jump over a dictionary, in the words of the statement."""
    size = instance.size
    board = {divmod(at, size): piece == 1 for at, piece in enumerate(instance.board)}
    for at, (r1, c1, r2, c2) in enumerate(jumps):
        middle = ((r1 + r2) / 2, (c1 + c2) / 2)
        step = (r2 - r1, c2 - c1)
        if (r1, c1) not in board or (r2, c2) not in board:
            return at, comesolo.OFF_BOARD
        if step not in [(2 * down, 2 * right) for down, right in DIRECTIONS]:
            return at, comesolo.NOT_A_JUMP
        if not board[r1, c1]:
            return at, comesolo.NO_PIECE
        if not board[middle]:
            return at, comesolo.NOTHING_TO_EAT
        if board[r2, c2]:
            return at, comesolo.TAKEN
        board[r1, c1] = board[middle] = False
        board[r2, c2] = True
    return len(jumps), comesolo.FINE


def slow_has_jump(instance: Instance) -> bool:
    """Twin of the search for a legal jump."""
    cells = [divmod(at, instance.size) for at in range(instance.size**2)]
    tries = [[r, c, r + 2 * down, c + 2 * right] for r, c in cells for down, right in DIRECTIONS]
    return any(slow_replay(instance, [jump])[1] == comesolo.FINE for jump in tries)


@settings(max_examples=400)
@given(data=st.data(), instance=boards)
def test_the_replay_and_its_slow_twin_stop_at_the_same_jump_for_the_same_reason(
    data: st.DataObject, instance: Instance
) -> None:
    number = st.integers(0, instance.size)
    cells = st.tuples(number, number, st.sampled_from([*DIRECTIONS, (0, 0), (1, 2)]))
    drawn = data.draw(st.lists(cells, max_size=12))
    jumps = [[r, c, max(0, r + 2 * down), max(0, c + 2 * right)] for r, c, (down, right) in drawn]
    array = np.array(jumps, np.int64).reshape(-1, 4)
    assert comesolo._replay(instance.cells(), instance.size, array) == slow_replay(instance, jumps)


@settings(max_examples=300)
@given(boards)
def test_a_legal_jump_is_found_wherever_the_slow_twin_finds_one(instance: Instance) -> None:
    assert comesolo._has_jump(instance.cells(), instance.size) == slow_has_jump(instance)


def test_a_play_that_leaves_one_piece_eats_all_others() -> None:
    instance = read_instance(BOARD)
    score = score_answer(instance, read_answer(PLAY, instance))
    assert (score.raw, score.max_raw, score.multiplier) == (5, 5, None)
    assert score.message.text == "5 of 6 pieces eaten"


def test_no_jump_at_all_is_legal_and_worth_nothing() -> None:
    instance = read_instance(BOARD)
    score = score_answer(instance, read_answer(b"0", instance), b"par 1\nbest 5\n")
    assert (score.raw, score.multiplier) == (0, 0)


@pytest.mark.parametrize(
    ("eaten", "par", "best", "multiplier"),
    [
        (5, 1, 5, Fraction(1)),
        (4, 1, 5, Fraction(3, 4)),
        (2, 1, 5, Fraction(1, 4)),
        (1, 1, 5, Fraction(1, 10)),
        (1, 3, 5, Fraction(1, 10)),
        (5, 1, 4, Fraction(1)),
        (3, 3, 3, Fraction(1)),
        (2, 3, 3, Fraction(1, 10)),
        (5, 0, 6, Fraction(5, 6)),
        (0, 5, 3, Fraction(0)),
    ],
)
def test_points_grow_exactly_from_par_to_best(eaten: int, par: int, best: int, multiplier: Fraction) -> None:
    instance = read_instance(BOARD)
    whole = read_answer(PLAY, instance)
    answer = Answer(whole.jumps[: 4 * eaten])
    assert score_answer(instance, answer, f"par {par}\nbest {best}\n".encode()).multiplier == multiplier


@pytest.mark.parametrize(
    "reference", [b"", b"5\n", b"par x\nbest 5\n", b"best 5\npar 1\n", b"par 1\nbest 5\n6\n", b"par -1 best 2"]
)
def test_a_broken_reference_file_is_the_judges_fault(reference: bytes) -> None:
    instance = read_instance(BOARD)
    with pytest.raises(ValueError, match="reference: expected"):
        score_answer(instance, read_answer(b"0", instance), reference)


def test_an_answer_is_read_back_as_it_was_written() -> None:
    instance = read_instance(BOARD)
    answer = read_answer(PLAY, instance)
    assert write_answer(answer).encode() == PLAY
    assert read_answer(write_answer(answer).encode(), instance) == answer


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "end of file: expected the number of jumps, found an empty file"),
        (b"2\n0 0 0 2\n0 2 2\n", "end of file: expected 8 numbers for 2 jumps, found 7"),
        (b"1\n0 0 0 2\n3\n", "line 3: expected nothing after 1 jumps, found 1 more numbers"),
        (b"6\n", "line 1: expected at most 5 jumps (pieces minus 1), found 6"),
        (b"2\n0 0 0 2\n0 4294967296 0 2\n", "jump 2 (line 3): expected rows and columns below 4, found 4294967296"),
        (b"1\n0 9223372036854775807 9 9\n", f"jump 1 (line 2): expected rows and columns below 4, found {2**63 - 1}"),
        (b"1\n0 0 2 2\n", "jump 1 (line 2): expected an empty cell to land on, found a piece at (2, 2)"),
        (b"1\n3 0 3 2\n", "jump 1 (line 2): expected a piece to jump over, found an empty cell at (3, 1)"),
        (b"2 0 0 0 2\n\n\n0 1 2 1", "jump 2 (line 4): expected a piece to jump with, found an empty cell at (0, 1)"),
    ],
)  # fmt: skip
def test_a_rejection_says_where_what_was_expected_and_what_was_found(data: bytes, text: str) -> None:
    with pytest.raises(Rejected) as caught:
        read_answer(data, read_instance(BOARD))
    assert str(caught.value) == text


def test_the_first_illegal_jump_is_the_one_that_is_named() -> None:
    with pytest.raises(Rejected, match=r"^jump 2 \(line 3\)"):
        read_answer(b"3\n0 0 0 2\n0 0 0 2\n9 9 9 9\n", read_instance(BOARD))


@pytest.mark.parametrize("cell", [b"O", b"0", b" ", b"\xff", b"\0", b"\r", b"\xef"])
def test_a_board_has_two_characters_only(cell: bytes) -> None:
    with pytest.raises(Rejected, match=r'line 3, column 2: expected "o" or "\."'):
        read_instance(b"3\noo.\n." + cell + b".\n...\n")


@pytest.mark.parametrize(
    "first", [b"", b"0", b"31", b"03", b"+3", b"3 ", b"\xd9\xa3", b"3.0", b"100000000000000000000"]
)
def test_a_board_has_a_size_from_1_to_30(first: bytes) -> None:
    with pytest.raises(Rejected, match="line 1: expected a size from 1 to 30"):
        read_instance(first + b"\noo.\n...\n...\n")


@pytest.mark.parametrize("data", [b"1\no\n", b"2\noo\no.\n", b"3\nooo\nooo\nooo\n", b"3\no.o\n...\no.o\n"])
def test_a_board_without_a_legal_jump_is_refused(data: bytes) -> None:
    with pytest.raises(Rejected, match="board: expected at least"):
        read_instance(data)
