"""Links to register and to set a new password lead to forms that do what the API does, without script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.accounts.service.registering import Pace
from app.accounts.service.tokens import SESSION_COOKIE
from tests.app.core.test_pages import References
from tests.builders.contests import add_contest
from tests.builders.examples import sqlite_first
from tests.builders.service import Api, open_api

pytestmark = sqlite_first

NEW = "larch-wood-ferry"
ANA = {
    "name": "Ana Pérez",
    "email": "ana@example.org",
    "team": "The <b>Ants</b>",
    "password": NEW,
    "again": NEW,
}


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    """A running contest for which no one may register yet."""
    with open_api(database_url, tmp_path / "home") as api:
        add_contest(api.service, problem_id=None)
        yield api


def opened(api: Api, **terms: Any) -> str:
    """Open the registration; gives the code."""
    reply = api.patch("contests/c/registration", user="admin", json={"open": True, **terms})
    return str(reply.json()["code"])


def register(api: Api, **fields: str) -> httpx.Response:
    """Send the form as a browser does that keeps no cookies."""
    api.client.cookies.clear()
    return api.post("/c/c/register", data={**ANA, **fields})


def shown(html: str, name: str) -> str:
    """The value of a field of the form."""
    field = re.search(rf'<input[^>]*name="{name}"[^>]*value="([^"]*)"', html)
    assert field is not None, name
    return field[1]


def test_a_link_fills_in_the_code_and_the_form_makes_an_account_that_is_logged_in(api: Api) -> None:
    code = opened(api)
    form = api.get(f"/c/c/register?code={code}").text
    assert shown(form, "code") == code
    assert References(form).inline == []
    made = register(api, code=code)
    assert made.status_code == 201, made.text
    assert "ana.perez" in made.text
    assert "The &lt;b&gt;Ants&lt;/b&gt;" in made.text
    session = {"headers": {"Cookie": f"{SESSION_COOKIE}={made.cookies[SESSION_COOKIE]}"}}
    api.client.cookies.clear()
    account = api.get("account", **session).json()
    assert (account["username"], account["type"]) == ("ana.perez", "team")
    assert api.get("contests/c/registrations", user="admin").json()[0]["email"] == "ana@example.org"


def test_a_refusal_shows_the_form_again_with_everything_but_the_passwords(api: Api) -> None:
    code = opened(api)
    refusals: tuple[tuple[dict[str, str], int, str], ...] = (
        ({"code": "wrong"}, 403, "Expected the contest's code"),
        ({"again": "another text"}, 400, "Expected the same text twice"),
        ({"password": "short", "again": "short"}, 400, "xpected a password of at least 10 characters"),
        ({"email": ""}, 400, '<span class="wrong" id="wrong-email">Required.</span>'),
        ({"username": "judge"}, 409, "Expected an unused one"),
    )
    for changes, status, words in refusals:
        refused = register(api, **{"code": code, **changes})
        assert (refused.status_code, words in refused.text) == (status, True), refused.text
        assert shown(refused.text, "name") == "Ana Pérez"
        assert shown(refused.text, "team") == "The &lt;b&gt;Ants&lt;/b&gt;"
        assert NEW not in refused.text
        assert SESSION_COOKIE not in refused.cookies
    assert api.get("contests/c/registrations", user="admin").json() == []


def test_a_closed_or_full_registration_has_no_form_and_takes_nobody(api: Api) -> None:
    assert "<form class" not in api.get("/c/c/register").text
    code = opened(api, most=1)
    assert "/c/c/register" in api.get("/c/c").text
    assert register(api, code=code).status_code == 201
    full = register(api, code=code, name="Beto", team="Beto")
    assert (full.status_code, "all 1 places are taken" in full.text) == (409, True)
    assert "All places are taken" in api.get("/c/c/register").text
    assert api.patch("contests/c/registration", user="admin", json={"open": False}).status_code == 200
    assert register(api, code=code, name="Beto", team="Beto").status_code == 403
    assert "/c/c/register" not in api.get("/c/c").text
    assert api.get("/c/none/register").status_code == 404


def test_pages_and_api_count_the_registrations_of_an_address_together(api: Api) -> None:
    api.app.state.registration_pace = Pace(2, lambda: 0.0)
    opened(api)
    assert register(api, code="wrong").status_code == 403
    assert api.post("contests/c/registrations", json={**ANA, "code": "wrong"}).status_code == 400
    body = {name: value for name, value in ANA.items() if name != "again"}
    assert api.post("contests/c/registrations", json={**body, "code": "wrong"}).status_code == 403
    refused = register(api, code="wrong")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")


def test_a_page_of_another_site_registers_nobody(api: Api) -> None:
    """It would leave its reader logged in as someone else."""
    code = opened(api)
    reply = api.post("/c/c/register", data={**ANA, "code": code}, headers={"Origin": "https://evil.test"})
    assert reply.status_code == 403
