"""Games and time: clocks of moves and games, pauses, the end of a contest, quotas, and what is left after a restart."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import delete, insert, select, update

from app.games.queries import MOST_ENDED
from app.tables import GameMoveRow, GameRow
from tests.builders.clocks import WallClock, wall_clock
from tests.builders.contests import HOUR, change_contest
from tests.builders.examples import sqlite_first
from tests.builders.games import (
    GAME,
    STEP,
    add_games,
    document,
    limit,
    look_at_clocks,
    move,
    start,
    win,
)
from tests.builders.service import Api, open_api

MINUTE = timedelta(minutes=1)


@pytest.fixture
def wall() -> Iterator[WallClock]:
    """A clock that the test sets forth."""
    with wall_clock() as wall:
        yield wall


@pytest.fixture
def games(wall: WallClock, api: Api) -> Api:
    """A running contest with a problem that is played."""
    add_games(api.service)
    return api


@pytest.fixture
def quick_games(wall: WallClock, quick_api: Api) -> Api:
    """The same on SQLite alone."""
    add_games(quick_api.service)
    return quick_api


def state(api: Api, game: dict[str, object], user: str = "team") -> tuple[object, object]:
    """Who has won a game, and why it ended."""
    now = document(api.get(f"games/{game['id']}", user=user))
    return now["winner"], now["ending"]


@sqlite_first
def test_a_late_move_is_refused_and_the_game_is_lost_on_time(games: Api, wall: WallClock) -> None:
    limit(games.service, move_seconds=60)
    game = document(start(games, testcase="03"))
    wall.step(MINUTE / 2)
    assert document(move(games, game["id"], 1))["clock"]["move_seconds"] == 60
    wall.step(MINUTE)
    late = move(games, game["id"], 3)
    assert (late.status_code, late.json()["message"]) == (409, "the game is lost: the time ran out")
    assert state(games, game) == ("opponent", "clock")
    assert len(games.get("contests/c/submissions", user="team").json()) == 1


def test_the_time_for_a_game_is_that_of_all_its_moves(quick_games: Api, wall: WallClock) -> None:
    limit(quick_games.service, game_seconds=100)
    game = document(start(quick_games, testcase="03"))
    wall.step(timedelta(seconds=60))
    used = document(move(quick_games, game["id"], 1))["clock"]["used_seconds"]
    assert 60 <= used < 100
    wall.step(timedelta(seconds=60))
    assert move(quick_games, game["id"], 3).status_code == 409
    assert state(quick_games, game) == ("opponent", "clock")


def test_a_package_says_the_times_and_the_contest_may_say_others(quick_api: Api) -> None:
    settings = "checker: game\ngame: {name: lasttreat, move_seconds: 30, game_seconds: 300}\n"
    add_games(quick_api.service, changes={"jurado.yaml": f"{settings}scoring: {{kind: absolute}}\n"})
    clock = document(start(quick_api))["clock"]
    assert (clock["move_seconds"], clock["game_seconds"]) == (30, 300)
    limit(quick_api.service, move_seconds=7)
    clock = document(start(quick_api))["clock"]
    assert (clock["move_seconds"], clock["game_seconds"]) == (7, 300)


@sqlite_first
def test_abandoned_games_end_by_the_clock_at_the_moment_when_the_time_ran_out(games: Api, wall: WallClock) -> None:
    limit(games.service, move_seconds=60)
    game, practice = document(start(games)), document(start(games, None, parameters={"a": 9, "b": 9, "k": 3}))
    deadline = game["clock"]["deadline"]
    look_at_clocks(games)
    assert state(games, game) == (None, None)
    wall.step(2 * HOUR)
    look_at_clocks(games)
    assert state(games, game) == ("opponent", "clock")
    assert document(games.get(f"games/{game['id']}", user="team"))["ended"] == deadline
    (sent,) = games.get("contests/c/submissions", user="team").json()
    assert sent["time"] == deadline
    assert document(games.get(f"games/{practice['id']}"))["ending"] == "clock"
    look_at_clocks(games)
    assert len(games.get("contests/c/submissions", user="team").json()) == 1


@sqlite_first
def test_a_pause_takes_nothing_from_the_clock_and_stops_moves(games: Api, wall: WallClock) -> None:
    limit(games.service, move_seconds=60)
    game = document(start(games, testcase="03"))
    wall.step(timedelta(seconds=40))
    assert games.post("contests/c/pause", user="admin").is_success
    wall.step(HOUR)
    look_at_clocks(games)
    refused = move(games, game["id"], 1)
    assert refused.status_code == 403
    assert document(games.get(f"games/{game['id']}", user="team"))["clock"]["deadline"] is None
    assert games.post("contests/c/resume", user="admin").is_success
    look_at_clocks(games)
    after = document(move(games, game["id"], 1))
    assert 40 <= after["clock"]["used_seconds"] < 60
    wall.step(2 * MINUTE)
    look_at_clocks(games)
    assert state(games, game) == ("opponent", "clock")


@sqlite_first
def test_the_contests_end_cuts_a_game_which_is_lost_in_its_last_millisecond(games: Api, wall: WallClock) -> None:
    game = document(start(games, testcase="03"))
    wall.step(6 * HOUR)
    assert move(games, game["id"], 1).status_code == 409
    assert state(games, game) == ("opponent", "contest")
    (sent,) = games.get("contests/c/submissions", user="team").json()
    assert (sent["contest_time"], sent["practice"]) == ("4:59:59.999", False)
    assert games.post(f"contests/c/problems/{GAME}/games", user="team", json={"testcase": "02"}).status_code == 403


@sqlite_first
def test_an_extended_contest_leaves_its_games_in_play_and_a_shortened_one_cuts_them(
    games: Api, wall: WallClock
) -> None:
    game = document(start(games, testcase="03"))
    change_contest(games.service, duration_ms=8 * 3_600_000)
    wall.step(6 * HOUR)
    look_at_clocks(games)
    assert state(games, game) == (None, None)
    change_contest(games.service, duration_ms=5 * 3_600_000)
    look_at_clocks(games)
    assert state(games, game) == ("opponent", "contest")


def test_results_are_final_only_when_no_game_is_in_play(quick_games: Api, wall: WallClock) -> None:
    game = document(start(quick_games))
    wall.step(6 * HOUR)
    final = {"id": "c", "finalized": True}
    refused = quick_games.patch("contests/c", user="admin", json=final)
    assert (refused.status_code, "games" in refused.json()["message"]) == (409, True)
    look_at_clocks(quick_games)
    assert state(quick_games, game) == ("opponent", "contest")


@sqlite_first
def test_a_game_is_an_attempt_from_its_start_on(games: Api) -> None:
    limit(games.service, max_submissions=2)
    first = document(start(games))
    win(games)
    refused = start(games)
    assert (refused.status_code, "at most 2" in refused.json()["message"]) == (429, True)
    quota = document(games.get(f"contests/c/problems/{GAME}/quota", user="team"))
    assert (quota["used"], quota["left"]) == (2, 0)
    games.post(f"games/{first['id']}/resign", user="team")
    assert start(games).status_code == 429
    assert start(games, "other").status_code == 201


def test_a_team_and_an_address_have_so_many_games_open_at_once(tmp_path: Path, sqlite_url: str) -> None:
    with open_api(sqlite_url, tmp_path / "home", most_games=6, most_games_of_one=2) as api:
        add_games(api.service)
        limit(api.service, open_games=1)
        first = document(start(api))
        assert start(api).status_code == 429
        assert start(api, "other").status_code == 201
        parameters = {"a": 3, "b": 0, "k": 1}
        assert [start(api, None, parameters=parameters).status_code for _ in range(3)] == [201, 201, 429]
        full = start(api, "judge", parameters=parameters)
        assert (full.status_code, full.json()["message"]) == (
            429,
            "the server has as many games open as it may: come back later",
        )
        api.post(f"games/{first['id']}/resign", user="team")
        assert start(api, "team", parameters=parameters).status_code == 201
        assert start(api, "judge", parameters=parameters).status_code == 429
        assert start(api).status_code == 201, "games that count have places left when those for practice are taken"


@sqlite_first
def test_ended_practice_games_are_kept_up_to_a_number(games: Api) -> None:
    counted, ids = win(games), []

    def play() -> None:
        game = document(start(games, "team", parameters={"a": 3, "b": 0, "k": 1}))
        document(games.post(f"games/{game['id']}/resign", user="team"))
        ids.append(game["id"])

    play()
    with games.service.database.write() as session:
        copy = {each.name: getattr(session.get_one(GameRow, ids[0]), each.name) for each in GameRow.__table__.columns}
        old = [{**copy, "id": f"old{at}", "started": copy["started"] - at * HOUR} for at in range(1, MOST_ENDED)]
        session.execute(insert(GameRow), old)
    for _ in range(3):
        play()
    with games.service.database.read() as session:
        kept = set(session.scalars(select(GameRow.id)))
    expected = [counted["id"], *ids, *(each["id"] for each in old)]
    assert kept == set(expected[:-2])  # one game of practice more is removed by the start of the next one


@sqlite_first
def test_a_reply_that_was_never_stored_is_computed_again_the_same(games: Api, tmp_path: Path) -> None:
    body = {"parameters": {"a": 9, "b": 9, "k": 4}, "opponent": "random", "seed": 11}
    game = document(start(games, "team", **body))
    after = document(move(games, game["id"], 1, STEP))
    with games.service.database.write() as session:
        session.execute(delete(GameMoveRow).where(GameMoveRow.game_id == game["id"], GameMoveRow.number == 2))
        session.execute(update(GameRow).where(GameRow.id == game["id"]).values(moves=1))
    url = games.service.settings.database
    with open_api(url, tmp_path / "again", again=True) as restarted:
        again = document(move(restarted, game["id"], 1, STEP))
        assert [each["move"] for each in again["moves"]] == [each["move"] for each in after["moves"]]
        assert again["position"] == after["position"]
        stored = document(restarted.get(f"games/{game['id']}", user="team"))
        assert [each["move"] for each in stored["moves"]] == [each["move"] for each in after["moves"]]


@sqlite_first
def test_a_game_with_a_running_clock_ends_also_if_no_server_was_running(
    games: Api, wall: WallClock, tmp_path: Path
) -> None:
    limit(games.service, move_seconds=60)
    game = document(start(games))
    wall.step(HOUR)
    with open_api(games.service.settings.database, tmp_path / "again", again=True) as restarted:
        look_at_clocks(restarted)
        assert state(restarted, game) == ("opponent", "clock")
        assert document(restarted.get(f"games/{game['id']}", user="team"))["ended"] == game["clock"]["deadline"]


def test_files_to_a_problem_that_is_played_are_refused(quick_games: Api) -> None:
    reply = quick_games.post(
        "contests/c/submissions", user="team", data={"problem_id": GAME}, files={"files": ("02.out", b"3 0 1\n")}
    )
    assert reply.status_code == 422
    assert "which is played" in reply.json()["message"]
    assert quick_games.get("contests/c/submissions", user="team").json() == []


def test_a_team_with_games_in_play_is_neither_withdrawn_nor_deleted(quick_games: Api) -> None:
    document(start(quick_games))
    assert "plays 1 games" in quick_games.delete("contests/c/teams/team", user="admin").json()["message"]
    assert "games" in quick_games.delete("teams/team", user="admin").json()["message"]
    assert "games" in quick_games.delete("accounts/team", user="admin").json()["message"]
    assert "games in play" in quick_games.delete("contests/c", user="admin").json()["message"]
