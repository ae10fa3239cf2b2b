"""Final cases: hidden until they are released, answered in their time, and decisive after the end."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.core.clics import format_time, parse_time
from app.tables import JudgementRow
from tests.builders.contests import FINAL, HOUR, add_contest, add_problem, add_submission, judgement_id, pass_time
from tests.builders.examples import sqlite_first
from tests.builders.scoring import REJECTED, raw, share
from tests.builders.service import Api
from tests.builders.zips import unzipped

PROBLEM = "contests/c/problems/echo"
TIMED = {"final_minutes": 30}


def contest(api: Api, settings: dict[str, Any], **more: Any) -> None:
    """The problem with the provisional case 02 and the final case 03, in a contest that has run for an hour."""
    add_problem(api.service, FINAL)
    add_contest(api.service, settings=settings, **more)


def released_in(offset: timedelta) -> dict[str, Any]:
    """Settings that release final inputs to everyone so far from now."""
    return {"final_release": format_time(datetime.now(UTC) + offset)}


def send(api: Api, *cases: str, user: str = "team", **data: str) -> Any:
    """Submit right answers for these cases."""
    files = [("files", (f"{case}.out", f"{int(case)}\n".encode())) for case in cases]
    return api.post("contests/c/submissions", user=user, data={"problem_id": "echo", **data}, files=files)


def names(api: Api, user: str | None = "team") -> list[str]:
    """The cases that a user sees, which are also those in the zip of inputs."""
    listed = [case["name"] for case in api.get(f"{PROBLEM}/testcases", user=user).json()]
    inputs = unzipped(api.get(f"{PROBLEM}/inputs.zip", user=user).content)
    assert sorted(inputs) == sorted(f"{name}.in" for name in listed)
    for name in ("02", "03"):
        found = api.get(f"{PROBLEM}/testcases/{name}/input", user=user).status_code
        assert found == (200 if name in listed else 404)
    return listed


def taken(reply: Any, api: Api) -> list[str]:
    """The cases of which a submission's files were taken."""
    assert reply.status_code == 201, reply.text
    report = api.get(f"contests/c/submissions/{reply.json()['id']}/report", user="team").json()
    return [note["case"] for note in report["files"] if note["case"]]


def points(api: Api, user: str | None = None, query: str = "") -> dict[str, float]:
    """Points by team."""
    reply = api.get(f"contests/c/scoreboard{query}", user=user)
    assert reply.status_code == 200, reply.text
    return {row["team_id"]: row["score"]["score"] for row in reply.json()["rows"]}


@sqlite_first
def test_final_inputs_are_everybodys_from_their_release(api: Api) -> None:
    contest(api, released_in(HOUR))
    assert names(api) == names(api, None) == ["01", "02"]
    assert send(api, "03").status_code == 400, "nobody may guess its name"
    assert taken(send(api, "02", "03"), api) == ["02"]
    assert taken(send(api, "02", "03", user="admin", team_id="team"), api) == ["02", "03"], "an admin knows it"
    pass_time(api.service, 2 * HOUR)
    api.patch("contests/c", user="admin", json={"settings": released_in(-HOUR)})
    assert names(api) == names(api, None) == ["01", "02", "03"]
    assert taken(send(api, "02", "03"), api) == ["02", "03"]


@sqlite_first
def test_a_team_asks_for_the_inputs_and_has_its_time_for_them(api: Api) -> None:
    contest(api, TIMED)
    assert names(api) == ["01", "02"]
    nothing = api.get(f"{PROBLEM}/inputs", user="team").json()
    assert nothing == {"problem_id": "echo", "time": None, "deadline": None, "open": False, "href": None}
    first = api.post(f"{PROBLEM}/inputs", user="team")
    assert first.status_code == 201
    made = first.json()
    assert parse_time(made["deadline"]) - parse_time(made["time"]) == timedelta(minutes=30)
    assert (made["open"], made["href"]) == (True, f"{PROBLEM}/inputs.zip")
    again = api.post(f"{PROBLEM}/inputs", user="team")
    assert (again.status_code, again.json()) == (200, made), "the timer runs once"
    assert api.get(f"{PROBLEM}/inputs", user="team").json() == made
    assert names(api) == ["01", "02", "03"]
    assert names(api, "other") == names(api, None) == ["01", "02"], "others have not asked"
    assert taken(send(api, "02", "03"), api) == ["02", "03"]
    assert send(api, "03", user="other").status_code == 400
    pass_time(api.service, timedelta(minutes=31))
    assert api.get(f"{PROBLEM}/inputs", user="team").json()["open"] is False
    assert names(api) == ["01", "02", "03"], "what was read may be read again"
    assert taken(send(api, "02", "03"), api) == ["02"], "its time is over"


