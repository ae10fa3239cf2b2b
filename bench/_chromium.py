"""What Chromium measures on pages: first paint, layout shift, taps, patches of the scoreboard, boards of problems.

The times of paints are by the clock, as readers feel them: other work of the machine slows them, and with them those of
plain pages to compare with (`mock`). All others are processor time of the page's thread.
"""

from __future__ import annotations

import random
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import BrowserContext, CDPSession, Page, Route, expect

from bench._budgets import Budgets
from bench.stage import free_port, wait_for_reply
from tests.builders.browser import chromium_running

ROOT = Path(__file__).parents[1]
BOARDS = ROOT / "app/problems/static/boards"
MOCKS = {
    "board of 30 teams": "scoreboard.html",
    "board of 1,000 teams": "scoreboard.html",
    "problem": "problem.html",
    "report": "submission.html",
}
FIRST_PAINT_MS, PHONE_MS, PATCH_MS, FRAME_MS, SHIFT, TAP_MS = 300, 1000, 16, 16, 0.02, 100
PHONE_SLOWER = 4
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
ROUNDS, PATCHES, SEEKS = 5, 5, 500
PAINTED = """new Promise(done => new PerformanceObserver(list => {
  const [paint] = list.getEntriesByName("first-contentful-paint");
  if (paint) done(paint.startTime);
}).observe({ type: "paint", buffered: true }))"""
SHIFTED = """new Promise(done => {
  let sum = 0;
  new PerformanceObserver(list => { for (const each of list.getEntries()) sum += each.value; })
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 300);
})"""
TAPPED = """() => { globalThis.taps = [0]; new PerformanceObserver(list => {
  for (const each of list.getEntries()) globalThis.taps.push(each.duration);
}).observe({ type: "event", durationThreshold: 16 }); }"""
HURRIED = """const later = setTimeout;
globalThis.setTimeout = (work, wait, ...more) => later(work, wait >= 4000 && wait <= 6000 ? 300 : wait, ...more);"""
"""Lets the script of the scoreboard look at the version three times a second."""
SETTLED = "new Promise(done => requestAnimationFrame(() => setTimeout(done, 100)))"
WRITE = """columns => {
  const rows = [...document.querySelector("table.board").tBodies[0].rows];
  const text = document.body.dataset.turn = document.body.dataset.turn === "41.0" ? "37.0" : "41.0";
  for (const row of rows) {
    for (const cell of [row.querySelector(".tot"), ...[...row.querySelectorAll(".h")].slice(0, columns)]) {
      const node = [...cell.childNodes].find(each => each.nodeType === Node.TEXT_NODE);
      if (node) node.data = text;
    }
  }
  document.body.offsetHeight;
}"""
"""The least that a patch can be: other texts in as many cells, and one layout."""


PREPARE = """async ([name, input, answer, shares]) => {
  const module = await import(`/static/boards/${name}.js`);
  const colours = getComputedStyle(document.documentElement);
  const theme = { colour: (name) => colours.getPropertyValue(name).trim() };
  const surface = document.createElement("div");
  surface.className = "surface";
  document.body.replaceChildren(surface);
  let frames, seen, drawn;
  const show = (frame) => {
    const next = module.draw(frame, drawn, theme);
    if (next !== drawn) surface.replaceChildren(next);
    drawn = next;
    surface.getBoundingClientRect();
  };
  globalThis.bench = {
    parse: () => { frames = module.frames(module.parse(input, answer)); },
    seek: () => { seen = shares.map((share) => frames.seek(Math.floor(share * (frames.count + 1)))); },
    first: () => show(seen[0]),
    draw: () => { for (const frame of seen.slice(1, 101)) show(frame); },
  };
  return module.frames(module.parse(input, answer)).count;
}"""
"""Opens a board of a problem for an answer, and leaves the steps that are timed."""
STEPS = ("parse", "seek", "first", "draw")
FRAMES = 100


class Visit(NamedTuple):
    """A visit of a page: milliseconds to its first paint, and of processor time until it has loaded."""

    paint: float
    work: float


