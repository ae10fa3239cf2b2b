"""Similarity through HTTP: who may ask, what is told of a contest, and the sources of submissions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from app.contests.schemas import ContestSettings
from app.core.service import Service
from app.similarity.service import similarity
from app.tables import ContestRow, SubmissionRow, TeamRow
from tests.builders.contests import add_contest, add_problem, add_submission
from tests.builders.examples import sqlite_first
from tests.builders.scoring import share
from tests.builders.service import Api

LONG = b" ".join(b"%d" % (at * at % 997) for at in range(200)) + b"\n"
WRONG = share(0)
OTHER_CHECKER = {"jurado.yaml": "checker: comesolo\nscoring: {kind: absolute, direction: maximise}\n"}


@pytest.fixture
def contest(api: Api) -> Api:
    add_problem(api.service)
    add_contest(api.service)
    add_team(api.service, "third")
    return api


def add_team(service: Service, name: str) -> None:
    from app.tables import AccountRow

    with service.database.write() as session:
        session.add(TeamRow(id=name, name=f"Team {name}", label=name, hidden=False))
        session.flush()
        contest = session.get_one(ContestRow, "c")
        session.add(AccountRow(id=name, username=name, type="team", team_id=name, created=contest.start_time))


def send(api: Api, team: str, files: dict[str, bytes], score: Any = WRONG, minute: float = 1.0) -> int:
    return add_submission(api.service, dict.fromkeys(files, score), team=team, files=files, minute=minute)


def found(api: Api, path: str = "", **params: Any) -> Any:
    reply = api.get(f"contests/c/similarity{path}", user="judge", params=params)
    assert reply.status_code == 200, reply.text
    return reply.json()


@sqlite_first
def test_the_same_wrong_answers_are_told_with_who_was_first(contest: Api) -> None:
    later = send(contest, "team", {"02": LONG, "03": b"9 " * 50}, minute=9)
    first = send(contest, "other", {"02": LONG, "03": b"8 " * 50}, minute=2)
    send(contest, "third", {"02": b"5 " * 50, "03": b"7 " * 50}, minute=1)
    told = found(contest)
    (pair,) = told["pairs"]
    assert pair == {
        "problem_id": "echo",
        "team_ids": ["other", "team"],
        "kind": "identical",
        "cases": ["02"],
        "telling_cases": 2,
        "ratio": 0.5,
        "weight": 1.0,
        "first_team_id": "other",
        "submissions": [
            {"team_id": "other", "submission_id": str(first), "contest_time": "0:02:00.000"},
            {"team_id": "team", "submission_id": str(later), "contest_time": "0:09:00.000"},
        ],
    }
    assert (told["unread"], told["sources"]) == (0, [])


@sqlite_first
def test_an_answer_written_otherwise_is_told(contest: Api) -> None:
    send(contest, "team", {"02": LONG})
    send(contest, "other", {"02": LONG.replace(b" ", b"\n")})
    assert [pair["kind"] for pair in found(contest)["pairs"]] == ["near"]


@sqlite_first
def test_right_answers_of_a_problem_that_has_one_are_not_told(contest: Api) -> None:
    send(contest, "team", {"02": LONG}, share(1))
    send(contest, "other", {"02": LONG}, share(1))
    assert found(contest)["pairs"] == []


@sqlite_first
def test_equal_full_answers_are_told_where_others_are_as_good(api: Api) -> None:
    add_problem(api.service, OTHER_CHECKER)
    add_contest(api.service)
    for team in ("team", "other"):
        send(api, team, {"02": LONG, "03": b"3\n"}, share(1))
    (pair,) = found(api)["pairs"]
    assert (pair["cases"], pair["telling_cases"]) == (["02"], 1)


@sqlite_first
def test_pairs_below_the_least_ratio_are_left_out_and_the_rest_is_counted(contest: Api) -> None:
    for team in ("team", "other", "third"):
        send(contest, team, {"02": LONG, "03": team.encode() * 20})
    assert len(found(contest, min=0.5)["pairs"]) == 3
    assert found(contest, min=0.6)["pairs"] == []
    told = found(contest, limit=1)
    assert (len(told["pairs"]), told["left_off"]) == (1, 2)


@sqlite_first
def test_submissions_are_named_as_another_system_named_them(contest: Api) -> None:
    mine, theirs = send(contest, "team", {"02": LONG}), send(contest, "other", {"02": LONG})
    attach(contest, mine, [("x.py", SOURCE)])
    attach(contest, theirs, [("y.py", SOURCE)])
    with contest.service.database.write() as session:
        session.get_one(SubmissionRow, mine).external_id = "theirs-7"
    told = found(contest)
    assert {pair["submissions"][0]["submission_id"] for pair in (*told["pairs"], *told["sources"])} == {"theirs-7"}


@sqlite_first
def test_a_new_answer_is_seen_by_the_next_question(contest: Api) -> None:
    send(contest, "team", {"02": LONG})
    assert found(contest)["pairs"] == []
    send(contest, "other", {"02": LONG})
    assert len(found(contest)["pairs"]) == 1


@sqlite_first
def test_texts_that_were_not_read_in_time_are_counted(contest: Api) -> None:
    send(contest, "team", {"02": LONG})
    send(contest, "other", {"02": LONG.replace(b" ", b"\n")})
    service, snapshot = contest.service, contest.service.boards.snapshot("c", public=False)
    assert snapshot is not None
    with service.database.read() as session:
        none = similarity(service.files, snapshot, session, None, 0.5, 10, seconds=-1.0)
        all_ = similarity(service.files, snapshot, session, None, 0.5, 10)
    assert (none.texts, none.unread, none.pairs) == (2, 2, [])
    assert (all_.texts, all_.unread, len(all_.pairs)) == (2, 0, 1)


@pytest.mark.parametrize(
    ("path", "code", "said"),
    [
        ("?problem_id=none", 400, "problem_id: expected a problem of contest c, found 'none'"),
        ("?min=2", 400, "min"),
    ],
)
def test_what_cannot_be_compared_is_one_clear_error(quick_api: Api, path: str, code: int, said: str) -> None:
    add_problem(quick_api.service)
    add_contest(quick_api.service)
    reply = quick_api.get(f"contests/c/similarity{path}", user="judge")
    assert reply.status_code == code
    assert said in reply.json()["message"]


SOURCE = b"for row in range(9):\n    for column in range(row):\n        print(row * column, column + row)\n" * 3


def attach(api: Api, submission: int, sources: Sequence[tuple[str, bytes]]) -> None:
    kept = [{"name": name, "size": len(data), "sha256": api.service.files.keep(data)} for name, data in sources]
    with api.service.database.write() as session:
        session.get_one(SubmissionRow, submission).sources = kept


@sqlite_first
def test_sources_alike_but_for_names_are_told(contest: Api) -> None:
    mine, theirs = send(contest, "team", {"02": b"1\n"}), send(contest, "other", {"02": b"2\n"})
    attach(contest, mine, [("notes.txt", b"mine\n"), ("src/main file.py", SOURCE)])
    attach(contest, theirs, [("x.py", SOURCE.replace(b"row", b"a").replace(b"column", b"b"))])
    (pair,) = found(contest)["sources"]
    assert (pair["kind"], pair["team_ids"], pair["first_team_id"]) == ("near", ["other", "team"], "team")
    assert pair["ratio"] == 1.0


@sqlite_first
def test_sources_are_listed_and_given_to_the_team_and_judges_alone(contest: Api) -> None:
    with contest.service.database.write() as session:
        session.get_one(ContestRow, "c").settings = ContestSettings(show_others_answers=True)
    sent = send(contest, "team", {"02": LONG})
    attach(contest, sent, [("src/main.py", SOURCE)])
    path = f"contests/c/submissions/{sent}/sources"
    for user in ("team", "judge", "admin"):
        (listed,) = contest.get(path, user=user).json()
        assert (listed["name"], listed["size"]) == ("src/main.py", len(SOURCE))
        reply = contest.get(listed["href"], user=user)
        assert reply.content == SOURCE
        assert reply.headers["content-disposition"] == "attachment"
    for user in ("other", "staff", None):
        assert contest.get(path, user=user).status_code == 403
        assert contest.get(f"{path}/src/main.py", user=user).status_code == 403
        zipped = contest.get(f"contests/c/submissions/{sent}/files", user=user)
        assert (zipped.status_code, b"sources/" in zipped.content) == (200, False)
    assert contest.get(f"{path}/none.py", user="team").status_code == 404
    assert b"sources/" in contest.get(f"contests/c/submissions/{sent}/files", user="team").content


def test_sources_sent_with_answers_are_kept(quick_api: Api) -> None:
    add_problem(quick_api.service)
    add_contest(quick_api.service)
    sent = quick_api.post(
        "contests/c/submissions",
        user="team",
        data={"problem_id": "echo"},
        files=[("files", ("02.out", b"2\n")), ("sources", ("main.py", SOURCE))],
    )
    assert sent.status_code == 201, json.dumps(sent.json())
    (listed,) = quick_api.get(f"contests/c/submissions/{sent.json()['id']}/sources", user="team").json()
    assert listed["name"] == "main.py"
