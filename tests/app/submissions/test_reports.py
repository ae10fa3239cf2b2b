"""What became of submissions: judgements, runs, reports and the answers that count, each for those who may see it."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import Any

import pytest

from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, judgement_id
from tests.builders.examples import rule_cases, sqlite_first
from tests.builders.scoring import JUDGE_ERROR, REJECTED, raw, share
from tests.builders.service import Api
from tests.builders.zips import unzipped

S = "contests/c/submissions"


@pytest.fixture(autouse=True)
def _problem(api: Api) -> None:
    add_problem(api.service)


def ids(reply: Any) -> list[str]:
    """Ids of a collection."""
    return [each["id"] for each in reply.json()]


def report(api: Api, submission: int, user: str = "team") -> Any:
    """A report on a submission."""
    reply = api.get(f"{S}/{submission}/report", user=user)
    assert reply.status_code == 200, reply.text
    return reply.json()


def cases(found: Any) -> dict[str, Any]:
    """The report's cases by name."""
    return {case["name"]: case for case in found["cases"]}


@sqlite_first
def test_a_report_has_every_file_case_and_group_with_points_and_reasons(api: Api) -> None:
    add_contest(api.service)
    sent = add_submission(api.service, {"01": share(1), "02": share(Fraction(1, 2)), "03": REJECTED}, minute=2)
    found = report(api, sent)
    assert (found["state"], found["points"], found["max_points"]) == ("done", 25.0, 100.0)
    assert found["files"][1] == {"name": "02.out", "case": "02", "ignored": None}
    assert found["judgement"]["judgement_type_id"] == "PC"
    assert found["groups"] == [
        {
            "name": "secret",
            "kind": "provisional",
            "aggregation": "sum",
            "points": 25.0,
            "max_points": 100.0,
            "why": None,
        }
    ]
    assert cases(found)["02"] == {
        "name": "02",
        "group": "secret",
        "kind": "provisional",
        "max_points": 50.0,
        "points": 25.0,
        "file": "02.out",
        "size": 3,
        "sha256": hashlib.sha256(b"02\n").hexdigest(),
        "carried_over_from": None,
        "verdict": "accepted",
        "raw": 1,
        "max_raw": None,
        "message": {"key": "accepted", "text": "case 02", "args": {}},
        "run_time": 0.003,
    }
    assert (cases(found)["01"]["points"], cases(found)["01"]["max_points"]) == (0.0, 0.0)
    assert (cases(found)["03"]["verdict"], cases(found)["03"]["points"]) == ("rejected", 0.0)


@sqlite_first
def test_a_group_that_gives_nothing_says_why(api: Api) -> None:
    add_contest(api.service)
    assert report(api, add_submission(api.service, {"02": REJECTED}))["groups"][0]["why"] == "no case gives points yet"


@sqlite_first
def test_a_case_without_a_file_shows_from_where_its_answer_was_carried_over(api: Api) -> None:
    add_contest(api.service)
    first = add_submission(api.service, {"02": share(1)}, minute=1)
    second = add_submission(api.service, {"03": share(1)}, minute=2)
    case = cases(report(api, second))["02"]
    assert (case["carried_over_from"], case["verdict"], case["points"], case["file"]) == (
        str(first),
        "accepted",
        50.0,
        None,
    )
    assert report(api, second)["points"] == 100.0
    answer = api.get(f"{S}/{second}/answers/02", user="team")
    assert (answer.content, answer.headers["jurado-submission"]) == (b"02\n", str(first))
    own = api.get(f"{S}/{second}/answers/03", user="team")
    assert (own.content, own.headers["jurado-submission"]) == (b"03\n", str(second))
    assert api.get(f"{S}/{second}/answers/01", user="team").status_code == 404
    assert api.get(f"{S}/{first}/answers/03", user="team").status_code == 404