def in_browser(
    url: str, token: str, addresses: dict[str, str], parts: Sequence[str], mock: Path | None, budgets: Budgets
) -> None:
    """Print what Chromium measures, of some parts."""
    with chromium_running() as browser:
        headers = {"Authorization": f"Bearer {token}"}
        context = browser.new_context(viewport=DESKTOP, extra_http_headers=headers)  # type: ignore[arg-type]
        if "paint" in parts:
            paints(context, url, addresses, mock, budgets)
            tap(context.new_page(), url + addresses["board of 1,000 teams"], budgets)
        if "patch" in parts:
            patches(context, url + addresses["board of 1,000 teams"], budgets)
        if "boards" in parts:
            page = context.new_page()
            page.goto(f"{url}/")
            for path in sorted(BOARDS.glob("*.js")):
                board_times(page, path.stem, budgets)


def paints(context: BrowserContext, url: str, addresses: dict[str, str], mock: Path | None, budgets: Budgets) -> None:
    """Print the first paints of pages, for a reader's first visit and with the style sheet and scripts at hand."""
    with plain_pages(mock) as plain:
        page = context.new_page()
        for name, address in addresses.items():
            first, again, mocked = [], [], []
            for _ in range(ROUNDS):
                first.append(visit(page, url + address, empty=True))
                again.append(visit(page, url + address))
                if plain is not None:
                    mocked.append(visit(page, f"{plain}/{MOCKS[name]}", empty=True))
            beside = ""
            if mocked:
                shares = [median_of(first, kind) / median_of(mocked, kind) for kind in ("paint", "work")]
                beside = f", {shares[0]:.2f} and {shares[1]:.2f} times the plain page's paint and work"
            budgets.within(f"{name}, first paint, first visit", median_of(first, "paint"), FIRST_PAINT_MS, "ms")
            budgets.within(f"{name}, first paint, again", median_of(again, "paint"), FIRST_PAINT_MS, "ms")
            print(f"{name + ', work of the browser':44}{median_of(first, 'work'):10.1f} ms until it has loaded{beside}")
            visit(page, url + address)
            budgets.within(f"{name}, layout shift", page.evaluate(SHIFTED), SHIFT, "")
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        session = context.new_cdp_session(page)
        session.send("Emulation.setCPUThrottlingRate", {"rate": PHONE_SLOWER})
        for name, address in addresses.items():
            slow = [visit(page, url + address, empty=True) for _ in range(ROUNDS)]
            budgets.within(f"{name}, first paint, phone", median_of(slow, "paint"), PHONE_MS, "ms")
        page.close()


def median_of(visits: Sequence[Visit], kind: str) -> float:
    """The median of visits."""
    return statistics.median(getattr(each, kind) for each in visits)


def visit(page: Page, address: str, *, empty: bool = False) -> Visit:
    """Visit a page, with nothing at hand from earlier visits where `empty`."""
    page.goto("about:blank")
    session = processor_clock(page)
    if empty:
        session.send("Network.clearBrowserCache")
    before = work_of(session, "Task")
    page.goto(address, wait_until="load")
    paint = page.evaluate(PAINTED)
    work = work_of(session, "Task") - before
    session.detach()
    return Visit(paint, 1000 * work)


