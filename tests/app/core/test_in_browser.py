"""The pages in a real browser: answers sent and reports read by keyboard, zips looked into, boards patched in place.

Left out, with a line that says so, where there is no Chromium. tests/app/core/test_walk.py walks all pages.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route, expect
from sqlalchemy import select

from app.tables import AccountRow, ClarificationRow, GroupRow, OrganizationRow, RawScoreRow, SubmissionRow, TeamRow
from tests.builders.browser import chromium_running, reader, tab_to
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, change_contest
from tests.builders.scoring import REJECTED, share
from tests.builders.service import Api, open_api
from tests.builders.sockets import listening
from tests.builders.verdicts import judge
from tests.conftest import migrated_sqlite

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>'\"><svg onload=alert(1)>"
STATEMENT = f"# Echo\n\n{HOSTILE}\n\n[a link](javascript:alert(1)) and $x^2$\n"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A contest in whose every text stands what would run as a script if it were not text."""
    folder = tmp_path_factory.mktemp("browser")
    with open_api(migrated_sqlite(folder / "jurado.sqlite"), folder / "home") as api:
        add_problem(api.service, {"statement/problem.en.md": STATEMENT})
        add_contest(api.service, started=3 * HOUR, freeze=HOUR, settings={"rejections": "full"})
        with api.service.database.write() as session:
            session.add(GroupRow(id="g", name=f"group {HOSTILE}"))
            session.add(OrganizationRow(id="o", name=f"organization {HOSTILE}", formal_name=f"formal {HOSTILE}"))
            session.flush()
            team = session.get_one(TeamRow, "team")
            team.name, team.display_name = f"team {HOSTILE}"[:200], f"shown {HOSTILE}"[:200]
            team.group_ids, team.organization_id = ["g"], "o"
            session.get_one(AccountRow, "team").name = f"account {HOSTILE}"[:200]
            asked = {"contest_id": "c", "text": f"{HOSTILE} asked", "time": datetime.now(UTC), "contest_time_ms": 1}
            session.add(ClarificationRow(id="1", from_team_id="team", **asked))
        change_contest(api.service, name=f"contest {HOSTILE}"[:200])
        add_submission(api.service, {"02": share(1), "03": REJECTED}, minute=10)
        add_submission(api.service, {"02": share(1), "03": share(1)}, team="other", minute=20)
        with api.service.database.write() as session:
            sent = session.get_one(SubmissionRow, 1)
            sent.comment = f"comment {HOSTILE}"
            ignored = {"source": f"reason {HOSTILE}", "values": {}}
            sent.files = [*sent.files, {"name": f"file {HOSTILE}", "case": None, "ignored": ignored}]
            for score in session.scalars(select(RawScoreRow)):
                score.message = {"key": "k", "text": f"message {HOSTILE}", "args": {}}
        api.service.boards.all_changed()
        yield api


@pytest.fixture(scope="module")
def url(api: Api) -> Iterator[str]:
    """The address of the contest's server."""
    with listening(api) as place:
        yield f"http://{place}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all."""
    with chromium_running() as browser:
        yield browser


def test_a_team_sends_answers_and_reads_its_report_by_keyboard_alone(
    api: Api, browser: Browser, url: str, tmp_path: Path
) -> None:
    for name, data in (("02.out", b"2\n"), ("04.out", b"4\n")):
        (tmp_path / name).write_bytes(data)
    with reader(browser, url, "team") as one:
        page = one.page
        one.open("/c/c/problems/echo")
        tab_to(page, "#files")
        page.set_input_files(":focus", [tmp_path / "02.out", tmp_path / "04.out"])  # the dialog is the system's
        expect(page.locator(".pre")).to_contain_text("04.outno such case. Did you mean 01.out?")
        expect(page.locator(".pre-sum")).to_contain_text("1 of 3 cases get a file; 1 file looks wrong.")
        expect(page.get_by_role("button", name="Submit 1 file to A")).to_be_visible()
        tab_to(page, ".send .btn.main")
        page.keyboard.press("Enter")
        expect(page.locator(".pre-said")).to_contain_text("Stored as ")
        stored = re.search(r"Stored as (\d+)", page.locator(".pre-said").inner_text())
        assert stored is not None
        number = int(stored[1])
        expect(page.locator(".pre-result")).to_contain_text("Waiting to be judged")
        judge(api.service, number, {"02": share(1)})
        expect(page.locator(".pre-result")).to_contain_text(
            re.compile(r"\d\.\d of 100")
        )  # other tests may have sent more
        tab_to(page, f".pre-result a[href$='/submissions/{number}']")
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text(f"Submission {number}")
        assert one.faults == []


def test_a_link_in_a_mail_opens_a_page_with_the_readers_session(browser: Browser, url: str) -> None:
    with reader(browser, url, "team") as one:
        mail = f'<a href="{url}/c/c/answers">Your answers</a>'
        one.page.route("http://mail.test/*", lambda route: route.fulfill(body=mail, content_type="text/html"))
        one.page.goto("http://mail.test/inbox")
        one.page.get_by_role("link", name="Your answers").click()
        expect(one.page).to_have_url(f"{url}/c/c/answers")
        assert one.faults == ["a request to http://mail.test/inbox"]


