"""The projector shows what everyone may see, and the ceremony opens nothing but its own page until it is told to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.domain.counting import CaseVerdict, RawScore
from app.scoreboard.service.reveal import Rehearsal
from app.tables import AccountRow, TeamRow
from tests.app.contests.test_contest_pages import text_of
from tests.builders.contests import add_contest, add_problem, add_submission
from tests.builders.examples import sqlite_first
from tests.builders.service import HASH, Api, open_api

pytestmark = sqlite_first

HOUR = timedelta(hours=1)
RIGHT = RawScore(CaseVerdict.ACCEPTED, 1, 1)
ORIGIN = {"Origin": "http://jurado.test"}
CEREMONY = "/admin/contests/c/ceremony"


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    """A contest that has ended with a frozen board: `other` leads it, `team` has won meanwhile, `third` has nothing."""
    with open_api(database_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service, started=6 * HOUR, freeze=HOUR)
        with api.service.database.write() as session:
            session.add(TeamRow(id="third", name="Third <b>place</b>", label="3", hidden=False))
            now = datetime.now(UTC)
            session.add(AccountRow(id="third", username="third", password_hash=HASH, type="team", created=now))
        add_submission(api.service, {"02": RIGHT}, team="other", minute=10)
        add_submission(api.service, {"02": RIGHT, "03": RIGHT}, team="team", minute=250)
        add_submission(api.service, {"02": RIGHT}, team="third", minute=260)
        yield api


def totals(html: str) -> dict[str, str]:
    """The total of each team, in the order of the board."""
    return dict(
        re.findall(r'<th scope="row"><span title="([^"]*)">.*?<td\s+class="tot">([\d.]+)</td>', html, re.DOTALL)
    )


def test_the_projector_shows_everybodys_board_whoever_opens_it(api: Api) -> None:
    public = totals(api.get("/c/c/projector").text)
    assert public == {"Team other": "50.0", "Team team": "0.0", "Third &lt;b&gt;place&lt;/b&gt;": "0.0"}
    for user in ("team", "judge", "admin"):
        page = api.get("/c/c/projector?theme=dark", user=user).text
        assert totals(page) == public, user
        assert "The scoreboard has been frozen since 4:00:00" in text_of(page)


def test_the_ceremony_steps_forward_and_back_and_the_public_board_stays(api: Api) -> None:
    before = api.get("contests/c/scoreboard").json()["rows"]
    shown = [totals(api.get(f"{CEREMONY}?step={step}", user="judge").text) for step in (0, 1, 2, 1, 0)]
    assert shown[0] == totals(api.get("/c/c/scoreboard").text)
    assert list(shown[1].values()) == ["50.0", "50.0", "0.0"], "the lowest row opens first"
    assert next(iter(shown[2].items())) == ("Team team", "100.0")
    assert shown[3:] == [shown[1], shown[0]]
    words = text_of(api.get(f"{CEREMONY}?step=2", user="judge").text)
    assert "Team team, problem A: 0.0 to 100.0" in words
    assert "from 3rd to 1st" in words
    assert api.get("contests/c/scoreboard").json()["rows"] == before
    assert totals(api.get("/c/c/projector", user="admin").text) == shown[0]


def test_the_ceremony_is_for_judges_and_only_owners_open_the_board(api: Api) -> None:
    assert api.get(CEREMONY).status_code == 303
    assert api.get(f"{CEREMONY}?step=2", user="team").status_code == 403
    assert api.post(CEREMONY, user="judge", data={"all": "yes"}, headers=ORIGIN).status_code == 403
    assert api.get("contests/c/state").json()["thawed"] is None


def test_what_is_opened_for_everybody_is_what_the_rehearsal_has_shown(api: Api) -> None:
    first = totals(api.get(f"{CEREMONY}?step=1", user="judge").text)
    assert api.post(CEREMONY, user="admin", data={"steps": "1"}, headers=ORIGIN).status_code == 303
    assert totals(api.get("/c/c/projector").text) == first
    assert "1 result is hidden" in text_of(api.get(CEREMONY, user="judge").text)
    last = totals(api.get(f"{CEREMONY}?step=1", user="judge").text)
    reply = api.post(CEREMONY, user="admin", data={"all": "yes"}, headers=ORIGIN)
    assert reply.headers["Location"] == f"{CEREMONY}?done=thawed"
    assert totals(api.get("/c/c/projector").text) == last
    assert "everyone sees the results" in text_of(api.get(CEREMONY, user="judge").text)


def test_before_the_end_the_ceremony_is_a_rehearsal(api: Api) -> None:
    add_contest(api.service, "still", started=4.5 * HOUR, freeze=HOUR)
    add_submission(api.service, {"02": RIGHT}, contest_id="still", minute=265)
    page = api.get("/admin/contests/still/ceremony?step=1", user="admin").text
    assert "This is a rehearsal" in text_of(page)
    assert "50.0" in totals(page).values()
    refused = api.post("/admin/contests/still/ceremony", user="admin", data={"all": "yes"}, headers=ORIGIN)
    assert refused.status_code == 409
    assert "50.0" not in totals(api.get("/c/still/projector", user="admin").text).values()


def test_a_jump_to_the_end_is_the_board_of_all_steps(api: Api) -> None:
    snapshot = api.service.boards.snapshot("c", public=True)
    assert snapshot is not None
    by_steps, at_once = Rehearsal(snapshot), Rehearsal(snapshot)
    rows = [[(row.team.id, row.points) for row in by_steps.scene(step).board.main.rows] for step in range(3)]
    assert [(row.team.id, row.points) for row in at_once.scene(99).board.main.rows] == rows[-1]
    judges = api.service.boards.snapshot("c", public=False)
    assert judges is not None
    assert [(row.team.id, row.points) for row in judges.main.rows] == rows[-1]
