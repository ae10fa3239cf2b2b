"""Many test cases put by one zip, and groups made, renamed, given points, and taken out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from app.packages.read import read_archive
from app.packages.zips import zip_bytes
from tests.app.judging.test_rejudgings import do, everything
from tests.builders.contests import add_contest, add_problem, add_submission, with_checkers
from tests.builders.judging import judge
from tests.builders.scoring import share
from tests.builders.service import Api, collect_orphans

PLACE = "problems/echo/testcases"
GROUPS = {
    "secret/a/02.in": b"2\n",
    "secret/a/02.ans": b"2\n",
    "secret/a/test_group.yaml": b"max_score: 30\nscore_aggregation: pass-fail\n",
    "secret/b/03.in": b"3\n",
    "secret/b/03.ans": b"3\n",
    "secret/b/04.in": b"4\n",
    "secret/b/04.ans": b"4\n",
    "secret/b/04.yaml": b"hint: look twice\n",
    "secret/b/test_group.yaml": b"max_score: 70\nscore_aggregation: sum\nrequire_pass: secret/a\n",
}


@pytest.fixture
def problem(api: Api) -> Api:
    """The echo problem, with checkers."""
    add_problem(api.service)
    return with_checkers(api)


@pytest.fixture
def quick(quick_api: Api) -> Api:
    """The same on SQLite alone."""
    add_problem(quick_api.service)
    return with_checkers(quick_api)


def send(api: Api, files: Mapping[str, bytes], query: str = "", code: int = 200) -> Any:
    """Send cases as a zip."""
    reply = api.post(
        f"{PLACE}{query}", user="admin", content=zip_bytes(dict(files)), headers={"Content-Type": "application/zip"}
    )
    assert reply.status_code == code, reply.text
    return reply.json()


def arrange(api: Api, code: int = 200, **body: Any) -> Any:
    """Change groups, move and delete cases."""
    reply = api.patch(PLACE, user="admin", json=body)
    assert reply.status_code == code, reply.text
    return reply.json()


def cases(details: Any) -> dict[str, tuple[str, float]]:
    """The group and points of each case."""
    return {each["name"]: (each["group"], each["max_points"]) for each in details["testcases"]}


def package(api: Api) -> Any:
    """The problem's package, read back: its groups with their points, and the cases of each."""
    made = read_archive(api.get("problems/echo/package.zip", user="admin").content)
    return {
        group.name: (group.max_score, group.aggregation, [c.name for c in made.cases if c.group == group.name])
        for group in made.groups
    }


def test_a_zip_puts_all_cases_and_groups_as_one_version(problem: Api) -> None:
    details = send(problem, GROUPS)
    assert cases(details) == {
        "01": ("sample", 0),
        "02": ("secret/a", 30),
        "03": ("secret/b", 35),
        "04": ("secret/b", 35),
    }
    assert [(group["name"], group["require_pass"]) for group in details["groups"]] == [
        ("sample", []),
        ("secret/a", []),
        ("secret/b", ["secret/a"]),
    ]
    assert [each["note"] for each in problem.get("problems/echo/versions", user="admin").json()] == [
        "3 test cases of echo have been put",
        "the package was brought in",
    ]
    assert package(problem) == {
        "sample": (None, "pass-fail", ["01"]),
        "secret/a": (30, "pass-fail", ["02"]),
        "secret/b": (70, "sum", ["03", "04"]),
    }


def test_only_the_cases_of_the_zip_stay_where_that_is_asked_for_and_a_folder_around_them_does_not_matter(
    quick: Api,
) -> None:
    for top in ("", "data/", "mine/"):
        details = send(quick, {f"{top}secret/05.in": b"5\n", f"{top}secret/05.ans": b"5\n"}, "?only=true")
        assert cases(details) == {"05": ("secret", 100)}


def test_every_fault_is_named_by_its_entry_and_nothing_is_stored(quick: Api) -> None:
    before = quick.get("problems/echo", user="admin").json()
    files = {each.sha256 for each in quick.service.files.stored()}
    told = send(
        quick,
        {
            "secret/05.in": b"5\n",
            "secret/05.ans": b"5\n",
            "secret/06.ans": b"6\n",
            "secret/a/b/07.in": b"7\n",
            "secret/08.in": b"8",
            "secret/09.doc": b"9\n",
            "sample/05.in": b"5\n",
        },
        code=400,
    )
    assert {each["file"] for each in told["errors"]} == {
        "secret/05.in",
        "secret/06.ans",
        "secret/a/b/07.in",
        "secret/08.in",
        "secret/09.doc",
    }
    wrong = send(quick, {"secret/05.in": b"5\n", "secret/05.ans": b"\xff\n"}, code=400)
    assert [each["file"] for each in wrong["errors"]] == ["secret/05.ans"]
    unknown = send(quick, {"secret/c/05.in": b"5\n", "secret/c/05.ans": b"5\n"}, code=400)
    assert "test case 05, group: expected one of sample, secret, or a test_group.yaml" in unknown["message"]
    assert send(quick, {}, code=400)["message"]
    assert quick.post(PLACE, user="admin", json={}).status_code == 415
    assert quick.get("problems/echo", user="admin").json() == before
    assert quick.get("problems/echo/versions", user="admin").json()[0]["number"] == 1
    assert collect_orphans(quick.service) == files


