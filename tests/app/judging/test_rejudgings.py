"""Rejudgings: silent until applied, applied in one transaction, undone as if nothing had been."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from sqlalchemy import update

from app.judging.queries import rejudging_steps, rejudgings
from app.tables import ContestRow, JudgementRow
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, judgement_id, with_checkers
from tests.builders.judging import judge, judge_with_errors
from tests.builders.packages import zip_package
from tests.builders.scoring import raw, share
from tests.builders.service import ROLES, Api

PLACE = "contests/c/rejudgings"
RIGHT = {"02": b"2\n", "03": b"3\n"}
SEEN = (
    "contests/c/scoreboard?cases=true",
    "contests/c/judgements",
    "contests/c/runs",
    "contests/c/submissions",
    "contests/c/problems",
    "contests/c/problems/echo/testcases",
    "contests/c/problems/echo/inputs.zip",
)


@pytest.fixture
def contest(api: Api) -> Api:
    """The echo problem in a running contest, with checkers; what waits is judged when the test says so."""
    return prepared(api)


@pytest.fixture
def quick(quick_api: Api) -> Api:
    """The same on SQLite alone."""
    return prepared(quick_api)


def prepared(api: Api) -> Api:
    """Put the contest in."""
    add_problem(api.service)
    add_contest(api.service)
    return with_checkers(api)


def begin(api: Api, code: int = 201, **body: Any) -> Any:
    """Open a rejudging."""
    reply = api.post(PLACE, user="admin", json={"reason": "a wrong verdict", **body})
    assert reply.status_code == code, reply.text
    return reply.json()


def do(api: Api, deed: str, rejudging: Mapping[str, Any], code: int = 200, **body: Any) -> Any:
    """Apply, cancel or undo."""
    reply = api.post(f"{rejudging['href']}/{deed}", user="admin", json=body)
    assert reply.status_code == code, reply.text
    return reply.json()


def difference(api: Api, rejudging: Mapping[str, Any], *, contest: str = "c", everything: bool = False) -> Any:
    """What it changes."""
    query = "?all=true" if everything else ""
    reply = api.get(f"contests/{contest}/rejudgings/{rejudging['id']}/difference{query}", user="judge")
    assert reply.status_code == 200, reply.text
    return reply.json()


def state(api: Api, rejudging: Mapping[str, Any]) -> str:
    """Its state."""
    return str(api.get(rejudging["href"], user="judge").json()["state"])


def everything(api: Api) -> dict[tuple[str, str | None], tuple[int, bytes]]:
    """What everyone sees of the contest: the bytes of every collection, board and report."""
    paths = [*SEEN]
    for submission in api.get("contests/c/submissions", user="judge").json():
        paths += [f"contests/c/submissions/{submission['id']}/report"]
    for judgement in api.get("contests/c/judgements", user="judge").json():
        paths += [f"contests/c/judgements/{judgement['id']}"]
    users = (*ROLES, None)
    return {
        (path, user): (r.status_code, r.content) for path in paths for user in users if (r := api.get(path, user=user))
    }


def points(api: Api, user: str | None = None) -> dict[str, tuple[int, float]]:
    """Rank and points of each team."""
    rows = api.get("contests/c/scoreboard", user=user).json()["rows"]
    return {row["team_id"]: (row["rank"], row["score"]["score"]) for row in rows}


def test_a_rejudging_is_silent_until_applied_and_undone_byte_for_byte(contest: Api) -> None:
    wrong = add_submission(contest.service, {"02": share(1), "03": share(1)}, team="team", judgement_type="AC")
    add_submission(contest.service, {"02": share(0), "03": share(0)}, team="other", files=RIGHT, judgement_type="WA")
    before = everything(contest)
    rejudging = begin(contest, problem="echo")
    assert (rejudging["state"], rejudging["total"], rejudging["progress"]) == ("judging", 2, 0.0)
    assert everything(contest) == before
    do(contest, "apply", rejudging, 409)
    judge(contest.service)
    assert (state(contest, rejudging), everything(contest) == before) == ("ready", True)
    found = difference(contest, rejudging)
    assert found["counts"] | {"types": None} == {
        "submissions": 2,
        "submissions_changed": 2,
        "cases_changed": 4,
        "teams_changed": 2,
        "ranks_changed": 2,
        "public_changed": 2,
        "types": None,
    }
    first = next(each for each in found["submissions"] if each["submission_id"] == str(wrong))
    assert (first["before"], first["after"]) == (
        {"judgement_type_id": "AC", "points": 100.0},
        {"judgement_type_id": "WA", "points": 0.0},
    )
    assert first["cases"][0] == {
        "name": "02",
        "before": {"verdict": "accepted", "raw": 1, "points": 50.0},
        "after": {"verdict": "rejected", "raw": None, "points": 0.0},
    }
    moves = {each["team_id"]: (each["before"]["rank"], each["after"]["rank"]) for each in found["teams"]}
    assert moves == {"other": (2, 1), "team": (1, 2)}
    assert points(contest) == {"team": (1, 100.0), "other": (2, 0.0)}
    assert do(contest, "apply", rejudging)["state"] == "applied"
    assert points(contest) == {"other": (1, 100.0), "team": (2, 0.0)}
    assert difference(contest, rejudging)["submissions"] == found["submissions"]
    assert difference(contest, rejudging)["teams"] == found["teams"]
    history = contest.get(f"contests/c/judgements?submission_id={wrong}", user="team").json()
    assert [(each["judgement_type_id"], each["current"]) for each in history] == [("AC", False), ("WA", True)]
    assert do(contest, "undo", rejudging)["state"] == "undone"
    assert everything(contest) == before
    assert do(contest, "apply", rejudging)["state"] == "applied"
    assert points(contest)["other"] == (1, 100.0)


def test_a_cancelled_rejudging_leaves_no_trace_and_what_waits_of_it_is_not_judged(contest: Api) -> None:
    for _ in range(3):
        add_submission(contest.service, {"02": share(1)})
    before = everything(contest)
    rejudging = begin(contest, team="team")
    judge(contest.service, most=1)
    assert do(contest, "cancel", rejudging)["state"] == "cancelled"
    assert judge(contest.service) == 0
    assert everything(contest) == before
    with contest.service.database.read() as session:
        judged = session.query(JudgementRow.id).filter(JudgementRow.rejudging_id.is_not(None)).all()
    for (number,) in judged:
        hidden = judgement_id(contest.service, number)
        for user in (*ROLES, None):
            assert contest.get(f"contests/c/judgements/{hidden}", user=user).status_code == 404
            assert contest.get(f"contests/c/runs?judgement_id={hidden}", user=user).json() == []
    for deed in ("apply", "undo", "cancel"):
        do(contest, deed, rejudging, 409)
    assert [each["state"] for each in contest.get(PLACE, user="judge").json()] == ["cancelled"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"problem": "none"}, "problem: expected a problem of contest c, found 'none'"),
        ({"team": "none"}, "team: expected a team, found 'none'"),
        ({"submissions": ["1", "99", "x"]}, "submissions: expected submissions of contest c, found 99, x"),
        ({"team": "other"}, "expected at least one judged submission to judge again, found none"),
        ({"reason": ""}, None),
        ({"submissions": []}, None),
        ({"who": "all"}, None),
    ],
)
def test_what_cannot_be_selected_is_refused_and_nothing_is_kept(
    quick: Api, body: dict[str, Any], message: str | None
) -> None:
    add_submission(quick.service, {"02": share(1)})
    reply = quick.post(PLACE, user="admin", json={"reason": "why", **body})
    assert reply.status_code == 400
    assert message is None or reply.json()["message"] == message
    assert quick.get(PLACE, user="judge").json() == []
    assert judge(quick.service) == 0


def test_one_submission_is_never_in_two_open_rejudgings(contest: Api) -> None:
    ids = [str(add_submission(contest.service, {"02": share(1)})) for _ in range(3)]
    first = begin(contest, submissions=ids[:2])
    refused = begin(contest, 409, submissions=ids[1:])
    assert refused["message"] == ("1 of the submissions are in the open rejudging 1 (c): apply or cancel it first")
    second = begin(contest, submissions=ids[2:])
    judge(contest.service)
    do(contest, "apply", second)
    do(contest, "apply", first)
    again = begin(contest)
    judge(contest.service)
    do(contest, "apply", again)
    assert "rejudging 3 has been applied" in do(contest, "undo", first, 409)["message"]
    do(contest, "undo", again)
    do(contest, "undo", first)
    do(contest, "undo", second)
    assert points(contest)["team"] == (1, 50.0)


def test_where_the_holder_of_best_is_rejected_everybody_elses_points_rise(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service, rule={"kind": "relative"})
    with_checkers(api)
    held = add_submission(api.service, {"02": raw(4)}, team="team", files={"02": b"nonsense\n"})
    add_submission(api.service, {"02": raw(1)}, team="other", files={"02": b"2\n"})
    assert points(api) == {"team": (1, 50.0), "other": (2, 12.5)}
    rejudging = begin(api, submissions=[str(held)])
    judge(api.service)
    moves = {each["team_id"]: (each["before"], each["after"]) for each in difference(api, rejudging)["teams"]}
    assert moves["other"] == ({"rank": 2, "points": 12.5}, {"rank": 1, "points": 50.0})
    do(api, "apply", rejudging)
    assert points(api) == {"other": (1, 50.0), "team": (2, 0.0)}
    assert api.get("contests/c/submissions/2/report", user="other").json()["points"] == 50.0
    do(api, "undo", rejudging)
    assert points(api) == {"team": (1, 50.0), "other": (2, 12.5)}


def test_a_frozen_board_shows_what_a_rejudging_says_of_what_it_shows(quick_api: Api) -> None:
    add_problem(quick_api.service)
    add_contest(quick_api.service, started=4 * HOUR, freeze=2 * HOUR)
    with_checkers(quick_api)
    add_submission(quick_api.service, {"02": share(1)}, team="team", minute=5)
    add_submission(quick_api.service, {"02": share(0)}, team="other", minute=200, files={"02": b"2\n"})
    rejudging = begin(quick_api)
    judge(quick_api.service)
    moves = {each["team_id"]: each for each in difference(quick_api, rejudging)["teams"]}
    assert moves["other"]["after"] == {"rank": 1, "points": 50.0}
    assert moves["other"]["public_after"]["points"] == 0.0
    assert (moves["team"]["public_before"]["points"], moves["team"]["public_after"]["points"]) == (50.0, 0.0)
    do(quick_api, "apply", rejudging)
    assert {row["team_id"]: row["score"]["score"] for row in quick_api.get("contests/c/scoreboard").json()["rows"]} == {
        "team": 0.0,
        "other": 0.0,
    }


def put(api: Api, place: str, code: int = 202, *, query: str = "", **files: bytes) -> Any:
    """PUT a test case of echo."""
    form = {name: (name, content) for name, content in files.items()}
    reply = api.put(f"problems/echo/testcases/{place}{query}", user="admin", files=form)
    assert reply.status_code == code, reply.text
    return reply.json()


def test_another_input_and_answer_of_a_used_case_wait_and_are_judged_with(contest: Api) -> None:
    add_submission(contest.service, {"02": share(1), "03": share(1)}, files=RIGHT, judgement_type="AC")
    add_submission(contest.service, {"02": share(0)}, team="other", files={"02": b"22\n"}, judgement_type="WA")
    before = everything(contest)
    rejudging = put(contest, "secret/02", input=b"22\n", answer=b"22\n")
    assert rejudging["changes"] == ["test case 02: input, expected answer"]
    assert rejudging["contests"] == ["c"]
    judge(contest.service)
    assert everything(contest) == before
    types = {
        each["submission_id"]: (each["before"]["judgement_type_id"], each["after"]["judgement_type_id"])
        for each in difference(contest, rejudging)["submissions"]
    }
    assert types == {"1": ("AC", "PC"), "2": ("WA", "PC")}
    do(contest, "apply", rejudging)
    assert points(contest) == {"team": (1, 50.0), "other": (1, 50.0)}
    assert contest.get("contests/c/problems/echo/testcases/02/input").content == b"22\n"
    do(contest, "undo", rejudging)
    assert everything(contest) == before


def test_a_case_with_answers_can_be_deleted_and_comes_back_when_that_is_undone(contest: Api) -> None:
    add_submission(contest.service, {"02": share(0), "03": share(1)}, files={"02": b"no\n", "03": b"3\n"})
    before = everything(contest)
    reply = contest.delete("problems/echo/testcases/secret/02", user="admin")
    assert reply.status_code == 202
    rejudging = reply.json()
    assert reply.headers["Location"] == f"/api/contests/c/rejudgings/{rejudging['id']}"
    assert rejudging["changes"] == ["test case 02: removed", "test case 03: points"]
    judge(contest.service)
    do(contest, "apply", rejudging)
    assert points(contest)["team"] == (1, 100.0)
    shown = contest.get("contests/c/problems/echo/testcases").json()
    assert [case["name"] for case in shown] == ["01", "03"]
    report = contest.get("contests/c/submissions/1/report", user="team").json()
    assert ([case["name"] for case in report["cases"]], report["judgement"]["judgement_type_id"]) == (
        ["01", "03"],
        "AC",
    )
    assert contest.get("contests/c/problems/echo/testcases/02/input").status_code == 404
    ordinals = {run["ordinal"] for run in contest.get("contests/c/runs", user="judge").json()}
    assert ordinals <= {1, 2}
    do(contest, "undo", rejudging)
    assert everything(contest) == before


def test_a_new_case_takes_its_share_only_when_it_is_applied(contest: Api) -> None:
    add_submission(contest.service, {"02": share(1), "03": share(1)}, files=RIGHT, judgement_type="AC")
    before = everything(contest)
    rejudging = put(contest, "secret/04", input=b"4\n", answer=b"4\n")
    judge(contest.service)
    assert everything(contest) == before
    found = difference(contest, rejudging)
    assert found["counts"]["types"] == [{"before": "AC", "after": "PC", "count": 1}]
    assert found["teams"][0]["after"]["points"] == pytest.approx(200 / 3)
    do(contest, "apply", rejudging)
    assert points(contest)["team"][1] == pytest.approx(200 / 3)
    do(contest, "undo", rejudging)
    assert everything(contest) == before
    put(contest, "secret/04", input=b"5\n", answer=b"5\n")


def test_what_changes_no_verdict_and_no_points_is_done_at_once(contest: Api) -> None:
    add_submission(contest.service, {"02": share(1)})
    put(contest, "secret/05", 201, input=b"5\n")
    put(contest, "secret/02", 200, input=b"2\n", answer=b"2\n")
    told = zip_package({"statement/problem.en.md": "Say it twice.\n", "data/secret/05.in": None})
    reply = contest.post("problems?id=echo", user="admin", content=told, headers={"Content-Type": "application/zip"})
    assert reply.status_code == 201
    assert contest.get(PLACE, user="judge").json() == []


def test_another_checker_comes_with_a_new_version_of_the_package(contest: Api) -> None:
    add_submission(contest.service, {"02": share(0)}, files={"02": b" 2 \n\n"}, judgement_type="WA")
    before = everything(contest)
    jurado = "checker: tokens\nscoring: {kind: absolute, direction: maximise}\n"
    package = zip_package({"jurado.yaml": jurado, "data/secret/03.in": None, "data/secret/03.ans": None})
    reply = contest.post("problems?id=echo", user="admin", content=package, headers={"Content-Type": "application/zip"})
    assert reply.status_code == 202
    rejudging = reply.json()
    assert rejudging["changes"] == ["checker: exact → tokens", "test case 03: removed", "test case 02: points"]
    judge(contest.service)
    assert everything(contest) == before
    do(contest, "apply", rejudging)
    assert points(contest)["team"] == (1, 100.0)
    assert contest.get("problems/echo", user="judge").json()["checker"] == "tokens"
    do(contest, "undo", rejudging)
    assert everything(contest) == before
    assert contest.get("problems/echo", user="judge").json()["checker"] == "exact"


def test_a_smaller_limit_rejects_the_answers_above_it(quick: Api) -> None:
    add_submission(quick.service, {"02": share(1), "03": share(1)}, files={"02": b"2\n", "03": b"3\n" + b" " * 20})
    jurado = "checker: tokens\nscoring: {kind: absolute, direction: maximise}\nanswers: {limit: 8}\n"
    package = zip_package({"jurado.yaml": jurado})
    reply = quick.post("problems?id=echo", user="admin", content=package, headers={"Content-Type": "application/zip"})
    assert reply.status_code == 202
    judge(quick.service)
    do(quick, "apply", reply.json())
    report = quick.get("contests/c/submissions/1/report", user="team").json()
    assert [case["verdict"] for case in report["cases"][1:]] == ["accepted", "rejected"]
    assert report["cases"][2]["message"]["key"] == "too-large"


def test_other_points_need_no_judging_and_are_ready_at_once(contest: Api) -> None:
    add_submission(contest.service, {"02": share(1)})
    before = everything(contest)
    reply = contest.patch("contests/c/problems/echo", user="admin", json={"rule": {"max_points": 10}})
    assert reply.status_code == 202
    rejudging = reply.json()
    assert (rejudging["state"], rejudging["total"]) == ("ready", 0)
    assert rejudging["changes"] == ["rule in c: max_points 100 → max_points 10"]
    assert everything(contest) == before
    assert difference(contest, rejudging)["teams"][0]["after"] == {"rank": 1, "points": 5.0}
    do(contest, "apply", rejudging)
    assert points(contest)["team"] == (1, 5.0)
    assert difference(contest, rejudging)["teams"][0]["before"] == {"rank": 1, "points": 50.0}
    do(contest, "undo", rejudging)
    assert everything(contest) == before


def test_a_change_takes_in_every_contest_that_has_the_problem(contest: Api) -> None:
    add_contest(contest.service, "d")
    add_contest(contest.service, "e")
    add_submission(contest.service, {"02": share(1)}, files={"02": b"2\n"}, contest_id="d")
    add_submission(contest.service, {"02": share(1)}, files={"02": b"2\n"}, contest_id="c")
    rejudging = put(contest, "secret/02", input=b"22\n", answer=b"22\n")
    assert rejudging["contests"] == ["c", "d", "e"]
    assert [each["id"] for each in contest.get("contests/e/rejudgings", user="judge").json()] == [rejudging["id"]]
    judge(contest.service)
    for each in ("c", "d"):
        assert difference(contest, rejudging, contest=each)["counts"]["submissions"] == 1
    do(contest, "apply", rejudging)
    for each in ("c", "d"):
        rows = contest.get(f"contests/{each}/scoreboard").json()["rows"]
        assert {row["score"]["score"] for row in rows} == {0.0}


def test_what_arrives_meanwhile_is_judged_before_the_change_is_applied(contest: Api) -> None:
    add_submission(contest.service, {"02": share(1)}, files={"02": b"2\n"})
    rejudging = put(contest, "secret/02", input=b"22\n", answer=b"22\n")
    judge(contest.service)
    add_submission(contest.service, {"02": share(1)}, team="other", files={"02": b"2\n"})
    late = do(contest, "apply", rejudging, 409)
    assert late["message"].startswith("1 of 2 judgements are not done yet: apply it again in a moment")
    assert points(contest)["other"] == (1, 50.0)
    judge(contest.service)
    do(contest, "apply", rejudging)
    assert points(contest) == {"other": (1, 0.0), "team": (1, 0.0)}


def test_what_arrives_after_it_was_applied_is_judged_anew_when_it_is_undone(contest: Api) -> None:
    add_submission(contest.service, {"02": share(1)}, files={"02": b"2\n"})
    rejudging = put(contest, "secret/02", input=b"22\n", answer=b"22\n")
    judge(contest.service)
    do(contest, "apply", rejudging)
    add_submission(contest.service, None, team="other", files={"02": b"22\n", "03": b"3\n"})
    judge(contest.service)
    assert points(contest) == {"other": (1, 100.0), "team": (2, 0.0)}
    do(contest, "undo", rejudging)
    assert judge(contest.service) == 1
    assert {team: worth for team, (_, worth) in points(contest).items()} == {"team": 50.0, "other": 50.0}


def test_a_second_change_of_a_problem_joins_the_open_rejudging(contest: Api) -> None:
    add_submission(contest.service, {"02": share(1), "03": share(1)}, files=RIGHT, judgement_type="AC")
    before = everything(contest)
    rejudging = put(contest, "secret/02", input=b"22\n", answer=b"22\n")
    judge(contest.service)
    joined = put(contest, "secret/03", input=b"33\n", answer=b"33\n")
    assert (joined["id"], joined["state"]) == (rejudging["id"], "judging")
    assert joined["changes"] == ["test case 02: input, expected answer", "test case 03: input, expected answer"]
    judge(contest.service)
    do(contest, "apply", rejudging)
    assert points(contest)["team"] == (1, 0.0)
    do(contest, "undo", rejudging)
    assert everything(contest) == before


def test_judgements_of_a_version_that_the_problem_has_no_longer_are_not_applied(contest: Api) -> None:
    """Judged by a change that was undone since, or by what a change has replaced since: they would mix two versions."""
    add_submission(contest.service, {"02": share(1)}, files={"02": b"2\n"})
    change = put(contest, "secret/02", input=b"22\n", answer=b"22\n")
    judge(contest.service)
    do(contest, "apply", change)
    selection = begin(contest, problem="echo")
    judge(contest.service)
    do(contest, "undo", change)
    assert "changed since" in do(contest, "apply", selection, 409)["message"]
    do(contest, "cancel", selection)
    earlier = begin(contest, problem="echo")
    judge(contest.service)
    do(contest, "apply", earlier)
    do(contest, "undo", earlier)
    do(contest, "apply", change)
    assert "changed since" in do(contest, "apply", earlier, 409)["message"]
    assert points(contest)["team"] == (1, 0.0)


def test_undoing_leaves_what_was_judged_again_since(contest: Api) -> None:
    """A selection that was judged by a change: once the change is undone, its verdicts are of no version any longer."""
    add_submission(contest.service, {"02": share(1)}, files={"02": b"2\n"})
    change = put(contest, "secret/02", input=b"22\n", answer=b"22\n")
    judge(contest.service)
    do(contest, "apply", change)
    late = add_submission(contest.service, None, team="other", files={"02": b"22\n"})
    judge(contest.service)
    selection = begin(contest, submissions=[str(late)])
    judge(contest.service)
    do(contest, "apply", selection)
    do(contest, "undo", change)
    judge(contest.service)
    assert points(contest)["other"][1] == 0.0
    do(contest, "undo", selection)
    assert points(contest)["other"][1] == 0.0


def test_a_change_can_join_one_that_takes_back_what_others_replaced(contest: Api) -> None:
    """Its judgements go although a cancelled rejudging has some that were to replace them."""
    add_submission(contest.service, {"02": share(1)}, files={"02": b"2\n"})
    change = put(contest, "secret/02", input=b"22\n", answer=b"22\n")
    judge(contest.service)
    do(contest, "apply", change)
    selection = begin(contest, problem="echo")
    judge(contest.service)
    do(contest, "cancel", selection)
    do(contest, "undo", change)
    add_submission(contest.service, None, team="other", files={"02": b"2\n"})
    judge(contest.service)
    do(contest, "apply", change, 409)  # it is open again, for the new submission
    joined = put(contest, "secret/03", input=b"33\n", answer=b"33\n")
    assert (joined["id"], joined["state"], joined["total"]) == (change["id"], "judging", 2)


def test_a_change_that_joins_and_leaves_verdicts_as_they_are_drops_the_judgements(contest: Api) -> None:
    add_submission(contest.service, {"02": share(1)}, files={"02": b"2\n"})
    change = put(contest, "secret/02", input=b"22\n", answer=b"22\n")
    judge(contest.service)
    joined = put(contest, "secret/02", input=b"2\n", answer=b"2\n")
    assert (joined["id"], joined["total"]) == (change["id"], 0)


def test_the_rule_of_a_contest_with_an_earlier_version_is_undone(contest: Api) -> None:
    add_submission(contest.service, {"02": share(1)})
    put(contest, "secret/02", 200, query="?contests=keep", input=b"22\n", answer=b"22\n")
    before = everything(contest)
    rule = contest.patch("contests/c/problems/echo", user="admin", json={"rule": {"max_points": 10}}).json()
    do(contest, "apply", rule)
    assert points(contest)["team"] == (1, 5.0)
    do(contest, "undo", rule)
    assert everything(contest) == before


def test_a_failure_while_it_is_applied_changes_nothing(contest: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    add_submission(contest.service, {"02": share(1)}, files={"02": b"2\n"})
    before = everything(contest)
    rejudging = put(contest, "secret/02", input=b"22\n", answer=b"22\n")
    judge(contest.service)

    def fail(*_: object, **__: object) -> None:
        raise rejudgings.RejudgingRefused("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(rejudging_steps, "_set_current", fail)
        do(contest, "apply", rejudging, 409)
    assert (everything(contest) == before, state(contest, rejudging)) == (True, "ready")
    do(contest, "apply", rejudging)
    after = everything(contest)
    with monkeypatch.context() as patched:
        patched.setattr(rejudging_steps, "_set_current", fail)
        do(contest, "undo", rejudging, 409)
    assert everything(contest) == after
    do(contest, "undo", rejudging)
    assert everything(contest) == before


def test_judge_errors_are_not_applied_by_accident(quick: Api) -> None:
    add_submission(quick.service, {"02": share(1)})
    rejudging = begin(quick)
    judge_with_errors(quick.service)
    assert quick.get(rejudging["href"], user="judge").json()["judge_errors"] == 1
    assert "the judge failed on 1 submissions" in do(quick, "apply", rejudging, 409)["message"]
    do(quick, "apply", rejudging, judge_errors=True)


def test_a_final_contest_stays_as_it_is(quick: Api) -> None:
    add_submission(quick.service, {"02": share(1)})
    rejudging = begin(quick)
    judge(quick.service)
    with quick.service.database.write() as session:
        session.execute(update(ContestRow).values(finalized=ContestRow.start_time))
    assert "is final" in do(quick, "apply", rejudging, 409)["message"]


def test_a_rejudging_belongs_to_its_contest(quick: Api) -> None:
    add_submission(quick.service, {"02": share(1)})
    add_contest(quick.service, "d", problem_id=None)
    rejudging = begin(quick)
    for place in (f"contests/d/rejudgings/{rejudging['id']}", f"{PLACE}/007", f"{PLACE}/x", "contests/none/rejudgings"):
        assert quick.get(place, user="judge").status_code == 404
    assert quick.get(f"{PLACE}/{rejudging['id']}", user="team").status_code == 403
