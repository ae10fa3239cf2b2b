"""Final cases and clocks of teams' own: who may do what at which moment."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from app.domain.contests import EVERY, FINAL, PROVISIONAL, Case, CaseKind, Clock, Group, Pause
from app.domain.participation import Finals, Participation, ParticipationKind, own_clock
from app.domain.scoring import Bests, problem_points
from tests.builders.scoring import problem, rule

START = datetime(2026, 11, 21, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
CLOCK = Clock(START, 5 * HOUR)
FROZEN = Clock(START, 5 * HOUR, HOUR, START + 6 * HOUR)
RELEASED = Finals(release=START + 4 * HOUR)
TIMED = Finals(window=HOUR)
ASKED = START + 2 * HOUR


@pytest.mark.parametrize(
    ("finals", "asked", "hour", "shown", "taken"),
    [
        (Finals(), None, 2, False, False),
        (Finals(), ASKED, 9, False, False),
        (RELEASED, None, -1, False, False),
        (RELEASED, None, 3, False, False),
        (RELEASED, None, 4, True, True),
        (RELEASED, None, 9, True, True),
        (TIMED, None, 4, False, False),
        (TIMED, ASKED, 2, True, True),
        (TIMED, ASKED, 2.99, True, True),
        (TIMED, ASKED, 3, True, False),
        (TIMED, None, 5, True, True),
        (TIMED, ASKED, 5, True, True),
    ],
)
def test_final_inputs_are_shown_and_answered_in_their_time(
    finals: Finals, asked: datetime | None, hour: float, shown: bool, taken: bool
) -> None:
    now = START + hour * HOUR
    assert finals.shown(CLOCK, now, asked) is shown
    assert finals.taken(CLOCK, now, asked) is taken


def test_a_timer_ends_with_the_contest_and_stands_still_while_it_is_paused() -> None:
    assert TIMED.deadline(CLOCK, ASKED) == START + 3 * HOUR
    assert TIMED.deadline(CLOCK, START + 4.5 * HOUR) == CLOCK.end
    paused = Clock(START, 5 * HOUR, pauses=(Pause(START + 2.5 * HOUR, START + 4 * HOUR),))
    assert TIMED.deadline(paused, ASKED) == START + 4.5 * HOUR
    assert TIMED.taken(paused, START + 4.4 * HOUR, ASKED)
    assert TIMED.deadline(Clock(START, 5 * HOUR, pauses=(Pause(ASKED + HOUR / 2),)), ASKED) is None
    assert TIMED.deadline(CLOCK, None) is None
    assert RELEASED.deadline(CLOCK, ASKED) is None


@pytest.mark.parametrize(
    ("hour", "public", "judges"),
    [(4.5, PROVISIONAL, PROVISIONAL), (5.5, PROVISIONAL, FINAL), (6, FINAL, FINAL)],
)
def test_final_cases_decide_after_the_end_and_for_everybody_after_the_thaw(
    hour: float, public: frozenset[CaseKind], judges: frozenset[CaseKind]
) -> None:
    now = START + hour * HOUR
    assert RELEASED.phase(FROZEN, now, public=True) == public
    assert RELEASED.phase(FROZEN, now, public=False) == judges
    assert Finals().phase(FROZEN, now, public=False) == PROVISIONAL
    assert Finals(window=HOUR, kinds=EVERY).phase(FROZEN, START + 9 * HOUR, public=True) == EVERY


def test_a_problem_without_final_cases_keeps_its_provisional_points() -> None:
    plain = problem(rule())
    assert plain.counting(FINAL) == plain.counting(EVERY) == PROVISIONAL
    assert plain.without_final is plain
    groups = problem_points(plain, {}, Bests(rule()), FINAL).groups
    assert [group.group.name for group in groups] == ["secret"]


def test_a_problem_without_its_final_cases_does_not_name_them() -> None:
    plain = problem(rule())
    groups = (*plain.groups, Group("late", CaseKind.FINAL, Fraction(10)))
    both = replace(plain, groups=groups, cases=(*plain.cases, Case("9", "late", Fraction(10))))
    assert both.final_cases == {"9"}
    assert both.without_final == plain
    assert both.counting(FINAL) == FINAL
    assert both.counting(EVERY) == EVERY


def test_a_virtual_clock_is_as_long_as_the_contest_was_and_a_personal_one_ends_with_it() -> None:
    late = START + 9 * HOUR
    paused = Clock(START, 5 * HOUR, pauses=(Pause(START + HOUR, START + 2 * HOUR),))
    virtual = own_clock(paused, None, Participation(ParticipationKind.VIRTUAL, late))
    assert (virtual.start, virtual.end) == (late, late + 5 * HOUR)
    early = own_clock(paused, HOUR, Participation(ParticipationKind.PERSONAL, START + HOUR / 2))
    assert early.end == START + 2.5 * HOUR, "its time stood still in the pause"
    at_the_end = own_clock(paused, 2 * HOUR, Participation(ParticipationKind.PERSONAL, START + 5 * HOUR))
    assert at_the_end.end == paused.end == START + 6 * HOUR
    assert own_clock(paused, HOUR, None) is paused
