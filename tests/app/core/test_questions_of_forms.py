"""Forms that are asked about before they are carried out, and forms that come back with what is wrong with them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import httpx
import pytest

from app.core.messages import PATTERNS
from app.tables import AccountRow, GroupRow, TeamRow
from tests.app.contests.test_contest_pages import text_of
from tests.builders.browser import chromium_running, reader
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, with_checkers
from tests.builders.examples import sqlite_first
from tests.builders.scoring import share
from tests.builders.service import Api, open_api
from tests.builders.sockets import listening

ORIGIN = {"Origin": "http://jurado.test"}
ADMIN = "/admin/contests/c"
FIELD = re.compile(r'<(?:input|select|textarea)\b[^>]*\bname="([^"]+)"[^>]*>')


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    """A contest that runs."""
    with open_api(database_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        yield with_checkers(api)


def post(api: Api, path: str, user: str | None = "admin", **fields: str) -> httpx.Response:
    page = f"{ADMIN}/rules" if path.endswith("/finals") else path
    headers = ORIGIN | {"Referer": f"http://jurado.test{page}"}
    return api.post(path, user=user, data=fields, headers=headers)


def filled(html: str, address: str) -> dict[str, str]:
    """The fields of a page's form as a browser sends them."""
    form = html.split(f'action="{address}"', 1)[1].split("</form>", 1)[0]
    fields = {}
    for tag in re.finditer(r"<input\b[^>]*>", form):
        name, value = (re.search(rf'\b{each}="([^"]*)"', tag[0]) for each in ("name", "value"))
        is_box = 'type="checkbox"' in tag[0] or 'type="radio"' in tag[0]
        if name is not None and (not is_box or " checked" in tag[0]):
            fields[name[1]] = unescape(value[1]) if value is not None else "on" if is_box else ""
    for name, options in re.findall(r'<select name="(\w+)">(.*?)</select>', form, re.DOTALL):
        fields[name] = re.search(r'<option value="(\w*)" selected', options)[1]  # type: ignore[index]
    return fields


EDITS = {
    "times": (f"{ADMIN}/times", f"{ADMIN}/times", "duration", "6:00", "freeze", "0:30"),
    "rules": (f"{ADMIN}/rules", f"{ADMIN}/rules", "max_submissions", "7", "rejections", "verdict"),
    "finals": (f"{ADMIN}/rules", f"{ADMIN}/finals", "final_minutes", "60", "final_phase", "all"),
    "medals": (f"{ADMIN}/awards", f"{ADMIN}/awards/medals", "gold", "3", "silver", "2"),
    "registration": (f"{ADMIN}/teams", f"{ADMIN}/teams/registration", "most", "9", "until", "2036-12-01T12:00"),
}


@sqlite_first
@pytest.mark.parametrize("edit", EDITS.values(), ids=list(EDITS))
def test_an_outdated_form_saves_nothing_and_shows_both_values_of_each_field(api: Api, edit: tuple[str, ...]) -> None:
    page, address, first, theirs, second, mine = edit
    shown = filled(api.get(page, user="admin").text, address)
    assert post(api, address, **shown | {first: theirs}).status_code == 303
    asked = post(api, address, **shown | {second: mine})
    assert asked.status_code == 409
    words = text_of(asked.text)
    assert f"Stored now: {theirs}" in words, "the other organizer's value"
    assert "Yours: " in words
    now = filled(api.get(page, user="admin").text, address)
    assert (now[first], now[second]) == (theirs, shown[second]), "nothing is saved yet"
    chosen = filled(asked.text, address)
    assert chosen[first] == theirs, "what the sender has not touched stays as the other one has saved it"
    assert post(api, address, **chosen).status_code == 303
    now = filled(api.get(page, user="admin").text, address)
    assert (now[first], now[second]) == (theirs, mine)
    again = post(api, address, **shown | {first: mine if first == "gold" else "", second: mine})
    assert again.status_code in {303, 409}


