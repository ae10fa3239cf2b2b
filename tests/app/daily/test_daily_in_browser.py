"""Puzzles of the day in a real browser: played by keys and taps, with the best kept, on pages without a fault."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

import pytest
from playwright.sync_api import Browser, Page, expect

from app.daily.service import READER, Puzzle
from checkers.rules.netgame import read_net, sides_of, whole_cells
from solvers.daily.netgame import winning_ropes
from tests.builders.browser import Reader, chromium_running, reader
from tests.builders.clocks import noon_of
from tests.builders.daily import document, put_days
from tests.builders.service import open_api
from tests.builders.sockets import listening
from tests.conftest import migrated_sqlite

pytestmark = pytest.mark.browser
TODAY = date(2026, 11, 21)
PAST = TODAY - timedelta(days=1)
UNDER_WAY = re.compile(r"cut rope (\d+)")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for all tests of this module."""
    with chromium_running() as browser:
        yield browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that has the puzzles of two days."""
    folder = tmp_path_factory.mktemp("daily")
    put_days(folder / "home", PAST, TODAY)
    with (
        noon_of(TODAY),
        open_api(migrated_sqlite(folder / "jurado.sqlite"), folder / "home") as api,
        listening(api) as place,
    ):
        yield f"http://{place}"


@pytest.fixture
def player(browser: Browser, address: str) -> Iterator[Reader]:
    """Someone with a phone, who meets no error."""
    with reader(browser, address, has_touch=True, viewport={"width": 390, "height": 844}) as one:
        yield one
        assert one.faults == []


def puzzle_of(kind: str, size: str = "small") -> Puzzle:
    """A puzzle of yesterday."""
    return READER.validate_json(document(PAST)).puzzle(kind, size)


def walk_of(puzzle: Puzzle, skipped: int) -> Sequence[Sequence[int]]:
    """The lines of a best answer, as numbers."""
    return [[int(number) for number in line.split()] for line in puzzle.answer.splitlines()[skipped:]]


def tap(page: Page, x: float, y: float) -> None:
    """Tap a place of the board, in the units of its drawing."""
    drawing = page.locator(".surface svg")
    drawing.evaluate("drawing => drawing.scrollIntoView({block: 'center'})")  # taps go to what is in view
    box, width = drawing.bounding_box(), drawing.evaluate("drawing => drawing.viewBox.baseVal.width")
    height = drawing.evaluate("drawing => drawing.viewBox.baseVal.height")
    style = drawing.evaluate("drawing => parseFloat(getComputedStyle(drawing).paddingLeft)")
    above = drawing.evaluate("drawing => parseFloat(getComputedStyle(drawing).paddingTop)")
    assert box is not None
    inner = (box["width"] - 2 * style, box["height"] - 2 * above)
    scale = min(inner[0] / width, inner[1] / height)
    left = box["x"] + style + (inner[0] - width * scale) / 2
    top = box["y"] + above + (inner[1] - height * scale) / 2
    page.touchscreen.tap(left + x * scale, top + y * scale)


def test_a_walk_is_played_by_keys_taken_back_and_kept_over_a_reload(player: Reader) -> None:
    puzzle = puzzle_of("optimiza")
    assert player.open(f"/daily/{PAST}/optimiza/small") == 200
    page = player.page
    page.locator(".surface").focus()
    at = [1, 1]
    for cell in walk_of(puzzle, 2):
        for axis, keys in ((0, ("ArrowUp", "ArrowDown")), (1, ("ArrowLeft", "ArrowRight"))):
            for _ in range(abs(cell[axis] - at[axis])):
                page.keyboard.press(keys[cell[axis] > at[axis]])
        page.keyboard.press("Enter")
        at = list(cell)
    expect(page.locator("#now")).to_have_text(f"{puzzle.z}: the best possible")
    assert page.locator(".rungs .reached").count() == 3
    page.keyboard.press("Backspace")
    expect(page.locator("#now")).to_contain_text(f" of {puzzle.z}")
    page.locator("#again").click()
    expect(page.locator("#now")).to_have_text(f"0 of {puzzle.z}")
    page.reload()
    expect(page.locator("#best")).to_contain_text(f"Your best: {puzzle.z}.")
    page.locator("#mine").click()
    expect(page.locator("#now")).to_have_text(f"{puzzle.z}: the best possible")
    player.open(f"/daily/{PAST}")
    expect(page.locator(f"[data-best='{PAST}/optimiza/small']")).to_have_text(f"your best: {puzzle.z}")


def test_jumps_are_played_by_taps_on_a_phone(player: Reader) -> None:
    puzzle = puzzle_of("comesolo")
    player.open(f"/daily/{PAST}/comesolo/small")
    page = player.page
    for number, (*start, row, column) in enumerate(walk_of(puzzle, 1), start=1):
        for r, c in (start, (row, column)):
            tap(page, 16 + (c + 0.5) * 20, 16 + (r + 0.5) * 20)
        expect(page.locator("#now")).to_contain_text(f"{number}")
    expect(page.locator("#now")).to_have_text(f"{puzzle.z}: the best possible")


def test_the_one_cut_wins_against_the_other_player_and_another_one_loses(player: Reader) -> None:
    puzzle = puzzle_of("netgame")
    net = read_net(puzzle.instance.encode())
    cells = whole_cells(net)
    sides = sides_of(cells, len(net.ropes))
    tall = max(rope[3] for rope in net.ropes)
    player.open(f"/daily/{PAST}/netgame/small")
    page, whole = player.page, (1 << len(cells)) - 1

    def cut(rope: int) -> None:
        x1, y1, x2, y2 = net.ropes[rope - 1]
        tap(page, 14 + (x1 + x2) / 2 * 34, 14 + (tall - (y1 + y2) / 2) * 34)

    wrong = next(rope for rope in range(1, len(sides) + 1) if rope != int(puzzle.answer.split()[1]))
    cut(wrong)
    expect(page.locator("#now")).to_contain_text("The other player cut rope")
    page.locator("#undo").click()
    expect(page.locator("#now")).to_have_text("Cut a rope. One cut wins.")
    while whole:
        rope = winning_ropes(sides, len(cells), whole)[0]
        before = page.locator("#now").inner_text()
        cut(rope)
        expect(page.locator("#now")).not_to_have_text(before)
        expect(page.locator("#now")).to_have_text(re.compile("The other player cut rope|You win"))
        whole &= ~sides[rope - 1]
        if whole:
            answer = UNDER_WAY.search(page.locator("#now").inner_text())
            assert answer is not None
            whole &= ~sides[int(answer[1]) - 1]
    expect(page.locator("#now")).to_have_text("You win: there is nothing left to cut.")
    expect(page.locator("#best")).to_contain_text("Won at try 2.")


def test_pages_break_no_rule_scroll_nowhere_sideways_and_are_whole_without_script(
    browser: Browser, address: str
) -> None:
    with reader(browser, address, color_scheme="dark") as one:
        for path in (
            "/daily",
            f"/daily/{TODAY}/optimiza/large",
            f"/daily/{PAST}/netgame/large",
            f"/daily/{PAST}/print",
            "/daily/archive",
        ):
            one.open(path)
            assert one.violations() == [], path
            assert one.overflows() == [], path
        assert one.faults == []
    with reader(browser, address, java_script_enabled=False) as one:
        one.open(f"/daily/{TODAY}/comesolo/large")
        expect(one.page.locator("#given svg")).to_be_visible()
        expect(one.page.locator("jurado-board")).to_be_hidden()
        one.open(f"/daily/{PAST}/comesolo/large")
        one.page.locator("summary").click()
        expect(one.page.locator(".solution ol li")).to_have_count(puzzle_of("comesolo", "large").z)
