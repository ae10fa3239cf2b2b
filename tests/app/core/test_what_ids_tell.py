"""Ids of judgements and runs do not tell how many there are that one does not see."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.tables import ContestRow, EventRow
from tests.builders.contests import (
    FINAL,
    HOUR,
    add_contest,
    add_problem,
    add_submission,
    judgement_id,
    run_id,
    with_checkers,
)
from tests.builders.examples import rule_cases, sqlite_first
from tests.builders.judging import judge
from tests.builders.scoring import share
from tests.builders.service import Api, open_api
from tests.builders.streams import fold, read_feed, shown

RIGHT = {"02": b"2\n", "03": b"3\n"}


@pytest.fixture
def contest(api: Api) -> Api:
    """A running contest with one judged submission of `team`, and checkers."""
    add_problem(api.service)
    add_contest(api.service)
    add_submission(api.service, {"02": share(1), "03": share(0)}, files=RIGHT)
    return with_checkers(api)


def ids(api: Api, kind: str, user: str | None = "team") -> list[str]:
    """The ids of a list."""
    return [each["id"] for each in api.get(f"contests/c/{kind}", user=user).json()]


@sqlite_first
def test_a_silent_rejudging_leaves_no_gap_in_the_ids_of_judgements(contest: Api) -> None:
    """The number of the next judgement continues by the silent one; no id on its way to anyone says a number."""
    contest.post("contests/c/rejudgings", user="admin", json={"reason": "silent", "problem": "echo"})
    assert judge(contest.service) == 1
    second = add_submission(contest.service, {"02": share(1)}, minute=2)
    first_id, second_id = ids(contest, "judgements")
    assert [first_id, second_id] == [judgement_id(contest.service, number) for number in (1, 3)]
    assert {first_id, second_id}.isdisjoint({"1", "2", "3"})
    report = contest.get(f"contests/c/submissions/{second}/report", user="team").json()
    assert report["judgement"]["id"] == second_id
    assert [
        each["judgement_id"] for each in contest.get(f"contests/c/runs?judgement_id={second_id}", user="team").json()
    ] == [second_id]
    assert set(fold(read_feed(contest, user="team"))["judgements"]) == {first_id, second_id}
    silent = judgement_id(contest.service, 2)
    for user in (None, "team", "judge", "admin"):
        assert contest.get(f"contests/c/judgements/{silent}", user=user).status_code == 404
        assert contest.get(f"contests/c/runs?judgement_id={silent}", user=user).json() == []
        assert contest.get(f"contests/c/runs/{run_id(contest.service, 2)}", user=user).status_code == 404


@rule_cases("old", ["1", "1-2", "j1", "01", "-1", "9" * 17, "j" + "f" * 16, f"j{'f' * 16}-{'f' * 16}"])
def test_a_plain_number_is_the_id_of_no_judgement(contest: Api, old: str) -> None:
    for path in (f"judgements/{old}", f"runs/{old}"):
        assert contest.get(f"contests/c/{path}", user="judge").status_code == 404
    assert contest.get(f"contests/c/runs?judgement_id={old}", user="judge").json() == []


@sqlite_first
def test_an_id_is_good_in_its_contest_alone(contest: Api) -> None:
    add_contest(contest.service, "d")
    for kind in ("judgements", "runs"):
        shown_id = ids(contest, kind)[0]
        assert contest.get(f"contests/c/{kind}/{shown_id}", user="judge").json()["id"] == shown_id
        assert contest.get(f"contests/d/{kind}/{shown_id}", user="judge").status_code == 404


@sqlite_first
def test_ids_of_runs_and_their_ordinals_do_not_count_final_cases(api: Api) -> None:
    add_problem(api.service, FINAL)
    add_contest(api.service, started=HOUR, settings={"final_minutes": 30})
    add_submission(api.service, {"02": share(1)})
    (run,) = api.get("contests/c/runs", user="team").json()
    judgement, _, case = run["id"].partition("-")
    assert judgement == run["judgement_id"]
    assert len(case) == 16
    assert run["ordinal"] == api.get("contests/c/problems", user="team").json()[0]["test_data_count"]


@sqlite_first
def test_ids_outlive_the_server(database_url: str, tmp_path: Path) -> None:
    with open_api(database_url, tmp_path) as api:
        add_problem(api.service)
        add_contest(api.service)
        add_submission(api.service, {"02": share(1)})
        before = ids(api, "judgements"), ids(api, "runs")
    with open_api(database_url, tmp_path, again=True) as api:
        assert (ids(api, "judgements"), ids(api, "runs")) == before


@sqlite_first
def test_who_follows_a_contest_while_ids_change_is_told_so(api: Api) -> None:
    """As when a server is brought up to date that has told of judgements by their numbers."""
    add_problem(api.service)
    add_contest(api.service)
    add_submission(api.service, {"02": share(1)})
    events = read_feed(api, user="judge")
    new = [judgement_id(api.service, 1), run_id(api.service, 1)]
    with api.service.database.write() as session:
        for row in session.query(EventRow).where(EventRow.type.in_(("judgements", "runs"))):
            row.data = (row.data or "").replace(new[1], "1-2").replace(new[0], "1")
            row.object_id = "1"
    for event in events:
        if event["type"] in {"judgements", "runs"}:
            event["id"] = event["data"]["id"] = event["data"]["id"].replace(new[1], "1-2").replace(new[0], "1")
    with open_api(api.service.settings.database_url, api.service.settings.home, again=True) as later:
        news = read_feed(later, user="judge", token=events[-1]["token"])
        assert {(each["type"], each["id"]) for each in news if each["data"] is None} == {
            ("judgements", "1"),
            ("runs", "1-2"),
        }
        assert fold([*events, *news]) == shown(later, "c", "judge")


@sqlite_first
def test_the_secret_of_a_contest_is_shown_to_nobody(contest: Api) -> None:
    with contest.service.database.read() as session:
        secret = session.get_one(ContestRow, "c").secret
    assert len(secret) == 32
    for path in ("contests", "contests/c", "contests/c/state", "contests/c/package.zip"):
        assert secret.encode() not in contest.get(path, user="admin").content