def test_a_zip_is_looked_into_before_it_is_sent(browser: Browser, url: str) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {"out/02.out": "2\n", "03.out": "", ".DS_Store": "x", "run.log": "x"}.items():
            archive.writestr(name, text)
    with reader(browser, url, "team") as one:
        one.open("/c/c/problems/echo")
        one.page.set_input_files("#files", {"name": "a.zip", "mimeType": "", "buffer": packed.getvalue()})
        shown = one.page.locator(".pre")
        for text in (
            "run.logno such case",
            "03.outempty",
            "out/02.outaccepted",
            ".DS_Storenot an answer",
            "01no answer yet",
        ):
            expect(shown).to_contain_text(text)
        one.page.set_input_files("#files", {"name": "a.zip", "mimeType": "", "buffer": b"Rar!\x1a\x07\x00"})
        expect(shown).to_contain_text("a rar archive: expected a zip or plain files")
        assert one.faults == []


def test_rows_that_change_are_patched_in_place(api: Api, browser: Browser, url: str) -> None:
    with reader(browser, url) as one:
        page = one.page
        page.clock.install()
        one.open("/c/c/scoreboard")
        expect(page.locator("[data-part=status]")).to_contain_text("connected")
        page.evaluate("document.querySelector('tr[data-team=other]').mine = true")
        add_submission(api.service, {"02": share(1), "03": share(1)}, team="team", minute=30)
        page.clock.fast_forward(7000)
        expect(page.locator("tr[data-team=team] .tot")).to_have_text("100.0")
        assert page.evaluate("document.querySelector('tr[data-team=other]').mine"), "a row that stays keeps its element"
        marks = page.locator("#strip0")
        assert "M98 3V10" in (marks.get_attribute("d") or ""), "the strip follows"
        assert one.faults == []


def test_a_row_that_has_just_changed_place_says_so_for_a_while(api: Api, browser: Browser, url: str) -> None:
    with reader(browser, url) as one:
        page = one.page
        page.clock.install()
        one.open("/c/c/scoreboard")
        expect(page.locator("[data-part=status]")).to_contain_text("connected")
        last = page.locator("table.board tbody tr").last.get_attribute("data-team") or ""
        moved = page.locator(f"tr[data-team={last}] .mv")
        expect(moved).to_be_empty()
        add_submission(api.service, {"02": share(1), "03": share(1)}, team=last, minute=1)
        page.clock.fast_forward(7000)
        expect(moved.locator("span")).to_have_text(["▲1", "1 place up"])
        expect(page.locator("tr[data-team] .mv", has_text="▼1")).to_have_count(1)
        page.clock.fast_forward(31000)
        expect(moved).to_be_empty()
        assert one.faults == []


def test_a_board_of_a_server_that_is_behind_is_replaced_by_the_next_one(api: Api, browser: Browser, url: str) -> None:
    def hide(*, hidden: bool) -> None:
        with api.service.database.write() as session:
            session.get_one(TeamRow, "other").hidden = hidden
        api.service.boards.all_changed()

    fetched: list[str] = []

    def first_behind(route: Route) -> None:
        fetched.append(route.request.url)
        if len(fetched) == 1:
            route.fulfill(content_type="text/html", body=behind, headers={"ETag": '"behind"'})
        else:
            route.continue_()

    with reader(browser, url) as one:
        page = one.page
        page.clock.install()
        one.open("/c/c/scoreboard")
        expect(page.locator("[data-part=status]")).to_contain_text("connected")
        expect(page.locator("tr[data-team=other]")).to_have_count(1)
        behind = page.evaluate("fetch(board.dataset.live).then((reply) => reply.text())")
        page.route("**/c/c/scoreboard/live?*", first_behind)
        hide(hidden=True)
        try:
            page.clock.fast_forward(7000)
            while not fetched:  # the page looks again by itself within seconds
                page.wait_for_timeout(50)
            page.clock.fast_forward(7000)
            expect(page.locator("tr[data-team=other]")).to_have_count(0)
        finally:
            hide(hidden=False)
    assert len(fetched) > 1


def test_answers_whose_reply_a_proxy_lost_are_stored_once_when_they_are_sent_again(browser: Browser, url: str) -> None:
    replies: list[tuple[int, str]] = []

    def lose_the_first(route: Route) -> None:
        reply = route.fetch()
        replies.append((reply.status, reply.json()["id"]))  # read at once: the browser soon lets go of it
        if len(replies) == 1:
            route.fulfill(status=502, content_type="text/html", body="<h1>Bad Gateway</h1>")
        else:
            route.fulfill(response=reply)

    with reader(browser, url, "team") as one:
        one.page.route("**/api/contests/c/submissions", lose_the_first)
        one.open("/c/c/problems/echo")
        one.page.set_input_files("#files", {"name": "02.out", "mimeType": "", "buffer": b"2\n"})
        one.page.get_by_role("button", name="Submit 1 file to A").click()
        expect(one.page.locator(".pre-said")).to_have_text("the server says 502. Your files are still here.")
        one.page.get_by_role("button", name="Submit again (safe to repeat)").click()
        expect(one.page.locator(".pre-said")).to_contain_text("Stored as")
    assert replies == [(201, replies[0][1])] * 2
