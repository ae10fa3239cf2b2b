"""Users on pages: create, search, change, roles, new passwords, reset links, delete; and what users do with a link."""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import unquote

import httpx
import pytest

from app.core.clock import utc_now
from app.tables import TokenRow
from tests.app.contests.test_contest_pages import text_of
from tests.builders.contests import add_contest, add_problem, add_submission
from tests.builders.scoring import share
from tests.builders.service import PASSWORD, Api

ORIGIN = {"Origin": "http://jurado.test"}
NEW = "larch-wood-ferry"


def send(api: Api, path: str, user: str | None = "admin", **data: str) -> httpx.Response:
    return api.post(path, user=user, headers=ORIGIN, data=data)


def password_of(page: str) -> str:
    found = re.search(r"<dt>password</dt>\s*<dd>([^<]+)</dd>", page)
    assert found is not None, page
    return found[1]


def link_of(api: Api, account: str = "team", user: str = "admin") -> str:
    shown = send(api, "/admin/users/resets", user, **{f"u.{account}": "on"})
    assert (shown.status_code, shown.headers["Cache-Control"]) == (200, "private, no-store"), shown.text
    found = re.search(r'value="http://jurado.test(/reset/[^"]+)"', shown.text)
    assert found is not None, shown.text
    return found[1]


def test_an_admin_creates_a_judge_of_a_contest_who_logs_in(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service)
    fields = {"name": "Ana Pérez", "type": "staff", "contests": "c", "problems": "echo", "role": "judge"}
    shown = send(api, "/admin/users", **fields)
    assert (shown.status_code, shown.headers["Cache-Control"]) == (200, "private, no-store")
    ana = ("ana.perez", password_of(shown.text))
    assert api.get("contests/c/roles", auth=ana).json()[0]["username"] == "ana.perez"
    assert api.get("problems/echo", auth=ana).status_code == 200
    csv = re.search(r'href="data:text/csv;charset=utf-8,%EF%BB%BF([^"]+)"', shown.text)
    assert csv is not None
    assert unquote(csv[1]).splitlines()[1] == f"ana.perez,{ana[1]},Ana Pérez,"


@pytest.mark.parametrize(("kind", "may"), [("organizer", True), ("staff", False)])
def test_an_organizer_may_create_contests_and_staff_may_not(api: Api, kind: str, may: bool) -> None:
    password = password_of(send(api, "/admin/users", name="Bo", username="bo", type=kind).text)
    made = api.post("contests", auth=("bo", password), json={"id": "mine", "name": "Mine", "duration": "5:00:00"})
    assert (made.status_code < 300) is may


def test_a_user_that_cannot_be_created_is_refused_with_the_form(api: Api) -> None:
    for fields, words in (
        ({"name": "Team", "username": "team", "type": "judge"}, "Expected an unused one"),
        ({"name": "Team", "username": "t", "type": "team", "team_id": "none"}, "team that exists"),
        ({"name": "T", "username": "t", "type": "staff", "contests": "none", "role": "judge"}, "none"),
        ({"name": " ", "type": "staff"}, "Expected a name"),
    ):
        refused = send(api, "/admin/users", **fields)
        assert refused.status_code >= 400
        assert words in text_of(refused.text), text_of(refused.text)
    assert api.get("accounts/t", user="admin").status_code == 404
    assert send(api, "/admin/users", "judge", name="x", type="admin").status_code == 403


def test_users_are_found_by_text_type_and_role(api: Api) -> None:
    add_contest(api.service, problem_id=None)
    api.put("contests/c/roles/staff", user="admin", json={"role": "judge"})
    api.put("organisers/other", user="admin")

    def found(query: str, user: str = "admin") -> set[str]:
        return set(re.findall(r'<small class="mute">(\w+)</small>', api.get(f"/admin/users?{query}", user=user).text))

    assert found("find=ADM") == {"admin"}
    assert found("kind=judge") == {"judge"}
    assert found("kind=role") == {"staff"}
    assert found("kind=organizer") == {"other"}
    assert found("find=nobody") == set()
    assert found("kind=role", "judge") == {"staff"}
    assert "formaction" not in api.get("/admin/users", user="judge").text
    assert api.get("/admin/users", user="team").status_code == 403


def test_a_user_is_renamed_and_gets_and_loses_roles(api: Api) -> None:
    add_contest(api.service, problem_id=None)
    values = {"name": "The Staff", "username": "helper", "type": "staff", "team_id": ""}
    assert send(api, "/admin/users/staff", **values).status_code == 303
    assert api.get("accounts/staff", user="admin").json()["name"] == "The Staff"
    assert api.get("account", auth=("helper", PASSWORD)).status_code == 200
    assert send(api, "/admin/users/staff/roles", contests="c", role="owner").status_code == 303
    assert "owner: contest c" in text_of(api.get("/admin/users/staff", user="admin").text)
    assert send(api, "/admin/users/staff/roles", contests="c", role="").status_code == 303
    assert api.get("contests/c/roles", user="admin").json() == []
    assert send(api, "/admin/users/staff/organizer", organizer="yes").status_code == 303
    assert send(api, "/admin/users/staff/organizer", organizer="no").status_code == 303
    assert send(api, "/admin/users/staff", **{**values, "username": "team"}).status_code == 409


