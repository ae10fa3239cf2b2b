"""Results on paper: the standings with organizations and awards, as CSV, and certificates of the teams chosen."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime

import pytest

from app.tables import ContestTeamRow, OrganizationRow, PersonRow, TeamRow
from tests.app.contests.test_contest_pages import text_of
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, change_contest
from tests.builders.examples import sqlite_first
from tests.builders.scoring import share
from tests.builders.service import Api

pytestmark = sqlite_first

PAGE = "/admin/contests/c/results"


@pytest.fixture
def contest(api: Api) -> Api:
    """A contest that has ended, in which `team` of Springfield leads before `other`."""
    add_problem(api.service)
    add_contest(api.service, started=6 * HOUR, freeze=HOUR, settings={"awards": {"gold": 1}})
    add_submission(api.service, {"02": share(1), "03": share(1)}, minute=280)
    add_submission(api.service, {"02": share(1)}, team="other")
    with api.service.database.write() as session:
        session.add(OrganizationRow(id="spring", name="Springfield <b>", details={}))
        person = PersonRow(id="ana", name="Ana Pérez", role="contestant", team_ids=["team"], details={})
        session.add(person)
        session.flush()
        session.get_one(TeamRow, "team").organization_id = "spring"
        session.add_all(ContestTeamRow(contest_id="c", team_id=each) for each in ("team", "other"))
    return api


def finish(api: Api) -> None:
    change_contest(api.service, thaw_time=datetime.now(UTC), finalized=datetime.now(UTC))


def test_results_show_organizations_and_awards_once_they_are_final(contest: Api) -> None:
    before = text_of(contest.get(PAGE, user="judge").text)
    assert "not final yet" in before
    assert "Team team Springfield &lt;b&gt; 100.0" in before, before
    finish(contest)
    after = text_of(contest.get(PAGE, user="judge").text)
    assert "These results are final." in after
    assert "Gold" in after or "gold" in after
    for user, status in (("team", 403), (None, 303)):
        assert contest.get(PAGE, user=user).status_code == status


def test_the_csv_has_the_organizations(contest: Api) -> None:
    finish(contest)
    rows = list(csv.DictReader(io.StringIO(contest.get("contests/c/scoreboard.csv").text)))
    assert [(row["team_id"], row["organization"]) for row in rows] == [("team", "Springfield <b>"), ("other", "")]


@pytest.mark.parametrize(
    ("query", "teams"),
    [
        ("certificates=all", ["Team team", "Team other"]),
        ("certificates=all&team=other", ["Team other"]),
        ("certificates=all&team=nobody", []),
        ("certificates=awarded", ["Team team"]),
    ],
)
def test_certificates_are_one_page_for_each_team_chosen(contest: Api, query: str, teams: list[str]) -> None:
    finish(contest)
    if "awarded" in query:
        given = {"citation": "Best team", "team_ids": ["team"], "id": "winner"}
        contest.put("contests/c/awards/winner", user="admin", json=given)
    page = contest.get(f"{PAGE}?{query}", user="judge").text
    shown = page.split("<article")[1:]
    names = [each.split("<h2>")[1].split("</h2>")[0] for each in shown]
    assert names == teams if "awarded" not in query else "Team team" in names
    for each in shown:
        if "Team team" in each:
            words = text_of(f"<main>{each}</main>")
            assert all(
                part in words for part in ("Ana Pérez", "Springfield &lt;b&gt;", "Rank 1 of 2 with 100.0 points")
            )
    assert contest.get(f"{PAGE}?certificates=none", user="judge").status_code == 400
