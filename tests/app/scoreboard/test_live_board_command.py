"""The board and verdicts as they change."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from jurado_client.server_events import ServerEvent, events_of

from app.core.commands.lookup import clock_words
from app.core.commands.output import Failure
from app.scoreboard.commands import boards, frozen_banner
from tests.app.conftest import Jurado
from tests.builders.scripted import Scripted, event_stream, first

STATE = {"started": "2026-11-21T10:00:00.000Z", "frozen": None, "ended": None, "thawed": None, "finalized": None}
FACTS = {
    "id": "c",
    "name": "The contest",
    "start_time": "2026-11-21T10:00:00.000Z",
    "duration": "5:00:00.000",
    "scoreboard_freeze_duration": "1:00:00.000",
    "scoreboard_thaw_time": None,
    "open_to_all": False,
    "settings": {},
    "removed_intervals": [],
    "state": STATE,
}


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _seconds: None)


def row(team: str, rank: int, points: float) -> dict[str, Any]:
    cell = {"problem_id": "comesolo", "num_judged": 1, "num_pending": 0, "score": points}
    return {"rank": rank, "team_id": team, "score": {"score": points, "time": None}, "problems": [cell]}


def board(version: str, *rows: dict[str, Any], **state: Any) -> dict[str, Any]:
    return {"version": version, "contest_time": "1:00:00.000", "state": {**STATE, **state}, "rows": list(rows)}


ONE = board("1", row("ants", 1, 50), row("bees", 2, 40))
TWO = {**ONE, "version": "2", "rows": [row("bees", 1, 60), row("ants", 2, 50)]}


def test_events_are_read_as_the_standard_has_them() -> None:
    lines = [
        ": hello",
        "",
        "event: a",
        "data: one",
        "data:two",
        "id: 7",
        "",
        "data: plain",
        "retry: 9",
        "",
        "event: lost",
    ]
    assert list(events_of(lines)) == [ServerEvent("a", "one\ntwo", "7"), ServerEvent("message", "plain", "7")]


def test_an_event_that_broke_off_is_not_given() -> None:
    assert list(events_of(["event: a", "data: half"])) == []


def test_a_board_that_is_refused_is_a_failure() -> None:
    refused = httpx.Response(403, json={"code": 403, "message": "not for you"})
    with pytest.raises(Failure, match="not for you"):
        first(1, boards(Scripted({"GET contests/c/scoreboard": refused}).client(), "c", cases=False))


def test_polling_shows_nothing_twice() -> None:
    replies = [
        httpx.Response(200, json=ONE, headers={"ETag": '"1"'}),
        *[httpx.Response(304)] * 3,
        httpx.Response(200, json=TWO),
    ]
    assert first(2, boards(Scripted({"GET contests/c/scoreboard": replies}).client(), "c", cases=False)) == [ONE, TWO]


def test_a_frozen_board_says_so_until_it_is_thawed() -> None:
    frozen = {"frozen": "2026-11-21T14:00:00.000Z"}
    assert "FROZEN for the last 1:00:00" in frozen_banner({**STATE, **frozen}, FACTS)
    assert frozen_banner({**STATE, **frozen, "thawed": "2026-11-21T16:00:00.000Z"}, FACTS) == ""
    assert frozen_banner(STATE, FACTS) == ""


@pytest.mark.parametrize(
    ("now", "state", "said"),
    [
        ("09:59:30", {"started": None}, "starts in 0:00:30"),
        ("11:00:00", {}, "4:00:00 left"),
        ("15:00:01", {}, "0:00:00 left"),
        ("15:30:00", {"ended": "2026-11-21T15:00:00.000Z"}, "over, not final yet"),
        ("15:30:00", {"ended": "x", "finalized": "2026-11-21T15:20:00.000Z"}, "final"),
    ],
)
def test_the_time_left_is_told(now: str, state: dict[str, Any], said: str) -> None:
    assert (
        clock_words({**FACTS, "state": {**STATE, **state}}, datetime.fromisoformat(f"2026-11-21T{now}+00:00")) == said
    )


@pytest.mark.parametrize(
    ("end", "said"), [(None, "paused, 4:30:00 left"), ("2026-11-21T10:50:00.000Z", "4:20:00 left")]
)
def test_what_a_pause_takes_out_is_not_lost(end: str | None, said: str) -> None:
    facts = {**FACTS, "removed_intervals": [{"start": "2026-11-21T10:30:00.000Z", "end": end}]}
    assert clock_words({**facts, "state": STATE}, datetime.fromisoformat("2026-11-21T11:00:00+00:00")) == said


def test_a_contest_without_a_start_has_no_time_left() -> None:
    assert clock_words({**FACTS, "start_time": None, "state": {}}, datetime.now(UTC)) == "no start set yet"


def test_the_live_board_as_json_is_a_line_for_each_change(jurado: Jurado, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_request: httpx.Request) -> httpx.Response:
        raise KeyboardInterrupt

    replies = [httpx.Response(200, json=ONE), httpx.Response(200, json=TWO), interrupted]
    answers = {
        "GET contests/c/scoreboard": replies,
        "GET contests/c/teams": [{"id": "ants", "name": "The Ants"}],
        "GET contests/c": FACTS,
        "GET contests/c/state": STATE,
    }
    Scripted(answers).install(monkeypatch)
    done = jurado("scoreboard", "c", "--live", "--json")
    assert done.exit_code == 0
    assert [json.loads(line) for line in done.stdout.splitlines()] == [ONE, TWO]
    replies[:] = [httpx.Response(200, json=ONE), httpx.Response(200, json=TWO), interrupted]
    drawn_board = jurado("scoreboard", "c", "--live")
    assert drawn_board.exit_code == 0
    assert "The Ants" in drawn_board.stdout
    assert "c at " in drawn_board.stdout
    assert "last change at 1:00:00" in drawn_board.stdout


SUBMITTED = {
    "type": "submissions",
    "id": "7",
    "data": {"id": "7", "problem_id": "comesolo", "team_id": "ants", "contest_time": "0:01:00.000"},
}
BEGUN = {"type": "judgements", "id": "9", "data": {"submission_id": "7", "judgement_type_id": None}}
JUDGED = {
    "type": "judgements",
    "id": "9",
    "data": {"submission_id": "7", "judgement_type_id": "PC", "score": 12.5, "end_contest_time": "0:01:02.000"},
}
GONE = {"type": "judgements", "id": "8", "data": None}


def test_verdicts_are_told_as_they_come(jurado: Jurado, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_request: httpx.Request) -> httpx.Response:
        raise KeyboardInterrupt

    replaced = {**JUDGED, "data": {**JUDGED["data"], "current": False}}
    changes = [SUBMITTED, BEGUN, GONE, JUDGED, replaced]
    sent = [(str(change["type"]), change) for change in changes]
    streams: list[Any] = []
    answers = {
        "GET contests/c/submissions/stream": streams,
        "GET contests/c/teams": [{"id": "ants", "name": "The Ants"}],
    }
    Scripted(answers).install(monkeypatch)
    streams[:] = [lambda _request: event_stream(*sent, ("runs", {})), interrupted]
    done = jurado("watch", "--live", "--contest", "c")
    assert (done.exit_code, done.stdout.splitlines()) == (
        0,
        ["0:01:00 The Ants, comesolo: submission 7 has come in", "0:01:02 submission 7 (comesolo): PC, 12.50 points"],
    )
    streams[:] = [lambda _request: event_stream(*sent), interrupted]
    done = jurado("watch", "--live", "--contest", "c", "--json")
    assert [json.loads(line) for line in done.stdout.splitlines()] == changes


def test_a_server_without_a_stream_of_verdicts_says_so(jurado: Jurado, monkeypatch: pytest.MonkeyPatch) -> None:
    Scripted({"GET contests/c/teams": []}).install(monkeypatch)
    done = jurado("watch", "--live", "--contest", "c")
    assert (done.exit_code, done.stderr) == (1, "jurado: http://scripted sends no verdicts of c\n")


@pytest.mark.parametrize("words", [(), ("7", "--live"), ("--live",)])
def test_either_one_submission_is_watched_or_a_contest(jurado: Jurado, words: tuple[str, ...]) -> None:
    done = jurado("watch", *words)
    assert (done.exit_code, done.stderr) == (2, "jurado: expected SUBMISSION, or --live and --contest\n")
