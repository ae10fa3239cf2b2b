"""Running a contest on pages: submissions, rejudgings, questions, similarity, problems, people, health."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import cast

import httpx
import pytest

from app.accounts.service.viewer import Viewer
from app.authoring.service import packages
from app.authoring.service.packages import SentPackage
from app.core.clock import utc_now
from app.core.db.locks import SERVER, WORKER, Work, write_signs
from app.core.files.temporary import remove_leftovers
from app.core.service import Service
from app.judging.service.graders import GraderState
from app.judging.service.problem_changes import How
from app.packages.zips import zip_bytes
from app.tables import ContestRow, JobRow, TeamRow
from tests.app.accounts.test_sessions import session_of
from tests.app.contests.test_contest_pages import text_of
from tests.builders.contests import add_contest, add_problem, add_submission, with_checkers
from tests.builders.examples import sqlite_first
from tests.builders.judging import judge
from tests.builders.packages import zip_package
from tests.builders.processes import sign
from tests.builders.scoring import REJECTED, share
from tests.builders.service import PASSWORD, Api, Idle, open_api

pytestmark = sqlite_first  # the API under the pages is tried on both
ORIGIN = {"Origin": "http://jurado.test"}
HOSTILE = "<img src=x onerror=alert(1)>"
RIGHT = {"02": b"2\n", "03": b"3\n"}


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    """A running contest in which `team` was rejected wrongly and `other` has everything."""
    with open_api(database_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        add_submission(api.service, {"02": REJECTED, "03": REJECTED}, files=RIGHT, judgement_type="WA", minute=2)
        add_submission(api.service, {"02": share(1), "03": share(1)}, team="other", judgement_type="AC", minute=3)
        with api.service.database.write() as session:
            session.get_one(TeamRow, "team").name = HOSTILE
            session.get_one(ContestRow, "c").name = HOSTILE
        api.service.boards.all_changed()
        yield with_checkers(api)


def send(api: Api, path: str, user: str = "admin", **more: object) -> httpx.Response:
    return api.post(path, user=user, headers=ORIGIN, **more)


def listed(html: str) -> list[str]:
    """The ids of the submissions that a page lists, in its order."""
    return re.findall(r'<th scope="row"><a href="/admin/contests/c/submissions/(\d+)"', html)


def test_the_stream_is_filtered_and_names_are_text(api: Api) -> None:
    page = api.get("/admin/contests/c/live", user="judge").text
    assert listed(page) == ["2", "1"]
    assert "<img" not in page
    assert listed(api.get("/admin/contests/c/live?team=team", user="judge").text) == ["1"]
    assert listed(api.get("/admin/contests/c/live?kind=AC&problem=A", user="judge").text) == ["2"]
    assert listed(api.get("/admin/contests/c/live?kind=waiting", user="judge").text) == []
    assert listed(api.get("/admin/contests/c/live?before=2", user="judge").text) == ["1"]


def test_a_rejudging_shows_its_matrix_is_applied_as_seen_and_taken_back(api: Api) -> None:
    made = send(api, "/admin/contests/c/submissions/1/rejudge")
    place = made.headers["Location"]
    assert place == "/admin/contests/c/rejudgings/1"
    judge(api.service)
    html = api.get(place, user="judge").text
    assert "<img" not in html
    words = text_of(html)
    assert "Changed submissions: 1 of 1 , cases: 2." in words
    assert "Accepted Rejected Accepted · · Rejected 1 ·" in words
    spanish = text_of(api.get(place, user="judge", headers={"Accept-Language": "es"}).text)
    assert "Aceptada Rechazada Aceptada · · Rechazada 1 ·" in spanish
    version = re.search(r'name="version"\s+value="([^"]+)"', api.get(place, user="admin").text)
    assert version is not None
    assert send(api, f"{place}/apply", data={"version": "1-0000000000000000"}).status_code == 409
    assert send(api, f"{place}/apply", "judge", data={"version": version[1]}).status_code == 403
    assert send(api, f"{place}/apply", data={"version": version[1]}).status_code == 303
    assert api.get("contests/c/submissions/1/report", user="team").json()["points"] == 100
    assert send(api, f"{place}/undo").status_code == 303
    assert api.get("contests/c/submissions/1/report", user="team").json()["points"] == 0
    assert "was applied and undone" in text_of(api.get(place, user="judge").text)
    nothing = send(api, "/admin/contests/c/rejudgings", data={"reason": "why"})
    assert nothing.status_code == 400


def test_a_question_is_answered_to_its_team_with_a_ready_text_or_to_everybody(api: Api) -> None:
    for text in ("May I?", "And now?"):
        api.post("contests/c/clarifications", user="team", json={"text": text})
    first, second = (each["id"] for each in api.get("contests/c/clarifications", user="judge").json())
    assert "2 unanswered questions" in text_of(api.get("/admin/contests/c/questions", user="judge").text)
    send(api, "/admin/contests/c/questions", "judge", data={"reply_to_id": first, "text": "", "canned": "No comment."})
    answer = {"reply_to_id": second, "text": "Yes", "everybody": "on"}
    assert send(api, "/admin/contests/c/questions", "judge", data=answer).status_code == 303
    texts = {user: [each["text"] for each in api.get("contests/c/clarifications", user=user).json()]
             for user in ("team", "other")}  # fmt: skip
    assert texts == {"team": ["May I?", "And now?", "No comment.", "Yes"], "other": ["Yes"]}
    with api.service.database.write() as session:
        session.get_one(TeamRow, "team").name = "Jury"  # what a team is called makes it no jury
    api.service.boards.all_changed()
    words = text_of(api.get("/admin/contests/c/questions", user="judge").text)
    assert "No unanswered questions" in words
    assert words.count("Answer again") == 2
    assert send(api, "/admin/contests/c/questions", "team", data=answer).status_code == 403


def test_teams_with_equal_answers_are_listed_for_judges(api: Api) -> None:
    long = b" ".join(b"%d" % (at * at % 997) for at in range(200)) + b"<script>\n"
    for team, minute in (("team", 10), ("other", 12)):
        add_submission(api.service, {"02": share(0)}, team=team, files={"02": long}, minute=minute)
    page = api.get("/admin/contests/c/similarity", user="judge").text
    assert "1 pair of teams with similar answers" in text_of(page)
    sent = re.findall(r'href="(/admin/contests/c/submissions/[^"]+)"', page.split("<tbody>")[1])
    assert [api.get(address, user="judge").status_code for address in sent] == [200, 200]


def test_a_package_with_faults_lists_them_by_file_and_a_sound_one_becomes_a_problem(api: Api) -> None:
    broken = zip_package({"problem.yaml": "name: [", "data/secret/03.ans": None}, top="second/")
    refused = send(api, "/admin/problems", files={"package": ("second.zip", broken, "application/zip")})
    assert refused.status_code == 400
    words = text_of(refused.text)
    assert "The package was not imported" in words
    assert "problem.yaml" in words
    assert api.get("problems/second", user="admin").status_code == 404
    assert send(api, "/admin/problems", "judge", files={"package": ("a.zip", broken)}).status_code == 403


def test_cases_are_put_by_zip_moved_and_given_points_and_versions_are_restored(api: Api) -> None:
    add_problem(api.service, slug="lone")
    bad = zip_bytes({"secret/04.in": b"four\n", "secret/05.txt": b""})
    refused = send(api, "/admin/problems/lone/cases", files={"files": ("cases.zip", bad)})
    assert refused.status_code == 400
    assert "secret/05.txt" in text_of(refused.text)
    good = zip_bytes({"secret/04.in": b"4\n", "secret/04.ans": b"4\n"})
    assert send(api, "/admin/problems/lone/cases", files={"files": ("cases.zip", good)}).status_code == 303
    moved = {"act": "move", "group": "secret/late"} | dict.fromkeys(("c.02", "c.03", "c.04"), "on")
    reply = send(api, "/admin/problems/lone/cases/arrange", data=moved)
    assert reply.status_code == 303, text_of(reply.text)
    groups = {case["name"]: case["group"] for case in api.get("problems/lone", user="admin").json()["testcases"]}
    assert groups["04"] == "secret/late"
    assert send(api, "/admin/problems/lone/cases/arrange", data={"act": "delete"}).status_code == 400
    assert "04" in api.get("/admin/problems/lone/versions/3", user="admin").text
    assert send(api, "/admin/problems/lone/versions/1/restore").status_code == 303
    assert "04" not in {case["name"] for case in api.get("problems/lone", user="admin").json()["testcases"]}


def test_a_job_shows_its_log_as_text(api: Api) -> None:
    log = f"02: best 3, 10 states\n02: best 5.5, 20 states\n03: best 1, 9 states\n{HOSTILE}\n"
    with api.service.database.write() as session:
        started = session.get_one(ContestRow, "c").start_time
        params = {"problem_id": "echo", "cases": ["02"]}
        session.add(JobRow(id="j", kind="reference-run", state="running", params=params, log=log, created=started))
    page = api.get("/admin/jobs/j", user="judge").text
    assert "02: best 5.5, 20 states" in text_of(page)
    assert "<img" not in page
    assert api.get("/admin/jobs/j", user="team").status_code == 403
    assert "/admin/jobs/j" in api.get("/admin/jobs", user="judge").text


def test_a_new_password_is_shown_once_and_works_and_ends_sessions(api: Api) -> None:
    before = session_of(api.post("/login", data={"username": "team", "password": PASSWORD}))
    api.client.cookies.clear()
    shown = send(api, "/admin/users/passwords", data={"sure": "yes", "u.team": "on"})
    assert shown.headers["Cache-Control"] == "private, no-store"
    password = re.search(r"<dt>password</dt>\s*<dd>([^<]+)</dd>", shown.text)
    assert password is not None
    assert api.get("account", **before).status_code == 401
    assert api.post("/login", data={"username": "team", "password": password[1]}).status_code == 303
    api.client.cookies.clear()
    assert send(api, "/admin/users/staff/organizer", data={"organizer": "yes"}).status_code == 303
    assert "may create contests" in api.get("/admin/users?find=staff", user="admin").text


def test_roles_are_given_and_taken_back_and_the_log_has_both(api: Api) -> None:
    assert send(api, "/admin/contests/c/roles", data={"account": "staff", "role": "judge"}).status_code == 303
    assert api.get("/admin/contests/c/live", user="staff").status_code == 200
    assert send(api, "/admin/contests/c/roles/staff/revoke", data={"sure": "yes"}).status_code == 303
    assert api.get("/admin/contests/c/live", user="staff").status_code == 403
    log = api.get("/admin/contests/c/audit?operation=page_grant_role", user="admin").text
    assert "/admin/contests/c/roles" in log
    assert "page_revoke_role" not in log.split('<ol class="card', 1)[1]


def test_health_says_what_is_wrong_and_what_to_do(api: Api) -> None:
    assert "Graders : 1 running" in text_of(api.get("/admin/health", user="admin").text)
    cast(Idle, api.service.engine).state = GraderState(0, 2, {})
    words = text_of(api.get("/admin/health", user="admin").text)
    assert "Graders: something is wrong" in words
    assert "Graders : no grader of this server works: restart it" in words


def test_health_has_the_facts_and_the_advice_of_the_command(api: Api) -> None:
    now = utc_now()
    for row in (
        sign("one", SERVER, now, now, Work(2)),
        sign("two", WORKER, now, now - timedelta(minutes=1), Work(4, 1)),
    ):
        api.service.writer.submit(write_signs, row).result()
    document = api.get("status", user="admin").json()
    page = api.get("/admin/health", user="admin").text
    assert "<code>jurado backup DIR</code>" in page
    words = text_of(re.sub("</?code>", "`", page))
    figures = {each["name"]: each["figure"] for each in document["parts"]}
    assert figures["Servers"] == "1 running, their graders: 2; here:1 (0.1.0)"
    names = {"Servers", "Last 5 minutes", "Judge errors", "Running contests"}
    for name in names | {"Database in use", "Last backup"}:
        assert f"{name} : {figures[name].partition(' free')[0]}" in words
    advised = [each for each in document["parts"] if each["advice"]]
    assert any(each["name"].startswith("worker ") for each in advised)
    for each in advised:
        assert f"{each['name']} : {each['advice']}" in words


def test_a_package_on_its_way_in_is_no_leftover(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that starts in the meantime sweeps what killed ones left behind: its folder is locked, however old."""
    bring_in, swept = packages.bring_in, []

    def slow(service: Service, viewer: Viewer, sent: SentPackage, how: How) -> object:
        os.utime(sent.source.parent, (0, 0))
        remove_leftovers(sent.source.parent.parent)
        swept.append(sent.source.exists())
        return bring_in(service, viewer, sent, how)

    monkeypatch.setattr(packages, "bring_in", slow)
    sent = send(
        api, "/admin/problems", data={"id": "mysum"}, files={"package": ("mysum.zip", zip_package(top="mysum/"))}
    )
    assert (swept, sent.status_code) == ([True], 303), sent.text
    assert api.get("problems/mysum", user="admin").status_code == 200
