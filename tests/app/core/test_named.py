"""A problem may be named by its label where its id is expected, and a misspelt name gets the nearest one there is."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from sqlalchemy import update

from app.contests.service.capabilities import called
from app.core.messages import Message, did_you_mean
from app.packages.zips import zip_bytes
from app.tables import TeamRow
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission
from tests.builders.scoring import share
from tests.builders.service import Api

ROUTES = ("", "/statement", "/testcases", "/testcases/02/input", "/inputs.zip")


def begin(api: Api, **more: Any) -> None:
    add_problem(api.service)
    add_contest(api.service, **more)


@pytest.mark.parametrize("label", ["A", "a"])
def test_every_route_of_a_problem_takes_its_label(quick_api: Api, label: str) -> None:
    begin(quick_api)
    for route in ROUTES:
        by_label, by_id = (quick_api.get(f"contests/c/problems/{name}{route}") for name in (label, "echo"))
        assert (by_label.status_code, by_label.content) == (200, by_id.content), route
    changed = quick_api.patch(f"contests/c/problems/{label}", user="admin", json={"color": "blue"})
    assert (changed.status_code, changed.json()["id"]) == (200, "echo")
    assert quick_api.get(f"contests/c/problems/{label}/quota", user="team").status_code == 200
    assert quick_api.delete(f"contests/c/problems/{label}", user="admin").status_code == 204


def test_a_submission_a_filter_a_question_and_a_rejudging_take_a_label(quick_api: Api) -> None:
    begin(quick_api)
    form = quick_api.post(
        "contests/c/submissions", user="team", data={"problem_id": "a"}, files={"files": ("02.out", b"2\n")}
    )
    assert (form.status_code, form.json()["problem_id"]) == (201, "echo"), form.text
    data = base64.b64encode(zip_bytes({"02.out": b"2\n"})).decode()
    body = {"problem_id": "A", "language_id": "answers", "files": [{"data": data, "mime": "application/zip"}]}
    clics = quick_api.post("contests/c/submissions", user="team", json=body)
    assert (clics.status_code, clics.json()["problem_id"]) == (201, "echo"), clics.text
    assert len(quick_api.get("contests/c/submissions?problem_id=A", user="team").json()) == 2
    asked = quick_api.post("contests/c/clarifications", user="team", json={"problem_id": "a", "text": "Why?"})
    assert asked.json()["problem_id"] == "echo"
    assert len(quick_api.get("contests/c/clarifications?problem_id=A", user="team").json()) == 1
    add_submission(quick_api.service, {"02": share(1)})
    again = quick_api.post("contests/c/rejudgings", user="admin", json={"problem": "A", "reason": "x"})
    assert again.json()["selection"]["problem_id"] == "echo"


def test_an_id_comes_before_a_label_and_an_exact_label_before_one_in_other_letters() -> None:
    assert called("b", {"b": "A", "a": "b"}) == "b"
    assert called("B", {"b": "A", "a": "B"}) == "a"
    assert called("x", {"one": "X", "two": "x"}) == "two"
    assert called("xy", {"one": "XY", "two": "Xy"}) is None


def test_a_misspelt_name_gets_the_nearest_one(quick_api: Api) -> None:
    begin(quick_api)
    near = {
        "contests/c/problems/ecko": "no problem 'ecko' in contest 'c': did you mean 'echo'?",
        "contests/C": "no contest 'C': did you mean 'c'?",
        "contests/C/problems": "no contest 'C': did you mean 'c'?",
        "contests/C/scoreboard": "no contest 'C': did you mean 'c'?",
        "contests/c/problems/echo/testcases/2/input": "problem 'echo' has no test case '2': did you mean '02'?",
        "contests/c/teams/teem": "no team 'teem' in contest 'c': did you mean 'team'?",
        "contests/c/problems/zzzz": "no problem 'zzzz' in contest 'c'",
    }
    assert {path: quick_api.get(path).json()["message"] for path in near} == near
    reply = quick_api.post(
        "contests/c/submissions", user="team", data={"problem_id": "ecko"}, files={"files": ("02.out", b"2\n")}
    )
    assert (reply.status_code, reply.json()["message"]) == (404, near["contests/c/problems/ecko"])


def test_nothing_hidden_is_suggested_or_found_by_its_label(quick_api: Api) -> None:
    begin(quick_api, started=-HOUR)
    for name in ("ecko", "A", "a"):
        for route in ROUTES:
            reply = quick_api.get(f"contests/c/problems/{name}{route}", user="team")
            assert (reply.status_code, "echo" in reply.json()["message"]) == (404, False)
        sent = quick_api.post(
            "contests/c/submissions", user="team", data={"problem_id": name}, files={"files": ("02.out", b"2\n")}
        )
        assert sent.status_code == 404
        assert sent.json()["message"].startswith("the contest has not begun: it starts in ")
    assert quick_api.get("contests/c/problems/A", user="judge").json()["id"] == "echo"
    with quick_api.service.database.write() as session:
        session.execute(update(TeamRow).where(TeamRow.id == "other").values(hidden=True))
    assert "other" not in quick_api.get("contests/c/teams/othr", user="team").json()["message"]
    assert "'other'" in quick_api.get("contests/c/teams/othr", user="judge").json()["message"]


def test_a_name_of_a_million_letters_is_compared_with_nothing() -> None:
    message = Message("no name")
    assert did_you_mean(message, "a" * 1_000_000, ["a" * 1_000_000]) is message
