"""One file of predictions for provisional and final rows: the package of the guide, judged by a real server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.packages.read import assemble
from app.packages.trials import LocalDesk
from app.packages.verify import examine
from tests.builders.packages import package_files, verify_package, zip_package
from tests.builders.programs import Judge, judging_service
from tests.builders.zips import unzipped

GUIDE = Path(__file__).parents[3] / "docs/guides/prediction-contests.md"
BLOCK = re.compile(r"^```(?:yaml|csv)\n# ([^\n]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANY_TEXT = "import sys\nsys.stdin.read()\nsys.exit(42)\n"


def files_of_the_guide() -> dict[str, str | bytes | None]:
    """Changes of the echo package that make it the guide's."""
    gone = {name: None for name in package_files() if name.startswith(("data/", "submissions/"))}
    shown = {path: text for names, text in BLOCK.findall(GUIDE.read_text()) for path in names.split(" and ")}
    return {**gone, **shown, "input_validators/validate.py": ANY_TEXT}


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    """A service of this module."""
    with judging_service(tmp_path_factory.mktemp("judge")) as judge:
        yield judge


def contest(judge: Judge, slug: str, settings: dict[str, Any]) -> None:
    """A contest with the guide's problem."""
    judge.contest(slug, files_of_the_guide())
    judge.ask("PATCH", f"contests/{slug}", json={"settings": settings}).raise_for_status()


def send(judge: Judge, slug: str, kinds: str, name: str = "predictions.csv") -> Any:
    """Send predictions of the four rows; returns the report that judges read."""
    table = "id,kind\n" + "".join(f"{at},{kind}\n" for at, kind in enumerate(kinds.split(), 1))
    files = [("files", (name, table.encode()))]
    sent = judge.ask("POST", f"contests/{slug}/submissions", "ants", data={"problem_id": slug}, files=files)
    assert sent.status_code == 201, sent.text
    return judge.report(slug, sent.json()["id"])


def cases(report: Any) -> dict[str, Any]:
    """The raw score of each case."""
    return {case["name"]: case["raw"] for case in report["cases"]}


def points(board: Any) -> float:
    """The points of the team on a board."""
    return next(float(row["score"]["score"]) for row in board["rows"] if row["team_id"] == "ants")


def test_the_package_of_the_guide_verifies_and_its_table_earns_what_it_is_worth() -> None:
    package = assemble("forest", package_files(files_of_the_guide()))
    assert [fault for fault in verify_package(package) if fault.severity == "error"] == []
    assert examine(package, LocalDesk()).points == {"accepted/guess": 100.0}


def test_one_upload_counts_for_provisional_rows_now_and_for_final_rows_at_the_end(judge: Judge) -> None:
    released = {"final_release": "2026-01-01T00:00:00Z"}
    contest(judge, "forest", released)
    first = send(judge, "forest", "oak oak elm oak")
    assert cases(first) == {"public": 0.5, "private": 1}
    own = judge.report("forest", first["submission_id"], "ants")
    assert {case["name"]: (case["raw"], case["message"]["key"]) for case in own["cases"]} == {
        "public": (0.5, "accepted"),
        "private": (None, "final-case"),
    }
    for phase, worth in (("provisional", 50.0), ("final", 100.0)):
        judge.until(f"contests/forest/scoreboard?phase={phase}", lambda board, worth=worth: points(board) == worth)
    assert cases(send(judge, "forest", "oak elm oak elm", name="another guess.csv")) == {"public": 1, "private": 0}
    archived = judge.ask("GET", f"contests/forest/submissions/{first['submission_id']}/files", "ants").content
    assert list(unzipped(archived)) == ["predictions.csv"]


def test_a_file_that_came_before_the_final_rows_were_open_is_for_no_more_rows_after_a_move(judge: Judge) -> None:
    """The contest package says which cases a file was for, where its name alone would say more."""
    contest(judge, "early", {})
    before = send(judge, "early", "oak oak elm oak")
    assert [note["case"] for note in before["files"]] == ["public"]
    judge.ask(
        "PATCH", "contests/early", json={"settings": {"final_release": "2026-01-01T00:00:00Z"}}
    ).raise_for_status()
    after = send(judge, "early", "oak elm elm oak")
    assert [note["case"] for note in after["files"]] == ["public", "private"]
    exported = judge.ask("GET", "contests/early/package.zip").content
    headers = {"Content-Type": "application/zip"}
    moved = judge.ask("POST", "contests/import?id=late&replace=true", content=exported, headers=headers)
    assert moved.status_code == 201, moved.text
    reports = [judge.report("late", each["id"]) for each in judge.ask("GET", "contests/late/submissions").json()]
    sent = [[case["name"] for case in each["cases"] if case["file"]] for each in reports]
    assert sent == [["public"], ["public", "private"]]


def test_a_new_truth_of_the_final_rows_proposes_a_rejudging_of_what_was_sent(judge: Judge) -> None:
    contest(judge, "mended", {"final_release": "2026-01-01T00:00:00Z"})
    report = send(judge, "mended", "oak elm elm oak")
    assert cases(report) == {"public": 1, "private": 1}
    truth = {**files_of_the_guide(), "data/secret/private/private.ans": "id,kind\n3,oak\n4,oak\n"}
    headers = {"Content-Type": "application/zip"}
    proposed = judge.ask("POST", "problems", content=zip_package(truth, "mended/"), headers=headers)
    assert proposed.status_code == 202, proposed.text
    path = proposed.json()["href"].removeprefix("/api/")
    judge.until(path, lambda rejudging: rejudging["state"] == "ready")
    judge.ask("POST", f"{path}/apply").raise_for_status()
    assert cases(judge.report("mended", report["submission_id"])) == {"public": 1, "private": 0.5}
