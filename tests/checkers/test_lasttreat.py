"""Lasttreat's checker says what the statement says: worked by hand, and compared with play by the rules alone."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers.doors import Rejected
from checkers.lasttreat import Answer, Instance, read_answer, read_instance, score_answer, write_answer
from checkers.rules import lasttreat as rules

POSITIONS = b"5\n1 0 1\n0 2 2\n2 4 2\n3 5 4\n5 5 10\n"
RIGHT = b"1 0\n0 2\n0 0\n3 0\n5 5\n"
NUMBER = "a decimal number without sign, leading zeros or letters"
BYTES = "digits and white space (space, tab, line feed, carriage return)"
WINNING = "a winning move, or 0 0 without one"
LARGEST = 10**18


def judge(instance: bytes, answer: bytes) -> int:
    """Judge an answer; the raw score, or the rejection."""
    positions = read_instance(instance)
    return int(score_answer(positions, read_answer(answer, positions)).raw)


def refusal(answer: bytes) -> str:
    """Judge an answer to the five positions; the text of its rejection."""
    with pytest.raises(Rejected) as caught:
        judge(POSITIONS, answer)
    return str(caught.value)


def with_line(number: int, line: bytes) -> bytes:
    """Give the right answer with one line (counted from 1) replaced."""
    lines = RIGHT.splitlines()
    lines[number - 1] = line
    return b"\n".join(lines) + b"\n"


@cache
def slow_lost(a: int, b: int, k: int) -> bool:
    """Twin of the rule: whoever is to move loses if every move leaves a position that is won."""
    return not any(
        slow_lost(a - x, b - y, k) for i in range(1, k + 1) for x, y in ((i, 0), (0, i), (i, i)) if x <= a and y <= b
    )


@pytest.mark.parametrize(
    ("position", "moves"),
    [
        ("1 0 1", ["1 0"]),  # the only treat
        ("1 1 1", ["1 1"]),  # one alone leaves the last one to the other
        ("2 0 1", ["0 0"]),  # one by one, the second is the other's
        ("1 2 2", ["0 0"]),  # 0 2, 1 1, 1 0 and 0 1 are all finished in one move
        ("2 2 2", ["2 2", "1 0", "0 1"]),  # all, or leave 1 2
        ("1 2 1", ["1 0"]),  # leave 0 2: one by one, the second is yours
        ("3 4 2", ["2 2", "1 0", "0 1"]),  # leave 1 2, 2 4 or 3 3
        ("2 4 2", ["0 0"]),  # the printed proof's reply to 2 + 2 would be 1 + 1 from 0 2
        ("0 2 2", ["0 2"]),  # and this is the right one
    ],
)
def test_positions_worked_out_by_hand(position: str, moves: list[str]) -> None:
    for move in moves:
        assert judge(f"1\n{position}\n".encode(), f"{move}\n".encode()) == 1


def test_only_the_moves_that_win_are_right() -> None:
    """From 5 5 with K = 10: all ten, or leave the pair 3 5; every other move, and `0 0`, is wrong."""
    right = {(5, 5), (2, 0), (0, 2)}
    for x in range(6):
        for y in range(6):
            if (x, y) in right:
                assert judge(b"1\n5 5 10\n", f"{x} {y}".encode()) == 1
            else:
                with pytest.raises(Rejected, match="position 1"):
                    judge(b"1\n5 5 10\n", f"{x} {y}".encode())


@settings(max_examples=400)
@given(*[st.integers(0, 9)] * 2, st.integers(1, 11), st.integers(0, 10), st.integers(0, 10))
def test_a_line_is_right_just_where_play_by_the_rules_says_so(a: int, b: int, k: int, x: int, y: int) -> None:
    a += a + b == 0
    legal = (x, y) != (0, 0) and (x == y or 0 in (x, y)) and max(x, y) <= k and x <= a and y <= b
    right = slow_lost(a - x, b - y, k) if legal else (x, y) == (0, 0) and slow_lost(a, b, k)
    assert rules.is_legal(a, b, k, x, y) == legal
    instance = Instance(np.array([[a, b, k]], np.int64))
    try:
        score_answer(instance, read_answer(f"{x} {y}".encode(), instance))
        accepted = True
    except Rejected:
        accepted = False
    assert accepted == right


def test_the_five_positions_of_the_second_sample() -> None:
    instance = read_instance(POSITIONS)
    score = score_answer(instance, read_answer(RIGHT, instance), b"anything")
    assert (score.raw, score.max_raw, score.multiplier) == (1, 1, 1)
    assert score.message.text == "5 positions right"


def test_an_answer_is_read_back_as_it_was_written() -> None:
    instance = read_instance(POSITIONS)
    answer = read_answer(RIGHT, instance)
    assert write_answer(answer).encode() == RIGHT
    assert read_answer(b"1 0 0 2\r\n\t0 0\n\n3 0 5 5", instance).moves.tolist() == answer.moves.tolist()


def test_the_largest_numbers_do_not_overflow() -> None:
    instance = Instance(np.array([[LARGEST, LARGEST, LARGEST]] * 2, np.int64))
    assert score_answer(instance, Answer(np.array([[LARGEST, LARGEST]] * 2, np.int64))).raw == 1
    with pytest.raises(Rejected, match="position 2: "):
        score_answer(instance, Answer(np.array([[LARGEST, LARGEST], [1, 1]], np.int64)))


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"", "end of file: expected 10 numbers for 5 positions, found an empty file"),
        (b" \n\t", "end of file: expected 10 numbers for 5 positions, found an empty file"),
        (RIGHT[:-3], "end of file: expected 10 numbers for 5 positions, found 9"),
        (RIGHT + b"7\n", 'line 6: expected at most 10 numbers, found more: "7"'),
        (with_line(1, b"0 0"), f"position 1: expected {WINNING}, found 0 0"),
        (with_line(3, b"1 0"), f"position 3: expected {WINNING}, found 1 0"),
        (b"1 0\n0 1\n0 0\n1 1\n5 5\n", f"position 2: expected {WINNING}, found 0 1"),
        (with_line(3, b"0 3"), "position 3 (line 3): expected at most 2 from a pile, found 3"),
        (with_line(2, b"1 1"), "position 2 (line 2): expected at most 0 cakes, found 1"),
        (with_line(1, b"0 1"), "position 1 (line 1): expected at most 0 pieces of fruit, found 1"),
        (
            with_line(5, b"4 5"),
            "position 5 (line 5): expected a number from one pile or the same number from both, found 4 5",
        ),
        (
            with_line(5, b"%d 5" % (2**32 + 5)),
            f"position 5 (line 5): expected a number from one pile or the same number from both, found {2**32 + 5} 5",
        ),
        (with_line(5, b"%d 5" % (2**64 + 5)), f'line 5: expected a number up to {2**63 - 1}, found "{2**64 + 5}"'),
    ],
)
def test_a_rejection_says_where_what_was_expected_and_what_was_found(answer: bytes, text: str) -> None:
    assert refusal(answer) == text


@pytest.mark.parametrize("word", [b"+1", b"01", b"1.0", b"1e0", b"0x1", b"1_0", b"-1", b"-0", b"00", b"x"])
def test_a_number_is_written_in_one_way(word: bytes) -> None:
    assert refusal(with_line(1, word + b" 0")) == f'line 1: expected {NUMBER}, found "{word.decode()}"'


@pytest.mark.parametrize(
    "space", [b"\0", b"\f", b"\v", b"\xef\xbb\xbf", b"\xc2\xa0", b"\xef\xbc\x91", b"\xd9\xa0", b"\xff"]
)
def test_only_digits_and_plain_white_space_are_read(space: bytes) -> None:
    assert refusal(with_line(1, b"1" + space + b"0")).startswith(f"line 1: expected {BYTES}, found ")


def test_thousands_of_digits_are_refused_and_told_short() -> None:
    assert len(refusal(with_line(1, b"9" * 5000 + b" 0"))) < 200


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "line 1: expected a number of positions from 1 to 100000, found an empty file"),
        (b"0\n", "line 1: expected a number of positions from 1 to 100000, found 0"),
        (b"100001\n1 1 1\n", "line 1: expected a number of positions from 1 to 100000, found 100001"),
        (b"2\n1 1 1\n", "end of file: expected 6 numbers for 2 positions, found 3"),
        (b"1\n1 1 0\n", f"line 2: expected K from 1 to {LARGEST}, found 0"),
        (b"2\n1 1 1\n1 1 %d\n" % (LARGEST + 1), f"line 3: expected K from 1 to {LARGEST}, found {LARGEST + 1}"),
        (b"1\n%d 1 1\n" % (LARGEST + 1), f"line 2: expected cakes from 0 to {LARGEST}, found {LARGEST + 1}"),
        (b"1\n1 %d 1\n" % (LARGEST + 1), f"line 2: expected fruit from 0 to {LARGEST}, found {LARGEST + 1}"),
        (b"1\n0 0 1\n", "line 2: expected at least one treat, found 0 0"),
        (b"1\n-1 1 1\n", f'line 2: expected {NUMBER}, found "-1"'),
        (
            b"2\n1 1 1\n1  1 1\n",
            'line 3: expected single spaces between numbers and a line feed behind them, found "1  1 1"',
        ),
        (b"1\n1 1 1", 'end of file: expected a line feed, found "1"'),
        (b"1\n1 1 1\n\n", "line 3: expected the end of the file, found an empty line"),
    ],
)
def test_a_malformed_input_is_refused(data: bytes, text: str) -> None:
    with pytest.raises(Rejected) as caught:
        read_instance(data)
    assert str(caught.value) == text