@pytest.mark.parametrize(
    ("settings", "more", "message"),
    [
        ({}, {}, "teams cannot ask for final inputs in this contest"),
        (TIMED, {"started": 9 * HOUR}, "the contest is over"),
    ],
)
def test_there_is_not_always_something_to_ask_for(
    quick_api: Api, settings: dict[str, Any], more: dict[str, Any], message: str
) -> None:
    contest(quick_api, settings, **more)
    refused = quick_api.post(f"{PROBLEM}/inputs", user="team")
    assert refused.status_code == 409
    assert message in refused.json()["message"]


def test_a_problem_without_final_cases_has_no_final_inputs(quick_api: Api) -> None:
    add_problem(quick_api.service)
    add_contest(quick_api.service, settings=TIMED)
    assert quick_api.post(f"{PROBLEM}/inputs", user="team").json()["message"] == "problem 'echo' has no final inputs"


def everything(api: Api, user: str | None) -> str:
    """What a user can read of the contest, in one text."""
    paths = ["problems", "submissions", "judgements", "runs", "scoreboard", "scoreboard?cases=true", "teams"]
    paths += ["problems/echo/testcases", "problems/echo", "submissions/1", f"judgements/{judgement_id(api.service, 1)}"]
    found = {path: api.get(f"contests/c/{path}", user=user).json() for path in paths}
    for path in ("submissions/1/report", "submissions/2/report", "submissions/3/report"):
        reply = api.get(f"contests/c/{path}", user=user)
        found[path] = reply.json() if reply.status_code == 200 else {}
    return json.dumps(found, indent=1)


SECRET = 7_654_321


@sqlite_first
def test_nothing_of_final_answers_is_known_before_they_decide(api: Api) -> None:
    """Two teams have sent the same provisional answers; only one of them has a final one, and it is the best there is.

    Board, judgements, runs and reports are the same but for the names of the teams, and never say the raw score.
    """
    contest(api, {**TIMED, "show_others_answers": True}, rule={"kind": "relative"}, started=4.5 * HOUR)
    add_submission(api.service, {"02": raw(5), "03": raw(SECRET)}, minute=10, judgement_type="AC")
    add_submission(api.service, {"02": raw(5)}, minute=10, team="other", judgement_type="AC")
    add_submission(api.service, {"03": REJECTED}, minute=5, judgement_type="WA")
    api.post(f"{PROBLEM}/inputs", user="team")
    for user in (None, "team", "other"):
        text = everything(api, user)
        assert str(SECRET) not in text
        assert user == "team" or not re.search(r'"03\b', text)  # a version may begin with 03
    assert str(SECRET) in everything(api, "judge")
    assert len(set(points(api).values())) == 1
    types = {each["submission_id"]: each["judgement_type_id"] for each in api.get("contests/c/judgements").json()}
    assert types == {"1": "AC", "2": "AC", "3": None}, "what has only final answers is not judged yet, for all to see"
    report = api.get("contests/c/submissions/1/report", user="team").json()
    final = next(case for case in report["cases"] if case["name"] == "03")
    assert (final["verdict"], final["raw"], final["points"]) == (None, None, None)
    assert final["message"]["key"] == "final-case"
    assert api.get("contests/c/problems", user="team").json()[0]["test_data_count"] == 2
    assert api.get("contests/c/problems", user="judge").json()[0]["test_data_count"] == 3
    for user in (None, "team", "other"):
        shown = {each["judgement_id"] for each in api.get("contests/c/runs", user=user).json()}
        assert shown == ({judgement_id(api.service, 2)} if user == "other" else set()), (
            "all the runs of a judgement, or none"
        )

    pass_time(api.service, HOUR)
    assert str(SECRET) in everything(api, None)
    assert points(api)["team"] > points(api)["other"]
    assert api.get("contests/c/submissions/1/report", user="team").json()["points"] == points(api)["team"]
    types = {each["submission_id"]: each["judgement_type_id"] for each in api.get("contests/c/judgements").json()}
    assert types["3"] == "WA"


