"""A prediction contest from one CSV table, by the API and by the page, up to its judged submissions."""

from __future__ import annotations

import html
import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from app.core.clics import format_time
from tests.builders.contests import HOUR, change_contest, with_checkers
from tests.builders.judging import judge
from tests.builders.service import Api

ORIGIN = {"Origin": "http://jurado.test"}
CSV = {"Content-Type": "text/csv"}
TABLE = "id,height,kind\n" + "".join(f"{at},{at % 7},{'oak' if at % 3 else 'elm'}\n" for at in range(1, 41))
FORM = {
    "name": "Forest trees",
    "target": "kind",
    "id_column": "id",
    "metric": "accuracy",
    "train": "50",
    "public": "50",
}


@pytest.fixture
def checked(quick_api: Api) -> Api:
    """The API of a service that has checkers."""
    return with_checkers(quick_api)


def create(api: Api, user: str | None = "admin", data: str = TABLE, **choices: object) -> Any:
    params = {"name": "Forest trees", "target": "kind", "seed": "5", **choices}
    return api.post("contests/predictions", user=user, params=params, content=data.encode(), headers=CSV)


def opened(api: Api) -> None:
    """Let the contest be running, with both teams."""
    api.post("contests/forest-trees/teams", user="admin", json={"team_ids": ["team", "other"]}).raise_for_status()
    change_contest(api.service, "forest-trees", start_time=datetime.now(UTC) - HOUR)


def test_an_organizer_creates_a_contest_and_teams_get_its_tables(checked: Api) -> None:
    checked.put("organisers/staff", user="admin").raise_for_status()
    made = create(checked, "staff", days=3, per_day=2)
    assert made.status_code == 201, made.text
    contest = made.json()
    assert (contest["id"], contest["start_time"], contest["duration"]) == ("forest-trees", None, "72:00:00.000")
    assert contest["settings"]["limits"]["per_window"] == {"count": 2, "seconds": 86_400}
    (entry,) = checked.get("contests/forest-trees/problems", user="admin").json()
    assert (entry["id"], entry["name"], entry["rule"]["counting"]) == ("foresttrees", "Forest trees", "last")
    assert checked.get("problems/foresttrees", user="staff").status_code == 200
    place = "contests/forest-trees/problems/foresttrees/statement"
    assert checked.get(f"{place}/train.csv", user="team").status_code == 404
    soon = {"id": "forest-trees", "start_time": format_time(datetime.now(UTC) + HOUR)}
    assert checked.patch("contests/forest-trees", user="staff", json=soon).status_code == 200
    opened(checked)
    page = checked.get("/c/forest-trees/problems/foresttrees", user="team").text
    links = re.findall(r'href="(/api/[^"]+\.csv)"', page)
    assert {link.rpartition("/")[2] for link in links} == {"train.csv", "test.csv", "sample_submission.csv"}
    files = {link.rpartition("/")[2]: checked.get(link, user="team") for link in links}
    assert {reply.headers["content-type"] for reply in files.values()} == {"text/csv; charset=utf-8"}
    assert files["train.csv"].text.splitlines()[0] == "id,height,kind"
    assert files["test.csv"].text.splitlines()[0] == "id,height"
    assert "predictions.csv, or a zip with it" in page


def test_a_second_contest_of_the_name_has_a_problem_of_its_own(checked: Api) -> None:
    create(checked).raise_for_status()
    again = create(checked).json()
    (entry,) = checked.get(f"contests/{again['id']}/problems", user="admin").json()
    assert (again["id"], entry["id"]) == ("forest-trees-2", "foresttrees2")


def test_the_sample_submission_is_judged_for_both_kinds_of_rows(checked: Api) -> None:
    create(checked).raise_for_status()
    opened(checked)
    sample = checked.get("contests/forest-trees/problems/foresttrees/statement/sample_submission.csv", user="team")
    sent = checked.post(
        "contests/forest-trees/submissions",
        user="team",
        data={"problem_id": "foresttrees"},
        files=[("files", ("sample_submission.csv", sample.content))],
    )
    assert sent.status_code == 201, sent.text
    judge(checked.service)
    report = f"contests/forest-trees/submissions/{sent.json()['id']}/report"
    for user, known in (("admin", 2), ("team", 1)):
        cases = checked.get(report, user=user).json()["cases"]
        raws = {case["name"]: case["raw"] for case in cases}
        assert sum(raw is not None for raw in raws.values()) == known
        assert raws["public"] is not None
    assert "Provisional" in checked.get("/c/forest-trees/scoreboard", user="team").text


@pytest.mark.parametrize(
    ("data", "choices", "fault"),
    [
        ("id,kind\n1,a\n2,\n", {}, "table: line 3, column 'kind': expected a value"),
        ("id,kind\n1,a\n2,b\n", {}, "table: line 1: expected a column to predict from, found id, kind"),
        (TABLE, {"train": "120"}, "train"),
        (TABLE, {"name": ""}, "name"),
        (TABLE, {"unknown": "1"}, "unknown"),
    ],
)
def test_faults_are_refused_and_nothing_is_stored(checked: Api, data: str, choices: dict[str, str], fault: str) -> None:
    refused = create(checked, data=data, **choices)
    assert (refused.status_code, fault in refused.text) == (400, True), refused.text
    assert json.loads(checked.get("problems", user="admin").text) == []
    assert checked.get("contests", user="admin").json() == []


@pytest.mark.parametrize(("user", "status"), [(None, 401), ("team", 403), ("staff", 403), ("judge", 403)])
def test_only_organizers_create_prediction_contests(checked: Api, user: str | None, status: int) -> None:
    assert create(checked, user).status_code == status


def test_the_page_creates_a_contest_and_shows_faults_next_to_what_was_sent(checked: Api) -> None:
    def send(data: str, **fields: str) -> Any:
        files = {"table": ("forest.csv", data.encode(), "text/csv")}
        return checked.post(
            "/admin/predictions/new", user="admin", headers=ORIGIN, data={**FORM, **fields}, files=files
        )

    assert "/admin/predictions/new" in checked.get("/admin/new", user="admin").text
    assert "/admin/predictions/new" in checked.get("/admin/problems/new", user="admin").text
    refused = send("id,kind\n1,a\n2,\n", days="9")
    assert refused.status_code == 400
    assert "Line 3, column 'kind': expected a value" in html.unescape(refused.text)
    assert 'value="9"' in refused.text
    made = send(TABLE)
    assert (made.status_code, made.headers["location"]) == (303, "/admin/contests/forest-trees?done=predictions")
    assert "The contest is created." in checked.get(made.headers["location"], user="admin").text
