"""Drives Debian's Chromium through Playwright: one browser for all tests of a module, and what a page must never do."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

from tests.builders.browsers import chromium
from tests.builders.hostile import COMPUTED
from tests.builders.service import PASSWORD

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
)
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
RULES_OF_COLOURS = ("color-contrast", "link-in-text-block")
"""The rules of RULES whose outcome depends on colours, so that each theme has to keep them."""
REACHES_OUT = """width => {
    const page = document.documentElement;
    if (page.scrollWidth <= width) return "";
    const out = [...document.body.querySelectorAll("*")].filter((each) => each.getBoundingClientRect().right > width);
    return out.filter((each) => !out.some((other) => other !== each && each.contains(other))).slice(0, 3)
        .map((each) => `${each.tagName} ${each.className}: ${each.textContent.slice(0, 60)}`).join("; ") || "unseen";
}"""
INTRUSIONS = """computed => {
    const faults = [];
    if (window.__hit) faults.push("a text ran");
    for (const each of document.querySelectorAll("[data-canary]")) faults.push(`a text became <${each.tagName}>`);
    if (document.querySelector("base, object, embed, meta[http-equiv]")) faults.push("a text is in the head");
    const here = (address) => new URL(address, location.href).origin === location.origin;
    if ([...document.styleSheets].some((each) => !each.href || !here(each.href))) faults.push("a style of others");
    for (const each of document.querySelectorAll("[src], [action], link[href]"))
        if (!here(each.getAttribute("src") ?? each.getAttribute("action") ?? each.getAttribute("href")))
            faults.push(`<${each.tagName}> leads to another host`);
    for (const each of document.querySelectorAll("[href]")) {
        const address = typeof each.href === "string" ? each.href : each.href.baseVal;
        if (!/^(https?:|mailto:|#|blob:|data:text.csv)/.test(address))
            faults.push(`a link leads to ${address.slice(0, 40)}`);
    }
    if (document.body.innerText.includes(computed)) faults.push("a template was computed");
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const text = texts.currentNode.data;
        const left = (begins, ends) => text.match(begins)?.length !== text.match(ends)?.length;
        if (left(/[\u202a\u202b\u202d\u202e]/g, /\u202c/g) || left(/[\u2066-\u2068]/g, /\u2069/g))
            faults.push(`what follows is turned round by ${JSON.stringify(text.slice(0, 40))}`);
    }
    return [...new Set(faults)];
}"""
"""What texts of others have become part of the page that is open."""
PATIENCE = 120_000
"""Milliseconds until what a page has to show is missing: Playwright's five seconds are none on a busy machine."""
WIDTHS = (320, 390, 1280)
HEIGHT = 900
expect.set_options(timeout=PATIENCE)


@contextmanager
def chromium_running() -> Iterator[Browser]:
    """Start one browser process, which all contexts share."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=[*QUIET])
        try:
            yield browser
        finally:
            browser.close()


@cache
def axe() -> str:
    """The source of axe-core, as its PyPI package brings it."""
    return (importlib.resources.files("axe_playwright_python") / "axe.min.js").read_text()


@dataclass
class Reader:
    """Someone with a browser of their own; `faults` are errors in the console and requests to other hosts."""

    url: str
    context: BrowserContext
    page: Page
    faults: list[str] = field(default_factory=list)

    def open(self, path: str) -> int:
        """Go to a page and wait until it has loaded; its status."""
        reply = self.page.goto(self.url + path, wait_until="load")
        assert reply is not None, path
        return reply.status

    def overflows(self, widths: Sequence[int] = WIDTHS) -> list[str]:
        """The widths at which the page that is open scrolls sideways, with what reaches out of it."""
        wide = []
        for width in widths:
            self.page.set_viewport_size({"width": width, "height": HEIGHT})
            if out := self.page.evaluate(REACHES_OUT, width):
                wide.append(f"at {width} px it scrolls sideways: {out}")
        return wide

    def shown(self) -> str:
        """The markup of the page that is open, without the footer and the names in the bar."""
        parts: list[str] = self.page.eval_on_selector_all(
            "nav.tabs, main", "parts => parts.map((each) => each.outerHTML)"
        )
        return "".join(parts)

    def violations_in_each_theme(self, widths: Sequence[int]) -> list[str]:
        """What the page that is open breaks at each width; the dark theme differs by its colours alone."""
        faults = []
        for width in widths:
            self.page.set_viewport_size({"width": width, "height": HEIGHT})
            faults += [f"at {width} px: {each}" for each in self.violations()]
            self.page.emulate_media(color_scheme="dark")
            faults += [f"at {width} px, dark: {each}" for each in self.violations(RULES_OF_COLOURS)]
            self.page.emulate_media(color_scheme="light")
        return faults

    def intrusions(self) -> list[str]:
        """What of the page that is open comes of texts that would be more than text (tests.builders.hostile)."""
        intrusions: list[str] = self.page.evaluate(INTRUSIONS, COMPUTED)
        return intrusions

    def violations(self, rules: Sequence[str] = RULES) -> list[str]:
        """The rules of WCAG 2.2 AA, by tags or ids, that the page that is open breaks, as axe-core finds them."""
        if self.page.evaluate("window.axe === undefined"):
            self.page.evaluate(axe())
        report: dict[str, Any] = self.page.evaluate(
            "rules => axe.run(document, {runOnly: rules, resultTypes: ['violations']})", list(rules)
        )
        return [
            f"{each['id']}: {node['target']}: {node['failureSummary'][:300]}"
            for each in report["violations"]
            for node in each["nodes"][:3]
        ]


def tab_to(page: Page, selector: str) -> None:
    """Go to a part of the page by Tab alone, as who has no pointer does."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} is not reached by Tab")


