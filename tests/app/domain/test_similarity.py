"""Which pairs of teams are told, by what they share and by how much that tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.fingerprints import Grain, fingerprint
from app.domain.similarity import (
    MOST_SHARING,
    SUBSTANTIAL,
    CaseAnswers,
    Likeness,
    Pair,
    Pairs,
    Sent,
    alike,
    in_order,
    rarity,
)
from tests.app.domain.test_fingerprints import answer

GRAIN = Grain(4)
LONG = " ".join(answer(1, 100)) + "\n"
OTHER = " ".join(answer(2, 100)) + "\n"


def case(
    sent: Mapping[str, str | list[str]], *, expected: str | None = None, right: str | None = None, name: str = "1"
) -> CaseAnswers:
    """Answers by team, sent one after the other; `expected` and `right` are texts."""
    made, prints = [], {}
    texts = [(team, text) for team, each in sent.items() for text in ([each] if isinstance(each, str) else each)]
    for at, (team, text) in enumerate(texts, start=1):
        digest = known(text)
        prints[digest] = fingerprint(text.encode(), GRAIN)
        made.append(Sent(team, at, at * 1000, digest, len(text), right == text))
    if expected is not None:
        prints[known(expected)] = fingerprint(expected.encode(), GRAIN)
    return CaseAnswers(name, made, prints, None if expected is None else known(expected))


def known(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def pairs(*cases: CaseAnswers) -> list[Pair]:
    found = Pairs("p")
    for each in cases:
        found.add(each)
    return in_order(found.close())


def test_equal_files_are_identical_whatever_is_read_of_them() -> None:
    unread = replace(case({"a": LONG, "b": LONG, "c": OTHER}), prints={})
    for answers in (case({"a": LONG, "b": LONG, "c": OTHER}), unread):
        (found,) = alike(answers)
        assert (found.likeness, found.ratio, found.weight) == (Likeness.IDENTICAL, 1.0, 1.0)
        assert (found.one.team_id, found.other.team_id) == ("a", "b")


@pytest.mark.parametrize(
    ("theirs", "likeness"),
    [
        (LONG.replace(" ", "\n"), Likeness.TOKENS),
        ("5 " + LONG, Likeness.NEAR),
    ],
)
def test_answers_alike_are_found_by_their_strongest_likeness(theirs: str, likeness: Likeness) -> None:
    (found,) = alike(case({"a": LONG, "b": theirs}))
    assert found.likeness is likeness


def test_lines_in_another_order_are_alike() -> None:
    lines = LONG.replace(" ", "\n").splitlines()
    (found,) = alike(case({"a": "\n".join(lines), "b": "\n".join(reversed(lines))}))
    assert found.likeness is Likeness.LINES


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
    (found,) = alike(case(sent, expected=LONG), frozenset({"a", "b"}))
    assert (found.weight, found.why) == (0.0, "the expected answer")


def test_the_only_right_answer_tells_nothing_and_a_wrong_one_does() -> None:
    assert alike(case({"a": LONG, "b": LONG}, right=LONG)) == []
    assert len(alike(case({"a": OTHER, "b": OTHER, "c": LONG}, right=LONG))) == 1


def test_answers_near_the_expected_one_are_not_near_each_other_for_that() -> None:
    sent = {"a": LONG + "7 7 7\n", "b": "8 8 8\n" + LONG}
    assert [found.likeness for found in alike(case(sent))] == [Likeness.NEAR]
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
    assert (found.shared, found.telling, found.ratio) == (1, 2, 0.5)
    assert (found.teams, found.problem_id, found.likeness) == (("a", "b"), "p", Likeness.IDENTICAL)


def test_the_heaviest_pair_comes_first() -> None:
    found = pairs(
        case({"a": LONG, "b": LONG, "c": LONG, "d": OTHER, "e": OTHER}, name="1"),
        case({"d": LONG, "e": LONG}, name="2"),
    )
    assert found[0].teams == ("d", "e")
    assert [pair.weight for pair in found] == sorted((pair.weight for pair in found), reverse=True)


TEXTS = st.sampled_from([LONG, OTHER, "5 " + LONG, LONG.replace(" ", "\n"), "1", ""])
CONTESTS = st.dictionaries(st.sampled_from("abcdefg"), st.lists(TEXTS, min_size=1, max_size=3), max_size=7)


def told(answers: CaseAnswers) -> set[tuple[int, int, Likeness, float]]:
    return {(f.one.submission_id, f.other.submission_id, f.likeness, f.weight) for f in alike(answers)}


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


@given(CONTESTS)
def test_what_two_teams_are_told_to_share_is_in_the_list(sent: dict[str, list[str]]) -> None:
    for pair in alike(case(sent)):
        teams = frozenset((pair.one.team_id, pair.other.team_id))
        assert pair in alike(case(sent), teams)