@sqlite_first
def test_final_cases_decide_after_the_end_and_judges_may_ask_for_either(api: Api) -> None:
    contest(api, released_in(HOUR))
    add_submission(api.service, {"02": share(1), "03": share(0)}, minute=1)
    add_submission(api.service, {"02": share(0), "03": share(1)}, minute=2, team="other")
    provisional, final = {"team": 100.0, "other": 0.0}, {"other": 100.0, "team": 0.0}
    assert points(api) == points(api, "judge") == provisional
    assert points(api, "judge", "?phase=final") == final
    assert points(api, "judge", "?phase=provisional") == provisional
    assert api.get("contests/c/scoreboard?phase=final", user="team").status_code == 403
    assert api.get("contests/c/scoreboard?phase=last").status_code == 400
    pass_time(api.service, 5 * HOUR)
    assert points(api) == points(api, "judge") == points(api, None, "?phase=final") == final
    assert points(api, "judge", "?phase=provisional") == points(api, None, "?phase=provisional") == provisional


@sqlite_first
def test_provisional_and_final_cases_may_count_together(api: Api) -> None:
    contest(api, {**released_in(HOUR), "final_phase": "all"})
    add_submission(api.service, {"02": share(1)}, minute=1)
    assert points(api)["team"] == 100.0
    pass_time(api.service, 5 * HOUR)
    assert points(api)["team"] == pytest.approx(40.0)


@sqlite_first
def test_final_cases_wait_for_the_thaw(api: Api) -> None:
    contest(api, released_in(HOUR), freeze=HOUR)
    add_submission(api.service, {"02": share(1), "03": share(0)}, minute=1)
    pass_time(api.service, 5 * HOUR)
    assert points(api)["team"] == 100.0
    assert points(api, "judge")["team"] == 0.0
    assert names(api, "judge") == ["01", "02", "03"]
    api.post("contests/c/reveal", user="admin", json={"step": "all"})
    assert points(api)["team"] == 0.0


@sqlite_first
def test_final_cases_that_nobody_can_answer_never_decide(api: Api) -> None:
    contest(api, {}, started=9 * HOUR)
    add_submission(api.service, {"02": share(1)}, minute=1)
    assert points(api) == points(api, "judge")
    assert points(api)["team"] == 100.0
    assert names(api) == ["01", "02"]
    assert names(api, "judge") == ["01", "02", "03"]


@sqlite_first
def test_ordinals_of_provisional_cases_do_not_tell_how_many_final_ones_there_are(api: Api) -> None:
    swapped = {name.replace("secret/z", "secret/0"): data for name, data in FINAL.items()}
    jurado = "checker: exact\nscoring: {kind: absolute, direction: maximise}\nfinal: [secret/0]\n"
    add_problem(api.service, {**swapped, "jurado.yaml": jurado})
    add_contest(api.service, settings=TIMED)
    found = [(case["name"], case["ordinal"]) for case in api.get(f"{PROBLEM}/testcases", user="judge").json()]
    assert found == [("01", 1), ("02", 2), ("03", 3)]
    assert [case["ordinal"] for case in api.get(f"{PROBLEM}/testcases").json()] == [1, 2]


@sqlite_first
def test_a_judge_error_on_a_final_case_is_no_secret_of_the_provisional_ones(api: Api) -> None:
    contest(api, TIMED)
    add_submission(api.service, {"02": share(1), "03": REJECTED}, minute=1, judgement_type="PC")
    with api.service.database.read() as session:
        assert session.query(JudgementRow).one().type == "PC"
    assert api.get("contests/c/judgements", user="team").json()[0]["judgement_type_id"] == "AC"
    assert api.get("contests/c/judgements", user="judge").json()[0]["judgement_type_id"] == "PC"