@sqlite_first
def test_nothing_is_carried_over_where_the_contest_says_so(api: Api) -> None:
    add_contest(api.service, rule={"carry": "none", "counting": "last"})
    add_submission(api.service, {"02": share(1)}, minute=1)
    second = add_submission(api.service, {"03": share(1)}, minute=2)
    assert report(api, second)["points"] == 50.0
    assert cases(report(api, second))["02"]["message"]["key"] == "no-answer"
    assert api.get(f"{S}/{second}/answers/02", user="team").status_code == 404


@sqlite_first
def test_a_submission_that_waits_says_so_and_shows_what_it_takes_over(api: Api) -> None:
    add_contest(api.service)
    first = add_submission(api.service, {"02": share(1)}, minute=1)
    waits = add_submission(api.service, None, files={"03": b"x"}, minute=2)
    found = report(api, waits)
    assert (found["state"], found["points"], found["judgement"]["judgement_type_id"]) == ("queued", None, None)
    assert (cases(found)["03"]["message"]["key"], cases(found)["03"]["points"]) == ("waiting", None)
    assert cases(found)["02"]["carried_over_from"] == str(first)
    assert api.get(f"{S}/{waits}/answers/03", user="team").content == b"x"


@sqlite_first
def test_a_judge_error_costs_the_team_nothing(api: Api) -> None:
    add_contest(api.service, rule={"counting": "last", "carry": "none"})
    counted = add_submission(api.service, {"02": share(1)}, minute=1)
    failed = add_submission(api.service, {"02": JUDGE_ERROR}, minute=2, judgement_type="JE")
    case = cases(report(api, failed))["02"]
    assert case["verdict"] == "judge_error"
    assert (case["points"], case["carried_over_from"]) == (50.0, str(counted)), "the points are of an earlier answer"
    assert api.get("contests/c/scoreboard").json()["rows"][0]["score"]["score"] == 50.0


@sqlite_first
def test_the_score_of_a_relative_judgement_follows_best_and_the_report_agrees_with_the_board(api: Api) -> None:
    add_contest(api.service, rule={"kind": "relative"})
    mine = add_submission(api.service, {"02": raw(8)})
    add_submission(api.service, {"02": raw(16)}, team="other", minute=2)
    judgement = api.get(f"contests/c/judgements?submission_id={mine}", user="team").json()[0]
    board = api.get("contests/c/scoreboard").json()
    assert judgement["score"] == report(api, mine)["points"] == board["rows"][1]["score"]["score"] == 25.0


@sqlite_first
def test_after_the_freeze_a_team_sees_its_own_verdicts_at_the_frozen_best(api: Api) -> None:
    add_contest(api.service, started=4 * HOUR, freeze=2 * HOUR, rule={"kind": "relative"})
    add_submission(api.service, {"02": raw(8)}, minute=1)
    theirs = add_submission(api.service, {"02": raw(32)}, team="other", minute=200)
    late = add_submission(api.service, {"02": raw(4)}, minute=210)
    found = api.get("contests/c/judgements", user="team").json()
    assert [(each["submission_id"], each["score"]) for each in found][1:] == [(str(late), 25.0)]
    assert str(theirs) not in [each["submission_id"] for each in found]
    assert ids(api.get(S, user="team")) == ["1", str(theirs), str(late)]  # that it was sent is no secret
    assert len(api.get("contests/c/judgements", user="judge").json()) == 3
    assert len(api.get("contests/c/judgements").json()) == 1


@sqlite_first
def test_the_files_come_back_as_one_zip_with_the_same_bytes_each_time(api: Api) -> None:
    add_contest(api.service)
    sent = add_submission(api.service, {"02": share(1), "03": share(1)})
    document = api.get(f"{S}/{sent}", user="team").json()
    data = api.get(document["files"][0]["href"], user="team").content
    assert unzipped(data) == {"02.out": b"02\n", "03.out": b"03\n"}
    assert api.get(f"{S}/{sent}/files", user="judge").content == data


