"""Counted games on the board: judged by replaying, frozen, rejudged, and moved with their contest."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checkers.doors import Rejected
from games.checker import read_answer, read_instance, score_answer
from games.transcript import read, replay
from tests.builders.contests import HOUR
from tests.builders.examples import sqlite_first
from tests.builders.games import GAME, STEP, add_games, case, document, forced, move, start, win
from tests.builders.judging import judge
from tests.builders.service import Api


def points(api: Api, user: str | None = "team", team: str = "team") -> float:
    """The points of a team on the board that someone sees."""
    rows = api.get("contests/c/scoreboard", user=user).json()["rows"]
    return float(next(row["score"]["score"] for row in rows if row["team_id"] == team))


@sqlite_first
def test_a_won_game_gives_the_points_of_its_case_and_a_lost_one_says_why(api: Api) -> None:
    add_games(api.service)
    win(api)
    assert judge(api.service) == 1
    assert points(api) == 50
    lost = document(start(api, testcase="03"))
    ended = document(api.post(f"games/{lost['id']}/resign", user="team"))
    judge(api.service)
    assert points(api) == 50
    report = api.get(f"contests/c/submissions/{ended['submission_id']}/report", user="team").text
    assert "expected a game that is won, found a resigned game" in report
    win(api, testcase="03")
    judge(api.service)
    assert points(api) == 100


@sqlite_first
def test_a_group_gives_its_points_when_every_start_of_it_is_won(api: Api) -> None:
    add_games(api.service, changes={"data/secret/test_group.yaml": "score_aggregation: pass-fail\nmax_score: 20\n"})
    win(api)
    judge(api.service)
    assert points(api) == 0
    win(api, testcase="03")
    judge(api.service)
    assert points(api) == 20


@sqlite_first
def test_a_team_that_has_sent_all_its_bytes_begins_no_game_that_counts(api: Api) -> None:
    """A game that has begun ends as a submission, and counts; practice continues, and so do other teams."""
    add_games(api.service)
    change = {"settings": {"team_bytes": 100}}
    assert api.patch("contests/c", user="admin", json=change).is_success
    begun = [document(start(api, testcase=name)) for name in ("02", "03")]
    for game in begun:  # two transcripts of more than 100 bytes
        document(api.post(f"games/{game['id']}/resign", user="team"))
    assert len(api.get("contests/c/submissions", user="team").json()) == 2
    used = document(api.get("contests/c/problems/treat/quota?", user="team"))["bytes_used"]
    refused = start(api)
    assert refused.status_code == 413
    expected = "expected at most 100 bytes of a team in contest c"
    assert refused.json()["message"].startswith(f"{expected}, found {used} already")
    assert start(api, parameters={"a": 3, "b": 0, "k": 1}).status_code == 201
    assert start(api, "other").status_code == 201
    page = api.post("/c/c/problems/treat/play", user="team", headers={"Origin": "http://jurado.test"},
                    data={"testcase": "02"})  # fmt: skip
    assert (page.status_code, expected.removeprefix("expected") in page.text) == (413, True)
    assert api.patch("contests/c", user="admin", json={"settings": {"team_bytes": used + 1}}).is_success
    assert start(api).status_code == 201
    assert api.patch("contests/c", user="admin", json={"settings": {"contest_bytes": used}}).is_success
    full = start(api, "other")
    assert (full.status_code, "bytes of all teams together in contest c" in full.json()["message"]) == (413, True)


@sqlite_first
def test_a_game_that_ends_in_the_freeze_is_hidden_by_it_and_a_practice_game_is_on_no_board(api: Api) -> None:
    add_games(api.service, started=4.5 * HOUR, freeze=HOUR)
    win(api)
    win(api, parameters={"a": 3, "b": 0, "k": 1})
    judge(api.service)
    assert (points(api, None), points(api, "judge")) == (0, 50)
    assert len(api.get("contests/c/submissions", user="admin").json()) == 1


@sqlite_first
def test_games_are_rejudged_by_replaying_their_transcripts(api: Api) -> None:
    add_games(api.service)
    game = win(api)
    judge(api.service)
    opened = document(api.post("contests/c/rejudgings", user="admin", json={"reason": "again", "problem": GAME}))
    judge(api.service)
    assert api.post(f"contests/c/rejudgings/{opened['id']}/apply", user="admin").is_success
    assert points(api) == 50
    assert document(api.get(f"games/{game['id']}", user="team"))["winner"] == "you"


def test_a_transcript_with_one_move_changed_is_rejected_where_it_was_changed() -> None:
    text = case("5 0 1")
    instance, sound = read_instance(text.encode()), forced(text)
    assert score_answer(instance, read_answer(sound.encode(), instance)).raw == 1
    lines = sound.splitlines(keepends=True)
    at = [number for number, line in enumerate(lines) if line.rstrip().endswith(f"s: {STEP}")]
    assert len(at) == 5
    for number, line in enumerate(at, start=1):
        changed = [*lines[:line], lines[line].replace(f"s: {STEP}", "s: 0 1"), *lines[line + 1 :]]
        with pytest.raises(Rejected, match=f"move {number}: "):
            score_answer(instance, read_answer("".join(changed).encode(), instance))
    for other in (case("3 0 1"), case("5 0 1", "random")):
        with pytest.raises(Rejected):
            read_answer(forced(other).encode(), instance)
    for data in (b"", b"\xff", b"jurado game transcript 1\n", sound.encode()[:-1], sound.encode() * 2):
        with pytest.raises(Rejected):
            read_answer(data, instance)


MOVES = st.lists(st.tuples(st.integers(1, 9), st.sampled_from([STEP, "0 1", "2 0", "1 1"])), max_size=9)


@sqlite_first
@given(one=MOVES, other=MOVES, resigns=st.booleans())
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_interleaving_of_posts_from_two_clients_gives_a_legal_transcript(
    api: Api, one: list[tuple[int, str]], other: list[tuple[int, str]], resigns: bool
) -> None:
    """Both clients post at the same time; whatever is answered, the moves are numbered and legal, and none is twice."""
    if api.get("contests/c").status_code == 404:
        add_games(api.service)
    game = document(start(api, "team", parameters={"a": 4, "b": 3, "k": 2}, opponent="random", seed=5))
    acknowledged = []
    with ThreadPoolExecutor(2) as clients:
        for replies in clients.map(
            lambda posts: [(each, move(api, game["id"], *each)) for each in posts], (one, other)
        ):
            for posted, reply in replies:
                assert reply.status_code in {200, 400, 409}, reply.text
                acknowledged += [posted] if reply.is_success else []
    if resigns:
        assert api.post(f"games/{game['id']}/resign", user="team").status_code in {200, 409}
    after = document(api.get(f"games/{game['id']}", user="team"))
    made = {each["number"]: each["move"] for each in after["moves"]}
    assert list(made) == list(range(1, len(after["moves"]) + 1))
    assert all(made[number] == text for number, text in acknowledged)
    api.post(f"games/{game['id']}/resign", user="team")
    assert replay(read(api.get(f"games/{game['id']}/transcript", user="team").text)).fault is None
