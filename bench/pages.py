"""The pages: bytes against budgets, pages a second beside the API, first paint, patches, 1,000 open scoreboards."""

from __future__ import annotations

import asyncio
import gzip
import random
import re
import statistics
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx
from playwright.sync_api import CDPSession, Page, Route, expect

from app.web.pages import HERE as WEB
from bench.load import form_request, get_request, run_load
from bench.scoreboard import HOST, Pool, stage
from bench.stage import CONTEST, serving, wait_until_scored
from tests.builders.browser import chromium_running
from tests.builders.browsers import chromium

ROOT = Path(__file__).parents[1]
STATIC = WEB / "static"
BOARD = f"/api/contests/{CONTEST}/scoreboard"
ADDRESSES = {
    "board of 100 teams": f"/c/{CONTEST}/scoreboard",
    "problem": f"/c/{CONTEST}/problems/comesolo",
}
KB = 1000
MOST_CSS, MOST_HTML, MOST_SCRIPT, MOST_BOARD, MOST_SHARED, MOST_COMPACT = 10, 12, 25, 10, 8, 40
FIRST_PAINT_MS, PATCH_MS = 300, 16
CONNECTIONS, SECONDS = 16, 4.0
OPEN_BOARDS, PAUSE = 1000, (4.0, 6.0)
SUBMISSIONS_A_SECOND, BURST_SECONDS = 50, 15.0
SEEKS = 500


def main() -> int:
    """Print all figures; 1 if a budget is missed."""
    missed: list[str] = []
    sizes_of_files(missed)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        tokens = stage(home)
        with serving(home) as url:
            wait_until_scored(home)
            ADDRESSES["report"] = f"/c/{CONTEST}/submissions/{send(url, tokens[0])}"
            sizes_of_pages(url, tokens[0], missed)
            rates(url, tokens[0])
            if chromium() is None:
                print("no Chromium here: nothing is measured in a browser")
            else:
                in_browser(url, tokens, missed)
        with serving(home) as url:
            open_boards(url, tokens)
    print(f"over budget: {'; '.join(missed) or 'nothing'}")
    return 1 if missed else 0


def send(url: str, token: str) -> str:
    """Send the reference's answers to all cases and wait for the verdict; gives the submission's id."""
    folder = ROOT / "problems/comesolo/submissions/accepted"
    files = [("files", (path.name, path.read_bytes())) for path in sorted(folder.rglob("*.out"))]
    with httpx.Client(base_url=f"{url}/api/contests/{CONTEST}", headers={"Authorization": f"Bearer {token}"}) as client:
        reply = client.post("/submissions", data={"problem_id": "comesolo"}, files=files, timeout=60)
        submission = str(reply.raise_for_status().json()["id"])
        while client.get(f"/submissions/{submission}/report", timeout=60).raise_for_status().json()["state"] != "done":
            time.sleep(0.2)
    return submission


def within(missed: list[str], what: str, value: float, most: float, unit: str) -> None:
    """Print a figure beside its budget."""
    print(f"{what:44}{value:10.1f} {unit} of {most:g}")
    if value > most:
        missed.append(f"{what}: {value:.1f} {unit} of {most:g}")


def zipped(data: bytes) -> float:
    """Give the kilobytes of data, zipped."""
    return len(gzip.compress(data, 6)) / KB


def sizes_of_files(missed: list[str]) -> None:
    """Print the bytes of style sheet and scripts."""
    within(missed, "style sheet, zipped", zipped((STATIC / "jurado.css").read_bytes()), MOST_CSS, "KB")
    scripts = sorted(each for each in STATIC.glob("*.js") if each.name != "docs.js")
    within(
        missed, "all scripts of pages, zipped", sum(zipped(each.read_bytes()) for each in scripts), MOST_SCRIPT, "KB"
    )
    for board in sorted((STATIC / "boards").glob("*.js")):
        most = MOST_SHARED if board.stem == "board" else MOST_BOARD
        within(missed, f"boards/{board.name}, zipped", zipped(board.read_bytes()), most, "KB")