@sqlite_first
@pytest.mark.parametrize("path", ["files", "report", "answers/02"])
def test_others_know_of_a_submission_but_not_what_is_in_it(api: Api, path: str) -> None:
    add_contest(api.service)
    sent = add_submission(api.service, {"02": share(1)})
    for user in ("other", None):
        assert api.get(f"{S}/{sent}", user=user).json()["files"] == []
        assert api.get(f"{S}/{sent}/{path}", user=user).status_code == 403
        assert api.get("contests/c/runs", user=user).json() == []
    assert api.get(f"{S}/{sent}/{path}", user="judge").status_code == 200
    run = api.get("contests/c/runs", user="team").json()[0]
    assert api.get(f"contests/c/runs/{run['id']}", user="other").status_code == 404


@sqlite_first
def test_a_contest_may_show_everybodys_answers_but_not_behind_the_freeze(api: Api) -> None:
    add_contest(api.service, started=4 * HOUR, freeze=2 * HOUR, settings={"show_others_answers": True})
    early = add_submission(api.service, {"02": share(1)}, minute=1)
    late = add_submission(api.service, {"02": share(1)}, minute=200)
    assert api.get(f"{S}/{early}/answers/02").content == b"02\n"
    assert api.get(f"{S}/{late}/answers/02", user="other").status_code == 403
    assert len(api.get("contests/c/runs").json()) == 1


@sqlite_first
def test_hidden_teams_are_seen_by_themselves_and_by_judges_only(api: Api) -> None:
    from app.tables import TeamRow

    add_contest(api.service)
    sent = add_submission(api.service, {"02": share(1)}, team="other")
    with api.service.database.write() as session:
        session.get_one(TeamRow, "other").hidden = True
    assert {user: ids(api.get(S, user=user)) for user in ("team", "other", "judge")} == {
        "team": [],
        "other": [str(sent)],
        "judge": [str(sent)],
    }
    assert api.get(f"{S}/{sent}").status_code == 404
    assert api.get("contests/c/judgements").json() == []
    assert report(api, sent, "other")["points"] == 50.0


@sqlite_first
def test_collections_are_filtered_by_any_id_and_by_null(api: Api) -> None:
    add_contest(api.service)
    one = add_submission(api.service, {"02": share(1)}, judgement_type="AC")
    two = add_submission(api.service, {"02": REJECTED}, team="other", judgement_type="WA")
    three = add_submission(api.service, None, team=None, files={"02": b"2\n"})
    assert ids(api.get(f"{S}?team_id=team", user="judge")) == [str(one)]
    assert ids(api.get(f"{S}?team_id=", user="judge")) == [str(three)]
    assert ids(api.get(f"{S}?team_id=team&problem_id=none", user="judge")) == []
    assert ids(api.get(f"{S}?language_id=answers&account_id=other", user="judge")) == [str(two)]
    judgements = api.get("contests/c/judgements?judgement_type_id=WA", user="judge").json()
    assert [each["submission_id"] for each in judgements] == [str(two)]
    assert len(api.get("contests/c/judgements?judgement_type_id=", user="judge").json()) == 1
    runs = api.get(f"contests/c/runs?judgement_id={judgements[0]['id']}", user="judge").json()
    assert [each["judgement_type_id"] for each in runs] == ["WA"]
    assert len(api.get("contests/c/runs?judgement_type_id=AC", user="judge").json()) == 1


@rule_cases("bad", ["0", "01", "-1", "1e1", "x", "9" * 30, "٣", "1-1-1", " 1"])
def test_an_id_that_is_none_is_not_found_and_no_fault(api: Api, bad: str) -> None:
    add_contest(api.service)
    add_submission(api.service, {"02": share(1)})
    for path in (f"{S}/{bad}", f"{S}/{bad}/report", f"contests/c/judgements/{bad}", f"contests/c/runs/{bad}"):
        assert api.get(path, user="judge").status_code == 404


@sqlite_first
def test_a_submission_is_found_in_its_own_contest_only(api: Api) -> None:
    add_contest(api.service)
    add_contest(api.service, "d")
    sent = add_submission(api.service, {"02": share(1)})
    assert api.get(f"contests/d/submissions/{sent}", user="judge").status_code == 404
    assert api.get(f"contests/d/judgements/{judgement_id(api.service, sent)}", user="judge").status_code == 404
    assert api.get("contests/d/runs", user="judge").json() == []
