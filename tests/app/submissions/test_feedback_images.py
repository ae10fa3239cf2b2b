"""Images that packages' own checkers leave: kept, shown to those they are for, and moved with their contest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import pytest

from app.archive.queries.backup import backup, restore
from app.archive.queries.references import check
from app.core.db.database import Database
from app.core.files.open_files import LocalFiles
from tests.builders.pictures import DRAWING_VALIDATOR, SVG, png
from tests.builders.programs import ABSOLUTE, Judge, judging_service, own_checker

pytestmark = pytest.mark.machine("sandbox")
TEAMS = ["teamimage-2.svg", "teamimage.png"]
ALL = ["judgeimage.png", *TEAMS]


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    """A service of this module."""
    with judging_service(tmp_path_factory.mktemp("judge")) as judge:
        yield judge


def drawn(judge: Judge, slug: str) -> str:
    """A contest whose checker draws, with a submission right in 02 and wrong in 03; returns its id."""
    judge.contest(slug, own_checker({"output_validator/validate.py": DRAWING_VALIDATOR}, ABSOLUTE))
    return str(judge.submit(slug, {"02": "2", "03": "7"})["submission_id"])


def images(report: Any) -> dict[str, list[str]]:
    """The names of images of each secret case."""
    return {
        case["name"]: [image["name"] for image in case.get("images", [])]
        for case in report["cases"]
        if case["kind"] != "sample"
    }


def test_teams_see_their_images_and_judges_all_with_the_reason_why_one_is_missing(judge: Judge) -> None:
    submission = drawn(judge, "drawing")
    report = judge.report("drawing", submission)
    assert images(report) == {"02": ALL, "03": ALL}
    assert "judgeimage-2.jpg is not kept: expected image/jpeg, found image/png" in report["cases"][1]["judge_message"]
    own = judge.report("drawing", submission, "ants")
    assert images(own) == {"02": TEAMS, "03": TEAMS}
    shown = own["cases"][2]["images"][1]
    assert (shown["width"], shown["height"], shown["mime"]) == (2, 1, "image/png")
    fetched = judge.ask("GET", shown["href"], "ants")
    assert (fetched.status_code, fetched.content) == (200, png())
    assert shown["sha256"] == hashlib.sha256(png()).hexdigest()
    judges = shown["href"].replace("teamimage", "judgeimage")
    assert judge.ask("GET", judges).content == png(5)
    assert [judge.ask("GET", judges, "ants").status_code, judge.ask("GET", shown["href"], "bees").status_code] == [
        404,
        403,
    ]


def test_images_come_with_headers_that_let_them_do_nothing(judge: Judge) -> None:
    submission = drawn(judge, "headers")
    place = f"contests/headers/submissions/{submission}/images/02"
    drawing, picture = judge.ask("GET", f"{place}/teamimage-2.svg"), judge.ask("GET", f"{place}/teamimage.png")
    assert drawing.content == SVG
    assert drawing.headers["Content-Disposition"] == 'attachment; filename="teamimage-2.svg"'
    assert picture.headers["Content-Disposition"] == 'inline; filename="teamimage.png"'
    for reply in (drawing, picture):
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert reply.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    again = judge.ask("GET", f"{place}/teamimage.png", headers={"If-None-Match": picture.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_contest_that_tells_only_verdicts_shows_no_image_of_a_rejected_answer(judge: Judge) -> None:
    submission = drawn(judge, "silent")
    judge.ask("PATCH", "contests/silent", json={"settings": {"rejections": "verdict"}}).raise_for_status()
    own = judge.until(
        f"contests/silent/submissions/{submission}/report",
        lambda report: report["cases"][2]["message"]["text"] == "rejected",
        "ants",
    )
    assert images(own) == {"02": TEAMS, "03": []}
    path = f"contests/silent/submissions/{submission}/images/03/teamimage.png"
    assert judge.ask("GET", path, "ants").status_code == 404
    assert judge.ask("GET", path).status_code == 200


def test_the_images_of_a_rejudging_come_when_it_is_applied_and_go_when_it_is_undone(judge: Judge) -> None:
    submission = drawn(judge, "redrawn")
    changed = DRAWING_VALIDATOR.replace(repr(png(3)), repr(png(9)))
    proposed = judge.bring("redrawn", own_checker({"output_validator/validate.py": changed}, ABSOLUTE))
    path = proposed.json()["href"].removeprefix("/api/")
    judge.until(path, lambda rejudging: rejudging["state"] == "ready")
    assert width(judge, submission) == 3, "a rejudging shows nothing of itself before"
    judge.ask("POST", f"{path}/apply").raise_for_status()
    assert width(judge, submission) == 9
    judge.ask("POST", f"{path}/undo").raise_for_status()
    assert width(judge, submission) == 3


def width(judge: Judge, submission: str) -> int:
    """The width of the team's picture of case 02."""
    (picture,) = [
        each
        for each in judge.report("redrawn", submission, "ants")["cases"][1]["images"]
        if each["name"] == "teamimage.png"
    ]
    assert judge.ask("GET", picture["href"]).content == png(picture["width"])
    return int(picture["width"])


def test_images_move_with_their_contest_and_are_no_garbage(judge: Judge, database_url: str, tmp_path: Any) -> None:
    """A contest package's answers are judged again where they come; a backup and its restoration have the files."""
    slug = f"wandering{database_url.partition(':')[0].partition('+')[0]}"
    drawn(judge, slug)
    exported = judge.ask("GET", f"contests/{slug}/package.zip").content
    headers = {"Content-Type": "application/zip"}
    moved = judge.ask("POST", f"contests/import?id={slug}2&replace=true", content=exported, headers=headers)
    assert moved.status_code == 201, moved.text
    (submission,) = judge.ask("GET", f"contests/{slug}2/submissions").json()
    assert images(judge.report(f"{slug}2", submission["id"])) == {"02": ALL, "03": ALL}
    name = hashlib.sha256(png(5)).hexdigest()
    database, files = Database(f"sqlite:///{judge.home / 'jurado.db'}"), LocalFiles(judge.home / "files")
    try:
        assert name not in {each.sha256 for each in check(database, files, grace=0).old}
        backup(database, files, tmp_path / "backup")
    finally:
        database.close()
    copied = LocalFiles(tmp_path / "there")
    restore(tmp_path / "backup", database_url, copied, replace=True)
    restored = Database(database_url)
    try:
        assert check(restored, copied, grace=0).faults == []
    finally:
        restored.close()
    assert copied.load(name) == png(5)
