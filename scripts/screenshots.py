"""Make the pictures of pages in docs/screenshots: the verb `make screenshots`.

A service of its own is started in an empty home, a contest is staged on it (scripts/staged_contest.py), and Debian's
Chromium is led through its pages. `--look FOLDER` shoots every page of the walk at four widths, light and dark, for
whoever changes pages to look at; `--serve` keeps the staged service until it is interrupted.
"""

from __future__ import annotations

import argparse
import base64
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.commands.fresh_service import (
    Running,
    fresh_service,
)
from app.core.files.temporary import DEMO_PREFIX, locked_folder
from scripts.staged_contest import CONTEST, PASSWORD, USER, change_a_case, stage
from tests.builders.browser import QUIET
from tests.builders.browsers import chromium

FOLDER = ROOT / "docs" / "screenshots"
QUALITY = 82
ADMIN = "admin"
SIZES = (320, 390, 768, 1280)
SCHEMES: Sequence[Any] = ("light", "dark")
REPORT = f"/c/{CONTEST}/answers"
GAME = "/c/games/problems/lasttreatduel/play"
DAY = "/daily/2026-11-22"
"""A day whose puzzles are in the pictures: the same on every server."""
Act = Callable[[Page], object]


@dataclass(frozen=True)
class Picture:
    """A picture: who opens which page, how wide and in which theme, and what they do there first."""

    name: str
    path: str
    user: str | None = USER
    width: int = 1280
    height: int = 860
    scheme: Any = "light"
    act: Act = lambda _page: None


def choose_files(page: Page) -> None:
    """Choose answers of which one is of no case, and see what the panel says."""
    folder = ROOT / "problems/comesolo/submissions/partial/best_first"
    names = sorted(folder.rglob("*.out"))[:5]
    files: Any = [{"name": path.name, "mimeType": "text/plain", "buffer": path.read_bytes()} for path in names]
    files.append({"name": "121-n30.out", "mimeType": "text/plain", "buffer": b"1\n0 0 0 2\n"})
    page.set_input_files("#files", files)
    page.locator(".pre-sum").wait_for()


def open_report(page: Page) -> None:
    """Open the last report on the first problem, and a board in it."""
    page.locator("tr", has=page.locator(".let", has_text="A")).first.locator("a").first.click()
    page.wait_for_url("**/submissions/*")  # and its scripts: without them the link leads to the input
    page.locator("a[data-board]").nth(4).click()
    page.locator("jurado-board .surface > *").first.wait_for()
    page.locator("jurado-board").press("Shift+ArrowRight")


def compare(page: Page) -> None:
    """Open the comparison of the last report on the first problem with the one before it."""
    open_report(page)
    page.get_by_role("link", name="Compare", exact=True).click()
    page.wait_for_url("**/compare?*")
    page.locator("a[data-board]").nth(4).click()
    page.locator("jurado-board .surface > *").first.wait_for()


def play_example(page: Page) -> None:
    """Show the example of a playground, some steps on."""
    page.click("#example")
    page.locator("jurado-board .surface > *").first.wait_for()
    page.locator("jurado-board").press("ArrowRight")
    page.locator("jurado-board").press("ArrowRight")


def begin_game(page: Page) -> None:
    """Begin a game against the first opponent, and make a move."""
    page.get_by_role("button", name="Play", exact=True).click()
    page.locator("[role=status]", has_text="Your turn").first.wait_for()
    page.get_by_role("button", name="Move", exact=True).click()
    page.locator("[role=status]", has_text="Your turn").first.wait_for()


def play_puzzle(page: Page) -> None:
    """Make the first step of a puzzle by keys."""
    board = page.locator("#daily .surface")
    board.focus()
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)


PICTURES: Sequence[Picture] = (
    Picture("home", "/"),
    Picture("contest", f"/c/{CONTEST}"),
    Picture("problem", f"/c/{CONTEST}/problems/rollingballs", scheme="dark"),
    Picture("problem-phone", f"/c/{CONTEST}/problems/comesolo", width=390),
    Picture("send", f"/c/{CONTEST}/problems/comesolo", act=choose_files),
    Picture("report", REPORT, height=1100, act=open_report),
    Picture("compare", REPORT, height=1100, act=compare),
    Picture("scoreboard", f"/c/{CONTEST}/scoreboard", height=1240),
    Picture("scoreboard-dark", f"/c/{CONTEST}/scoreboard", height=1240, scheme="dark"),
    Picture("scoreboard-phone", f"/c/{CONTEST}/scoreboard", width=390),
    Picture("scoreboard-phone-dark", f"/c/{CONTEST}/scoreboard", width=390, scheme="dark"),
    Picture("playground", "/p/rollingballs/board", user=None, act=play_example),
    Picture("game", GAME, act=begin_game),
    Picture("daily", DAY, user=None),
    Picture("puzzle", f"{DAY}/optimiza/medium", user=None, height=1060, act=play_puzzle),
    Picture("wizard", "/admin/new", user=ADMIN),
    Picture("organiser", f"/admin/contests/{CONTEST}", user=ADMIN),
    Picture("rejudging", f"/admin/contests/{CONTEST}/rejudgings/1", user=ADMIN, height=1000),
    Picture("projector", f"/c/{CONTEST}/projector", user=None),
    Picture("ceremony", f"/admin/contests/{CONTEST}/ceremony?step=3", user=ADMIN),
)


