"""Boards in a real browser: no errors, played by keys, and a board of a package stays in its frame."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from playwright.sync_api import Browser, expect

from app.domain.counting import CaseVerdict, RawScore
from app.problems.pages.contest import TITLES
from tests.builders.boards_of_packages import HOSTILE, NOBODY
from tests.builders.browser import chromium_running, reader, tab_to
from tests.builders.contests import add_contest, add_problem, add_submission
from tests.builders.games import GAME, PACKAGE
from tests.builders.judging import judge
from tests.builders.service import Api, open_api
from tests.builders.sockets import listening
from tests.conftest import migrated_sqlite

pytestmark = pytest.mark.browser
RIGHT = RawScore(CaseVerdict.ACCEPTED, 1, 1)
WRONG = RawScore(CaseVerdict.REJECTED)


POSITIONS, MOVES = b"3\n2 5 2\n1 2 4\n7 9 4\n", b"0 1\n0 0\n0 3\n"
TREATS: dict[str, str | bytes | None] = {
    "jurado.yaml": "checker: lasttreat\nscoring: {kind: absolute, direction: maximise}\n",
    **{f"data/{case}.in": POSITIONS for case in ("sample/01", "secret/02", "secret/03")},
    **{f"data/{case}.ans": MOVES for case in ("sample/01", "secret/02", "secret/03")},
}
"""Changes of the echo package to positions of the last treat."""


@pytest.fixture(scope="module")
def listener() -> Iterator[socket.socket]:
    """Another host, which hears whoever connects to it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield listener


def received(listener: socket.socket) -> bytes:
    """What has been sent to a host; a browser may connect before its policy stops it, and then sends nothing."""
    data = b""
    with suppress(BlockingIOError):
        while True:
            connection, _ = listener.accept()
            with connection, suppress(BlockingIOError):
                connection.setblocking(False)
                data += connection.recv(1000)
    return data


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory, listener: socket.socket) -> Iterator[Api]:
    """A contest `c` whose problem brings a hostile board, with two submissions, and `d` with a game."""
    folder = tmp_path_factory.mktemp("boards")
    with open_api(migrated_sqlite(folder / "jurado.sqlite"), folder / "home") as api:
        host = f"127.0.0.1:{listener.getsockname()[1]}"
        add_problem(api.service, {"board.js": HOSTILE.replace(NOBODY, host)})
        add_problem(api.service, PACKAGE, GAME)
        add_contest(api.service)
        add_contest(api.service, "d", problem_id=GAME)
        add_submission(api.service, {"02": RIGHT, "03": WRONG}, minute=1)
        add_submission(api.service, {"02": RIGHT, "03": RIGHT}, minute=2)
        add_problem(api.service, TREATS, "treats")
        add_contest(api.service, "e", problem_id="treats")
        yield api


@pytest.fixture(scope="module")
def url(api: Api) -> Iterator[str]:
    """The address of the contests' server."""
    with listening(api) as place:
        yield f"http://{place}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all."""
    with chromium_running() as browser:
        yield browser


def test_a_packages_board_reaches_no_cookie_no_page_and_no_network(
    browser: Browser, url: str, listener: socket.socket
) -> None:
    with reader(browser, url, "team") as one:
        one.open("/c/c/submissions/1")
        one.page.locator("a[data-board]").last.click()
        board = one.page.locator("jurado-board")
        expect(board.locator(".say").first).to_have_text("trying")
        board.press("End")
        expect(board.locator(".say").first).to_have_text("won: ;")
        with one.page.expect_console_message(lambda message: "Framing" in message.text):
            board.press("ArrowLeft")
        assert urlsplit(one.page.url).path == "/c/c/submissions/1"
    assert received(listener) == b""


def test_a_rejection_is_drawn_at_the_step_that_the_server_names(api: Api, browser: Browser, url: str) -> None:
    """The board does not know which moves win: the second position is wrong because the judge says so."""
    wrong = {"files": ("02.out", b"0 1\n0 1\n0 3\n")}
    sent = api.post("contests/e/submissions", user="team", data={"problem_id": "treats"}, files=wrong)
    assert (sent.status_code, judge(api.service)) == (201, 1)
    with reader(browser, url, "team") as one:
        one.open(f"/c/e/submissions/{sent.json()['id']}")
        expect(one.page.locator(".shot text.claim.wrong")).to_be_visible()
        one.page.get_by_role("button", name="See it on the board").click()
        board = one.page.locator("jurado-board")
        expect(board.locator(".say").first).to_contain_text("Position 2 of 3")
        expect(board.locator(".say").first).to_contain_text("Wrong.")
        expect(board.locator(".say.stop")).to_contain_text("position 2: expected a winning move")
        board.press("ArrowLeft")
        expect(board.locator(".say").first).to_contain_text("Correct.")
        assert [*one.faults, *one.violations()] == []


