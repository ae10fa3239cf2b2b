"""Drafts and private contests: for everyone else each address answers as for a contest that does not exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute

from app.page_routes import router
from app.routes import ROUTERS
from app.tables import ContestTeamRow
from tests.app.accounts.test_registration import ANA
from tests.app.contests.test_contest_pages import text_of
from tests.builders.contests import add_contest, add_problem, add_submission, change_contest
from tests.builders.examples import sqlite_first
from tests.builders.scoring import share
from tests.builders.service import Api, open_api
from tests.builders.streams import open_stream

pytestmark = sqlite_first

ORIGIN = {"Origin": "http://jurado.test"}
HIDDEN, ABSENT = "secretone", "absentone"
VALUES = {
    "problem_id": "echo",
    "team_id": "team",
    "rival_id": "other",
    "account_id": "team",
    **dict.fromkeys(("submission_id", "judgement_id", "run_id", "rejudging_id", "award_id"), "1"),
}
FILES = [("files", ("02.out", b"2\n"))]


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    """A public contest, and one that is hidden as each test says, in which the team `team` takes part."""
    with open_api(database_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service, "open")
        add_contest(api.service, HIDDEN)
        change_contest(api.service, HIDDEN, open_to_all=False)
        with api.service.database.write() as session:
            session.add(ContestTeamRow(contest_id=HIDDEN, team_id="team"))
        add_submission(api.service, {"02": share(1)}, contest_id=HIDDEN)
        yield api


def hide(api: Api, visibility: str) -> None:
    changed = api.patch(f"contests/{HIDDEN}", user="admin", json={"settings": {"visibility": visibility}})
    assert changed.status_code == 200, changed.text


def asked(api: Api, path: str, method: str, contest_id: str, user: str | None) -> tuple[int, str]:
    """The reply to a request at a contest, without its id."""
    names = {name: VALUES.get(name, "one") for name in re.findall(r"{(\w+)", path)}
    path = path.replace(":path}", "}").format(**names | {"contest_id": contest_id})
    more: dict[str, Any] = {} if method == "GET" else {"json": {}} if path.startswith("/api") else {"data": {"a": "b"}}
    reply = api.request(method, path, user=user, headers=ORIGIN, **more)
    return reply.status_code, reply.text.replace(contest_id, "ID") + reply.headers.get("Location", "").replace(
        contest_id, "ID"
    )


def routes() -> list[tuple[str, str]]:
    """The paths and methods of API and pages that name a contest."""
    api = [(f"/api{each.path}", each) for of in ROUTERS for each in of.routes if isinstance(each, APIRoute)]
    pages = [(each.path, each) for each in router.routes if isinstance(each, APIRoute)]
    return [
        (path, method) for path, each in [*api, *pages] if "{contest_id}" in path for method in sorted(each.methods)
    ]


@pytest.mark.parametrize(
    ("visibility", "users"), [("draft", (None, "team", "other", "staff")), ("private", (None, "other", "staff"))]
)
def test_no_address_tells_a_hidden_contest_from_an_unknown_one(
    api: Api, visibility: str, users: tuple[str | None, ...]
) -> None:
    hide(api, visibility)
    assert len(routes()) > 150
    for user in users:
        for path, method in routes():
            found, absent = (asked(api, path, method, each, user) for each in (HIDDEN, ABSENT))
            assert found == absent, (user, method, path)
            assert found[0] not in {200, 201, 204}, (user, method, path)


@pytest.mark.parametrize("visibility", ["draft", "private"])
def test_lists_home_page_and_suggestions_have_public_contests_only(api: Api, visibility: str) -> None:
    hide(api, visibility)
    for user in (None, "other", "staff"):
        assert [each["id"] for each in api.get("contests", user=user).json()] == ["open"]
        assert HIDDEN not in api.get("/", user=user).text
        assert HIDDEN not in api.get("/account", user=user).text
        near = api.get(f"contests/{HIDDEN}x", user=user)
        assert (near.status_code, HIDDEN + "'?" in near.text) == (404, False)
    own = {"draft": ["open"], "private": ["open", HIDDEN]}[visibility]
    assert sorted(each["id"] for each in api.get("contests", user="team").json()) == own
    for user in ("admin", "judge"):
        assert len(api.get("contests", user=user).json()) == 2
        assert visibility in text_of(api.get("/", user=user).text)


def send_answer(api: Api, user: str) -> httpx.Response:
    return api.post(f"contests/{HIDDEN}/submissions", user=user, data={"problem_id": "echo"}, files=FILES)


def test_submissions_to_hidden_contests_are_refused_like_those_to_unknown_ones(api: Api) -> None:
    hide(api, "draft")
    unknown = api.post(f"contests/{ABSENT}/submissions", user="team", data={"problem_id": "echo"}, files=FILES)
    for visibility, users in (("draft", ("team", "other")), ("private", ("other",))):
        hide(api, visibility)
        for user in users:
            refused = send_answer(api, user)
            assert (refused.status_code, refused.text.replace(HIDDEN, ABSENT)) == (404, unknown.text)
    assert send_answer(api, "team").status_code == 201


def test_a_private_contest_is_as_usual_for_its_teams_and_organizers(api: Api) -> None:
    hide(api, "private")
    assert api.put(f"contests/{HIDDEN}/roles/staff", user="admin", json={"role": "judge"}).status_code < 300
    for user in ("team", "staff", "judge", "admin"):
        assert api.get(f"contests/{HIDDEN}/scoreboard", user=user).status_code == 200, user
        assert api.get(f"/c/{HIDDEN}", user=user).status_code == 200, user
    assert HIDDEN in api.get("/", user="team").text


def test_the_code_of_registration_opens_a_private_contest_and_no_draft(api: Api) -> None:
    terms = api.patch(f"contests/{HIDDEN}/registration", user="admin", json={"open": True}).json()
    for visibility, code, status in (
        ("draft", terms["code"], 404),
        ("private", "x", 404),
        ("private", terms["code"], 201),
    ):
        hide(api, visibility)
        page = api.get(f"/c/{HIDDEN}/register?code={code}")
        assert page.status_code == (200 if status == 201 else 404)
        made = api.post(f"contests/{HIDDEN}/registrations", json={**ANA, "code": code})
        assert made.status_code == status, made.text
        if status == 404:
            absent = api.post(f"contests/{ABSENT}/registrations", json={**ANA, "code": code})
            assert made.text == absent.text.replace(ABSENT, HIDDEN)
    assert api.get(f"contests/{HIDDEN}", auth=("ana.perez", ANA["password"])).status_code == 200


def test_streams_end_when_a_contest_becomes_hidden(api: Api) -> None:
    path = f"contests/{HIDDEN}/event-feed"
    with open_stream(api, path) as public, open_stream(api, path, user="team") as own:
        public.wait_for(1)
        hide(api, "private")
        public.wait(lambda: public.ended)
        assert not own.ended
        hide(api, "draft")
        own.wait(lambda: own.ended)


def test_a_draft_is_published_by_one_button(api: Api) -> None:
    hide(api, "draft")
    home = text_of(api.get(f"/admin/contests/{HIDDEN}", user="admin").text)
    assert "Draft: only organizers see the contest." in home
    assert api.post(f"/admin/contests/{HIDDEN}/publish", user="other", headers=ORIGIN).status_code == 403
    assert api.post(f"/admin/contests/{HIDDEN}/publish", user="admin", headers=ORIGIN).status_code == 303
    assert api.get(f"contests/{HIDDEN}").json()["settings"]["visibility"] == "public"
    assert "Publish" not in text_of(api.get(f"/admin/contests/{HIDDEN}", user="admin").text)
