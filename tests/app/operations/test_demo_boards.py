"""The demo's expected boards, held against boards computed by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from app.commands.demo.expected import Checked, ExpectedRow, Rule, Sent, differences, expected_rows, milliseconds

HALF, FULL = Fraction(1, 2), Fraction(1)
ABSOLUTE = Rule("puzzle", False, ["a", "b"])
RELATIVE = Rule("maze", True, ["a", "b"])


def sent(team: str, problem: str, time: str, **found: Checked) -> Sent:
    return Sent("1", team, problem, time, found)


def raw(score: int) -> Checked:
    return Checked(True, Fraction(0), score)


def test_the_best_answer_of_each_case_counts_under_absolute_points() -> None:
    history = [
        sent("x", "puzzle", "0:00:01.000", a=Checked(True, FULL, 9), b=Checked(False, Fraction(0), 0)),
        sent("x", "puzzle", "0:00:02.000", a=Checked(True, HALF, 5)),
    ]
    (row,) = expected_rows([ABSOLUTE], ["x"], history)
    assert (row.points, row.time) == (50, "0:00:01.000")
    assert row.problems[0].raw == {"a": 9, "b": None}


def test_a_new_best_lowers_what_others_have_under_relative_points() -> None:
    history = [
        sent("x", "maze", "0:00:01.000", a=raw(3), b=raw(4)),
        sent("y", "maze", "0:00:02.000", a=raw(4), b=raw(4)),
    ]
    rows = expected_rows([RELATIVE], ["x", "y"], history)
    assert [(row.team_id, row.points, row.rank) for row in rows] == [("y", 100, 1), ("x", Fraction(175, 2), 2)]


def test_the_last_submission_counts_and_other_cases_keep_their_best_answer() -> None:
    history = [
        sent("x", "maze", "0:00:01.000", a=raw(4), b=raw(2)),
        sent("x", "maze", "0:00:02.000", a=raw(2), b=raw(4)),
        sent("x", "maze", "0:00:03.000", b=raw(3)),
    ]
    (row,) = expected_rows([RELATIVE], ["x"], history)
    assert row.problems[0].raw == {"a": 4, "b": 3}


def test_equal_points_are_ordered_by_the_earlier_last_rise_and_equal_rows_share_a_rank() -> None:
    full = Checked(True, FULL, 1)
    history = [
        sent("x", "puzzle", "0:10:00.000", a=full),
        sent("y", "puzzle", "0:09:00.000", a=full),
        sent("z", "puzzle", "0:10:00.000", a=full),
    ]
    rows = expected_rows([ABSOLUTE], ["x", "y", "z"], history)
    assert [(row.team_id, row.rank) for row in rows] == [("y", 1), ("x", 2), ("z", 2)]


def test_contest_times_are_compared_as_numbers() -> None:
    assert milliseconds("10:00:00.001") - milliseconds("9:59:59.999") == 2


def test_a_board_in_another_order_is_a_difference() -> None:
    rows = expected_rows([ABSOLUTE], ["x"], [])
    assert differences(rows, {"rows": []}) == ["order: expected ['x'], found []"]


def board_of(rows: list[ExpectedRow]) -> dict[str, Any]:
    """The document a service would send for these rows."""
    return {
        "rows": [
            {
                "rank": row.rank,
                "team_id": row.team_id,
                "score": {"score": float(row.points), "time": row.time},
                "problems": [
                    {
                        "problem_id": cell.problem_id,
                        "num_judged": cell.judged,
                        "num_pending": 0,
                        "score": float(cell.points),
                        **({"time": cell.time} if cell.time else {}),
                        "raw": {case: {"raw": raw_score} for case, raw_score in cell.raw.items()},
                    }
                    for cell in row.problems
                ],
            }
            for row in rows
        ]
    }


def test_the_same_board_has_no_differences_and_every_tampering_is_one() -> None:
    history = [sent("x", "maze", "0:00:01.000", a=raw(3)), sent("y", "maze", "0:00:02.000", a=raw(4))]
    rows = expected_rows([RELATIVE], ["x", "y"], history)
    assert differences(rows, board_of(rows)) == []
    for tamper in (
        {"score": {"score": 50.00001, "time": "0:00:02.000"}},
        {"score": {"score": 50.0, "time": "0:00:02.001"}},
        {"rank": 2},
    ):
        board = board_of(rows)
        board["rows"][0].update(tamper)
        assert len(differences(rows, board)) == 1
    for name, value in (("num_judged", 2), ("num_pending", 1), ("score", 49.0), ("raw", {"a": {"raw": 5}})):
        board = board_of(rows)
        board["rows"][0]["problems"][0][name] = value
        assert len(differences(rows, board)) == 1
