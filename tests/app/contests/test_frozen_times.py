"""Whatever changes of a contest's times, a freeze that has begun keeps its start, and its board stays as it was."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.core.clics import format_time, parse_time
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, pass_time
from tests.builders.scoring import raw
from tests.builders.service import Api
from tests.builders.streams import fold, read_feed, shown


def contest(api: Api, *, started: float = 4.5, thaw: datetime | None = None) -> Api:
    """A contest of five hours, frozen for its last; `team` leads on the board, `other` behind the freeze."""
    add_problem(api.service)
    rule = {"kind": "relative", "counting": "best-case"}
    add_contest(api.service, started=started * HOUR, freeze=HOUR, rule=rule, thaw=thaw)
    add_submission(api.service, {"02": raw(8)}, minute=10)
    add_submission(api.service, {"02": raw(4)}, minute=20, team="other")
    add_submission(api.service, {"02": raw(16)}, minute=250, team="other")
    return api


def patch(api: Api, status: int = 200, /, **body: Any) -> Any:
    """Change the contest; the reply, which has this status."""
    reply = api.patch("contests/c", user="admin", json=body)
    assert reply.status_code == status, reply.text
    return reply.json()


def public(api: Api) -> list[Any]:
    """All that everyone sees of who has done what: the board, points over time, judgements, awards and BEST."""
    board = api.get("contests/c/scoreboard").json()
    history = api.get("contests/c/scores/history").json()["teams"]
    cases = api.get("contests/c/problems/echo/testcases").json()
    judgements = [each["id"] for each in api.get("contests/c/judgements").json()]
    awards = [[each["id"], each["team_ids"]] for each in api.get("contests/c/awards").json()]
    return [board["rows"], history, cases, judgements, awards, api.get("contests/c/state").json()["frozen"]]


DURATIONS = ("6:00:00", "4:31:00", "100:00:00", "5:00:00.001")


def test_a_frozen_contest_made_longer_or_shorter_shows_what_it_showed(api: Api) -> None:
    """Its freeze keeps its start; feeds, awards and rejudgings continue behind it, and teams see their own verdicts."""
    contest(api)
    before = public(api)
    assert before[-1] is not None, "it is frozen"
    token = read_feed(api)[-1]["token"]
    for duration in DURATIONS:
        patch(api, duration=duration)
        assert public(api) == before
    news = read_feed(api, token=token)
    assert {event["type"] for event in news} == {"contest"}, "nothing but the contest's times"
    for user in (None, "team", "other", "judge"):
        assert fold(read_feed(api, user=user)) == shown(api, "c", user)
    again = api.post("contests/c/rejudgings", user="admin", json={"reason": "the times changed"})
    assert again.status_code == 201
    assert public(api) == before
    own = api.get("contests/c/judgements", user="other").json()
    assert [each["submission_id"] for each in own if each["judgement_type_id"]] == ["1", "2", "3"], own


def test_a_freeze_that_has_begun_keeps_its_start(quick_api: Api) -> None:
    contest(quick_api)
    frozen = quick_api.get("contests/c/state").json()["frozen"]
    assert patch(quick_api, duration="5:30:00")["scoreboard_freeze_duration"] == "1:30:00.000"
    assert quick_api.get("contests/c/state").json()["frozen"] == frozen


def test_a_freeze_that_lies_ahead_moves_with_the_end(quick_api: Api) -> None:
    contest(quick_api, started=1)
    assert patch(quick_api, duration="6:00:00")["scoreboard_freeze_duration"] == "1:00:00.000"


MOVES: list[dict[str, Any]] = [
    {"scoreboard_freeze_duration": None},
    {"scoreboard_freeze_duration": "0:00:00"},
    {"scoreboard_freeze_duration": "0:10:00"},
    {"scoreboard_freeze_duration": "0:50:00"},
    {"scoreboard_freeze_duration": "1:10:00"},
    {"duration": "6:00:00", "scoreboard_freeze_duration": "1:00:00"},
    {"duration": "6:00:00", "scoreboard_freeze_duration": None, "id": "c"},
    {"scoreboard_freeze_duration": None, "settings": {"personal_duration": "1:00:00"}},
]


@pytest.mark.parametrize("ended", [False, True])
def test_a_freeze_that_has_begun_moves_only_if_the_request_confirms_it(quick_api: Api, ended: bool) -> None:
    """Also after the end, as long as the board is frozen."""
    contest(quick_api, started=5.5 if ended else 4.5)
    before = public(quick_api), quick_api.get("contests/c").json()
    for body in MOVES:
        refused = patch(quick_api, 403, **body)
        assert "move_freeze: true" in refused["message"], refused
        assert (public(quick_api), quick_api.get("contests/c").json()) == before, body
    patch(quick_api, 400, move_freeze=True)
    patch(quick_api, 400, move_freeze=True, duration="6:00:00")
    patch(quick_api, duration="6:00:00", scoreboard_freeze_duration="2:00:00")
    assert public(quick_api) == before[0], "both together keep the start"
    opened = patch(quick_api, scoreboard_freeze_duration=None, move_freeze=True)
    assert opened["scoreboard_freeze_duration"] is None
    assert quick_api.get("contests/c/state").json()["frozen"] is None
    rows = quick_api.get("contests/c/scoreboard").json()["rows"]
    assert [row["team_id"] for row in rows] == ["other", "team"]


def test_a_contest_that_has_ended_frozen_goes_on_behind_its_freeze(quick_api: Api) -> None:
    contest(quick_api, started=5.5)
    before = public(quick_api)
    patch(quick_api, 403, duration="5:20:00")
    patch(quick_api, 403, duration="4:00:00")
    patch(quick_api, duration="6:00:00")
    assert public(quick_api) == before
    pass_time(quick_api.service, HOUR)
    assert public(quick_api)[:5] == before[:5], "over again, and frozen still"


def test_a_contest_whose_board_is_being_revealed_does_not_go_on(quick_api: Api) -> None:
    """What is sent to an open place would be public at once."""
    contest(quick_api, started=5.5)
    add_submission(quick_api.service, {"02": raw(9)}, minute=251)
    assert quick_api.post("contests/c/reveal", user="admin", json={"step": "cell"}).status_code == 200
    refused = patch(quick_api, 403, duration="6:00:00")
    assert "is being revealed" in refused["message"]


def test_a_thaw_stays_behind_the_end(quick_api: Api) -> None:
    """It moves as far as the end where it would come before it, also in a pause; the board is not thawed early."""
    contest(quick_api, thaw=datetime.now(UTC).replace(microsecond=0) + 0.75 * HOUR)
    thaw = parse_time(quick_api.get("contests/c").json()["scoreboard_thaw_time"])
    assert parse_time(patch(quick_api, duration="5:10:00")["scoreboard_thaw_time"]) == thaw
    changed = patch(quick_api, duration="6:00:00")
    assert parse_time(changed["scoreboard_thaw_time"]) == thaw + timedelta(minutes=50)
    assert quick_api.post("contests/c/pause", user="admin").status_code == 200
    changed = patch(quick_api, duration="7:00:00")
    assert parse_time(changed["scoreboard_thaw_time"]) == thaw + timedelta(minutes=110)
    assert quick_api.post("contests/c/resume", user="admin").status_code == 200
    earlier = format_time(datetime.now(UTC) + HOUR)
    patch(quick_api, 403, id="c", duration="9:00:00", scoreboard_thaw_time=earlier)


def test_pauses_leave_a_freeze_that_has_begun_where_it_is(quick_api: Api) -> None:
    contest(quick_api)
    before = public(quick_api)
    for change in ("pause", "resume", "pause"):
        assert quick_api.post(f"contests/c/{change}", user="admin").status_code == 200
        patch(quick_api, duration="6:00:00" if change == "pause" else "4:45:00")
        assert public(quick_api) == before, change


def test_an_extended_contest_is_brought_in_with_the_freeze_it_has(quick_api: Api) -> None:
    contest(quick_api)
    patch(quick_api, duration="5:30:00")
    package = quick_api.get("contests/c/package.zip", user="admin").content
    headers = {"Content-Type": "application/zip"}
    made = quick_api.post(
        "contests/import?id=again&replace=true&submissions=false", user="admin", content=package, headers=headers
    )
    assert made.status_code == 201, made.text
    states = [quick_api.get(f"contests/{each}/state").json()["frozen"] for each in ("c", "again")]
    assert states[0] == states[1] is not None