@sqlite_first
def test_both_values_are_shown_by_their_labels_and_the_outdated_one_can_be_saved_anyway(api: Api) -> None:
    shown = filled(api.get(f"{ADMIN}/times", user="admin").text, f"{ADMIN}/times")
    post(api, f"{ADMIN}/times", **shown | {"duration": "6:00"})
    asked = post(api, f"{ADMIN}/times", **shown | {"duration": "5:30"})
    assert "Duration (hours:minutes) Stored now: 6:00 Yours: 5:30" in text_of(asked.text)
    assert api.get("contests/c").json()["duration"] == "6:00:00.000"
    assert post(api, f"{ADMIN}/times", **filled(asked.text, f"{ADMIN}/times")).status_code == 303
    assert api.get("contests/c").json()["duration"] == "5:30:00.000"


@sqlite_first
def test_a_form_without_a_change_of_others_asks_nothing(api: Api) -> None:
    shown = filled(api.get(f"{ADMIN}/times", user="admin").text, f"{ADMIN}/times")
    post(api, f"{ADMIN}/rules", rejections="verdict", partly_correct_as="PC")
    assert post(api, f"{ADMIN}/times", **shown | {"duration": "6:00"}).status_code == 303


@sqlite_first
def test_the_second_judge_sees_the_first_answer_before_sending(api: Api) -> None:
    asked = api.post("contests/c/clarifications", user="team", json={"text": "Why?"}).json()["id"]
    address = f"{ADMIN}/questions"
    form = api.get(address, user="admin").text
    assert 'name="answers" value=""' in form
    fields = {"reply_to_id": asked, "answers": ""}
    assert post(api, address, "judge", **fields, text="Because.").status_code == 303
    second = post(api, address, **fields, text="For <b>no</b> reason.")
    assert second.status_code == 409
    assert "Because." in text_of(second.text)
    answers = [each for each in api.get("contests/c/clarifications", user="admin").json() if each["reply_to_id"]]
    assert [each["text"] for each in answers] == ["Because."]
    resent = {name: unescape(value) for name, value in re.findall(r'name="(\w+)"\s+value="([^"]*)"', second.text)}
    assert post(api, address, **resent).status_code == 303
    answers = [each for each in api.get("contests/c/clarifications", user="admin").json() if each["reply_to_id"]]
    assert [each["text"] for each in answers] == ["Because.", "For <b>no</b> reason."]


@sqlite_first
@pytest.mark.parametrize(
    ("path", "fields"),
    [
        (f"{ADMIN}/teams/other/disqualify", {"disqualified": "yes"}),
        (f"{ADMIN}/teams/other/withdraw", {}),
        (f"{ADMIN}/teams/code", {}),
        (f"{ADMIN}/problems/echo/remove", {}),
        (f"{ADMIN}/finalize", {}),
        (f"{ADMIN}/roles/staff/revoke", {}),
        (f"{ADMIN}/awards/winner/remove", {}),
        ("/admin/users/passwords", {"u.team": "on"}),
        ("/admin/users/delete", {"u.staff": "on"}),
        (f"{ADMIN}/teams/cards", {}),
        ("/admin/problems/echo/case/02/delete", {}),
        ("/admin/problems/echo/cases/arrange", {"act": "delete", "c.02": "on"}),
    ],
)
def test_what_cannot_be_undone_easily_is_asked_about_first(api: Api, path: str, fields: dict[str, str]) -> None:
    places = ("contests/c/teams", "contests/c/awards", "contests/c/state", "contests/c/roles", "problems/echo")
    before = [api.get(each, user="admin").text for each in places]
    asked = post(api, path, **fields)
    assert asked.status_code == 200
    page = " ".join(asked.text.split())
    assert f'action="{path}"' in page
    assert '<button class="btn main" name="sure" value="yes">' in page
    for name, value in fields.items():
        assert f'name="{name}" value="{value}"' in page
    assert [api.get(each, user="admin").text for each in places] == before
    assert api.get("account", user="team").status_code == 200, "no password has changed"


@sqlite_first
def test_a_number_alone_is_no_duration(api: Api) -> None:
    """It may be hours or minutes."""
    refused = post(api, "/admin/new", name="Spring", kind="together", duration="90", freeze="")
    assert refused.status_code == 400
    assert 'id="wrong-duration">Expected hours and minutes such as 5:00' in refused.text


