"""Several servers on one database show the same, whichever of them has written it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.storage.submissions import NewSubmission, accept
from tests.builders.contests import HOUR, add_contest, add_problem
from tests.builders.games import add_games, document, move, start
from tests.builders.grading import NOW
from tests.builders.judging import judge
from tests.builders.service import PASSWORD, Api
from tests.builders.streams import fold, open_stream, read_feed, shown
from tests.builders.two import two_apis
from tests.builders.waiting import until


@pytest.fixture
def two(postgresql_url: str, tmp_path: Path) -> Iterator[tuple[Api, Api]]:
    """Two servers with a contest `c` that is running."""
    with two_apis(postgresql_url, tmp_path, feed_coalesce_seconds=0) as (one, other):
        add_problem(one.service)
        add_contest(one.service, started=HOUR)
        until(lambda: other.get("contests/c").status_code == 200)
        yield one, other


def submit(api: Api, user: str = "team", data: bytes = b"2\n", **headers: str) -> str:
    """Submit an answer to case 02; returns the submission's id."""
    reply = api.post(
        "contests/c/submissions",
        user=user,
        data={"problem_id": "echo"},
        files={"files": ("02.out", data)},
        headers=headers,
    )
    assert reply.status_code == 201, reply.text
    return str(reply.json()["id"])


def board(api: Api) -> list[tuple[int, str, float]]:
    rows = api.get("contests/c/scoreboard").json()["rows"]
    return [(row["rank"], row["team_id"], row["score"]["score"]) for row in rows]


def test_a_verdict_is_on_the_boards_of_both_wherever_it_was_submitted_and_judged(two: tuple[Api, Api]) -> None:
    one, other = two
    before = board(other)
    submit(one)
    until(lambda: len(other.get("contests/c/submissions").json()) == 1)
    judge(one.service)
    until(lambda: board(other) != before)
    assert board(other) == board(one)
    generations = [api.service.database.generation for api in two]
    submit(other, "other")
    judge(other.service)
    until(lambda: board(one) == board(other) and board(one)[0][2] == board(one)[1][2])
    assert [api.service.database.generation for api in two] == generations, "only what changed is read again"


def test_what_an_admin_writes_on_one_holds_on_the_other(two: tuple[Api, Api]) -> None:
    one, other = two
    submit(other)
    start_time = (other.get("contests/c").json()["start_time"],)
    assert one.patch("contests/c", user="admin", json={"name": "Renamed"}).status_code == 200
    until(lambda: other.get("contests/c").json()["name"] == "Renamed")
    assert (other.get("contests/c").json()["start_time"],) == start_time


def test_a_token_taken_back_and_a_password_changed_on_one_are_refused_by_the_other(two: tuple[Api, Api]) -> None:
    one, other = two
    made = one.post("account/tokens", user="team", json={}).json()
    header = {"Authorization": f"Bearer {made['token']}"}
    assert other.get("account", headers=header).status_code == 200
    assert one.delete(f"account/tokens/{made['id']}", user="team").status_code == 204
    until(lambda: other.get("account", headers=header).status_code == 401)
    assert other.get("account", user="other").status_code == 200
    body = {"password": "another long enough one", "old_password": PASSWORD}
    assert one.patch("account", user="other", json=body).status_code == 200, one.patch("account", json=body).text
    until(lambda: other.get("account", user="other").status_code == 401)


def test_both_send_the_same_feed_which_one_of_them_publishes(two: tuple[Api, Api]) -> None:
    one, other = two
    with (
        open_stream(one, "contests/c/event-feed", user="judge") as first,
        open_stream(other, "contests/c/event-feed", user="judge") as second,
    ):
        for at in range(6):
            submit(two[at % 2], ("team", "other")[at % 2], str(at).encode())
            judge(two[(at // 2) % 2].service)
        expected = shown(one, "c", "judge")
        first.wait(lambda: fold(first.events()) == expected)
        second.wait(lambda: fold(second.events()) == expected)
        assert "runs" in expected
    tokens = [event["token"] for event in first.events() if "token" in event]
    whole = [read_feed(api, user="judge") for api in two]
    assert whole[0] == whole[1]
    for at, api in enumerate((other, one)):
        token = tokens[len(tokens) // 2]
        rest = read_feed(api, user="judge", token=token)
        assert rest == read_feed(two[at], user="judge", token=token), "a token is good on both servers"


def test_whoever_follows_takes_over_when_the_publishing_server_is_gone(two: tuple[Api, Api]) -> None:
    one, other = two
    with open_stream(other, "contests/c/event-feed", user="judge") as stream:
        with open_stream(one, "contests/c/event-feed", user="judge") as first:
            first.wait_for(5)
            stream.wait_for(5)
            submit(one)
            stream.wait(lambda: "submissions" in fold(stream.events()))
        one.service.locks.close()  # as its end does
        submit(other, "other")
        judge(other.service)
        expected = shown(other, "c", "judge")
        stream.wait(lambda: fold(stream.events()) == expected)
        tokens = [event["token"] for event in stream.events() if "token" in event]
        assert len(tokens) == len(set(tokens))


def test_a_submission_that_is_seen_after_a_later_one_is_told_nevertheless(two: tuple[Api, Api]) -> None:
    """The ids of two servers are given before their commits, and may be seen in another order."""
    one, other = two
    with open_stream(one, "contests/c/event-feed", user="judge") as stream:
        stream.wait_for(5)
        with other.service.database.transaction() as slow:
            new = NewSubmission("c", "echo", "other", "other", NOW, 1000, [])
            (late,) = accept(slow, [new])
            early = submit(one)
            stream.wait(lambda: early in fold(stream.events()).get("submissions", {}))
        stream.wait(lambda: str(late.submission_id) in fold(stream.events())["submissions"])
        assert late.submission_id < int(early)


def test_a_game_goes_on_on_either_server(postgresql_url: str, tmp_path: Path) -> None:
    with two_apis(postgresql_url, tmp_path) as (one, other):
        add_games(one.service)
        until(lambda: other.get("contests/c").status_code == 200)
        game = document(start(one, testcase="03"))
        first = document(move(one, game["id"], 1))
        assert first["next_move"] == 3
        second = document(move(other, game["id"], 3))
        assert second["next_move"] == 5
        assert document(move(one, game["id"], 5))["over"]
        until(lambda: document(other.get(f"games/{game['id']}", user="team"))["over"])