def sizes_of_pages(url: str, token: str, missed: list[str]) -> None:
    """Print the bytes of pages, and of the forms of the board's JSON."""
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=60) as client:
        for name, address in ADDRESSES.items():
            within(missed, f"{name}, zipped", zipped(client.get(address).raise_for_status().content), MOST_HTML, "KB")
        for form in ("whole", "compact"):
            with client.stream("GET", f"{BOARD}?form={form}") as reply:
                raw = b"".join(reply.iter_raw())
            plain = client.get(f"{BOARD}?form={form}", headers={"Accept-Encoding": "identity"}).content
            print(f"JSON of the board, {form:33}{len(plain) / KB:10.1f} KB, zipped {len(raw) / KB:.1f} KB")
    within(missed, "JSON of the board, compact, zipped", len(raw) / KB, MOST_COMPACT, "KB")


def rates(url: str, token: str) -> None:
    """Print the replies a second of pages beside those of the API's documents, all of them zipped, and their share."""
    report = f"/api/contests{ADDRESSES['report'].removeprefix('/c')}/report"
    routes = [
        ("API: board, nobody", BOARD, None),
        ("API: compact board, nobody", f"{BOARD}?form=compact", None),
        ("page: board, nobody", ADDRESSES["board of 100 teams"], None),
        ("page: board, a team", ADDRESSES["board of 100 teams"], token),
        ("API: report, a team", report, token),
        ("page: report, a team", ADDRESSES["report"], token),
        ("page: problem, a team", ADDRESSES["problem"], token),
    ]
    api = 0.0
    for name, address, who in routes:
        request = get_request(address, HOST, who, "gzip")
        asyncio.run(run_load(url, request, connections=CONNECTIONS, seconds=1.0, keep=1))
        outcome = asyncio.run(run_load(url, request, connections=CONNECTIONS, seconds=SECONDS, keep=1))
        assert set(outcome.statuses) == {200}, (name, outcome.statuses)
        median = statistics.median(outcome.latencies) * 1000
        api = outcome.rate if name.startswith("API") else api
        share = f", {outcome.rate / api:.2f} of the API's" if not name.startswith("API") else ""
        print(f"{name:44}{outcome.rate:10.0f} /s, median {median:.1f} ms with {CONNECTIONS} at once{share}")


def in_browser(url: str, tokens: list[str], missed: list[str]) -> None:
    """Print what Chromium measures."""
    with chromium_running() as browser:
        context = browser.new_context(
            viewport={"width": 1280, "height": 900}, extra_http_headers={"Authorization": f"Bearer {tokens[0]}"}
        )
        page = context.new_page()
        for name, address in ADDRESSES.items():
            paint, work = first_paint(page, url + address)
            within(missed, f"{name}, first paint", paint, FIRST_PAINT_MS, "ms")
            print(f"{name + ', work of the browser':44}{work:10.1f} ms of processor time until it has loaded")
        within(missed, "board, patch of 100 rows", patch(page, url + ADDRESSES["board of 100 teams"]), PATCH_MS, "ms")
        page.goto(f"{url}/")
        for path in sorted((STATIC / "boards").glob("*.js")):
            if path.stem != "board":
                print(f"boards/{path.name}: {board_times(page, path.stem)}")


PAINTED = """new Promise(done => new PerformanceObserver(list => {
  const [paint] = list.getEntriesByName("first-contentful-paint");
  if (paint) done(paint.startTime);
}).observe({ type: "paint", buffered: true }))"""


def first_paint(page: Page, address: str) -> tuple[float, float]:
    """Give the median time to the first contentful paint, and of the processor time until the load, in milliseconds."""
    times, works = [], []
    for _ in range(5):
        page.goto("about:blank")
        session = processor_clock(page)
        before = work_of(session, "Task")
        page.goto(address, wait_until="load")
        times.append(page.evaluate(PAINTED))
        works.append(1000 * (work_of(session, "Task") - before))
        session.detach()
    return statistics.median(times), statistics.median(works)