def test_groups_are_made_renamed_and_given_points_and_cases_move_between_them(problem: Api) -> None:
    made = arrange(
        problem,
        groups=[
            {"name": "secret/x", "max_points": 40, "aggregation": "min"},
            {"name": "secret/y", "max_points": 60, "aggregation": "sum", "final": True},
        ],
        move={"02": "secret/x", "03": "secret/y"},
    )
    assert cases(made) == {"01": ("sample", 0), "02": ("secret/x", 40), "03": ("secret/y", 60)}
    renamed = arrange(problem, groups=[{"name": "secret/x", "rename": "secret/w", "max_points": 50}])
    assert cases(renamed)["02"] == ("secret/w", 50)
    assert package(problem) == {
        "sample": (None, "pass-fail", ["01"]),
        "secret/w": (50, "min", ["02"]),
        "secret/y": (60, "sum", ["03"]),
    }
    gone = arrange(problem, delete=["03"])
    assert [group["name"] for group in gone["groups"]] == ["sample", "secret/w"]
    assert package(problem)["secret/w"] == (50, "min", ["02"])


def test_cases_are_reordered_and_get_points_of_their_own(problem: Api) -> None:
    """Packages have both, so that they come back."""
    send(problem, GROUPS)
    made = arrange(problem, order=["04", "03"], points={"04": 50})
    assert cases(made) == {"01": ("sample", 0), "02": ("secret/a", 30), "04": ("secret/b", 50), "03": ("secret/b", 20)}
    assert [each["name"] for each in made["testcases"]] == ["01", "02", "04", "03"]
    data = problem.get("problems/echo/package.zip", user="admin").content
    again = read_archive(data)
    assert [(case.name, case.max_points) for case in again.cases] == [("01", 0), ("02", 30), ("04", 50), ("03", 20)]
    brought = problem.post("problems", user="admin", content=data, headers={"Content-Type": "application/zip"})
    assert brought.status_code == 201, brought.text
    assert cases(brought.json()) == cases(made)
    assert problem.get("problems/echo/package.zip", user="admin").content == data
    for points in ({"04": 71}, {"04": 50, "03": 10}, {"02": 30}, {"09": 1}):
        assert "testcases" in arrange(problem, 400, points=points)["message"]
    assert "each name once" in arrange(problem, 400, order=["04", "04"])["message"]
    gone = arrange(problem, delete=["04"])
    assert cases(gone)["03"] == ("secret/b", 70)
    assert gone["settings"]["testcases"] == {"order": ["03"], "points": {}}


def test_an_arrangement_that_no_package_can_hold_is_refused_with_every_fault(quick: Api) -> None:
    told = arrange(
        quick,
        400,
        groups=[{"name": "secret/x", "require_pass": ["secret/z"]}, {"name": "large"}],
        move={"02": "secret/x", "09": "secret/x"},
        delete=["08"],
    )
    assert {each["file"] for each in told["errors"]} >= {
        "group large",
        "group secret",
        "group secret/x",
        "test case 08",
        "test case 09",
    }
    assert arrange(quick, 400, delete=["02", "03"])["message"].endswith(
        "expected at least one secret test case, found none"
    )
    assert quick.get("problems/echo/versions", user="admin").json()[0]["number"] == 1


def test_in_a_running_contest_it_is_previewed_and_waits_as_a_rejudging(problem: Api) -> None:
    add_contest(problem.service)
    add_submission(problem.service, {"02": share(1), "03": share(0)}, files={"02": b"2\n", "03": b"0\n"})
    before = everything(problem)
    preview = send(problem, GROUPS, "?preview=true")
    assert (preview["outcome"], preview["submissions"]) == ("rejudging", 1)
    assert {(each["name"], each["change"]) for each in preview["testcases"]} == {
        ("02", "changed"),
        ("03", "changed"),
        ("04", "added"),
    }
    waits = send(problem, GROUPS, code=202)
    assert "group secret/a: kind: nothing → provisional" in waits["changes"]
    judge(problem.service)
    assert everything(problem) == before
    do(problem, "apply", waits)
    assert problem.get("contests/c/scoreboard").json()["rows"][0]["score"]["score"] == pytest.approx(30.0)
    do(problem, "undo", waits)
    assert everything(problem) == before
    kept = problem.patch(f"{PLACE}?contests=keep", user="admin", json={"groups": [{"name": "secret", "max_points": 7}]})
    assert kept.status_code == 200
    assert everything(problem) == before
