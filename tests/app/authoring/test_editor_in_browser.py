"""A problem with a custom checker in the browser, counted: from an empty page to a verified problem in a contest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.builders.browser import Hand, Reader, chromium_running, reader
from tests.builders.programs import Judge, judging_service

pytestmark = [pytest.mark.browser, pytest.mark.machine("sandbox")]
MOST_CLICKS = 25
STATEMENT = "Print $n$ words.\n\n## Input\n\nThe number $n$.\n"
CHECKER = """\
from checkers.doors import Rejected


def score(given, answer, reference):
    wanted, found = int(given), len(answer.split())
    if found > wanted:
        raise Rejected(f"expected {wanted} words, found {found}")
    return found / wanted, f"{found} of {wanted} words"
"""


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    """A service of this module."""
    with judging_service(tmp_path_factory.mktemp("judge")) as judge:
        yield judge


def log_in(one: Reader, judge: Judge) -> None:
    """Log in as the admin of the service."""
    one.open("/login")
    one.page.fill("[name=username]", "admin")
    one.page.fill("[name=password]", judge.password)
    one.page.click("main button")
    one.page.wait_for_url(lambda address: "/login" not in address)


def chosen(name: str, data: str) -> Any:
    """A file as it is chosen in a form."""
    return {"name": name, "mimeType": "text/plain", "buffer": data.encode()}


def test_a_problem_with_a_custom_checker_from_an_empty_page_to_a_contest(judge: Judge) -> None:
    with chromium_running() as browser, reader(browser, judge.url) as one:
        log_in(one, judge)
        page, hand = one.page, Hand(one)
        hand.link("Organize")
        hand.link("Problems")
        hand.link("New problem")
        page.fill("[name=title]", "Words")
        page.fill("[name=id]", "words")
        hand.click(page.get_by_label("Your own program in Python"))
        hand.click(page.get_by_label("Empty outline"))
        assert one.violations() == []
        hand.press("Create problem")

        hand.link("Statement")
        page.fill("[name=text]", STATEMENT)
        expect(page.locator("#preview math")).to_have_count(2)
        assert one.violations() == []
        hand.press("Save")
        expect(page.locator(".note.good")).to_be_visible()

        hand.link("Test data")
        page.set_input_files("[name=files]", [chosen("02.in", "2\n"), chosen("02.ans", "a b\n")])
        hand.press("Add cases")
        expect(page.get_by_label("Case 02")).to_be_visible()
        assert one.violations() == []

        hand.link("Checker")
        page.fill("[name=text]", CHECKER.replace("answer.split())", "answer.split()"))
        hand.press("Save and compile")
        expect(page.locator("#wrong")).to_contain_text("Line 5:")
        assert one.violations() == []
        one.faults.clear()  # the console names each reply with a status of 400
        page.fill("[name=text]", CHECKER)
        hand.press("Save and compile")
        expect(page.locator(".note.good")).to_be_visible()
        page.select_option("[name=testcase]", "02")
        page.fill("[name=answer]", "one")
        hand.press("Try")
        expect(page.locator(".note.good")).to_contain_text("1 of 2 words")
        expect(page.locator(".note.good")).to_contain_text("50 % of the points")

        hand.link("Sample answers")
        page.fill("[name=name]", "reference")
        page.set_input_files("[name=files]", [chosen("02.out", "a b\n")])
        hand.press("Add answer")
        expect(page.locator("tr", has_text="accepted/reference")).to_contain_text("as expected")
        page.select_option("[name=folder]", label="be rejected on at least one case")
        page.fill("[name=name]", "chatty")
        page.set_input_files("[name=files]", [chosen("01.out", "a b c\n"), chosen("02.out", "a b c\n")])
        hand.press("Add answer")
        expect(page.locator("tr", has_text="wrong_answer/chatty")).to_contain_text("as expected")
        assert one.violations() == []

        hand.link("Overview")
        expect(page.locator("#verification h2")).to_have_text("Verified without an error")
        hand.link("Contests")
        hand.link("New contest")
        page.fill("[name=name]", "Winter Cup")
        hand.click(page.locator("main form button.main"))
        hand.click(page.get_by_label("Words"))
        hand.click(page.locator("main form button.main"))
        expect(page.locator("table")).to_contain_text("Words")
        assert hand.clicks <= MOST_CLICKS
        assert one.faults == []