def patch(page: Page, address: str) -> float:
    """Give the processor time of script, style and layout in which the page takes over a board of changed rows, in ms.

    The server's replies are stood in for: another version, and the same page with other points in every row.
    """
    page.goto(address, wait_until="load")
    expect(page.locator("[data-part=status]")).to_contain_text("connected")  # the page's policy forbids to poll by eval
    html = page.evaluate("fetch(location.href).then(reply => reply.text())")
    changed = re.sub(r'<td class="h h\d+( top1)?">(.*?)[\d.]+<i', r'<td class="h h3">\g<2>41.0<i', html)
    page.route("**/scoreboard", lambda route: stand_in(route, changed))
    session = processor_clock(page)
    before = work_of(session)
    page.locator("#board td.h3").nth(900).wait_for(state="attached", timeout=60_000)
    page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 100)))")
    after = work_of(session)
    page.unroute_all()
    return (after - before) * 1000


def stand_in(route: Route, html: str) -> None:
    """Reply for the server to a look at the version and to a request for the page."""
    if "/api/" in route.request.url:
        route.fulfill(status=200, headers={"ETag": '"another"'}, body="")
    else:
        route.fulfill(status=200, content_type="text/html", body=html)


def processor_clock(page: Page) -> CDPSession:
    """Let a page's work be told in processor time: other work of the machine does not count."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    return session


def work_of(session: CDPSession, *names: str) -> float:
    """Give the seconds of work on the page so far, of some kinds."""
    figures = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    return float(sum(figures[f"{name}Duration"] for name in names or ("Script", "RecalcStyle", "Layout")))


def board_times(page: Page, name: str) -> str:
    """Give the times of a board on the largest answer of its problem's reference submission."""
    folder = ROOT / "problems" / name
    answers = sorted((folder / "submissions/accepted").rglob("*.out"), key=lambda each: each.stat().st_size)
    inputs = {each.stem: each for each in (folder / "data").rglob("*.in")}
    answers = [each for each in answers if each.stem in inputs]
    if not answers:
        return "no answer to draw"
    answer = answers[-1]
    seeks = random.Random(1)
    texts = [inputs[answer.stem].read_text(), answer.read_text()]
    figures = page.evaluate(
        """async ([name, input, answer, shares]) => {
            const module = await import(`/static/boards/${name}.js`);
            const colours = getComputedStyle(document.documentElement);
            const theme = { colour: (name) => colours.getPropertyValue(name).trim() };
            let began = performance.now();
            const since = () => { const now = performance.now(), time = now - began; began = now; return time; };
            const parsed = module.parse(input, answer);
            const frames = module.frames(parsed);
            const parse = since();
            const seen = shares.map((share) => frames.seek(Math.floor(share * (frames.count + 1))));
            const seek = since() / shares.length;
            let drawn = module.draw(seen[0], undefined, theme);
            const surface = document.createElement("div");
            surface.className = "surface";
            document.body.append(surface);
            surface.replaceChildren(drawn);
            surface.getBoundingClientRect();
            const first = since();
            for (const frame of seen.slice(0, 100)) {
                const next = module.draw(frame, drawn, theme);
                if (next !== drawn) surface.replaceChildren(next);
                drawn = next;
                surface.getBoundingClientRect();
            }
            const draw = since() / Math.min(100, seen.length);
            surface.remove();
            return [frames.count, parse, seek, first, draw];
        }""",
        [name, *texts, [seeks.random() for _ in range(SEEKS)]],
    )
    count, parse, seek, first, draw = figures
    return (
        f"{answer.stem}, {count} steps: parse {parse:.1f} ms, seek {seek:.3f} ms, first draw {first:.1f} ms, "
        f"a frame {draw:.2f} ms"
    )


class Signals(NamedTuple):
    """Events between the processes: all boards are open; the burst is over."""

    opened: Event
    over: Event


_signals: list[Signals] = []


def share_signals(signals: Signals) -> None:
    """Let what this process runs find the signals: the first call of each process of the bench."""
    _signals.append(signals)