@sqlite_first
def test_a_contest_does_not_start_in_the_past_and_may_start_at_a_second(api: Api) -> None:
    fields = {"name": "Spring", "kind": "together", "duration": "1:00"}
    refused = post(api, "/admin/new", **fields, start="2020-01-01T10:00")
    assert refused.status_code == 400
    assert post(api, "/admin/new", **fields, start="2096-01-01T10:00:30").status_code == 303
    assert api.get("contests/spring").json()["start_time"] == "2096-01-01T10:00:30.000Z"
    times = api.get("/admin/contests/spring/times", user="admin").text
    assert 'name="start" value="2096-01-01T10:00:30" step="1"' in times
    shown = filled(times, "/admin/contests/spring/times")
    assert post(api, "/admin/contests/spring/times", **shown | {"duration": "1:00:30"}).status_code == 303
    assert api.get("contests/spring").json()["duration"] == "1:00:30.000"
    assert api.get("contests/spring").json()["start_time"] == "2096-01-01T10:00:30.000Z"


@sqlite_first
@pytest.mark.parametrize(
    ("path", "fields", "label", "field"),
    [
        ("/admin/new", {"name": "A", "kind": "together", "duration": "soon"}, "Duration (hours:minutes)", "duration"),
        (f"{ADMIN}/finals", {"final_release": "tomorrow"}, "Publish the final inputs at UTC", "final_release"),
        (f"{ADMIN}/rules", {"interval_seconds": "x"}, "Seconds between two submissions", "interval_seconds"),
        (f"{ADMIN}/awards", {"citation": ""}, "Award", "citation"),
        (f"{ADMIN}/roles", {"account": ""}, "Username", "account"),
        (f"{ADMIN}/roles", {"account": "nobody", "role": "owner"}, "", ""),
        (f"{ADMIN}/problems/echo", {"label": "a b"}, "Label of Echo", "label"),
        ("/account/tokens", {"label": ""}, "Purpose", "label"),
    ],
)
def test_a_refused_form_keeps_its_input_and_says_what_is_wrong_next_to_the_field(
    api: Api, path: str, fields: dict[str, str], label: str, field: str
) -> None:
    given = {"rejections": "verdict", "partly_correct_as": "AC"} if path.endswith("rules") else {}
    given |= {"final_phase": "all"} if path.endswith("finals") else {}
    refused = post(api, path, **given, **fields)
    assert refused.status_code in {400, 404}
    words = text_of(refused.text)
    assert "Nothing was saved." in words
    assert "String should" not in words
    assert "Settings." not in words
    if field:
        assert f"Please correct: {label}." in words
        assert f'aria-describedby="wrong-{field}"' in refused.text
    for name, value in fields.items():
        if value and name not in {"kind", "role"}:
            assert f'name="{name}"' in refused.text
            assert f'value="{value}"' in refused.text
    if "rejections" in given:
        assert '<option value="verdict" selected' in refused.text


@sqlite_first
def test_a_refusal_names_the_field_of_a_form_that_cannot_be_found_again(api: Api) -> None:
    """Without a Referer the page with the form is unknown."""
    fields = {"final_release": "tomorrow", "final_phase": "all"}
    refused = api.post(f"{ADMIN}/finals", user="admin", data=fields, headers=ORIGIN)
    assert refused.status_code == 400
    words = text_of(refused.text)
    assert "Final release: expected a time" in words
    assert "ettings." not in words


@sqlite_first
def test_a_refusal_says_every_pattern_of_the_api_in_words(api: Api) -> None:
    """No text of a form or of the API is refused as one that "should match pattern"."""
    patterns = set(re.findall(r'"pattern": "((?:[^"\\\\]|\\\\.)*)"', json.dumps(api.app.openapi())))
    assert patterns
    assert {each for each in patterns if json.loads(f'"{each}"') not in PATTERNS} == set()


@sqlite_first
def test_a_refused_form_with_files_keeps_its_texts_too(api: Api) -> None:
    sent = {"input": ("x", b""), "answer": ("y", b"")}
    fields = {"group": "secret", "name": "../02"}
    reply = api.post(
        "/admin/problems/echo/case",
        user="admin",
        data=fields,
        files=sent,
        headers=ORIGIN | {"Referer": "http://jurado.test/admin/problems/echo/cases"},
    )
    assert reply.status_code == 400
    assert "Nothing was saved." in text_of(reply.text), text_of(reply.text)[:3000]
    assert 'value="../02"' in reply.text