@contextmanager
def reader(browser: Browser, url: str, user: str | None = None, **options: Any) -> Iterator[Reader]:
    """A reader, logged in as one of the people or no one; `options` are those of a context of Playwright."""
    context = browser.new_context(**{"reduced_motion": "reduce", **options})  # axe would meet colours on their way
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    one = Reader(url, context, page)
    page.on("console", lambda message: message.type in {"error", "warning"} and one.faults.append(message.text))
    page.on("pageerror", lambda error: one.faults.append(str(error)))
    page.on("dialog", lambda dialog: (one.faults.append(f"a dialog: {dialog.message}"), dialog.dismiss()))
    host = urlsplit(url).netloc

    def look(request: Any) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in {"data", "blob"} and parts.netloc != host:
            one.faults.append(f"a request to {request.url}")

    page.on("request", look)
    try:
        if user is not None:
            one.open("/login")
            page.fill("[name=username]", user)
            page.fill("[name=password]", PASSWORD)
            page.click("main button")
            page.wait_for_url(lambda address: urlsplit(address).path != "/login")
        yield one
    finally:
        context.close()


def printed_around(page: Page) -> list[str]:
    """The parts around a sheet that its print would show; a sheet is to stand alone."""
    page.emulate_media(media="print")
    parts = [each for each in (".top", ".foot", ".noprint", ".places") if page.locator(f"{each}:visible").count()]
    page.emulate_media(media="screen")
    return parts


class Hand:
    """Clicks, and counts them; typing is free."""

    def __init__(self, one: Reader) -> None:
        self.one, self.clicks = one, 0

    def click(self, what: Locator) -> None:
        """Click on something."""
        what.first.click()
        self.clicks += 1

    def link(self, name: str) -> None:
        """Follow a link."""
        self.click(self.one.page.get_by_role("link", name=name, exact=True))

    def press(self, name: str) -> None:
        """Press a button of the page."""
        self.click(self.one.page.locator("main").get_by_role("button", name=name, exact=True))
