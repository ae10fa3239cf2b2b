"""A package's own board is data in a frame without rights; images of own checkers stand in reports."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.faults import PackageErrors
from app.domain.counting import CaseVerdict, RawScore
from app.packages.catalog import LARGEST, check_board
from app.packages.read import assemble
from app.tables import RawScoreRow
from tests.builders.boards_of_packages import DRAWING
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission
from tests.builders.packages import package_files
from tests.builders.scripts import open_module
from tests.builders.service import Api, open_api

FRAME = "/c/c/problems/echo/board"
RIGHT = RawScore(CaseVerdict.ACCEPTED, 1, 1)


@pytest.fixture
def api(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A contest whose problem brings a board, with a submission of `team`."""
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_problem(api.service, {"board.js": DRAWING})
        add_contest(api.service)
        add_submission(api.service, {"02": RIGHT, "03": RIGHT})
        yield api


def test_the_frame_of_a_board_may_load_and_reach_nothing(api: Api) -> None:
    reply = api.get(FRAME)
    policy = dict(part.strip().partition(" ")[::2] for part in reply.headers["Content-Security-Policy"].split(";"))
    (script,) = re.findall(r"<script>(.*?)</script>", reply.text, re.DOTALL)
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == {
        "default-src": "'none'",
        "script-src": f"'sha256-{allowed}' blob:",
        "style-src": "'unsafe-inline'",
        "img-src": "data: blob:",
        "worker-src": "'none'",
        "child-src": "'none'",
        "frame-src": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'self'",
        "sandbox": "allow-scripts",
    }
    assert "nonce" not in reply.text


def test_a_module_cannot_end_the_script_that_it_is_data_of(api: Api) -> None:
    html = api.get(FRAME).text
    held = re.search(r'id="module">(.*?)</script>', html, re.DOTALL)
    assert held is not None
    assert json.loads(held[1]) == DRAWING
    assert "</script><script>alert" not in html
    assert "</script><script>alert" in DRAWING


def test_reports_and_comparisons_lead_to_the_frame_and_bundled_boards_do_not(api: Api) -> None:
    for page in ("/c/c/submissions/1", "/c/c/compare?a=1&b=1"):
        assert f'data-board="own" data-frame="{FRAME}"' in api.get(page, user="team").text
    add_problem(api.service)
    assert "data-frame" not in api.get("/c/c/submissions/1", user="team").text
    assert api.get(FRAME).status_code == 404


def test_the_board_of_a_problem_that_may_not_be_seen_is_not_shown(api: Api) -> None:
    add_contest(api.service, "later", started=-HOUR)
    address = FRAME.replace("/c/c/", "/c/later/")
    assert [api.get(address, user=user).status_code for user in (None, "team", "judge")] == [404, 404, 200]


def test_a_board_that_is_too_large_or_no_text_is_a_fault_of_its_package() -> None:
    faults = check_board(assemble("echo", package_files({"board.js": b"x" * LARGEST + b"\n"})))
    assert [each.message for each in faults] == [f"expected at most {LARGEST} bytes, found {LARGEST + 1}"]
    assert list(check_board(assemble("echo", package_files({"board.js": DRAWING.encode()})))) == []
    with pytest.raises(PackageErrors, match="expected UTF-8"):
        assemble("echo", package_files({"board.js": b"ab\xff\n"}))


def test_the_example_of_a_board_plays_as_the_frame_asks_it_to(tmp_path: Path) -> None:
    path = tmp_path / "board.js"
    path.write_text(DRAWING)
    ask = open_module(path)
    assert ask('board.frames(board.parse("", "25")).count') == 2
    assert ask('board.parse("", "7").stop.at') == 1
    assert ask('board.say(board.frames(board.parse("", "25")).seek(1))').startswith("Step 1: 2.")


def test_images_that_a_checker_left_stand_in_the_report_for_those_who_may_see_them(api: Api) -> None:
    facts = {"mime": "image/png", "width": 2, "height": 1, "size": 70, "sha256": "0" * 64}
    with api.service.database.write() as session:
        for row in session.query(RawScoreRow):
            row.images = [{"name": name, **facts} for name in ("judgeimage.png", "teamimage.png")]
    shown = {user: api.get("/c/c/submissions/1", user=user).text for user in ("team", "judge")}
    address = '<img src="/api/contests/c/submissions/1/images/02/{}image.png"'
    assert [address.format(each) in shown["judge"] for each in ("team", "judge")] == [True, True]
    assert [address.format(each) in shown["team"] for each in ("team", "judge")] == [True, False]
