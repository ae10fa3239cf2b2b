"""A frozen board is opened row by row after the end, and everything that shows verdicts follows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.contests.queries import choose
from app.tables import AccountRow, JudgementRow, TeamRow
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, change_contest
from tests.builders.examples import sqlite_first
from tests.builders.scoring import raw
from tests.builders.service import Api

pytestmark = sqlite_first


@pytest.fixture
def frozen(api: Api) -> Api:
    """A contest of five hours, over since one, frozen for its last: three teams, one of which has nothing hidden."""
    add_problem(api.service)
    with api.service.database.write() as session:
        session.add(TeamRow(id="third", name="Team third", label="third"))
        session.flush()
        session.add(AccountRow(id="third", username="third", type="team", team_id="third", created=datetime.now(UTC)))
    add_contest(api.service, started=6 * HOUR, freeze=HOUR, rule={"kind": "relative", "counting": "best-case"})
    add_submission(api.service, {"02": raw(8)}, minute=10)
    add_submission(api.service, {"02": raw(4)}, minute=20, team="other")
    add_submission(api.service, {"02": raw(2)}, minute=30, team="third")
    add_submission(api.service, {"02": raw(16)}, minute=250, team="other")
    add_submission(api.service, {"02": raw(3)}, minute=260, team="team")
    return api


def reveal(api: Api, step: str = "cell") -> Any:
    """One step, as admin."""
    reply = api.post("contests/c/reveal", user="admin", json={"step": step})
    assert reply.status_code == 200, reply.text
    return reply.json()


def points(api: Api, user: str | None = None) -> dict[str, float]:
    """Points by team, in the order of the board."""
    rows = api.get("contests/c/scoreboard", user=user).json()["rows"]
    return {row["team_id"]: row["score"]["score"] for row in rows}


def judged(api: Api) -> set[str]:
    """The submissions whose judgements everyone sees."""
    return {each["submission_id"] for each in api.get("contests/c/judgements").json()}


def test_the_board_opens_from_the_bottom_and_thaws_with_the_last_place(frozen: Api) -> None:
    assert points(frozen) == {"team": 50.0, "other": 25.0, "third": 12.5}
    upcoming = frozen.get("contests/c/reveal", user="judge").json()
    assert upcoming == {
        "opened": [],
        "next": {"team_id": "other", "rank": 2, "problem_ids": ["echo"]},
        "left": 2,
        "thawed": None,
    }
    assert judged(frozen) == {"1", "2", "3"}

    first = reveal(frozen)
    assert first["opened"] == [{"team_id": "other", "problem_id": "echo"}]
    assert (first["next"], first["left"]) == ({"team_id": "team", "rank": 2, "problem_ids": ["echo"]}, 1)
    assert points(frozen) == {"other": 50.0, "team": 25.0, "third": 6.25}, "what is opened is part of BEST"
    assert judged(frozen) == {"1", "2", "3", "4"}
    assert frozen.get("contests/c/state").json()["thawed"] is None

    last = reveal(frozen)
    assert (last["next"], last["left"]) == (None, 0)
    assert last["thawed"] == frozen.get("contests/c/state").json()["thawed"] is not None
    assert judged(frozen) == {"1", "2", "3", "4", "5"}
    assert points(frozen) == points(frozen, "judge")
    again = frozen.post("contests/c/reveal", user="admin", json={})
    assert (again.status_code, again.json()["message"]) == (409, "the scoreboard is not frozen")


@pytest.mark.parametrize(("step", "steps"), [("row", 2), ("all", 1)])
def test_a_row_or_everything_opens_at_once(frozen: Api, step: str, steps: int) -> None:
    for at in range(steps):
        assert (reveal(frozen, step)["thawed"] is not None) is (at == steps - 1)
    assert points(frozen) == points(frozen, "judge")


def test_nothing_opens_before_the_end_or_while_something_is_judged(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service, started=4.5 * HOUR, freeze=HOUR)
    early = api.post("contests/c/reveal", user="admin", json={})
    assert (early.status_code, early.json()["message"]) == (409, "the contest has not ended")
    add_submission(api.service, None, minute=260)
    change_contest(api.service, duration_ms=4 * 3_600_000 + 1_500_000)
    waits = api.post("contests/c/reveal", user="admin", json={})
    assert (waits.status_code, waits.json()["message"]) == (409, "1 submissions are still to be judged")
    assert api.post("contests/c/reveal", user="admin", json={"step": "column"}).status_code == 400


def test_a_team_off_the_board_is_not_waited_for(frozen: Api) -> None:
    add_submission(frozen.service, None, minute=270, team="third")
    assert frozen.post("contests/c/reveal", user="admin", json={}).status_code == 409
    frozen.patch("contests/c/teams/third", user="admin", json={"disqualified": True})
    assert reveal(frozen)["left"] == 1


def test_a_choice_is_opened_with_its_place(frozen: Api) -> None:
    """A team that has nothing hidden but its choice: until its row is opened, the board shows what it showed."""
    change_contest(frozen.service, settings={"choose": True})
    worse = add_submission(frozen.service, {"02": raw(1)}, minute=40, team="third")
    before = points(frozen)
    with frozen.service.database.write() as session:
        choose(session, ("c", "third", "echo"), worse, datetime.now(UTC))
    frozen.service.boards.changed("c")
    assert points(frozen) == before
    assert frozen.get("contests/c/reveal", user="judge").json()["next"]["team_id"] == "third"
    assert frozen.get("contests/c/reveal", user="judge").json()["left"] == 3
    reveal(frozen, "row")
    assert points(frozen)["third"] == pytest.approx(50.0 / 8)
    reveal(frozen, "all")
    assert points(frozen) == points(frozen, "judge")


def test_the_frozen_board_does_not_change_by_one_byte_while_verdicts_arrive(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service, started=4.5 * HOUR, freeze=HOUR, rule={"kind": "relative"})
    add_submission(api.service, {"02": raw(8)}, minute=10)
    waiting = [add_submission(api.service, None, minute=245 + at, team="other") for at in range(3)]
    assert waiting
    before = api.get("contests/c/scoreboard")
    with api.service.database.write() as session:
        for row in session.query(JudgementRow).filter(JudgementRow.state == "queued"):
            row.state, row.type, row.end_time = "done", "WA", row.start_time + timedelta(seconds=1)
    api.service.boards.changed("c")
    after = api.get("contests/c/scoreboard")
    assert after.content == before.content
    assert after.headers["ETag"] == before.headers["ETag"]
