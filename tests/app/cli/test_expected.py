"""The demo's own reckoning, on boards worked out by hand."""

from __future__ import annotations

from fractions import Fraction

from app.cli.demo.expected import Found, Rule, Sent, differences, expected_rows, milliseconds

HALF, FULL = Fraction(1, 2), Fraction(1)
ABSOLUTE = Rule("puzzle", False, ["a", "b"])
RELATIVE = Rule("maze", True, ["a", "b"])


def sent(team: str, problem: str, time: str, **found: Found) -> Sent:
    return Sent("1", team, problem, time, found)


def raw(score: int) -> Found:
    return Found(True, Fraction(0), score)


def test_the_best_answer_of_each_case_counts_under_absolute_points() -> None:
    history = [
        sent("x", "puzzle", "0:00:01.000", a=Found(True, FULL, 9), b=Found(False, Fraction(0), 0)),
        sent("x", "puzzle", "0:00:02.000", a=Found(True, HALF, 5)),
    ]
    (row,) = expected_rows([ABSOLUTE], ["x"], history)
    assert (row["points"], row["time"]) == (50, "0:00:01.000")
    assert row["problems"][0]["raw"] == {"a": 9, "b": None}


def test_a_new_best_lowers_what_others_have_under_relative_points() -> None:
    history = [
        sent("x", "maze", "0:00:01.000", a=raw(3), b=raw(4)),
        sent("y", "maze", "0:00:02.000", a=raw(4), b=raw(4)),
    ]
    rows = expected_rows([RELATIVE], ["x", "y"], history)
    assert [(row["team_id"], row["points"], row["rank"]) for row in rows] == [("y", 100, 1), ("x", Fraction(175, 2), 2)]


def test_the_last_submission_counts_and_other_cases_keep_their_best_answer() -> None:
    history = [
        sent("x", "maze", "0:00:01.000", a=raw(4), b=raw(2)),
        sent("x", "maze", "0:00:02.000", a=raw(2), b=raw(4)),
        sent("x", "maze", "0:00:03.000", b=raw(3)),
    ]
    (row,) = expected_rows([RELATIVE], ["x"], history)
    assert row["problems"][0]["raw"] == {"a": 4, "b": 3}


def test_equal_points_are_ordered_by_the_earlier_last_rise_and_equal_rows_share_a_rank() -> None:
    full = Found(True, FULL, 1)
    history = [
        sent("x", "puzzle", "0:10:00.000", a=full),
        sent("y", "puzzle", "0:09:00.000", a=full),
        sent("z", "puzzle", "0:10:00.000", a=full),
    ]
    rows = expected_rows([ABSOLUTE], ["x", "y", "z"], history)
    assert [(row["team_id"], row["rank"]) for row in rows] == [("y", 1), ("x", 2), ("z", 2)]


def test_contest_times_are_compared_as_numbers() -> None:
    assert milliseconds("10:00:00.001") - milliseconds("9:59:59.999") == 2


def test_a_board_in_another_order_is_a_difference() -> None:
    rows = expected_rows([ABSOLUTE], ["x"], [])
    assert differences(rows, {"rows": []}) == ["order: expected ['x'], found []"]
