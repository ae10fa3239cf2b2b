"""Which pairs of teams are told, by what they share and by how much that tells."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.similarity import (
    MOST_SHARING,
    SKETCH,
    SUBSTANTIAL,
    CaseAnswers,
    Kind,
    Pair,
    Sent,
    alike,
    jaccard,
    rarity,
    sketch,
    source_sketch,
)
from app.domain.similarity import pairs as pairs_of


def answer(seed: int, tokens: int = 1000) -> list[str]:
    draw = random.Random(seed)
    return [str(draw.randrange(1000)) for _ in range(tokens)]


LONG = " ".join(answer(1, 100)) + "\n"
OTHER = " ".join(answer(2, 100)) + "\n"


def case(
    sent: Mapping[str, str | list[str]], *, expected: str | None = None, right: str | None = None, name: str = "1"
) -> CaseAnswers:
    """Answers by team, sent one after the other; `expected` and `right` are texts."""
    made, sketches = [], {}
    texts = [(team, text) for team, each in sent.items() for text in ([each] if isinstance(each, str) else each)]
    for at, (team, text) in enumerate(texts, start=1):
        digest = known(text)
        sketches[digest] = sketch(text.encode())
        made.append(Sent(team, at, at * 1000, digest, len(text), right == text))
    if expected is not None:
        sketches[known(expected)] = sketch(expected.encode())
    return CaseAnswers(name, made, sketches, None if expected is None else known(expected))


def known(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def pairs(*cases: CaseAnswers) -> list[Pair]:
    return pairs_of("p", cases)


def test_equal_files_are_identical_whatever_is_read_of_them() -> None:
    unread = replace(case({"a": LONG, "b": LONG, "c": OTHER}), sketches={})
    for answers in (case({"a": LONG, "b": LONG, "c": OTHER}), unread):
        (found,) = alike(answers)
        assert (found.kind, found.ratio, found.weight) == ("identical", 1.0, 1.0)
        assert (found.one.team_id, found.other.team_id) == ("a", "b")


@pytest.mark.parametrize("theirs", [LONG.replace(" ", "\n"), "5 " + LONG, LONG.upper() + " Yes"])
def test_answers_with_most_text_in_common_are_near(theirs: str) -> None:
    (found,) = alike(case({"a": LONG, "b": theirs}))
    assert (found.kind, found.ratio > 0.9) == ("near", True)


def test_other_answers_are_not_alike() -> None:
    assert alike(case({"a": LONG, "b": OTHER})) == []


def test_a_team_is_never_alike_to_itself() -> None:
    assert alike(case({"a": [LONG, LONG, LONG.replace(" ", "  "), "5 " + LONG]})) == []


def test_who_sent_it_first_comes_first_whatever_they_sent_later() -> None:
    (found,) = alike(case({"b": [OTHER, LONG], "a": [LONG, LONG]}))
    assert (found.one.team_id, found.one.submission_id) == ("b", 2)
    assert (found.other.team_id, found.other.submission_id) == ("a", 3)


def test_the_expected_answer_tells_nothing_however_it_is_written() -> None:
    sent = {"a": LONG, "b": LONG, "c": LONG.replace(" ", "\n")}
    assert alike(case(sent, expected=LONG)) == []


def test_the_only_right_answer_tells_nothing_and_a_wrong_one_does() -> None:
    assert alike(case({"a": LONG, "b": LONG}, right=LONG)) == []
    assert len(alike(case({"a": OTHER, "b": OTHER, "c": LONG}, right=LONG))) == 1


def test_answers_near_the_expected_one_are_not_near_each_other_for_that() -> None:
    sent = {"a": LONG + "7 7 7\n", "b": "8 8 8\n" + LONG}
    assert [found.kind for found in alike(case(sent))] == ["near"]
    assert alike(case(sent, expected=LONG)) == []


def test_a_short_answer_weighs_less() -> None:
    (found,) = alike(case({"a": "42\n", "b": "42\n"}))
    assert found.weight == pytest.approx(3 / SUBSTANTIAL)


def test_what_more_teams_share_weighs_less_and_common_knowledge_is_not_listed() -> None:
    few = case({"a": LONG, "b": LONG, **{f"t{at}": OTHER + str(at) * 70 for at in range(8)}})
    many = case({f"t{at}": LONG for at in range(10)})
    weights = [found.weight for found in alike(many)]
    assert len(weights) == 45
    assert max(weights) < 0.1
    assert alike(few)[0].weight > 0.9
    assert alike(case({f"t{at}": LONG for at in range(MOST_SHARING + 1)})) == []


@given(st.integers(2, 1000), st.integers(2, 1000))
def test_rarity_falls_from_1_towards_0_with_the_teams_that_share(sharing: int, others: int) -> None:
    teams = sharing + others
    assert rarity(2, teams) == 1.0
    assert 0.0 < rarity(sharing + 1, teams) < rarity(sharing, teams) <= 1.0


def test_a_pair_counts_its_shared_cases_among_those_that_could_tell() -> None:
    right, wrong = LONG, OTHER
    (found,) = pairs(
        case({"a": right, "b": right}, right=right, name="1"),
        case({"a": wrong, "b": wrong}, right=right, name="2"),
        case({"a": wrong, "b": " ".join(answer(5, 100))}, right=right, name="3"),
        case({"a": wrong}, right=right, name="4"),
    )
    assert (len(found.cases), found.telling, found.ratio) == (1, 2, 0.5)
    assert (found.teams, found.problem_id, found.kind) == (("a", "b"), "p", "identical")


def test_the_heaviest_pair_comes_first() -> None:
    found = pairs(
        case({"a": LONG, "b": LONG, "c": LONG, "d": OTHER, "e": OTHER}, name="1"),
        case({"d": LONG, "e": LONG}, name="2"),
    )
    assert found[0].teams == ("d", "e")
    assert [pair.weight for pair in found] == sorted((pair.weight for pair in found), reverse=True)


TEXTS = st.sampled_from([LONG, OTHER, "5 " + LONG, LONG.replace(" ", "\n"), "1", ""])
CONTESTS = st.dictionaries(st.sampled_from("abcdefg"), st.lists(TEXTS, min_size=1, max_size=3), max_size=7)


def told(answers: CaseAnswers) -> set[tuple[int, int, Kind, float]]:
    return {(f.one.submission_id, f.other.submission_id, f.kind, f.weight) for f in alike(answers)}


@given(CONTESTS, st.booleans())
def test_the_names_of_the_teams_change_nothing_but_names(sent: dict[str, list[str]], known_answer: bool) -> None:
    """Symmetric: with the alphabet turned round, the same pairs are alike, as much, in the same way."""
    expected = LONG if known_answer else None
    turned = {chr(ord("a") + ord("g") - ord(team)): texts for team, texts in sent.items()}
    assert told(case(sent, expected=expected)) == told(case(turned, expected=expected))


@given(CONTESTS)
def test_every_pair_is_listed_once_with_a_weight_of_at_most_1_for_each_case(sent: dict[str, list[str]]) -> None:
    found = alike(case(sent))
    assert len({frozenset((f.one.team_id, f.other.team_id)) for f in found}) == len(found)
    assert all(f.one.team_id != f.other.team_id and f.one.moment <= f.other.moment for f in found)
    assert all(0.0 <= f.weight <= 1.0 for f in found)


@pytest.mark.parametrize(("sent", "same"), [("1 2\r\n3 4", "1\n2 3 4\n"), ("YES no", "yes NO"), ("  7\t8  ", "7 8")])
def test_white_space_and_the_case_of_letters_change_nothing(sent: str, same: str) -> None:
    one, other = (sketch((LONG + text).encode()) for text in (sent, same))
    assert one == other


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_what_two_have_in_common_is_symmetric(first: bytes, second: bytes) -> None:
    one, other = sketch(first), sketch(second)
    assert jaccard(one, other) == jaccard(other, one)
    assert 0.0 <= jaccard(one, other) <= 1.0


def test_an_answer_with_a_few_other_tokens_is_near_and_another_one_is_not() -> None:
    mine = answer(1)
    copied = [token if at % 100 else "7777" for at, token in enumerate(mine)]
    sketches = [sketch(" ".join(words).encode()) for words in (mine, copied, answer(2))]
    assert jaccard(sketches[0], sketches[1]) > 0.8
    assert jaccard(sketches[0], sketches[2]) < 0.1


def test_the_estimate_is_near_the_true_share_of_shingles() -> None:
    mine = answer(1)
    half = mine[:750] + answer(3)[:250]
    estimate = jaccard(sketch(" ".join(mine).encode()), sketch(" ".join(half).encode()))
    assert abs(estimate - 0.6) < 0.2


@pytest.mark.parametrize("letters", [b"01", b"UDLR"])
@pytest.mark.parametrize("space", [b" ", b""])
def test_answers_of_few_different_letters_are_not_near_by_chance(letters: bytes, space: bytes) -> None:
    def drawn(seed: int) -> bytes:
        return space.join(bytes([each]) for each in random.Random(seed).choices(letters, k=2000))

    assert jaccard(sketch(drawn(1)), sketch(drawn(2))) < 0.5


def test_what_everybody_has_does_not_count() -> None:
    head = answer(9)
    mine, theirs = (sketch(" ".join(head + answer(seed, 100)).encode()) for seed in (1, 2))
    assert jaccard(mine, theirs) > 0.6
    assert jaccard(mine, theirs, sketch(" ".join(head).encode())) < 0.3


def test_little_texts_are_equal_or_not() -> None:
    assert jaccard(sketch(b"1 2 3 4 5 6 7 8"), sketch(b"1 2 3 4 5 6 7 9")) == 0.0


def test_a_sketch_has_the_same_size_for_every_answer() -> None:
    assert len(sketch(" ".join(answer(1, 50_000)).encode())) == SKETCH


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
    renamed = SOURCE.replace(b"board", b"grid").replace(b"best", b"top").replace(b"0.25", b"0.5")
    assert jaccard(source_sketch(SOURCE), source_sketch(renamed.replace(b"    ", b"\t"))) == 1.0


def test_another_source_is_not_near() -> None:
    other = b"""
import sys
class Node:
    def __init__(self, left, right): self.left, self.right = left, right
def read(): return [int(word) for line in sys.stdin for word in line.split()]
print(sum(value * value for value in read() if value % 2))
"""
    assert jaccard(source_sketch(SOURCE), source_sketch(other)) < 0.2
