"""The event feed tells what the endpoints say: all of it at first, and then every change, once and in order."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from app.core.clics import format_time, parse_time
from app.feed.queries import Append, NewEvent, append, scan
from app.feed.service.rendering import ORDER
from app.tables import ContestRow, EventRow, JudgementRow
from tests.builders.clocks import wall_clock
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, judgement_id, run_id
from tests.builders.schemas import faults
from tests.builders.scoring import REJECTED, raw, share
from tests.builders.service import Api, open_api
from tests.builders.streams import fold, open_stream, read_feed, shown

USERS = [None, "staff", "team", "other", "judge", "admin"]
RELATIVE = {"kind": "relative", "counting": "last", "carry": "best"}


@pytest.fixture
def contest(quick_api: Api) -> Api:
    """A contest `c` that is running, with a submission of each team."""
    add_problem(quick_api.service)
    add_contest(quick_api.service, started=4 * HOUR, freeze=2 * HOUR)
    add_submission(quick_api.service, {"02": share(1), "03": REJECTED}, minute=1)
    add_submission(quick_api.service, {"02": share(1), "03": share(1)}, minute=2, team="other", judgement_type="AC")
    add_submission(quick_api.service, {"02": share(1)}, minute=200, team="other")
    return quick_api


def both(api: Api) -> None:
    """Whoever folds a feed from the beginning knows what the endpoints tell them."""
    for user in USERS:
        assert fold(read_feed(api, user=user)) == shown(api, "c", user), user


def test_the_feed_from_the_beginning_is_what_the_endpoints_say(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service, started=4 * HOUR, freeze=2 * HOUR)
    add_submission(api.service, {"02": share(1), "03": REJECTED}, minute=1)
    add_submission(api.service, {"02": share(1)}, minute=200, team="other")
    add_submission(api.service, None, files={"02": b"2\n"}, minute=201)
    both(api)


def test_every_event_has_the_shape_of_clics_and_a_token(contest: Api) -> None:
    for user in USERS:
        events = read_feed(contest, user=user)
        assert all(set(event) <= {"type", "id", "data", "token"} for event in events)
        assert faults("event-feed-array", events, partly_correct=True) == []
        assert "token" in events[-1]


def test_an_object_comes_after_those_it_refers_to_and_the_state_comes_last(contest: Api) -> None:
    kinds = [ORDER.index(event["type"]) for event in read_feed(contest, user="judge")]
    assert kinds == sorted(kinds)
    assert ORDER[kinds[-1]] == "state"


def test_a_change_is_told_once_to_whom_it_concerns(contest: Api) -> None:
    tokens = {user: read_feed(contest, user=user)[-1]["token"] for user in USERS}
    add_submission(contest.service, {"02": share(1)}, minute=3)
    contest.service.boards.changed("c")
    for user in USERS:
        news = read_feed(contest, user=user, token=tokens[user])
        told = [(event["type"], event["id"]) for event in news]
        runs = [("runs", run_id(contest.service, 4))] if user in {"team", "judge", "admin"} else []
        assert told == [("submissions", "4"), ("judgements", judgement_id(contest.service, 4)), *runs], user
        assert read_feed(contest, user=user, token=news[-1]["token"]) == []


def test_a_submission_waits_in_the_feed_until_it_is_judged(contest: Api) -> None:
    submission = add_submission(contest.service, None, files={"02": b"2\n"}, minute=3)
    waiting = judgement_id(contest.service, submission)
    assert fold(read_feed(contest))["judgements"][waiting]["end_time"] is None
    with contest.service.database.write() as session:
        row = session.get_one(JudgementRow, submission)
        row.state, row.type, row.end_time = "done", "WA", datetime.now(UTC)
    both(contest)
    assert fold(read_feed(contest))["judgements"][waiting]["judgement_type_id"] == "WA"


def test_behind_the_freeze_the_public_is_told_only_that_something_was_submitted(contest: Api) -> None:
    known = fold(read_feed(contest))
    assert "3" in known["submissions"]
    hidden = judgement_id(contest.service, 3)
    assert hidden not in known["judgements"]
    assert hidden in fold(read_feed(contest, user="other"))["judgements"]
    assert hidden in fold(read_feed(contest, user="judge"))["judgements"]


def test_the_thaw_tells_what_the_freeze_has_hidden(contest: Api) -> None:
    token = read_feed(contest)[-1]["token"]
    with contest.service.database.write() as session:
        row = session.get_one(ContestRow, "c")
        row.start_time = datetime.now(UTC) - 6 * HOUR
        row.thaw_time = datetime.now(UTC) - timedelta(seconds=1)
    news = read_feed(contest, token=token)
    assert ("judgements", judgement_id(contest.service, 3)) in [(event["type"], event["id"]) for event in news]
    assert news[-1]["type"] == "state"
    both(contest)


def test_runs_come_and_go_with_the_right_to_see_them(contest: Api) -> None:
    assert "runs" not in fold(read_feed(contest))
    contest.patch("contests/c", user="admin", json={"settings": {"show_others_answers": True}})
    events = read_feed(contest)
    runs = {run_id(contest.service, judgement, case) for judgement in (1, 2) for case in (2, 3)}
    assert set(fold(events)["runs"]) == runs
    both(contest)
    contest.patch("contests/c", user="admin", json={"settings": {"show_others_answers": False}})
    news = read_feed(contest, token=events[-1]["token"])
    assert {event["id"] for event in news if event["type"] == "runs"} == runs
    assert all(event["data"] is None for event in news if event["type"] == "runs")
    both(contest)
    contest.patch("contests/c", user="admin", json={"settings": {"show_others_answers": True}})
    both(contest)


def test_hidden_teams_are_gone_for_everybody_but_themselves_and_judges(contest: Api) -> None:
    events = {user: read_feed(contest, user=user) for user in USERS}
    for hidden in (True, False, True):
        contest.patch("teams/team", user="admin", json={"hidden": hidden})
        for user in USERS:
            events[user] += read_feed(contest, user=user, token=events[user][-1]["token"])
            assert fold(events[user]) == shown(contest, "c", user), (hidden, user)
        both(contest)


def test_before_the_start_the_public_is_told_of_no_problem(quick_api: Api) -> None:
    add_problem(quick_api.service)
    add_contest(quick_api.service, started=-HOUR)
    with wall_clock() as wall, open_stream(quick_api, "contests/c/event-feed") as stream:
        stream.wait(stream.lines)
        assert "problems" not in fold(stream.events())
        assert "problems" in fold(read_feed(quick_api, user="judge"))
        wall.step(HOUR - timedelta(seconds=2))
        quick_api.service.boards.changed("c")  # it looks, and waits for the start
        stream.wait(lambda: "problems" in fold(stream.events()))
        stream.wait(lambda: stream.events()[-1]["type"] == "state")
        assert fold(stream.events()) == shown(quick_api, "c", None)


def test_points_that_a_new_best_has_changed_are_told_some_time_later(sqlite_url: str, tmp_path: Path) -> None:
    with open_api(sqlite_url, tmp_path, feed_coalesce_seconds=0.5) as api:
        add_problem(api.service)
        add_contest(api.service, rule=RELATIVE)
        first = add_submission(api.service, {"02": raw(1), "03": raw(1)}, minute=1)
        with open_stream(api, "contests/c/event-feed") as stream:
            stream.wait(lambda: "state" in fold(stream.events()))
            judgement = judgement_id(api.service, first)
            assert fold(stream.events())["judgements"][judgement]["score"] == 100
            add_submission(api.service, {"02": raw(2), "03": raw(2)}, minute=2, team="other")
            api.service.boards.changed("c")
            stream.wait(lambda: fold(stream.events())["judgements"][judgement]["score"] == 50)
            told = [each for each in stream.events() if (each["type"], each["id"]) == ("judgements", judgement)]
            assert len(told) == 2
            assert fold(stream.events()) == shown(api, "c", None)


def test_nothing_follows_the_end_of_updates(sqlite_url: str, tmp_path: Path) -> None:
    with open_api(sqlite_url, tmp_path) as api:
        add_problem(api.service)
        add_contest(api.service, started=6 * HOUR, rule=RELATIVE)
        add_submission(api.service, {"02": raw(1), "03": raw(1)}, minute=1)
        events = read_feed(api)
        add_submission(api.service, {"02": raw(2), "03": raw(2)}, minute=2, team="other")
        api.service.boards.changed("c")
        api.patch("contests/c", user="admin", json={"finalized": True})
        events += read_feed(api, token=events[-1]["token"])
        assert events[-1]["data"]["end_of_updates"] is not None
        assert fold(events) == shown(api, "c", None)  # the points that had to wait are among them
        api.patch("teams/team", user="admin", json={"name": "A better name"})
        events += read_feed(api, token=events[-1]["token"])
        assert [each["type"] for each in events[-2:]] == ["teams", "state"]
        assert events[-1]["data"]["end_of_updates"] is not None


def test_a_stream_tells_a_change_soon_and_each_once(contest: Api) -> None:
    with open_stream(contest, "contests/c/event-feed", user="other") as stream:
        before = len(read_feed(contest, user="other"))
        stream.wait_for(before)
        for minute in range(3, 8):
            judgement = judgement_id(contest.service, add_submission(contest.service, {"02": share(1)}, minute=minute))
            contest.service.boards.changed("c")
            stream.wait(lambda: judgement in fold(stream.events())["judgements"])  # noqa: B023 - asked at once
        told = [(event["type"], event["id"]) for event in stream.events()[before:]]
        assert len(told) == len(set(told)) == 10
        assert stream.headers["content-type"] == "application/x-ndjson"
        assert "content-encoding" not in stream.headers


def test_what_is_sent_is_seen_by_get_before(contest: Api) -> None:
    with open_stream(contest, "contests/c/event-feed", user="judge") as stream:
        stream.wait_for(1)
        for minute in range(3, 6):
            judgement = judgement_id(contest.service, add_submission(contest.service, {"02": share(1)}, minute=minute))
            contest.service.boards.changed("c")
            stream.wait(lambda: judgement in fold(stream.events()).get("judgements", {}))  # noqa: B023
            told = fold(stream.events())["judgements"][judgement]
            assert contest.get(f"contests/c/judgements/{judgement}", user="judge").json() == told


def test_silence_is_broken_by_an_empty_line(sqlite_url: str, tmp_path: Path) -> None:
    with open_api(sqlite_url, tmp_path, feed_keep_alive_seconds=0.1) as api:
        add_contest(api.service, problem_id=None)
        with open_stream(api, "contests/c/event-feed") as stream:
            stream.wait(lambda: stream.lines()[-3:] == ["", "", ""])
            assert not stream.ended


@pytest.fixture
def tokens(contest: Api) -> dict[str, str]:
    """Tokens of no use to the public of contest `c`, by what is wrong with them."""
    add_contest(contest.service, "d", problem_id=None)
    good = read_feed(contest)[-1]["token"]
    return {
        "of another contest": read_feed(contest, "d")[-1]["token"],
        "of a judge": read_feed(contest, user="judge")[-1]["token"],
        "of a team": read_feed(contest, user="team")[-1]["token"],
        "ahead of the log": f"9{good}",
        "changed": good[:-1] + ("0" if good[-1] != "0" else "1"),
        "empty": "",
        "garbage": "xY-99_",
        "not ASCII": "٣p00000000",
        "long": "1" * 5000,
    }


def test_a_token_that_is_not_this_feeds_is_refused(contest: Api, tokens: dict[str, str]) -> None:
    for what, token in tokens.items():
        reply = contest.get("contests/c/event-feed", params={"since_token": token})
        assert reply.status_code == 400, what
        assert reply.json()["code"] == 400
        assert "since_token" in reply.json()["message"]


@pytest.mark.parametrize("query", ["since_id=999999", "since_id=xY-99_", "types=nonsense", "types=", "stream=perhaps"])
def test_what_the_feed_does_not_understand_is_refused(contest: Api, query: str) -> None:
    assert contest.get(f"contests/c/event-feed?{query}").status_code == 400


def test_a_contest_that_does_not_exist_has_no_feed(quick_api: Api) -> None:
    assert quick_api.get("contests/none/event-feed").status_code == 404


def test_a_contest_that_was_deleted_and_made_again_takes_no_old_token(quick_api: Api) -> None:
    add_contest(quick_api.service, problem_id=None)
    events = read_feed(quick_api)
    token, start = events[-1]["token"], events[0]["data"]["start_time"]
    assert quick_api.delete("contests/c", user="admin").status_code == 204
    add_contest(quick_api.service, problem_id=None)
    with quick_api.service.database.write() as session:
        session.get_one(ContestRow, "c").start_time = parse_time(start)  # nothing of it differs
    assert quick_api.get(f"contests/c/event-feed?stream=false&since_token={token}").status_code == 400
    assert fold(read_feed(quick_api)) == shown(quick_api, "c", None)


def test_a_stream_ends_with_its_contest(quick_api: Api) -> None:
    add_contest(quick_api.service, problem_id=None)
    with open_stream(quick_api, "contests/c/event-feed") as stream:
        stream.wait_for(1)
        assert quick_api.delete("contests/c", user="admin").status_code == 204
        stream.wait(lambda: stream.ended)


def test_a_log_another_process_has_written_to_is_read_on_and_its_streams_too(contest: Api) -> None:
    token = read_feed(contest)[-1]["token"]
    with open_stream(contest, "contests/c/event-feed") as stream:
        stream.wait_for(1)
        with contest.service.database.read() as session:
            last = max(row.id for row in scan(session, "c", datetime.now(UTC)))
        order = Append("c", last, [NewEvent("pj", None, "teams", "ghost", "{}")], datetime.now(UTC))
        assert contest.service.writer.submit(append, order).result()
        contest.patch("teams/team", user="admin", json={"name": "Better"})
        stream.wait(lambda: [event["data"] for event in stream.events() if event["id"] == "ghost"] == [{}, None])
        assert not stream.ended
    news = read_feed(contest, token=token)
    assert [(event["id"], event["data"] is None) for event in news] == [
        ("ghost", False),
        ("team", False),
        ("ghost", True),
    ]
    both(contest)


def test_only_the_types_asked_for_are_sent(contest: Api) -> None:
    reply = contest.get("contests/c/event-feed?stream=false&types=teams,state")
    assert {json.loads(line)["type"] for line in reply.text.splitlines()} == {"teams", "state"}


def test_every_token_on_the_way_leads_to_the_same_end(contest: Api) -> None:
    for user in (None, "team", "judge"):
        events = read_feed(contest, user=user)
        for at, event in enumerate(events):
            if "token" in event:
                rest = read_feed(contest, user=user, token=event["token"])
                assert fold(events[: at + 1] + rest) == shown(contest, "c", user)


def test_tokens_outlive_the_server(database_url: str, tmp_path: Path) -> None:
    with open_api(database_url, tmp_path) as api:
        add_problem(api.service)
        add_contest(api.service)
        add_submission(api.service, {"02": share(1)}, minute=1)
        events = {user: read_feed(api, user=user) for user in ("team", "judge")}
    with open_api(database_url, tmp_path, again=True) as api:
        add_submission(api.service, {"02": share(1)}, minute=2)
        for user in ("team", "judge"):
            news = read_feed(api, user=user, token=events[user][-1]["token"])
            assert [(each["type"], each["id"]) for each in news] == [
                ("submissions", "2"),
                ("judgements", judgement_id(api.service, 2)),
                ("runs", run_id(api.service, 2)),
            ]
            assert fold(events[user] + news) == shown(api, "c", user)


def test_streams_end_when_the_server_stops(contest: Api) -> None:
    with open_stream(contest, "contests/c/event-feed") as stream:
        stream.wait_for(1)
        contest.portal.call(contest.app.state.hub.stop)
        stream.wait(lambda: stream.ended)
    assert contest.get("contests/c/event-feed").status_code == 503


def test_a_client_that_has_gone_is_forgotten(contest: Api) -> None:
    hub = contest.app.state.hub
    with open_stream(contest, "contests/c/event-feed") as stream:
        stream.wait_for(1)
        assert len(hub.feeds["c"].clients) == 1
    assert len(hub.feeds["c"].clients) == 0
    assert hub.publisher._contests["c"].followers == 0


def test_a_stream_ends_when_its_account_is_gone_or_is_somebody_else(contest: Api) -> None:
    with (
        open_stream(contest, "contests/c/event-feed", user="staff") as staff,
        open_stream(contest, "contests/c/event-feed", user="judge") as judge,
        open_stream(contest, "contests/c/scoreboard/stream?public=false", user="judge") as board,
        open_stream(contest, "contests/c/event-feed", user="team") as team,
    ):
        for stream in (staff, judge, board, team):
            stream.wait(lambda: stream.received)  # noqa: B023 - asked at once
        assert contest.delete("accounts/staff", user="admin").status_code == 204
        assert contest.patch("accounts/judge", user="admin", json={"type": "staff"}).status_code == 200
        for stream in (staff, judge, board):
            stream.wait(lambda: stream.ended)  # noqa: B023 - asked at once
        assert not team.ended


def test_a_stream_ends_with_the_token_or_the_password_it_was_asked_for_with(contest: Api) -> None:
    """Taken back, expired, or with another password; other streams of the same account continue."""

    def token(user: str, **more: object) -> dict[str, str]:
        made = contest.post("account/tokens", user=user, json=more)
        return made.json()

    def bearer(made: dict[str, str]) -> dict[str, str]:
        return {"Authorization": f"Bearer {made['token']}"}

    first, second, others = token("judge"), token("judge"), token("other")
    soon = token("staff", expires=format_time(datetime.now(UTC) + timedelta(seconds=1.5)))
    feed, board, own = (f"contests/c/{each}" for each in ("event-feed", "scoreboard/stream", "submissions/stream"))
    with (
        open_stream(contest, feed, headers=bearer(first)) as taken_back,
        open_stream(contest, board, headers=bearer(soon)) as expiring,
        open_stream(contest, feed, user="other") as old_password,
        open_stream(contest, own, headers=bearer(others)) as of_old_password,
        open_stream(contest, feed, headers=bearer(second)) as other_token,
        open_stream(contest, feed, user="judge") as password,
    ):
        for stream in (taken_back, expiring, old_password, other_token, password):
            stream.wait(lambda: stream.received)  # noqa: B023 - asked at once
        assert contest.delete(f"account/tokens/{first['id']}", user="judge").status_code == 204
        taken_back.wait(lambda: taken_back.ended)
        contest.patch("accounts/other", user="admin", json={"password": "another long one"}).raise_for_status()
        for stream in (old_password, of_old_password, expiring):
            stream.wait(lambda: stream.ended)  # noqa: B023 - asked at once
        assert not other_token.ended
        assert not password.ended


def test_an_account_is_told_of_its_submissions_by_the_events_of_its_team(contest: Api) -> None:
    expected = fold(read_feed(contest, user="team"))
    assert expected == shown(contest, "c", "team")
    with contest.service.database.read() as session:
        rows = session.execute(select(EventRow.type, EventRow.audience).where(EventRow.audience == "a")).all()
    assert {row.type for row in rows} == {"accounts"}