def main() -> int:
    """Make the pictures, or keep the service that they are made of."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAME", action="append", help="only the picture of this name")
    parser.add_argument("--look", metavar="FOLDER", type=Path, help="shoot every page at all sizes into this folder")
    parser.add_argument("--language", metavar="CODE", default="en-GB", help="language of the pages of --look")
    parser.add_argument("--serve", action="store_true", help="stage the service, print its address, and keep it")
    asked = parser.parse_args()
    if chromium() is None and not asked.serve:
        print("screenshots: chromium is missing (Debian: apt-get install chromium)", file=sys.stderr)
        return 1
    with staged() as running:
        if asked.serve:
            print(f"{running.url}: admin has the password {running.password}, {USER} has {PASSWORD}", flush=True)
            threading.Event().wait()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=[*QUIET])
            if asked.look:
                look(browser, running, asked.look, asked.language)
            else:
                FOLDER.mkdir(exist_ok=True)
                for picture in PICTURES:
                    if not asked.only or picture.name in asked.only:
                        shoot(browser, running, picture, FOLDER / f"{picture.name}.webp")
            browser.close()
    return 0


@contextmanager
def staged() -> Iterator[Running]:
    """A service with the staged contest, and a rejudging that waits there for a decision."""
    with locked_folder(DEMO_PREFIX) as home, fresh_service(home) as running:
        stage(running.url, running.password)
        with httpx.Client(base_url=f"{running.url}/api", auth=(ADMIN, running.password), timeout=60) as admin:
            change_a_case(admin)
        yield running


def shoot(browser: Browser, running: Running, picture: Picture, path: Path) -> None:
    """Take a picture as WebP."""
    with opened(browser, running, picture.user, picture.width, picture.height, picture.scheme) as page:
        page.goto(running.url + picture.path)
        picture.act(page)
        page.wait_for_load_state("networkidle") if picture.user is None else page.wait_for_timeout(300)
        session = page.context.new_cdp_session(page)
        data = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})["data"]
        path.write_bytes(base64.b64decode(data))
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} KB", flush=True)


@contextmanager
def opened(
    browser: Browser, running: Running, user: str | None, width: int, height: int, scheme: Any, language: str = "en-GB"
) -> Iterator[Page]:
    """A page of someone who has logged in."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        reduced_motion="reduce",
        timezone_id="Europe/Bratislava",
        locale=language,
    )
    page = context.new_page()
    if user is not None:
        page.goto(f"{running.url}/login")
        page.fill("[name=username]", user)
        page.fill("[name=password]", running.password if user == ADMIN else PASSWORD)
        page.click("main button")
        page.wait_for_load_state()
    yield page
    context.close()


def look(browser: Browser, running: Running, folder: Path, language: str) -> None:
    """Shoot the whole of every page that is there, at all sizes, light and dark; a page is loaded once."""
    folder.mkdir(parents=True, exist_ok=True)
    for user in (USER, ADMIN):
        with opened(browser, running, user, SIZES[0], 900, "light", language) as page:
            for path in LOOKED_AT[user]:
                page.goto(running.url + path)
                name = path.strip("/").replace("/", "-") or "home"
                for width in SIZES:
                    page.set_viewport_size({"width": width, "height": 900})
                    for scheme in SCHEMES:
                        page.emulate_media(color_scheme=scheme)
                        page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)


CONTEST_PAGES = (
    "",
    "/problems",
    "/problems/comesolo",
    "/scoreboard",
    "/answers",
    "/questions",
    "/notifications",
    "/teams/loose-ends",
)
ADMIN_PAGES = (
    *("", "/times", "/rules", "/problems", "/teams", "/live", "/submissions/1", "/rejudgings", "/rejudgings/1"),
    *("/questions", "/roles", "/ceremony", "/awards", "/results", "/results?certificates=all", "/audit", "/similarity"),
)
SERVER_PAGES = (
    *("", "/new", "/predictions/new", "/problems", "/problems/comesolo", "/problems/comesolo/case/103-n10-p50"),
    *("/jobs", "/users", "/users/team01", "/health", "/audit"),
)
LOOKED_AT = {
    USER: [
        *(
            "/",
            "/guides",
            "/guides?find=rejudging",
            "/guides/running-a-contest",
            "/account",
            GAME,
            "/p/comesolo/board",
            "/p/lasttreat/board",
        ),
        *(f"/c/{CONTEST}{path}" for path in CONTEST_PAGES),
        *("/daily", "/daily/archive", DAY, f"{DAY}/print"),
        *(f"{DAY}/{puzzle}" for puzzle in ("optimiza/small", "comesolo/medium", "netgame/large")),
    ],
    ADMIN: [
        *(f"/admin{path}" for path in SERVER_PAGES),
        *(f"/admin/contests/{CONTEST}{path}" for path in ADMIN_PAGES),
        f"/c/{CONTEST}/projector",
    ],
}

if __name__ == "__main__":
    sys.exit(main())
