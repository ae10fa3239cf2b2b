"""Boards and verdicts as server-sent events."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.tables import ContestRow
from tests.builders.clocks import wall_clock
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, judgement_id, run_id
from tests.builders.scoring import share
from tests.builders.service import Api
from tests.builders.streams import Stream, open_stream


@pytest.fixture
def contest(quick_api: Api) -> Api:
    """A contest `c` that is running, with one submission."""
    add_problem(quick_api.service)
    add_contest(quick_api.service, started=HOUR, duration=2 * HOUR, freeze=timedelta(minutes=30))
    add_submission(quick_api.service, {"02": share(1)}, minute=1)
    return quick_api


def messages(stream: Stream) -> list[dict[str, Any]]:
    """The events that have come by now: id, event and data read as JSON."""
    found = []
    for block in bytes(stream.received).decode().split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if fields:
            found.append({**fields, "data": json.loads(fields["data"])})
    return found


def folded(told: list[dict[str, Any]]) -> dict[str, Any]:
    """The rows a client knows, by team."""
    rows: dict[str, Any] = {}
    for each in told:
        if "since" not in each["data"]:
            rows = {}
        for team_id in each["data"].get("removed_team_ids", ()):
            rows.pop(team_id, None)
        rows.update({row["team_id"]: row for row in each["data"]["rows"]})
    return rows


def board(api: Api, user: str | None = None) -> dict[str, Any]:
    found: dict[str, Any] = api.get("contests/c/scoreboard", user=user).json()
    return found


def test_a_board_comes_first_and_then_only_the_rows_that_change(contest: Api) -> None:
    with open_stream(contest, "contests/c/scoreboard/stream") as stream:
        stream.wait(lambda: messages(stream))
        assert stream.headers["content-type"].startswith("text/event-stream")
        first = messages(stream)[0]
        assert first["event"] == "scoreboard"
        assert first["id"] == first["data"]["version"] == board(contest)["version"]
        assert first["data"] == board(contest)
        add_submission(contest.service, {"02": share(1), "03": share(1)}, minute=2)
        contest.service.boards.changed("c")
        stream.wait(lambda: len(messages(stream)) == 2)
        second = messages(stream)[1]
        assert [row["team_id"] for row in second["data"]["rows"]] == ["team"]
        assert second["data"]["since"] == first["id"]
        assert folded(messages(stream)) == {row["team_id"]: row for row in board(contest)["rows"]}


def test_a_client_that_comes_again_gets_what_it_has_missed(contest: Api) -> None:
    known = board(contest)["version"]
    add_submission(contest.service, {"02": share(1), "03": share(1)}, minute=2)
    contest.service.boards.changed("c")
    path = "contests/c/scoreboard/stream?stream=false"
    for headers, query in (({"Last-Event-ID": known}, ""), ({}, f"&since={known}")):
        with open_stream(contest, path + query, headers=headers) as stream:
            stream.wait(lambda: stream.ended)
            (only,) = messages(stream)
            assert only["data"]["since"] == known
    with open_stream(contest, path, headers={"Last-Event-ID": "of-long-ago"}) as stream:
        stream.wait(lambda: stream.ended)
        assert "since" not in messages(stream)[0]["data"]
    with open_stream(contest, path, headers={"Last-Event-ID": board(contest)["version"]}) as stream:
        stream.wait(lambda: stream.ended)
        assert messages(stream) == []


def test_a_frozen_board_tells_the_public_only_that_something_was_submitted(contest: Api) -> None:
    with contest.service.database.write() as session:
        session.get_one(ContestRow, "c").start_time = datetime.now(UTC) - timedelta(minutes=100)
    with (
        open_stream(contest, "contests/c/scoreboard/stream") as public,
        open_stream(contest, "contests/c/scoreboard/stream", user="judge") as judges,
    ):
        public.wait(lambda: messages(public))
        judges.wait(lambda: messages(judges))
        before = folded(messages(public))["team"]
        add_submission(contest.service, {"02": share(1), "03": share(1)}, minute=95)
        contest.service.boards.changed("c")
        judges.wait(lambda: len(messages(judges)) == 2)
        public.wait(lambda: len(messages(public)) == 2)
        assert folded(messages(judges))["team"]["score"]["score"] == 100
        after = folded(messages(public))["team"]
        assert after["score"] == before["score"]
        assert after["problems"][0]["num_pending"] == before["problems"][0]["num_pending"] + 1


def test_the_clock_alone_makes_another_board(quick_api: Api) -> None:
    add_problem(quick_api.service)
    add_contest(quick_api.service, started=-HOUR)
    with wall_clock() as wall, open_stream(quick_api, "contests/c/scoreboard/stream") as stream:
        stream.wait(lambda: messages(stream))
        wall.step(HOUR - timedelta(seconds=2))
        quick_api.service.boards.changed("c")  # it looks, and waits for the start
        stream.wait(lambda: len(messages(stream)) == 2)
        before, after = messages(stream)
        assert before["data"]["state"]["started"] is None
        assert after["data"]["state"]["started"] is not None


def test_only_judges_may_ask_for_the_judges_board(contest: Api) -> None:
    assert contest.get("contests/c/scoreboard/stream?public=false", user="team").status_code == 403
    assert contest.get("contests/none/scoreboard/stream").status_code == 404
    assert contest.get("contests/c/scoreboard/stream", params={"since": "x" * 100}).status_code == 400


def test_a_team_is_told_its_own_verdicts_and_judges_all_of_them(contest: Api) -> None:
    path = "contests/c/submissions/stream"
    with (
        open_stream(contest, path, user="team") as mine,
        open_stream(contest, path, user="other") as other,
        open_stream(contest, path, user="judge") as judge,
    ):
        first = str(add_submission(contest.service, {"02": share(1)}, minute=2))
        second = str(add_submission(contest.service, {"02": share(1)}, minute=3, team="other"))
        contest.service.boards.changed("c")
        for stream, ids in ((mine, [first]), (other, [second]), (judge, [first, second])):
            wanted = {("submissions", id_) for id_ in ids}
            wanted |= {("judgements", judgement_id(contest.service, id_)) for id_ in ids}
            wanted |= {("runs", run_id(contest.service, id_)) for id_ in ids}
            stream.wait(lambda: len(messages(stream)) >= len(wanted))  # noqa: B023 - asked at once
            assert {(each["event"], each["data"]["id"]) for each in messages(stream)} == wanted
            assert all(each["event"] == each["data"]["type"] for each in messages(stream))
        last = messages(mine)[-1]["id"]
    third = str(add_submission(contest.service, {"02": share(1)}, minute=4))
    contest.service.boards.changed("c")
    with open_stream(contest, f"{path}?stream=false", user="team", headers={"Last-Event-ID": last}) as again:
        again.wait(lambda: again.ended)
        told = [(each["event"], each["data"]["id"]) for each in messages(again)]
        assert told == [
            ("submissions", third),
            ("judgements", judgement_id(contest.service, third)),
            ("runs", run_id(contest.service, third)),
        ]


def test_a_token_of_no_use_is_refused(contest: Api) -> None:
    reply = contest.get("contests/c/submissions/stream", user="team", headers={"Last-Event-ID": "x"})
    assert reply.status_code == 400
