"""Normalising answers and sources, and how much two have in common."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.fingerprints import (
    MOST_BYTES,
    SKETCH,
    Grain,
    fingerprint,
    grain_of,
    jaccard,
    normal,
    source_fingerprint,
)

GRAIN = Grain(4)
TOKENS = st.lists(st.sampled_from([b"7", b"-3", b"1.50", b"Yes", b"0010", b"+2", b"up", b"1e3"]), max_size=60)


@pytest.mark.parametrize(
    ("sent", "same"),
    [
        (b"1.0", b"1"),
        (b"+5", b"5"),
        (b"1e3", b"1000"),
        (b"2.50E-1", b".25"),
        (b"-0.0", b"0"),
        (b"3.", b"3"),
        (b"YES", b"yes"),
        (b"1 2\r\n3", b"1\n2 3\n"),
        (b"00.5", b"0.5"),
    ],
)
def test_answers_that_say_the_same_have_the_same_tokens(sent: bytes, same: bytes) -> None:
    assert fingerprint(sent, GRAIN).tokens == fingerprint(same, GRAIN).tokens


@pytest.mark.parametrize(
    ("sent", "other"),
    [(b"010", b"10"), (b"1.05", b"1.5"), (b"a-b", b"ab"), (b"1 2", b"12"), (b"-1", b"1"), (b"1.2.3", b"1.2.30")],
)
def test_answers_that_say_something_else_have_other_tokens(sent: bytes, other: bytes) -> None:
    assert fingerprint(sent, GRAIN).tokens != fingerprint(other, GRAIN).tokens


def test_a_long_number_keeps_all_its_digits() -> None:
    assert normal(b"123456789012345678901234567890123456789.50") == [[b"123456789012345678901234567890123456789.5"]]


def test_lines_in_another_order_have_the_same_lines_but_other_tokens() -> None:
    one, other = fingerprint(b"1 2\n3 4\n", GRAIN), fingerprint(b"3 4\n\n1  2.0\n", GRAIN)
    assert one.lines == other.lines
    assert one.tokens != other.tokens


@given(TOKENS, st.sampled_from([b" ", b"\n", b"\t ", b"\r\n"]))
def test_white_space_and_the_case_of_letters_change_nothing(tokens: list[bytes], space: bytes) -> None:
    one, other = fingerprint(b" ".join(tokens), GRAIN), fingerprint(space.join(tokens).upper() + space, GRAIN)
    assert one.tokens == other.tokens
    assert list(one.sketch) == list(other.sketch)


@given(st.lists(TOKENS.map(b" ".join)), st.randoms(use_true_random=False))
def test_the_order_of_lines_never_changes_lines(lines: list[bytes], draw: random.Random) -> None:
    moved = draw.sample(lines, len(lines))
    assert fingerprint(b"\n".join(lines), GRAIN).lines == fingerprint(b"\n".join(moved), GRAIN).lines


@given(TOKENS, TOKENS)
def test_what_two_have_in_common_is_symmetric_and_1_for_equal(first: list[bytes], second: list[bytes]) -> None:
    one, other = fingerprint(b" ".join(first), GRAIN), fingerprint(b" ".join(second), GRAIN)
    assert jaccard(one, other) == jaccard(other, one)
    assert 0.0 <= jaccard(one, other) <= 1.0
    assert jaccard(one, one) == 1.0


def answer(seed: int, tokens: int = 1000) -> list[str]:
    draw = random.Random(seed)
    return [str(draw.randrange(1000)) for _ in range(tokens)]


def test_an_answer_with_a_few_other_tokens_is_near_and_another_one_is_not() -> None:
    mine = answer(1)
    copied = [token if at % 100 else "7777" for at, token in enumerate(mine)]
    prints = [fingerprint(" ".join(words).encode(), GRAIN) for words in (mine, copied, answer(2))]
    assert jaccard(prints[0], prints[1]) > 0.8
    assert jaccard(prints[0], prints[2]) < 0.1


def test_the_estimate_is_near_the_true_share_of_shingles() -> None:
    mine = answer(1)
    half = mine[:750] + answer(3)[:250]
    estimates = jaccard(fingerprint(" ".join(mine).encode(), GRAIN), fingerprint(" ".join(half).encode(), GRAIN))
    assert abs(estimates - 747 / (997 + 250)) < 0.2


@pytest.mark.parametrize("letters", [b"01", b"UDLR"])
def test_answers_of_few_different_tokens_are_cut_into_longer_runs(letters: bytes) -> None:
    def drawn(seed: int, space: bytes) -> bytes:
        return space.join(bytes([each]) for each in random.Random(seed).choices(letters, k=2000))

    for space in (b" ", b""):
        grain = grain_of(drawn(1, space))
        assert grain.characters == (space == b"")
        one, other = fingerprint(drawn(1, space), grain), fingerprint(drawn(2, space), grain)
        assert jaccard(one, other) < 0.1


def test_what_everybody_has_does_not_count() -> None:
    head = answer(9)
    mine, theirs = (fingerprint(" ".join(head + answer(seed, 100)).encode(), GRAIN) for seed in (1, 2))
    common = frozenset(fingerprint(" ".join(head).encode(), GRAIN).sketch)
    assert jaccard(mine, theirs) > 0.6
    assert jaccard(mine, theirs, common) < 0.3


def test_little_texts_are_equal_or_not() -> None:
    one, other = fingerprint(b"1 2 3 4 5 6 7 8", GRAIN), fingerprint(b"1 2 3 4 5 6 7 9", GRAIN)
    assert jaccard(one, other) == 0.0


def test_a_fingerprint_has_the_same_size_for_every_answer() -> None:
    assert len(fingerprint(" ".join(answer(1, 50_000)).encode(), GRAIN).sketch) == SKETCH


def test_beyond_the_most_bytes_only_equal_bytes_are_equal() -> None:
    long = b"1 " * MOST_BYTES
    assert fingerprint(long, GRAIN).tokens != fingerprint(long + b" ", GRAIN).tokens


SOURCE = b"""
def solve(board, seconds):
    best = None
    for move in board.moves():
        after = board.play(move)
        if best is None or after.score > best.score:
            best = after
    while seconds > 0 and best.left():
        best = best.play(best.moves()[0])
        seconds -= 0.25
    return best
"""


def test_a_source_with_other_names_and_numbers_is_as_near_as_can_be() -> None:
    renamed = (
        SOURCE.replace(b"board", b"grid").replace(b"best", b"top").replace(b"0.25", b"0.5").replace(b"    ", b"\t")
    )
    one, other = source_fingerprint(SOURCE), source_fingerprint(renamed)
    assert one.tokens != other.tokens
    assert jaccard(one, other) == 1.0


def test_another_source_is_not_near() -> None:
    other = b"""
import sys
class Node:
    def __init__(self, left, right): self.left, self.right = left, right
def read(): return [int(word) for line in sys.stdin for word in line.split()]
print(sum(value * value for value in read() if value % 2))
"""
    assert jaccard(source_fingerprint(SOURCE), source_fingerprint(other)) < 0.2