def open_boards(url: str, tokens: list[str]) -> None:
    """Print how 1,000 open boards and a burst of submissions get on together, from when the last board is open."""
    context = get_context("spawn")
    signals = Signals(context.Event(), context.Event())
    with ProcessPoolExecutor(2, context, share_signals, (signals,)) as processes:
        readers = processes.submit(watch_boards, url, tokens)
        while not signals.opened.wait(1.0) and not readers.done():
            pass
        try:
            accepted = [] if readers.done() else processes.submit(burst, url, tokens).result()
        finally:
            signals.over.set()
        looks, pages = readers.result()
    print(f"{OPEN_BOARDS} open boards beside {SUBMISSIONS_A_SECOND} submissions/s for {BURST_SECONDS:g} s:")
    for name, times in (("looks at the version", looks), ("pages fetched", pages), ("submissions accepted", accepted)):
        times.sort()
        p50, p99 = (times[int(len(times) * share)] * 1000 for share in (0.5, 0.99))
        print(f"  {name:42}{len(times):10}, p50 {p50:.0f} ms, p99 {p99:.0f} ms")


class Reader:
    """A reader's connection, opened anew where the server has closed it."""

    def __init__(self, url: str) -> None:
        self._address = urlsplit(url)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: bytes) -> tuple[bytes, bytes]:
        """Make a request; gives the head of the reply and its body, which HEAD has none of."""
        if self._streams is None or self._streams[0].at_eof():
            self._streams = await asyncio.open_connection(self._address.hostname, self._address.port, limit=2**20)
        reader, writer = self._streams
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = re.search(rb"content-length: (\d+)", head)
        has_body = length is not None and not request.startswith(b"HEAD")
        return head, await reader.readexactly(int(length[1])) if length is not None and has_body else b""


def watch_boards(url: str, tokens: list[str]) -> tuple[list[float], list[float]]:
    """Do as the script of the page does, for so many readers, half of them teams, until the burst is over.

    Gives the latencies from when all boards are open.
    """
    looks: list[float] = []
    pages: list[float] = []
    signals, opened = _signals[-1], 0

    async def timed(reader: Reader, request: bytes, times: list[float]) -> bytes:
        counts, began = opened == OPEN_BOARDS, time.perf_counter()
        head, _ = await reader.ask(request)
        if counts:
            times.append(time.perf_counter() - began)
        return head

    async def one(at: int) -> None:
        nonlocal opened
        draw, reader, tag = random.Random(at), Reader(url), b""
        token = tokens[at] if at % 2 else None
        page = get_request(ADDRESSES["board of 100 teams"], HOST, token, "gzip")
        look = get_request(BOARD, HOST, token).replace(b"GET ", b"HEAD ", 1)[:-2]
        await asyncio.sleep(draw.uniform(0, PAUSE[1]))
        await reader.ask(page)
        opened += 1
        if opened == OPEN_BOARDS:
            signals.opened.set()
        while not signals.over.is_set():
            await asyncio.sleep(draw.uniform(*PAUSE))
            known = b"If-None-Match: " + tag + b"\r\n" if tag else b""
            head = await timed(reader, look + known + b"\r\n", looks)
            if head.startswith(b"http/1.1 200"):
                tag = head.partition(b"etag: ")[2].partition(b"\r\n")[0]
                await timed(reader, page, pages)

    async def all_of_them() -> None:
        await asyncio.gather(*(one(at) for at in range(OPEN_BOARDS)))

    asyncio.run(all_of_them())
    return looks, pages


def burst(url: str, tokens: list[str]) -> list[float]:
    """Send submissions by the clock; gives the seconds until each was accepted."""
    path = f"/api/contests/{CONTEST}/submissions"
    times: list[float] = []

    async def submit(due: float, at: int, pool: Pool) -> None:
        fields, file = {"problem_id": "comesolo"}, ("101-n05-p70.out", b"0\n")
        await pool.ask(form_request(path, HOST, tokens[at % len(tokens)], fields, file))
        times.append(time.perf_counter() - due)

    async def all_of_them() -> None:
        pool, began, tasks = Pool(url), time.perf_counter(), []
        while (due := began + len(tasks) / SUBMISSIONS_A_SECOND) < began + BURST_SECONDS:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            tasks.append(asyncio.create_task(submit(due, len(tasks), pool)))
        await asyncio.gather(*tasks)

    asyncio.run(all_of_them())
    return times