@contextmanager
def plain_pages(folder: Path | None) -> Iterator[str | None]:
    """Serve a folder of plain pages by a server of its own."""
    if folder is None:
        yield None
        return
    port = free_port()
    command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_reply(f"http://127.0.0.1:{port}/{MOCKS['problem']}", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def tap(page: Page, address: str, budgets: Budgets) -> None:
    """Print the time from a tap on a button of the scoreboard to the frame that answers it."""
    page.goto(address, wait_until="load")
    expect(page.locator("[data-part=status]")).to_contain_text("connected")  # the page's policy forbids to poll by eval
    page.evaluate(TAPPED)
    for _ in range(ROUNDS):
        page.click("[data-part=tools] button[aria-pressed]")
        page.wait_for_timeout(200)
    budgets.within("answer to a tap, slowest of 5", max(page.evaluate("globalThis.taps")), TAP_MS, "ms")
    page.close()


def patches(context: BrowserContext, address: str, budgets: Budgets) -> None:
    """Print the processor time of script, style and layout in which the page takes over changed rows.

    Beside it that of a bare script which writes as many texts into the same table.
    """
    for name, columns in (("100 rows, two numbers each", 1), ("100 rows, all numbers", 99)):
        page = context.new_page()
        page.add_init_script(HURRIED)
        page.goto(address, wait_until="load")
        expect(page.locator("[data-part=status]")).to_contain_text("connected")
        html = page.evaluate("fetch(location.href).then(reply => reply.text())")
        replies = Replies()
        page.route("**/scoreboard", replies.answer)
        session = processor_clock(page)
        ours = [patch(page, session, replies, changed(html, columns, at)) for at in range(PATCHES)]
        replies.now = None
        bare = []
        for _ in range(PATCHES):
            bare.append(1000 * spent(page, session, WRITE, columns))
        page.unroute_all(behavior="wait")
        page.close()
        least = statistics.median(bare)
        budgets.within(f"board, patch of {name}", statistics.median(ours), PATCH_MS, "ms")
        print(f"{'  a bare script on the same table':44}{least:10.1f} ms, ratio {statistics.median(ours) / least:.1f}")


def changed(html: str, columns: int, turn: int) -> str:
    """The page with other totals, and other points in the first columns of each row."""
    number, kind = f"{40 + turn}.5", f"h h{2 + turn % 2} w{40 + turn}"

    def row(match: re.Match[str]) -> str:
        cells = re.sub(
            r'<td class="h h\d+[^"]*">([^<]*)</td>', rf'<td class="{kind}">{number}</td>', match[0], count=columns
        )
        return re.sub(r'(<td class="tot">)[^<]*', rf"\g<1>{number}", cells)

    return re.sub(r"<tr data-team.*?</tr>", row, html, flags=re.DOTALL)


class Replies:
    """Stands in for the server: a version of the board, and the page of it. None: the version stays."""

    def __init__(self) -> None:
        self.now: tuple[str, str] | None = None

    def answer(self, route: Route) -> None:
        """Reply to a look at the version, or to a request for the page."""
        if self.now is None:
            route.fulfill(status=304)
        elif "/api/" in route.request.url:
            route.fulfill(status=200, headers={"ETag": self.now[0]}, body="")
        else:
            route.fulfill(status=200, content_type="text/html; charset=utf-8", body=self.now[1])


def patch(page: Page, session: CDPSession, replies: Replies, html: str) -> float:
    """The milliseconds of script, style and layout from another version of the board until the page shows it."""
    number = re.findall(r'<td class="tot">([^<]*)', html)[-1]
    before = work_of(session)
    replies.now = (f'"{number}"', html)
    expect(page.locator("#board tbody tr:last-child .tot")).to_have_text(number)
    page.evaluate(SETTLED)
    return 1000 * (work_of(session) - before)


def processor_clock(page: Page) -> CDPSession:
    """Let a page's work be told in processor time: other work of the machine does not count."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    return session


def work_of(session: CDPSession, *names: str) -> float:
    """Give the seconds of work on the page so far, of some kinds."""
    figures = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    return float(sum(figures[f"{name}Duration"] for name in names or ("Script", "RecalcStyle", "Layout")))


def spent(page: Page, session: CDPSession, script: str, argument: object = None) -> float:
    """Give the seconds of script, style and layout that a script takes, as a task of the page: others do not count."""
    before = work_of(session)
    page.evaluate(f"given => new Promise(done => setTimeout(() => done(({script})(given))))", argument)
    return work_of(session) - before


def board_times(page: Page, name: str, budgets: Budgets) -> None:
    """Print the times of a board on the largest answer of its problem's reference submission."""
    folder = ROOT / "problems" / name
    answers = sorted((folder / "submissions/accepted").rglob("*.out"), key=lambda each: each.stat().st_size)
    inputs = {each.stem: each for each in (folder / "data").rglob("*.in")}
    answers = [each for each in answers if each.stem in inputs]
    if not answers:
        return
    answer = answers[-1]
    seeks = random.Random(1)
    texts = [inputs[answer.stem].read_text(), answer.read_text()]
    session = processor_clock(page)
    count = page.evaluate(PREPARE, [name, *texts, [seeks.random() for _ in range(SEEKS)]])
    parse, seek, first, draw = (1000 * spent(page, session, f"globalThis.bench.{step}") for step in STEPS)
    session.detach()
    budgets.within(f"boards/{name}.js, a frame at random", draw / FRAMES, FRAME_MS, "ms")
    print(
        f"  {answer.stem}, {count} steps: parse {parse:.1f} ms, seek {seek / SEEKS:.3f} ms, first draw {first:.1f} ms"
    )