@sqlite_first
def test_an_outdated_form_of_a_case_replaces_no_newer_version_unseen(api: Api) -> None:
    address, page = "/admin/problems/echo/case", "/admin/problems/echo/case/02"
    version = re.search(r'name="seen_version" value="(\d+)"', api.get(page, user="admin").text)
    assert version is not None
    fields = {"group": "secret", "name": "02", "seen_version": version[1], "input_text": "2\n"}
    more = {
        "user": "admin",
        "headers": ORIGIN | {"Referer": f"http://jurado.test{page}"},
        "files": {"input": ("x", b"")},
    }
    assert api.post(address, data=fields | {"answer_text": "22\n"}, **more).status_code == 303
    refused = api.post(address, data=fields | {"answer_text": "23\n"}, **more)
    assert refused.status_code == 412
    assert "Someone else has changed the problem" in text_of(refused.text)
    assert "23" in refused.text.split('name="answer_text"', 1)[1].split("</textarea>", 1)[0]
    assert "22" in api.get(page, user="admin").text
    newest = re.search(r'name="seen_version" value="(\d+)"', refused.text)
    assert newest is not None
    again = fields | {"answer_text": "23\n", "seen_version": newest[1]}
    assert api.post(address, data=again, **more).status_code == 303


@pytest.mark.browser
@sqlite_first
def test_long_names_do_not_widen_tables(api: Api) -> None:
    add_submission(api.service, {"02": share(1), "03": share(1)})
    with api.service.database.write() as session:
        session.add(GroupRow(id="g", name="G" * 200))
        session.flush()
        team = session.get_one(TeamRow, "team")
        team.display_name, team.group_ids = "W" * 200, ["g"]
        session.get_one(AccountRow, "team").username = "u" * 200
        session.get_one(AccountRow, "staff").name = "N" * 200
    api.service.boards.all_changed()
    wide = "[...document.querySelectorAll('table')].filter((t) => t.scrollWidth > t.parentElement.clientWidth).length"
    pages = (f"{ADMIN}/teams", f"{ADMIN}/live", "/admin/users", "/c/c/scoreboard", "/c/c/teams/team")
    with listening(api) as place, chromium_running() as browser, reader(browser, f"http://{place}", "admin") as one:
        for path in pages:
            one.open(path)
            assert one.page.evaluate(wide) == 0, path


@sqlite_first
def test_a_form_that_is_one_of_many_comes_back_alone(api: Api) -> None:
    """Of the forms to answer questions the one that was sent has the text again."""
    ids = [
        api.post("contests/c/clarifications", user="team", json={"text": text}).json()["id"] for text in ("A?", "B?")
    ]
    refused = post(api, f"{ADMIN}/questions", reply_to_id=ids[0], answers="", text="", problem_id="", everybody="on")
    assert refused.status_code == 400
    assert refused.text.count('class="wrong"') == 1
    form = refused.text.split(f'name="reply_to_id" value="{ids[0]}"', 1)[1].split("</form>", 1)[0]
    assert 'id="wrong-text"' in form
    assert 'name="everybody" checked' in form


@sqlite_first
def test_an_unknown_address_is_a_page_for_people_and_json_for_programs(api: Api) -> None:
    for path in ("/no/such/page", "/c/c/nothing", "/admin/contests/c/finals"):
        page = api.get(path, headers={"Accept": "text/html,*/*;q=0.8"}, user="admin")
        assert page.status_code in {404, 405}
        assert page.headers["Content-Type"].startswith("text/html")
        assert "No such page" in page.text
    assert api.get("/no/such/page").json()["code"] == 404
    assert api.get("/api/nothing", headers={"Accept": "text/html"}).json()["code"] == 404


@sqlite_first
def test_a_finalized_contest_is_confirmed_by_its_button(api: Api) -> None:
    add_submission(api.service, {"02": share(1), "03": share(1)})
    add_contest(api.service, "old", started=10 * HOUR)
    assert post(api, "/admin/contests/old/finalize").status_code == 200
    assert post(api, "/admin/contests/old/finalize", sure="yes").status_code == 303
