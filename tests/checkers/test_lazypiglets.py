"""LazyPiglets' checker says what the statement says: worked by hand, each step compared with the statement's words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers import lazypiglets
from checkers.doors import Rejected, check_reference
from checkers.lazypiglets import (
    MOST_STEPS,
    Answer,
    Cell,
    Instance,
    read_answer,
    read_instance,
    score_answer,
    write_answer,
)

MAP = b"4\n....\n.#..\n...#\n#...\n3\n1 1\n1 2\n1 3\n1 4\n1 3\n2 1\n"
PLAN = b"2\n1 2 1 4\n1 1 2 1\n"
HEDGE = b"3\n...\n###\n...\n1\n1 1\n3 3\n"


def judge(data: bytes, reference: bytes | None, map_: bytes = MAP) -> str:
    instance = read_instance(map_)
    return score_answer(instance, read_answer(data, instance), reference).message.text


def slow_landings(instance: Instance, pigs: set[Cell], start: Cell) -> set[Cell]:
    """Twin of the judging of a step: where the piglet at `start` may go, in the words of the statement."""
    landings = set()
    for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        beside = (start[0] + down, start[1] + right)
        behind = (start[0] + 2 * down, start[1] + 2 * right)
        for cell, wanted in ((beside, True), (behind, beside in pigs)):
            if wanted and instance.is_inside(cell) and not instance.is_tree(cell) and cell not in pigs:
                landings.add(cell)
    return landings


def test_the_least_number_is_right_with_and_without_a_plan() -> None:
    assert judge(b"2\n", b"2\n") == "right: 2 steps"
    assert judge(PLAN, b"2\n") == "right: 2 steps with a plan"
    assert judge(b"-1\n", b"-1\n", HEDGE) == "right: the haystacks cannot be reached"


def test_a_reference_may_have_a_plan_itself() -> None:
    assert judge(b"2\n", PLAN) == "right: 2 steps"
    instance = read_instance(MAP)
    score = check_reference(lazypiglets, instance, PLAN)
    assert score is not None
    assert (score.raw, score.max_raw, score.multiplier) == (1, 1, 1)


@pytest.mark.parametrize("wrong", [b"1\n", b"3\n", b"-1\n", b"2000\n"])
def test_another_number_is_rejected_and_the_right_one_is_not_told(wrong: bytes) -> None:
    with pytest.raises(Rejected) as caught:
        judge(wrong, b"2\n")
    assert str(caught.value) == f"line 1: expected the least number of steps, found {int(wrong)}"


def test_a_legal_plan_that_is_too_long_is_told_that_it_is_legal() -> None:
    with pytest.raises(Rejected, match="found 3, whose plan is legal but not the shortest"):
        judge(b"3\n1 3 1 4\n1 2 1 3\n1 1 2 1\n", b"2\n")


def test_without_a_reference_a_plan_is_judged_and_no_share_of_the_points_is_given() -> None:
    instance = read_instance(MAP)
    assert score_answer(instance, read_answer(b"7\n", instance)).multiplier is None
    with pytest.raises(Rejected, match="step 1"):
        judge(b"1\n1 1 1 2\n", None)


@pytest.mark.parametrize("reference", [b"", b"x\n", b"3\n", b"-1\n", b"2\n1 2 1 4\n"])
def test_a_reference_that_a_legal_plan_disproves_or_that_is_malformed_is_the_judges_fault(reference: bytes) -> None:
    with pytest.raises(ValueError, match=r"^reference: "):
        judge(PLAN, reference)


def test_no_step_at_all_is_a_plan_too() -> None:
    there = MAP.replace(b"1 4\n1 3\n2 1\n", b"1 3\n1 2\n1 1\n")
    assert judge(b"0\n", b"0\n", there) == "right: 0 steps with a plan"
    with pytest.raises(Rejected, match="line 1: expected a piglet on every haystack after 0 steps"):
        judge(b"0\n", b"2\n")


@settings(max_examples=300)
@given(data=st.data(), size=st.integers(2, 5))
def test_a_step_is_legal_exactly_where_the_statement_allows_it(data: st.DataObject, size: int) -> None:
    everywhere = [(r, c) for r in range(1, size + 1) for c in range(1, size + 1)]
    pigs = data.draw(st.lists(st.sampled_from(everywhere), min_size=1, max_size=4, unique=True))
    trees = data.draw(st.sets(st.sampled_from(everywhere))) - set(pigs)
    instance = Instance(size, bytes(cell in trees for cell in everywhere), tuple(pigs), tuple(pigs))
    legal = {(pig, cell) for pig in pigs for cell in slow_landings(instance, set(pigs), pig)}
    beyond = [(r, c) for r in range(size + 2) for c in range(size + 2)]
    for start in beyond:
        for landing in beyond:
            fault = lazypiglets._fault(instance, set(pigs), start, landing)
            assert (fault is None) == ((start, landing) in legal)


@settings(max_examples=50)
@given(st.integers(-1, MOST_STEPS))
def test_a_number_written_is_read_back(steps: int) -> None:
    instance = read_instance(MAP)
    if steps != 0:
        assert read_answer(write_answer(Answer(steps)).encode(), instance) == Answer(steps)


def test_a_plan_written_is_read_back() -> None:
    instance = read_instance(MAP)
    answer = read_answer(PLAN, instance)
    assert answer.moves() == [((1, 2), (1, 4)), ((1, 1), (2, 1))]
    assert write_answer(answer).encode() == PLAN


def test_piglets_may_start_on_haystacks_and_on_all_cells() -> None:
    assert len(read_instance(b"2\n..\n..\n4\n1 1\n1 2\n2 1\n2 2\n2 2\n2 1\n1 2\n1 1\n").pigs) == 4


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", 'line 1: expected a size from 1 to 22, found ""'),
        (b"23\n", 'line 1: expected a size from 1 to 22, found "23"'),
        (b"2\n..\n", 'line 3: expected 2 characters, found 0: ""'),
        (b"2\n..\n.x\n", 'line 3, column 2: expected "." or "#", found "x"'),
        (b"2\n..\n..\n5\n", 'line 4: expected a number of piglets from 1 to 4, found "5"'),
        (b"2\n..\n..\n1\n1 3\n2 2\n", 'line 5: expected a row and a column from 1 to 2, as "r c", found "1 3"'),
        (b"2\n#.\n..\n1\n1 1\n2 2\n", "line 5: expected a free cell, found a tree at (1, 1)"),
        (b"2\n..\n..\n2\n1 1\n1 1\n2 2\n2 1\n", "line 6: expected another cell on each line, found (1, 1) again"),
        (b"2\n..\n..\n1\n1 1\n2 2", "end of file: expected 6 lines, each ended by a line feed, found no line feed"),
    ],
)
def test_a_malformed_map_is_refused_with_where_expected_and_found(data: bytes, text: str) -> None:
    with pytest.raises(Rejected) as caught:
        read_instance(data)
    assert str(caught.value) == text