def test_selected_users_get_new_passwords_after_a_question(api: Api) -> None:
    both = {"u.team": "on", "u.other": "on"}
    assert "Create new passwords for 2 users?" in send(api, "/admin/users/passwords", **both).text
    assert api.get("account", user="team").status_code == 200
    shown = send(api, "/admin/users/passwords", sure="yes", **both)
    assert (shown.headers["Cache-Control"], shown.text.count('class="ticket"')) == ("private, no-store", 2)
    assert api.get("account", user="team").status_code == 401
    assert send(api, "/admin/users/passwords").status_code == 400
    assert send(api, "/admin/users/passwords", "judge", **both).status_code == 403


def test_selected_users_are_deleted_unless_they_have_submissions(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service)
    add_submission(api.service, {"02": share(1)})
    refused = send(api, "/admin/users/delete", sure="yes", **{"u.staff": "on", "u.team": "on"})
    assert refused.status_code == 409
    assert api.get("accounts/staff", user="admin").status_code == 200
    assert send(api, "/admin/users/delete", sure="yes", **{"u.staff": "on"}).status_code == 303
    assert api.get("accounts/staff", user="admin").status_code == 404


def test_a_reset_link_sets_a_password_once_and_the_old_one_works_until_then(api: Api) -> None:
    token = api.post("account/tokens", user="team", json={}).json()["token"]
    path = link_of(api)
    assert api.get(path).status_code == 200
    assert api.get("account", user="team").status_code == 200
    for fields, words in (
        ({"password": NEW, "again": "another text"}, "the same text twice"),
        ({"password": "short", "again": "short"}, "at least 10 characters"),
        ({"password": "team-team1", "again": "team-team1"}, "password"),
    ):
        refused = send(api, path, None, **fields)
        assert (refused.status_code, words in refused.text, NEW in refused.text) == (400, True, False), refused.text
    used = send(api, path, None, password=NEW, again=NEW)
    assert (used.status_code, used.headers["Location"]) == (303, "/account?done=password")
    assert "Password changed" in api.get("/account?done=password").text  # logged in by the cookie
    api.client.cookies.clear()
    assert api.get("account", auth=("team", NEW)).status_code == 200
    assert api.get("account", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    assert api.get("account", user="team").status_code == 401
    assert send(api, path, None, password=NEW, again=NEW).status_code == 403
    assert "ask the organizers" in api.get(path).text


def test_a_reset_code_is_no_token_and_ends_with_a_newer_one_a_new_password_or_its_time(api: Api) -> None:
    code = api.post("accounts/password-resets", user="admin", json={"account_ids": ["team"]}).json()[0]["code"]
    assert api.get("account", headers={"Authorization": f"Bearer {code}"}).status_code == 401
    assert api.get("account/tokens", user="team").json() == []
    second = link_of(api)
    assert api.get(f"/reset/{code}").status_code == 403
    assert api.get(second).status_code == 200
    api.post("accounts/team/password", user="admin")
    assert api.get(second).status_code == 403
    third = link_of(api)
    with api.service.database.write() as session:
        session.query(TokenRow).one().expires = utc_now() - timedelta(seconds=1)
    assert api.get(third).status_code == 403


def test_a_code_sets_a_password_by_the_api_and_is_in_no_log(api: Api) -> None:
    code = api.post("accounts/password-resets", user="admin", json={"account_ids": ["team"]}).json()[0]["code"]
    used = api.post("account/password-reset", json={"code": code.upper(), "password": NEW})
    assert (used.status_code, used.json()["username"]) == (200, "team")
    assert code not in api.get("audit", user="admin").text
    assert api.post("account/password-reset", json={"code": code, "password": NEW}).status_code == 403


def test_owners_create_links_for_their_teams_alone_and_these_end_with_their_rights(api: Api) -> None:
    add_contest(api.service, problem_id=None)
    api.put("contests/c/roles/staff", user="admin", json={"role": "owner"})
    shown = send(api, "/admin/contests/c/teams/new", "staff", name="Ants", count="1")
    assert shown.status_code == 200, shown.text
    assert send(api, "/admin/users/resets", "staff", **{"u.judge": "on"}).status_code == 404
    assert send(api, "/admin/users/resets", "team", **{"u.ants": "on"}).status_code == 403
    first = link_of(api, "ants", "staff")
    assert api.get(first).status_code == 200
    api.put("contests/c/roles/staff", user="admin", json={"role": "judge"})
    assert api.get(first).status_code == 403
    api.put("contests/c/roles/staff", user="admin", json={"role": "owner"})
    api.put("organisers/ants", user="admin")  # out of the owner's reach
    assert api.get(first).status_code == 403
