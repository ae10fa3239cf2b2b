"""Every page is walked in a real browser, over a contest whose texts are all hostile; none is left out.

In `make test` a team walks the pages of contestants and an admin those of organisers, narrow, with axe-core on each
sixth page. `make browse` walks them as everyone, at two sizes, light and dark, with axe-core on all, and with every
hostile text in every place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute
from playwright.sync_api import Browser, expect

from app.page_routes import daily, router
from tests.builders.browser import Reader, chromium_running, reader
from tests.builders.daily import put_days
from tests.builders.hostile import PAYLOADS, packs
from tests.builders.hostile_contest import fill, set_texts
from tests.builders.pages import PAGES, TODAY, TOMORROW, USERS, YESTERDAY, Walked, addresses, organisers
from tests.builders.service import Api, open_api
from tests.builders.sockets import listening
from tests.conftest import migrated_sqlite

PARTS = 4
"""A walk goes in so many tests, so that none of them lasts long."""
WITH_AXE = 6
"""`make test` has axe-core look at each so many-th page: it costs as much as all else that is done on a page."""
FILES = (
    *(
        "/static/",
        "/guides/images/",
        "/c/{contest_id}/header",
        "/c/{contest_id}/stream",
        "/c/{contest_id}/scoreboard/live",
    ),
    "/admin/problems/{problem_id}/files/",
)
"""Routes that are no pages: files, and the parts of a page that open pages fetch."""
NO_PAGES_OF_OURS = {"/docs", "/c/c/problems/echo/board"}
"""Swagger UI, and the frame that a package's own board fills: their marks are not ours to mend."""


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A service without graders, which has made the puzzles of three days."""
    folder = tmp_path_factory.mktemp("walk")
    put_days(folder / "home", YESTERDAY, TODAY, TOMORROW)  # midnight may come in the meantime
    with open_api(migrated_sqlite(folder / "jurado.sqlite"), folder / "home") as api:
        yield api


@pytest.fixture(scope="module")
def ids(api: Api) -> dict[str, str]:
    """The ids of the games of the hostile contest. Its points are computed once: that may compile kernels."""
    ids = fill(api)
    api.get("/c/c", user="team")
    return ids


@pytest.fixture(scope="module")
def url(api: Api, ids: dict[str, str]) -> Iterator[str]:
    """The address of the contest's server."""
    assert ids
    with listening(api) as place:
        yield f"http://{place}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all."""
    with chromium_running() as browser:
        yield browser


def routes_that_read(of: APIRouter) -> Iterator[str]:
    """The addresses of a router that are read, those of routers within it too."""
    for route in of.routes:
        if isinstance(route, APIRoute):
            yield from [route.path] * ("GET" in route.methods)
        else:
            yield from routes_that_read(route.original_router)  # type: ignore[attr-defined] # an included one


def test_no_route_of_pages_is_left_out_of_the_walk() -> None:
    routes = {path for of in (router, daily) for path in routes_that_read(of) if not path.startswith(FILES)}
    assert routes == {*PAGES, *organisers()}


def faults_on(one: Reader, path: str, *, with_axe: bool = True, widths: Sequence[int]) -> list[str]:
    """What is wrong with a page: errors, requests to other hosts, what is more than text, what scrolls sideways."""
    status = one.open(path)
    faults = [] if status == 200 else [f"status {status}"]
    one.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    if path not in NO_PAGES_OF_OURS:
        faults += one.intrusions()
        faults += one.overflows(widths)
        faults += one.violations() if with_axe else []
    faults += one.faults
    one.faults.clear()
    return [f"{path}: {each}" for each in faults]


@pytest.mark.browser
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize(("user", "pages"), [("team", PAGES), ("admin", organisers())])
def test_no_page_errs_runs_text_leads_away_breaks_wcag_or_scrolls_sideways(
    browser: Browser, url: str, ids: dict[str, str], user: str, pages: dict[str, Walked], part: int
) -> None:
    faults: list[str] = []
    with reader(browser, url, user) as one:
        for at, path in enumerate(addresses(user, pages, **ids)[part::PARTS]):
            faults += faults_on(one, path, with_axe=(at + part) % WITH_AXE == 0, widths=(320,))
    assert not faults, "\n".join(faults)


@pytest.mark.browser
def test_reading_pages_need_no_script(browser: Browser, url: str) -> None:
    read = {path: page for path, page in {**PAGES, **organisers()}.items() if page.is_read}
    with reader(browser, url, java_script_enabled=False) as one:
        for path in addresses(None, read):
            assert one.open(path) == 200, path
            expect(one.page.locator("h1").first).to_be_visible()
    assert one.faults == []


@pytest.mark.browser
def test_names_of_chosen_files_are_text_before_anything_is_sent(browser: Browser, url: str) -> None:
    with reader(browser, url, "team") as one:
        one.open("/c/c/problems/echo")
        chosen = [{"name": f"{name}.out", "mimeType": "", "buffer": b"2\n"} for name in PAYLOADS.values()]
        one.page.set_input_files("#files", [*chosen, {"name": "02.out", "mimeType": "", "buffer": b"2\n"}])
        expect(one.page.locator(".pre")).to_contain_text("02")
        assert [*one.intrusions(), *one.faults, *one.overflows()] == []


@pytest.fixture(scope="module")
def seen() -> set[str]:
    """What pages have shown to those who have walked them."""
    return set()


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("user", USERS)
def test_everybody_walks_at_each_size_and_in_each_theme(
    browser: Browser, url: str, ids: dict[str, str], seen: set[str], user: str | None, part: int
) -> None:
    """What a page shows to several people is compared with WCAG once."""
    faults: list[str] = []
    with reader(browser, url, user) as one:
        for path in addresses(user, {**PAGES, **organisers()}, **ids)[part::PARTS]:
            faults += faults_on(one, path, with_axe=False, widths=(320, 390, 1280))
            if path not in NO_PAGES_OF_OURS and (shown := one.shown()) not in seen:
                seen.add(shown)
                faults += [f"{path}: {each}" for each in one.violations_in_each_theme((390, 1280))]
    assert not faults, "\n".join(faults)


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.parametrize("turn", range(1, len(packs())))
def test_every_hostile_text_is_harmless_in_every_place(
    api: Api, browser: Browser, url: str, ids: dict[str, str], turn: int
) -> None:
    set_texts(api, turn)
    faults: list[str] = []
    for user, pages in (("team", PAGES), ("admin", {**PAGES, **organisers()})):
        with reader(browser, url, user) as one:
            for path in addresses(user, pages, **ids):
                faults += faults_on(one, path, with_axe=False, widths=(320,))
    assert not faults, "\n".join(faults)
