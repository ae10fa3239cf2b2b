"""Forms of registration, awards and pins: bad values change nothing, unknown fields say nothing, others are refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from app.services.errors import BadRequest
from app.web.forms import whole_number
from tests.builders.contests import add_contest, add_problem
from tests.builders.service import PASSWORD, Api, open_api
from tests.conftest import migrated_sqlite

ORIGIN = {"Origin": "http://jurado.test"}
ADMIN = "/admin/contests/c"
LONG = "x" * 100_001


@dataclass(frozen=True)
class Form:
    """A form: its address, what it is filled in with, and where the API shows what it has changed.

    bad  odd values of a field, each with a word of its refusal
    """

    address: str
    good: dict[str, str]
    shown: str
    bad: tuple[tuple[str, str, str], ...]


FORMS = {
    "registration": Form(
        f"{ADMIN}/teams/registration",
        {"open": "on", "most": " 7 ", "team_size": "2", "until": ""},
        "contests/c/registration",
        (
            ("most", "many", "most: expected a whole number"),
            ("most", "-1", "most: expected a whole number"),
            ("most", "\u0667", "most: expected a whole number"),
            ("most", "7.5", "most: expected a whole number"),
            ("most", "9" * 30, "most: expected a whole number"),
            ("most", "100001", "most"),
            ("team_size", "0", "team_size"),
            ("team_size", "1e3", "team_size: expected a whole number"),
            ("until", "tomorrow", "until"),
            ("until", "2026-02-30T10:00", "until"),
        ),
    ),
    "awards": Form(
        f"{ADMIN}/awards",
        {"citation": "For <b>all</b>", "team_id": "team"},
        "contests/c/awards",
        (
            ("citation", "", "citation"),
            ("citation", "two\nlines", "citation"),
            ("citation", "x" * 100_000, "the form: expected at most 100000 bytes"),
            ("team_id", "nobody", "nobody"),
            ("team_id", "<script>", "team_ids"),
        ),
    ),
    "pins": Form(
        f"{ADMIN}/problems/echo",
        {"version": "1"},
        "problems/echo/versions",
        (
            ("version", "two", "version: expected a whole number"),
            ("version", "²", "version: expected a whole number"),
            ("version", "0", "version"),
            ("version", "77", "version"),
            ("version", "9" * 10, "version: expected a whole number"),
        ),
    ),
}
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A contest that runs, with a problem of one version; `staff` judges it, and owns another one."""
    folder = tmp_path_factory.mktemp("forms")
    with open_api(migrated_sqlite(folder / "jurado.sqlite"), folder / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        add_contest(api.service, "own")
        for contest_id, role in (("c", "judge"), ("own", "owner")):
            granted = api.put(f"contests/{contest_id}/roles/staff", user="admin", json={"role": role})
            assert granted.is_success, granted.text
        yield api


def shown(api: Api, form: Form) -> Any:
    """What the API shows of what the form changes."""
    reply = api.get(form.shown, user="admin")
    assert reply.status_code == 200, reply.text
    return reply.json()


@every_form
def test_a_bad_value_is_refused_by_its_field_and_nothing_is_changed(api: Api, form: Form) -> None:
    before = shown(api, form)
    for field, value, word in form.bad:
        reply = api.post(form.address, user="admin", headers=ORIGIN, data={**form.good, field: value})
        assert reply.status_code in {400, 404, 413}, (field, value[:40], reply.status_code)
        assert word.lower() in reply.text.lower(), (field, value[:40])
        assert "<script>" not in reply.text.partition("<main")[2]
        assert shown(api, form) == before, (field, value[:40])
    for body in (b"\xff\xfe=1", b"a%00=%00", b"&".join(b"f%d=1" % at for at in range(5001))):
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        assert api.post(form.address, user="admin", headers=ORIGIN | kind, content=body).status_code == 400
    assert api.post(form.address, user="admin", headers=ORIGIN, data={"most": LONG}).status_code == 413
    assert shown(api, form) == before


@every_form
def test_only_who_may_by_a_page_of_our_own_changes_anything(api: Api, form: Form) -> None:
    """A judge of the contest who owns another one, a team and nobody are refused; so is a cookie from elsewhere."""
    before = shown(api, form)
    for user in ("staff", "team", "judge", None):
        reply = api.post(form.address, user=user, headers=ORIGIN, data=form.good)
        assert reply.status_code == (303 if user is None else 403), (user, reply.status_code)
        assert reply.headers.get("Location", "/login").startswith("/login")
    logged_in = api.post("/login", headers=ORIGIN, data={"username": "admin", "password": PASSWORD})
    cookie = {"Cookie": f"jurado_session={logged_in.cookies['jurado_session']}"}
    api.client.cookies.clear()
    for origin in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}, {"Origin": "http://jurado.test.evil.test"}):
        assert api.post(form.address, headers=cookie | origin, data=form.good).status_code == 403, origin
    assert shown(api, form) == before


@every_form
def test_a_form_changes_what_it_names_and_unknown_fields_say_nothing(api: Api, form: Form) -> None:
    others = {"finalized": "on", "label": "", "account_id": "team", "role": "owner", "__proto__": "1", "group_id": "g"}
    contest, accounts = (api.get(each, user="admin").json() for each in ("contests/c", "accounts"))
    before = shown(api, form)
    reply = api.post(form.address, user="admin", headers=ORIGIN, data=form.good | others)
    assert reply.status_code == 303, reply.text
    assert reply.headers["Location"].endswith(("?done=saved", "?done=added"))
    after = shown(api, form)
    assert after != before
    assert api.get("contests/c", user="admin").json() == contest
    assert api.get("accounts", user="admin").json() == accounts
    if form.shown.endswith("registration"):
        assert (after["most"], after["team_size"], after["until"], after["group_id"]) == (7, 2, None, None)
    elif form.shown.endswith("awards"):
        (new,) = [each for each in after if each not in before]
        assert (new["citation"], new["team_ids"]) == ("For <b>all</b>", ["team"])
        page = api.get(form.address, user="admin").text
        assert ("For &lt;b&gt;all" in page, "<b>all" in page) == (True, False)
    else:
        assert [each["pinned"] for each in before + after] == [[], ["c"]]


def test_a_whole_number_is_of_ascii_digits_nine_at_most() -> None:
    assert [whole_number("n", text) for text in ("", " ", "0", " 12 ", "007", "999999999")] == [
        None, None, 0, 12, 7, 999_999_999,
    ]  # fmt: skip
    for text in ("-1", "+1", "1.0", "1e3", "1_000", "\u0663", "²", "1 2", "1000000000", "0x10", "NaN"):
        with pytest.raises(BadRequest, match="n: expected a whole number of at most 9 digits, found"):
            whole_number("n", text)
