"""Forms of organisers: bad values change nothing, unknown fields say nothing, others are refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from app.core.messages import BadRequest
from app.core.pages.forms import whole_number
from app.scoreboard.pages import projector
from tests.builders.contests import add_contest, add_problem, with_checkers
from tests.builders.service import PASSWORD, Api, open_api
from tests.conftest import migrated_sqlite

ORIGIN = {"Origin": "http://jurado.test"}
ADMIN = "/admin/contests/c"
SURE = {"sure": "yes"}
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
        {"open": "on", "most": " 7 ", "until": ""},
        "contests/c/registration",
        (
            ("most", "many", "expected a whole number"),
            ("most", "-1", "expected a whole number"),
            ("most", "\u0667", "expected a whole number"),
            ("most", "7.5", "expected a whole number"),
            ("most", "9" * 30, "expected a whole number"),
            ("most", "100001", "most"),
            ("most", "1e3", "expected a whole number"),
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
            ("team_id", "<script>", 'id="wrong-team_id"'),
        ),
    ),
    "medals": Form(
        f"{ADMIN}/awards/medals",
        {"gold": "1", "silver": " 2 ", "bronze": "", "ranks": "3"},
        "contests/c",
        (
            ("gold", "many", "expected a whole number"),
            ("silver", "-1", "expected a whole number"),
            ("bronze", "1.5", "expected a whole number"),
            ("ranks", "\u0667", "expected a whole number"),
            ("ranks", "9" * 10, "expected a whole number"),
        ),
    ),
    "finals": Form(
        f"{ADMIN}/finals",
        {"final_minutes": "60", "final_phase": "all", "final_release": ""},
        "contests/c",
        (
            ("final_minutes", "soon", "expected a whole number"),
            ("final_minutes", "1e3", "expected a whole number"),
            ("final_phase", "none", "Final phase:"),
            ("final_release", "tomorrow", "Final release:"),
            ("final_release", "2026-02-30T10:00", "Final release:"),
            ("final_release", "2026-03-01T10:00", "cannot be combined with"),
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
        yield with_checkers(api)


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
        assert word.lower() in reply.text.lower(), (field, value[:40], reply.text[-3000:])
        assert "<script>" not in reply.text.partition("<main")[2]
        assert shown(api, form) == before, (field, value[:40])
    for body in (b"\xff\xfe=1", b"a%00=%00", b"&".join(b"f%d=1" % at for at in range(5001))):
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        assert api.post(form.address, user="admin", headers=ORIGIN | kind, content=body).status_code == 400
    assert api.post(form.address, user="admin", headers=ORIGIN, data={"most": LONG}).status_code == 413
    assert shown(api, form) == before


@every_form
def test_only_who_may_by_a_page_of_our_own_changes_anything(api: Api, form: Form) -> None:
    """A judge of the contest who owns another one, a team and no one are refused; so is a cookie from elsewhere."""
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
    now = api.get("contests/c", user="admin").json()
    assert {**now, "settings": None} == {**contest, "settings": None}
    assert api.get("accounts", user="admin").json() == accounts
    if form.shown.endswith("registration"):
        assert (after["most"], after["until"], after["group_id"]) == (7, None, None)
    elif form.shown.endswith("awards"):
        (new,) = [each for each in after if each not in before]
        assert (new["citation"], new["team_ids"]) == ("For <b>all</b>", ["team"])
        page = api.get(form.address, user="admin").text
        assert ("For &lt;b&gt;all" in page, "<b>all" in page) == (True, False)
    elif form.address.endswith("medals"):
        assert after["settings"] == {**before["settings"], "awards": {"gold": 1, "silver": 2, "bronze": 0, "ranks": 3}}
    elif form.address.endswith("finals"):
        assert after["settings"] == {**before["settings"], "final_minutes": 60, "final_phase": "all"}
    else:
        assert [each["pinned"] for each in before + after] == [[], ["c"]]


def test_a_form_that_is_refused_after_it_wrote_has_stored_nothing(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    form, make = FORMS["awards"], projector.scoreboard.make

    def made_and_refused(*given: Any) -> None:
        make(*given)
        raise BadRequest("no more awards")

    monkeypatch.setattr(projector.scoreboard, "make", made_and_refused)
    before = shown(api, form)
    reply = api.post(form.address, user="admin", headers=ORIGIN, data=form.good)
    assert (reply.status_code, "No more awards" in reply.text) == (400, True)
    assert shown(api, form) == before


def test_a_whole_number_is_of_ascii_digits_nine_at_most() -> None:
    assert [whole_number("n", text) for text in ("", " ", "0", " 12 ", "007", "999999999")] == [
        None, None, 0, 12, 7, 999_999_999,
    ]  # fmt: skip
    for text in ("-1", "+1", "1.0", "1e3", "1_000", "\u0663", "²", "1 2", "1000000000", "0x10", "NaN"):
        with pytest.raises(BadRequest, match="n: expected a whole number of at most 9 digits, found"):
            whole_number("n", text)


CASES = "problems/echo/versions"
CASE = "/admin/problems/echo/case"


def put_case(api: Api, user: str | None, name: str = "04", group: str = "secret", **files: bytes) -> httpx.Response:
    """The form of a single case as a browser sends it."""
    given = {"input": b"4\n", "answer": b"4\n"} | files
    sent = {kind: (f"{kind}.txt", data) for kind, data in given.items()}
    return api.post(CASE, user=user, headers=ORIGIN, data={"group": group, "name": name}, files=sent)


def test_a_single_case_is_put_and_deleted_by_owners_of_its_problem_alone(api: Api) -> None:
    before = api.get(CASES, user="admin").json()
    for user in ("staff", "team", "judge", None):
        for reply in (put_case(api, user), api.post(f"{CASE}/02/delete", user=user, headers=ORIGIN)):
            assert reply.status_code == (303 if user is None else 403), user
            assert reply.headers.get("Location", "/login").startswith("/login")
    for name in ("../02", "a/b", "", "x" * 300, "no\0", "-"):
        assert put_case(api, "admin", name).status_code == 400, name
    assert put_case(api, "admin", group="nowhere/else/..").status_code == 400
    assert api.get(CASES, user="admin").json() == before, "nothing is changed"
    put = put_case(api, "admin")
    assert (put.status_code, put.headers["Location"]) == (303, f"{CASE}/04?done=saved")
    assert "04" in api.get("/admin/problems/echo/cases", user="admin").text
    deleted = api.post(f"{CASE}/04/delete", user="admin", headers=ORIGIN, data=SURE)
    assert (deleted.status_code, deleted.headers["Location"]) == (303, "/admin/problems/echo/cases?done=removed")
    assert api.get(f"{CASE}/04", user="admin").status_code == 404
