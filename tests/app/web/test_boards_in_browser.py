"""Boards in a real browser: no errors, played by keys, and a board of a package stays in its frame."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from app.domain.scoring import RawScore
from app.domain.verdicts import CaseVerdict
from app.web.playground import TITLES
from tests.builders.boards_of_packages import HOSTILE, NOBODY
from tests.builders.browser import chromium_running, reader
from tests.builders.contests import add_contest, add_problem, add_submission
from tests.builders.games import GAME, PACKAGE
from tests.builders.service import Api, open_api
from tests.builders.sockets import listening
from tests.conftest import migrated_sqlite

pytestmark = pytest.mark.browser
RIGHT = RawScore(CaseVerdict.ACCEPTED, 1, 1)
WRONG = RawScore(CaseVerdict.REJECTED)


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


def test_every_board_of_the_playground_is_read_by_everybody(browser: Browser, url: str) -> None:
    faults: list[str] = []
    with reader(browser, url) as one:
        for slug in TITLES:
            one.page.emulate_media(color_scheme="dark" if slug in {"optimiza", "rollingballs"} else "light")
            one.open(f"/p/{slug}/board")
            one.page.click("#example")
            board = one.page.locator("jurado-board")
            expect(board.locator(".surface > *").first).to_be_visible()
            board.press("End")
            board.press("?")
            board.locator("summary").click()
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
        expect(one.page.locator("#status")).to_contain_text("2 inputs, 4 answers. 1 of them belongs to no input")
        rows = one.page.locator("#answers tr").all_inner_texts()
        assert [row.split("\t")[-1] for row in rows] == ["1", "rejected", "0", "no input"]
        expect(one.page.locator("jurado-board h3")).to_have_text("a.txt")
        one.page.locator("#after").press("Enter")
        expect(one.page.locator("jurado-board h3")).to_have_text("b.out")
        assert all(urlsplit(each).path.startswith("/static/") for each in sent)
        assert one.faults == []


def test_a_game_is_played_to_its_end_by_keyboard_alone(browser: Browser, url: str) -> None:
    with reader(browser, url, "team") as one:
        one.open(f"/c/d/problems/{GAME}/play")
        faults = [*one.violations(), *one.overflows()]
        one.page.locator("[name=opponent]").last.select_option("one")
        one.page.locator("[name=position]").fill("3 0 1\n")
        one.page.get_by_role("button", name="Play", exact=True).press("Enter")
        for _ in range(2):
            expect(one.page.locator("[role=status]").first).to_contain_text("Your turn")
            faults += [*one.violations(), *one.overflows()]
            one.page.get_by_role("button", name="Move", exact=True).press("Enter")
        expect(one.page.locator("[role=status]").first).to_contain_text("You won")
        expect(one.page.locator("jurado-board .say").first).to_contain_text("The piles are empty.")
        assert [*faults, *one.violations(), *one.overflows(), *one.faults] == []


def test_a_friend_sees_the_move_without_loading_the_page_again(browser: Browser, url: str) -> None:
    with reader(browser, url, "team") as one, reader(browser, url) as two:
        one.open(f"/c/d/problems/{GAME}/play")
        one.page.locator("[name=opponent]").last.select_option("person")
        one.page.locator("[name=position]").fill("3 0 1\n")
        one.page.get_by_role("button", name="Play", exact=True).click()
        two.open(str(one.page.locator("a", has_text="its link").get_attribute("href")))
        two.page.get_by_role("button", name="Join the game").click()
        expect(one.page.locator("[role=status]").first).to_contain_text("Your turn", timeout=15_000)
        one.page.locator("jurado-board .target").first.click()
        expect(two.page.locator("[role=status]").first).to_contain_text("Your turn", timeout=15_000)
        assert one.faults + two.faults == []


def test_a_comparison_breaks_no_rule(browser: Browser, url: str) -> None:
    with reader(browser, url, "team") as one:
        one.open("/c/c/compare?a=2&b=1")
        assert [*one.violations(), *one.overflows(), *one.faults] == []
