"""The guides as pages: found by words, rendered with their links, and listed for their readers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from app.core.pages.guides import anchor, folder, names, sections
from tests.app.contests.test_contest_pages import text_of
from tests.builders.browser import chromium_running, reader
from tests.builders.service import Api
from tests.builders.sockets import listening


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all."""
    with chromium_running() as browser:
        yield browser


def test_every_guide_is_listed_for_its_readers_with_a_summary(shared_api: Api) -> None:
    page = shared_api.get("/guides").text
    listed = re.findall(r'<a href="/guides/([a-z0-9-]+)"><b>', page)
    assert sorted(listed) == names()
    for name in names():
        summary = sections(name)[0].summary
        assert 20 < len(summary) < 300, (name, summary)
        assert not re.search(r"[`*\[\]]|\]\(", summary), (name, summary)


def test_links_of_guides_lead_to_headings_that_pages_have(shared_api: Api) -> None:
    pages = {name: shared_api.get(f"/guides/{name}").text for name in names()}
    ids = {name: set(re.findall(r'<h\d id="([^"]+)"', page)) for name, page in pages.items()}
    for name, page in pages.items():
        main = page.split("<main", 1)[1].split("</main>", 1)[0]
        for link in re.findall(r'(?:href|src)="([^"]*)"', main):
            path, _, part = link.partition("#")
            if path.startswith("/guides/images/"):
                assert shared_api.get(path).headers["content-type"] == "image/webp", link
            elif path.startswith("/guides/"):
                assert part in {"", *ids[path.removeprefix("/guides/")]}, (name, link)
            elif path == "":
                assert part in ids[name], (name, link)
            else:
                assert path.startswith(("https://", "http://", "/guides")), (name, link)


def test_the_search_finds_sections_that_have_all_words(shared_api: Api) -> None:
    found = shared_api.get("/guides?find=Secret+KEY").text
    assert f'href="/guides/operating#{anchor("The secret key")}"' in found
    assert "0 sections" in text_of(shared_api.get("/guides?find=secret+zzyzx").text)
    assert "<script>" not in shared_api.get("/guides?find=<script>").text.split("<main", 1)[1]


@pytest.mark.parametrize("path", ["/guides/nothing", "/guides/..%2F..%2FREADME", "/guides/images/..%2F..%2FREADME.md"])
def test_only_guides_and_their_images_are_served(shared_api: Api, path: str) -> None:
    assert shared_api.get(path).status_code == 404


def test_the_folder_of_the_guides_is_in_one_place() -> None:
    assert (folder() / "running-a-contest.md").is_file()


@pytest.mark.browser
def test_an_answer_is_found_from_the_home_page_in_three_clicks(shared_api: Api, browser: Browser) -> None:
    with listening(shared_api) as place, reader(browser, f"http://{place}") as one:
        one.open("/")
        one.page.get_by_role("link", name="All guides").click()
        one.page.get_by_label("Search the guides").fill("secret key")
        one.page.get_by_role("button", name="Search").click()
        one.page.get_by_role("link", name="The secret key").click()
        expect(one.page.locator("#the-secret-key")).to_be_in_viewport()
        assert one.overflows() == []
        assert one.violations() == []
        assert one.faults == []
