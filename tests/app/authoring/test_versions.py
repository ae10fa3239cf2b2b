"""Versions of a problem: contests stay with the one they were judged with, and moving them is a rejudging."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest

from app.archive.queries.references import check
from tests.app.archive.test_contest_packages import bring_in
from tests.app.judging.test_rejudgings import SEEN, do, everything
from tests.builders.contests import add_contest, add_problem, add_submission, change_contest, with_checkers
from tests.builders.judging import judge
from tests.builders.packages import zip_package
from tests.builders.scoring import share
from tests.builders.service import ROLES, Api
from tests.builders.zips import unzipped

PLACE = "problems/echo/versions"
RIGHT = {"02": b"2\n", "03": b"3\n"}


@pytest.fixture
def contest(api: Api) -> Api:
    """The echo problem in a running contest with a submission that has all points, with checkers."""
    add_problem(api.service)
    add_contest(api.service)
    add_submission(api.service, {"02": share(1), "03": share(1)}, files=RIGHT, judgement_type="AC")
    return with_checkers(api)


@pytest.fixture
def quick(quick_api: Api) -> Api:
    """The same on SQLite alone."""
    add_problem(quick_api.service)
    add_contest(quick_api.service)
    add_submission(quick_api.service, {"02": share(1), "03": share(1)}, files=RIGHT, judgement_type="AC")
    return with_checkers(quick_api)


def put(api: Api, place: str, given: bytes, query: str = "", **more: Any) -> Any:
    """Put a test case of echo whose answer is its input."""
    files = {"input": ("x.in", given), "answer": ("x.ans", given)}
    return api.put(f"problems/echo/testcases/{place}{query}", user="admin", files=files, **more)


def numbers(api: Api) -> dict[int, list[str]]:
    """The contests that are pinned to each version."""
    return {each["number"]: each["pinned"] for each in api.get(PLACE, user="judge").json()}


def pin(api: Api, version: int | None, code: int, query: str = "", contest: str = "c") -> Any:
    """Let a contest have another version."""
    reply = api.patch(f"contests/{contest}/problems/echo{query}", user="admin", json={"version": version})
    assert reply.status_code == code, reply.text
    return reply.json()


def data(api: Api, path: str) -> dict[str, bytes]:
    """The secret data of a package."""
    files = unzipped(api.get(path, user="admin").content)
    return {name.partition("secret/")[2]: content for name, content in files.items() if "secret/" in name}


def test_a_final_contest_stays_with_the_exact_bytes_that_judged_it(contest: Api) -> None:
    """A change of the problem, which its other contests take, leaves every reply about it as it was."""
    change_contest(contest.service, finalized=datetime.now(UTC))
    add_contest(contest.service, "next")
    before, package = everything(contest), data(contest, f"{PLACE}/1/package.zip")
    assert put(contest, "secret/03", b"33\n").status_code == 200
    assert contest.delete("problems/echo/testcases/secret/02", user="admin").status_code == 204
    assert everything(contest) == before
    assert data(contest, f"{PLACE}/1/package.zip") == package
    assert package == {"02.in": b"2\n", "02.ans": b"2\n", "03.in": b"3\n", "03.ans": b"3\n"}
    assert data(contest, "problems/echo/package.zip") == {"03.in": b"33\n", "03.ans": b"33\n"}
    assert [each["name"] for each in contest.get("contests/next/problems/echo/testcases").json()] == ["01", "03"]
    assert numbers(contest) == {3: [], 2: [], 1: ["c"]}
    files, database = contest.service.files, contest.service.database
    assert not check(database, files).faults
    assert check(database, files, grace=-1).old == [], "the files of version 1 are referred to"


def test_a_contest_that_keeps_its_version_moves_by_a_rejudging_that_can_be_undone(contest: Api) -> None:
    before = everything(contest)
    assert put(contest, "secret/04", b"4\n", "?contests=keep").status_code == 201
    assert everything(contest) == before
    assert numbers(contest) == {2: [], 1: ["c"]}
    late = contest.post(
        "contests/c/submissions",
        user="other",
        data={"problem_id": "echo"},
        files=[("files", (f"{case}.out", f"{case[1]}\n".encode())) for case in ("02", "03", "04")],
    ).json()
    judge(contest.service)
    report = contest.get(f"contests/c/submissions/{late['id']}/report", user="other").json()
    assert [case["name"] for case in report["cases"]] == ["01", "02", "03"]
    before = everything(contest)
    preview = pin(contest, None, 200, "?preview=true")
    assert (preview["outcome"], preview["submissions"], preview["teams"]) == ("rejudging", 2, 2)
    assert everything(contest) == before
    moved = pin(contest, None, 202)
    assert moved["contests"] == ["c"]
    assert "test case 04: added" in moved["changes"]
    judge(contest.service)
    assert everything(contest) == before
    shown = contest.get(f"{moved['href']}/difference", user="judge").json()
    assert {each["team_id"]: each["after"]["points"] for each in shown["teams"]} == pytest.approx(
        {"team": 200 / 3, "other": 200 / 3}
    )
    do(contest, "apply", moved)
    assert numbers(contest) == {2: [], 1: []}
    assert [each["name"] for each in contest.get("contests/c/problems/echo/testcases").json()][-1] == "04"
    rows = contest.get("contests/c/scoreboard").json()["rows"]
    assert rows[0]["score"]["score"] == pytest.approx(200 / 3)
    do(contest, "undo", moved)
    assert numbers(contest) == {2: [], 1: ["c"]}
    assert everything(contest) == before


def test_a_pinned_contest_is_left_out_of_the_rejudging_of_a_change(contest: Api) -> None:
    add_contest(contest.service, "other")
    add_submission(contest.service, {"02": share(1), "03": share(1)}, contest_id="other", files=RIGHT)
    assert pin(contest, 1, 200)["pinned"] is True
    waits = contest.delete("problems/echo/testcases/secret/03", user="admin").json()
    assert waits["contests"] == ["other"]
    before = {path: contest.get(path).content for path in SEEN}
    judge(contest.service)
    do(contest, "apply", waits)
    assert {path: contest.get(path).content for path in SEEN} == before
    assert numbers(contest) == {2: [], 1: ["c"]}
    do(contest, "undo", waits)
    assert numbers(contest) == {3: [], 2: [], 1: ["c"]}
    assert (
        contest.get(f"{PLACE}/3", user="judge").json()["sha256"]
        == contest.get(f"{PLACE}/1", user="judge").json()["sha256"]
    )
    assert pin(contest, None, 200)["pinned"] is False, "nothing differs, so that nothing is judged again"


def test_a_rejudging_does_not_reach_a_contest_that_was_pinned_meanwhile(quick: Api) -> None:
    waits = quick.delete("problems/echo/testcases/secret/03", user="admin").json()
    judge(quick.service)
    assert quick.patch("contests/c/problems/echo", user="admin", json={"version": 1}).status_code == 409
    do(quick, "cancel", waits)
    pin(quick, 1, 200)
    assert quick.delete("problems/echo/testcases/secret/03", user="admin").status_code == 204
    assert numbers(quick) == {2: [], 1: ["c"]}


def test_a_preview_names_cases_contests_submissions_and_teams_and_stores_nothing(quick: Api) -> None:
    add_contest(quick.service, "final")
    add_submission(quick.service, {"02": share(1)}, contest_id="final", files=RIGHT)
    change_contest(quick.service, "final", finalized=datetime.now(UTC))
    files, details = {each.sha256 for each in quick.service.files.stored()}, quick.get("problems/echo", user="judge")
    preview = put(quick, "secret/03", b"34\n", "?preview=true").json()
    assert preview["outcome"] == "rejudging"
    assert (preview["judging"], preview["points"], preview["submissions"], preview["teams"]) == (True, True, 1, 1)
    assert preview["testcases"] == [
        {"name": "03", "group": "secret", "change": "changed", "parts": ["input", "expected answer"]}
    ]
    assert [(each["id"], each["goes_along"], each["why"], each["submissions"]) for each in preview["contests"]] == [
        ("c", True, None, 1),
        ("final", False, "final", 1),
    ]
    kept = put(quick, "secret/03", b"34\n", "?preview=true&contests=keep").json()
    assert (kept["outcome"], kept["submissions"], kept["contests"][0]["why"]) == ("at_once", 0, "keeps its version")
    same = put(quick, "secret/03", b"3\n", "?preview=true").json()
    assert (same["outcome"], same["changes"]) == ("nothing", [])
    gone = quick.delete("problems/echo/testcases/secret/02?preview=true", user="admin").json()
    assert [(each["name"], each["change"]) for each in gone["testcases"]] == [("02", "removed"), ("03", "changed")]
    whole = quick.post(
        "problems?preview=true&id=echo",
        user="admin",
        content=zip_package({"data/secret/05.in": "5\n", "data/secret/05.ans": "5\n"}),
        headers={"Content-Type": "application/zip"},
    )
    assert "test case 05: added" in whole.json()["changes"]
    new = {"content": zip_package(top="fresh/"), "headers": {"Content-Type": "application/zip"}}
    fresh = quick.post("problems?preview=true", user="admin", **new).json()
    assert (fresh["outcome"], fresh["changes"]) == ("at_once", ["problem fresh: added"])
    assert quick.get("problems/fresh", user="judge").status_code == 404
    assert quick.get("problems/echo", user="judge").json() == details.json()
    assert {each.sha256 for each in quick.service.files.stored()} == files
    assert quick.get("contests/c/rejudgings", user="judge").json() == []


def test_of_two_organisers_the_second_one_is_refused(quick: Api) -> None:
    """Each names the version that was looked at; only the first change finds it."""
    tag = quick.get("problems/echo", user="judge").headers["ETag"]
    assert tag == '"1"'
    change_contest(quick.service, finalized=datetime.now(UTC))
    assert put(quick, "secret/04", b"4\n", headers={"If-Match": tag}).status_code == 201
    refused = put(quick, "secret/05", b"5\n", headers={"If-Match": tag})
    assert refused.status_code == 412
    assert refused.json()["message"].startswith("If-Match: expected the newest version of echo, 2, found 1")
    assert put(quick, "secret/05", b"5\n", headers={"If-Match": "new"}).status_code == 400
    assert list(numbers(quick)) == [2, 1]


def test_of_two_organisers_at_the_same_moment_one_is_refused(contest: Api) -> None:
    change_contest(contest.service, finalized=datetime.now(UTC))
    with ThreadPoolExecutor(4) as pool:
        replies = list(
            pool.map(lambda n: put(contest, f"secret/1{n}", b"4\n", headers={"If-Match": '"1"'}).status_code, range(4))
        )
    assert sorted(replies) == [201, 412, 412, 412]
    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda n: put(contest, f"secret/2{n}", b"4\n").status_code, range(4)))
    assert replies == [201] * 4, "without a version each change makes its own"
    assert list(numbers(contest)) == [6, 5, 4, 3, 2, 1]


def test_versions_are_listed_compared_and_restored(quick: Api) -> None:
    change_contest(quick.service, finalized=datetime.now(UTC))
    put(quick, "secret/03", b"33\n")
    quick.delete("problems/echo/testcases/secret/02", user="admin")
    listed = quick.get(PLACE, user="judge").json()
    assert [(each["number"], each["account_id"], each["note"]) for each in listed] == [
        (3, "admin", "test case 02 of echo has been deleted"),
        (2, "admin", "test case 03 of echo has been put"),
        (1, None, "the package was brought in"),
    ]
    diff = quick.get(f"{PLACE}/3/diff", user="judge").json()
    assert [(each["name"], each["change"], each["parts"]) for each in diff["testcases"]] == [
        ("02", "removed", []),
        ("03", "changed", ["points"]),
    ]
    back = quick.get(f"{PLACE}/1/diff?against=3", user="judge").json()
    assert {each["where"] for each in back["fields"]} >= {"test case 03: input", "test case 02"}
    assert data(quick, f"{PLACE}/1/package.zip")["03.in"] == b"3\n"
    restored = quick.post(f"{PLACE}/1/restore", user="admin")
    assert (restored.status_code, restored.json()["number"]) == (200, 4)
    assert (
        quick.get(f"{PLACE}/4", user="judge").json()["sha256"] == quick.get(f"{PLACE}/1", user="judge").json()["sha256"]
    )
    assert data(quick, "problems/echo/package.zip") == data(quick, f"{PLACE}/1/package.zip")
    assert quick.get(f"{PLACE}/9", user="judge").json()["message"] == "problem 'echo' has no version 9: it has 1 to 4"
    assert quick.post(f"{PLACE}/4/restore", user="admin").json()["number"] == 4, "nothing changes, no version"


def test_nobody_but_judges_learns_of_versions(quick: Api) -> None:
    change_contest(quick.service, finalized=datetime.now(UTC))
    put(quick, "secret/zebra", b"4\n")
    paths = (PLACE, f"{PLACE}/2", f"{PLACE}/2/diff", f"{PLACE}/2/package.zip")
    for user in (*ROLES, None):
        codes = {quick.get(path, user=user).status_code for path in paths}
        assert codes == ({200} if user in {"admin", "judge"} else {401} if user is None else {403}), user
    assert quick.post(f"{PLACE}/1/restore", user="judge").status_code == 403
    assert b"zebra" not in b"".join(quick.get(path, user="team").content for path in SEEN)


def test_a_contest_of_an_earlier_version_comes_back_pinned_to_it(quick: Api) -> None:
    """Its package is equal to no newest version, but to one that is kept: no second problem is made."""
    package = quick.get("contests/c/package.zip", user="admin").content
    assert put(quick, "secret/04", b"4\n", "?contests=keep").status_code == 201
    again = quick.get("contests/c/package.zip", user="admin").content
    inner = [unzipped(each)["problems/echo/echo.zip"] for each in (package, again)]
    assert inner[0] == inner[1]
    reply = bring_in(quick, again, "?replace=true&id=again")
    assert reply.status_code == 201, reply.text
    brought = reply.json()
    assert [(each["id"], each["how"]) for each in brought["imported"]["problems"]] == [("echo", "equal")]
    assert numbers(quick) == {2: [], 1: ["again", "c"]}
    judge(quick.service)
    assert quick.get("contests/again/scoreboard").json()["rows"][0]["score"]["score"] == 100.0
