"""Extra time: one team's time ends later than the contest, and nothing that others may see then reaches it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.app.archive.test_contest_packages import bring_in
from tests.app.contests.test_participation import begin, contest, points, send
from tests.builders.contests import HOUR, add_submission, pass_time
from tests.builders.examples import sqlite_first
from tests.builders.scoring import raw, share
from tests.builders.service import Api

TEAM = "contests/c/teams/team"
MINUTES = timedelta(minutes=1)


def give(api: Api, extra: str = "1:00:00", user: str = "admin") -> Any:
    """Give `team` extra time."""
    return api.patch(TEAM, user=user, json={"extra_time": extra})


@sqlite_first
def test_a_team_with_extra_time_submits_after_the_end_and_is_scored(api: Api) -> None:
    contest(api, started=4.5 * HOUR)
    given = give(api)
    assert (given.status_code, given.json()["extra_time"]) == (200, "1:00:00.000"), given.text
    pass_time(api.service, HOUR)
    assert send(api).status_code == 201
    assert send(api, "other").json()["message"] == "the contest is over"
    assert api.get("contests/c/participation", user="team").json()["running"] is True
    add_submission(api.service, {"02": share(1), "03": share(1)}, minute=350)
    assert points(api) == {"team": 100.0, "other": 0.0}
    add_submission(api.service, {"02": share(1), "03": share(1)}, minute=350, team="other")
    assert points(api)["other"] == 0.0, "it was sent after the end of this team's time"
    pass_time(api.service, HOUR)
    assert send(api).status_code == 403


def test_only_judges_learn_who_has_extra_time(quick_api: Api) -> None:
    contest(quick_api)
    give(quick_api)
    assert give(quick_api, user="team").status_code == 403
    seen = {user: quick_api.get(TEAM, user=user).json().get("extra_time") for user in (None, "team", "other", "judge")}
    assert seen == {None: None, "team": None, "other": None, "judge": "1:00:00.000"}


def test_extra_time_can_be_changed_and_removed_and_is_checked(quick_api: Api) -> None:
    contest(quick_api)
    assert give(quick_api, "0:30:00").json()["extra_time"] == "0:30:00.000"
    assert quick_api.patch(TEAM, user="admin", json={"disqualified": True}).json()["extra_time"] == "0:30:00.000"
    assert give(quick_api, "0:00:00").json()["extra_time"] == "0:00:00.000"
    for wrong in ("-1:00:00", "soon", 5):
        assert give(quick_api, wrong).status_code == 400
    assert quick_api.patch("contests/c/teams/none", user="admin", json={"extra_time": "1:00:00"}).status_code == 404


def test_a_personal_clock_runs_longer_by_the_extra_time(quick_api: Api) -> None:
    contest(quick_api, started=HOUR, settings={"personal_duration": "1:00:00"})
    give(quick_api, "0:30:00")
    begin(quick_api, "personal")
    pass_time(quick_api.service, 80 * MINUTES)
    assert send(quick_api).status_code == 201
    pass_time(quick_api.service, 20 * MINUTES)
    assert send(quick_api).json()["message"] == "your team's own time is over"


def test_results_are_not_final_while_a_team_has_time(quick_api: Api) -> None:
    contest(quick_api, started=5.5 * HOUR)
    give(quick_api)
    finalized = {"id": "c", "finalized": True}
    refused = quick_api.patch("contests/c", user="admin", json=finalized)
    assert refused.status_code == 409
    assert "teams with extra time may submit until" in refused.json()["message"]
    pass_time(quick_api.service, HOUR)
    assert quick_api.patch("contests/c", user="admin", json=finalized).status_code == 200


def test_a_team_with_extra_time_does_not_read_others_answers_and_its_own_stay_frozen(quick_api: Api) -> None:
    contest(quick_api, started=5.5 * HOUR, freeze=HOUR, settings={"show_others_answers": True})
    theirs = add_submission(quick_api.service, {"02": raw(1)}, minute=10, team="other")
    address = f"contests/c/submissions/{theirs}/files"
    give(quick_api)
    assert [quick_api.get(address, user=user).status_code for user in ("team", "other")] == [403, 200]
    add_submission(quick_api.service, {"02": share(1), "03": share(1)}, minute=320)
    assert points(quick_api) == {"team": 0.0, "other": 0.0}
    assert points(quick_api, "judge")["team"] == 100.0


def test_an_exported_contest_keeps_extra_time(quick_api: Api) -> None:
    contest(quick_api)
    give(quick_api)
    package = quick_api.get("contests/c/package.zip", user="admin")
    brought = bring_in(quick_api, package.content, "?replace=true&id=copy")
    assert brought.status_code == 201, brought.text
    assert quick_api.get("contests/copy/teams/team", user="admin").json()["extra_time"] == "1:00:00.000"


def test_an_organizer_gives_extra_minutes_on_the_page_of_teams(quick_api: Api) -> None:
    contest(quick_api, started=4.5 * HOUR)
    page = "/admin/contests/c/teams"
    sent = quick_api.post(f"{page}/team/extra", user="admin", data={"extra": "15"})
    assert sent.status_code == 303, sent.text
    assert "15 extra minutes" in quick_api.get(page, user="admin").text
    pass_time(quick_api.service, 40 * MINUTES)
    assert 'class="clock"' in quick_api.get("/c/c", user="team").text
    assert "0:0" in quick_api.get("/c/c", user="team").text.split('class="clock"')[1][:400]