def test_a_report_says_what_counts_and_opens_the_first_board(api: Api, browser: Browser, url: str) -> None:
    """A story in three clicks: the first board is open without one, another case, the whole window."""
    sent = api.post(
        "contests/e/submissions",
        user="team",
        data={"problem_id": "treats"},
        files=[("files", (f"{case}.out", MOVES)) for case in ("02", "03")],
    )
    assert (sent.status_code, judge(api.service)) == (201, 1)
    with reader(browser, url, "team") as one:
        one.page.set_viewport_size({"width": 1280, "height": 800})
        one.open(f"/c/e/submissions/{sent.json()['id']}")
        expect(one.page.locator(".standing")).to_contain_text("coun")
        board = one.page.locator("jurado-board")
        names = one.page.locator("a[data-board]").evaluate_all("all => all.map((each) => each.dataset.name)")
        expect(board.locator("h3")).to_have_text(names[0])
        assert "#case" not in one.page.url
        assert board.evaluate("each => each.getBoundingClientRect().height <= innerHeight")
        one.page.get_by_role("link", name=f"{names[-1]} Watch").click()
        expect(board.locator("h3")).to_have_text(names[-1])
        one.page.get_by_role("button", name="Enlarge").click()
        assert board.evaluate("each => [each.offsetWidth, each.offsetHeight].join()") == "1280,800"
        assert one.faults == []
        one.page.keyboard.press("Escape")
        expect(one.page.get_by_role("button", name="Enlarge")).to_be_visible()
        assert [*one.violations(), *one.overflows()] == []


def test_every_board_of_the_playground_is_read_by_everybody(browser: Browser, url: str) -> None:
    faults: list[str] = []
    with reader(browser, url) as one:
        for slug in TITLES:
            one.page.emulate_media(color_scheme="dark" if slug in {"optimiza", "rollingballs"} else "light")
            one.open(f"/p/{slug}/board")
            one.page.click("#example")
            board = one.page.locator("jurado-board")
            expect(board.locator(".surface > *").first).to_be_visible()
            if slug == "optimiza":
                board.press("Home")
                board.press("ArrowRight")
                expect(board.locator(".may text").first).to_have_css("stroke", "none")
            board.press("End")
            board.press("?")
            board.locator("summary").click()
            one.page.evaluate("scrollTo(0, 0)")  # links that the header half covers while scrolled count as too small
            faults += [f"{slug}: {each}" for each in (*one.violations(), *one.overflows(), *one.faults)]
            one.faults.clear()
    assert faults == []


def test_answers_from_disk_are_matched_by_name_and_nothing_is_sent(browser: Browser, url: str, tmp_path: Path) -> None:
    texts = {"a.in": "3\noo.\n...\n...\n", "a.out": "1\n0 0 0 2\n", "b.out": "0\n", "b.in": "2\noo\n..\n"}
    texts |= {"wrong/a.txt": "1\n0 0 0 1\n", "c.out": "0\n"}
    (tmp_path / "wrong").mkdir()
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    with reader(browser, url) as one:
        one.open("/p/comesolo/board")
        sent: list[str] = []
        one.page.on("request", lambda request: sent.append(request.url))
        one.page.set_input_files("#chosen", [tmp_path / name for name in texts])
        expect(one.page.locator("#status")).to_contain_text("2 inputs, 4 answers. 1 of them has no matching input")
        rows = one.page.locator("#answers tr").all_inner_texts()
        assert [row.split("\t")[-1] for row in rows] == ["1", "rejected", "0", "no input"]
        expect(one.page.locator("jurado-board h3")).to_have_text("a.txt")
        one.page.locator("#after").press("Enter")
        expect(one.page.locator("jurado-board h3")).to_have_text("b.out")
        archive = tmp_path / "answers.zip"
        archive.write_bytes(packed({"in/d.in": texts["a.in"], "out/d.out": texts["a.out"], "__MACOSX/d.out": "no"}))
        (tmp_path / "cut.zip").write_bytes(archive.read_bytes()[:90])
        one.page.set_input_files("#chosen", [archive, tmp_path / "cut.zip"])
        expect(one.page.locator("#status")).to_contain_text("3 inputs, 5 answers.")
        expect(one.page.locator("#status")).to_contain_text("cut.zip: this zip has no directory at its end")
        one.page.get_by_role("button", name="d.out").click()
        board = one.page.locator("jurado-board")
        expect(board.locator("h3")).to_have_text("d.out")
        board.press("Home")
        expect(board.locator("circle.may")).to_have_count(0)
        board.get_by_label("Pieces that can still jump").check()
        expect(board.locator("circle.may")).to_have_count(1)
        expect(board.locator(".say").first).to_contain_text("1 of them can jump.")
        assert all(urlsplit(each).path.startswith("/static/") for each in sent)
        assert [*one.faults, *one.violations(), *one.overflows()] == []


