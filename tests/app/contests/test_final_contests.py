"""A contest that is final stays as it is: what would move anyone on its board is refused until it is opened again."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from app.packages.zips import zip_bytes
from app.tables import ContestTeamRow, TeamRow
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, change_contest
from tests.builders.scoring import share
from tests.builders.service import PASSWORD, Api

FORM = {"files": ("02.out", b"2\n")}
FILE = {"data": base64.b64encode(zip_bytes({"02.out": b"2\n"})).decode()}
CHANGES: tuple[tuple[str, str, Any], ...] = (
    ("POST", "contests/c/teams", {"team_ids": ["other"]}),
    ("DELETE", "contests/c/teams/late", None),
    ("PATCH", "contests/c/teams/team", {"disqualified": True}),
    ("PATCH", "teams/team", {"hidden": True}),
    ("PUT", "teams/late", {"id": "late", "name": "Late", "hidden": True}),
    ("POST", "teams?replace=true", [{"id": "team", "name": "Team", "hidden": True}]),
    ("POST", "contests/c/problems", {"id": "spare"}),
    ("PATCH", "contests/c/problems/echo", {"rule": {"max_points": 7}}),
    ("DELETE", "contests/c/problems/echo", None),
    ("PATCH", "contests/c", {"duration": "7:00:00"}),
    ("PATCH", "contests/c", {"settings": {"virtual": False}}),
    ("POST", "contests/c/pause", None),
    ("POST", "contests/c/resume", None),
)


@pytest.fixture
def final(quick_api: Api) -> Api:
    """A final contest `c` of the team `team`, with practice and virtual teams afterwards; `other` is not enrolled."""
    api = quick_api
    add_problem(api.service)
    add_problem(api.service, slug="spare")
    add_contest(api.service, started=6 * HOUR, settings={"virtual": True, "practice": True})
    change_contest(api.service, open_to_all=False)
    with api.service.database.write() as session:
        session.add(TeamRow(id="late", name="Late", label="late"))
        session.flush()
        session.add_all(ContestTeamRow(contest_id="c", team_id=team) for team in ("team", "late"))
    add_submission(api.service, {"02": share(1)})
    reply = api.patch("contests/c", user="admin", json={"finalized": True})
    assert reply.status_code == 200, reply.text
    return api


def board(api: Api) -> Any:
    """Who stands where."""
    return api.get("contests/c/scoreboard", user="admin").json()["rows"]


def test_what_would_change_the_results_is_refused_until_the_contest_is_opened_again(final: Api) -> None:
    before = board(final)
    assert [row["team_id"] for row in before] == ["team", "late"]
    for method, path, body in CHANGES:
        refused = final.request(method, path, user="admin", json=body)
        assert (refused.status_code, board(final)) == (403, before), f"{path}: {refused.text}"
        assert "final" in refused.json()["message"]
    assert final.patch("contests/c", user="admin", json={"finalized": False}).status_code == 200
    for method, path, body in CHANGES:
        opened = final.request(method, path, user="admin", json=body)
        assert "is final" not in opened.text, f"{path}: {opened.text}"


def test_nothing_that_counts_is_taken_any_more_but_practice_is(final: Api) -> None:
    before = board(final)
    start = final.get("contests/c").json()["start_time"]
    sent = {"language_id": "answers", "problem_id": "echo", "team_id": "team", "time": start, "files": [FILE]}
    refused = final.post("contests/c/submissions", user="admin", json=sent)
    assert (refused.status_code, "is final" in refused.text) == (403, True), refused.text
    refused = final.put("contests/c/submissions/theirs", user="admin", json={**sent, "id": "theirs"})
    assert (refused.status_code, "is final" in refused.text) == (403, True), refused.text
    taken = final.post("contests/c/submissions", user="team", data={"problem_id": "echo"}, files=FORM)
    assert (taken.status_code, board(final)) == (201, before), taken.text


def test_a_virtual_team_still_begins_and_submits(final: Api) -> None:
    final.patch("contests/c", user="admin", json={"finalized": False})
    assert final.post("contests/c/teams", user="admin", json={"team_ids": ["other"]}).status_code == 200
    final.patch("contests/c", user="admin", json={"finalized": True})
    begun = final.post("contests/c/participation", user="other", json={"kind": "virtual"})
    assert begun.status_code == 201, begun.text
    taken = final.post("contests/c/submissions", user="other", data={"problem_id": "echo"}, files=FORM)
    assert taken.status_code == 201, taken.text


def test_a_team_that_comes_to_a_final_contest_open_to_all_is_not_on_its_board_but_may_play_it(final: Api) -> None:
    assert final.patch("contests/c", user="admin", json={"finalized": False}).status_code == 200
    opened = final.patch("contests/c", user="admin", json={"id": "c", "open_to_all": True})
    assert opened.status_code == 200, opened.text
    assert final.patch("contests/c", user="admin", json={"finalized": True}).status_code == 200
    before = final.get("contests/c/scoreboard").text
    assert {row["team_id"] for row in board(final)} == {"team", "late", "other"}
    newcomer = {"id": "new", "name": "New"}
    assert final.post("teams", user="admin", json=newcomer).status_code == 201
    account = {"username": "new", "password": PASSWORD, "type": "team", "team_id": "new"}
    assert final.post("accounts", user="admin", json=account).status_code == 201
    assert final.get("contests/c/scoreboard").text == before
    begun = final.post("contests/c/participation", user="new", json={"kind": "virtual"})
    assert begun.status_code == 201, begun.text
    assert final.get("contests/c/scoreboard").text == before


def test_teams_of_other_contests_are_hidden_as_before(final: Api) -> None:
    assert final.patch("teams/other", user="admin", json={"hidden": True}).status_code == 200
    assert final.patch("teams/team", user="admin", json={"hidden": False, "name": "The team"}).status_code == 200


def test_results_are_not_final_while_something_is_still_to_be_judged(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service, started=6 * HOUR)
    add_submission(api.service, None, files={"02": b"2\n"})
    refused = api.patch("contests/c", user="admin", json={"finalized": True})
    assert refused.status_code == 409
    assert refused.json()["message"] == "finalized: 1 submissions are still to be judged"
    assert api.get("contests/c/state").json()["finalized"] is None