def packed(texts: Mapping[str, str]) -> bytes:
    """A zip whose entries are deflated, as most programs make them."""
    data = BytesIO()
    with ZipFile(data, "w", ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return data.getvalue()


def test_a_game_is_played_to_its_end_by_keyboard_alone(browser: Browser, url: str) -> None:
    with reader(browser, url, "team") as one:
        one.open(f"/c/d/problems/{GAME}/play")
        faults = [*one.violations(), *one.overflows()]
        keyboard = one.page.keyboard
        tab_to(one.page, "[name=opponent]")
        keyboard.type("one")
        expect(one.page.locator("[name=opponent]").last).to_have_value("one")
        tab_to(one.page, "[name=position]")
        keyboard.press("Control+A")
        keyboard.type("3 0 1\n")
        tab_to(one.page, "form:has([name=position]) button")
        keyboard.press("Enter")
        for number in (1, 3):
            expect(one.page.locator("#move [name=number]")).to_have_value(str(number))  # not the page of the last move
            expect(one.page.locator("main [role=status]").first).to_contain_text("Your turn")
            faults += [*one.violations(), *one.overflows()]
            tab_to(one.page, "#move button")
            keyboard.press("Enter")
        expect(one.page.locator("main [role=status]").first).to_contain_text("You won")
        expect(one.page.locator("jurado-board .say").first).to_contain_text("The piles are empty.")
        assert [*faults, *one.violations(), *one.overflows(), *one.faults] == []


def test_a_judge_sees_the_move_without_loading_the_page_again(browser: Browser, url: str) -> None:
    with reader(browser, url, "team") as one, reader(browser, url, "judge") as two:
        one.open(f"/c/d/problems/{GAME}/play")
        one.page.locator("[name=position]").fill("3 0 1\n")
        one.page.get_by_role("button", name="Play", exact=True).click()
        expect(one.page.locator("main [role=status]").first).to_contain_text("Your turn")
        two.open(one.page.url.removeprefix(url))
        one.page.locator("jurado-board .target").first.click()
        expect(two.page.locator("#moves li")).to_have_count(2)
        assert one.faults + two.faults == []


def test_a_comparison_breaks_no_rule(browser: Browser, url: str) -> None:
    with reader(browser, url, "team") as one:
        one.open("/c/c/compare?a=2&b=1")
        assert [*one.violations(), *one.overflows(), *one.faults] == []


@pytest.mark.parametrize("name", sorted(TITLES))
def test_boards_are_drawn_whole_in_every_width_and_theme(name: str, browser: Browser, url: str) -> None:
    """Screenshots of a board differ by step and theme, and none is cut by its window."""
    with reader(browser, url) as one:
        one.open(f"/p/{name}/board")
        one.page.get_by_role("button", name="Show an example").click()
        surface = one.page.locator("jurado-board .surface > *").first
        for width in (320, 390, 768, 1280):
            one.page.set_viewport_size({"width": width, "height": 900})
            shots = set()
            for scheme in ("light", "dark"):
                one.page.emulate_media(color_scheme=scheme)
                for key in ("Home", "Shift+ArrowRight"):
                    one.page.locator("jurado-board").press(key)
                    shots.add(surface.screenshot())
            box = surface.bounding_box()
            assert box is not None
            assert (len(shots), box["x"] >= 0, box["x"] + box["width"] <= width) == (4, True, True), width
        assert one.faults == []
