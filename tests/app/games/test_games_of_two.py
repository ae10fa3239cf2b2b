"""Games between two people: one starts and invites, another joins, and each plays from a seat of its own."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from games.transcript import read, replay
from tests.builders.clocks import WallClock, wall_clock
from tests.builders.games import STEP, add_games, document, limit, look_at_clocks, move, start
from tests.builders.service import Api
from tests.builders.sockets import ask, listening, live, receive

PILE = {"a": 3, "b": 0, "k": 1}


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


def invite(api: Api, user: str | None = "team", **body: Any) -> dict[str, Any]:
    """Start a game against whoever joins it."""
    return document(start(api, user, **{"parameters": PILE, "opponent": "person", **body}))


def join(api: Api, seat: str, user: str | None = "other") -> Any:
    """Join a game."""
    return api.post(f"games/{seat}/join", user=user)


def seats(api: Api, user: str | None = "team", guest: str | None = "other", **body: Any) -> tuple[str, str]:
    """Start a game and join it; the ids of both seats."""
    game = invite(api, user, **body)
    return game["id"], str(document(join(api, game["invite"], guest))["id"])


def test_two_teams_play_a_game_that_each_sees_from_its_own_side(games: Api) -> None:
    game = invite(games)
    assert (game["opponent"], game["counted"], game["joined"], game["side"]) == ("person", False, False, 0)
    assert (game["turn"], game["next_move"]) == ("you", 1)
    joined = document(join(games, game["invite"]))
    assert (joined["id"], joined["side"], joined["turn"]) == (game["invite"], 1, "opponent")
    assert (joined["joined"], joined["invite"]) == (True, None)
    home, guest = game["id"], joined["id"]
    first = document(move(games, home, 1))
    assert (first["turn"], [each["by"] for each in first["moves"]]) == ("opponent", ["you"])
    second = document(move(games, guest, 2, user="other"))
    assert (second["turn"], [each["by"] for each in second["moves"]]) == ("opponent", ["opponent", "you"])
    won = document(move(games, home, 3))
    assert (won["winner"], won["ending"]) == ("you", "played")
    lost = document(games.get(f"games/{guest}", user="other"))
    assert (lost["winner"], lost["over"], lost["turn"]) == ("opponent", True, None)
    transcript = read(games.get(f"games/{home}/transcript", user="team").text)
    assert (transcript.opponent, replay(transcript).fault) == (None, None)
    assert games.get("contests/c/submissions", user="admin").json() == []
    for user, seat, winner in (("team", home, "you"), ("other", guest, "opponent")):
        assert [(each["id"], each["winner"]) for each in games.get("contests/c/games", user=user).json()] == [
            (seat, winner)
        ]


def test_nobody_moves_before_somebody_has_joined_or_out_of_turn_or_from_the_seat_of_another(games: Api) -> None:
    game = invite(games)
    assert "nobody has joined" in move(games, game["id"], 1).json()["message"]
    assert move(games, game["invite"], 1, user="other").status_code == 409
    assert games.post(f"games/{game['invite']}/resign", user="other").status_code == 409
    guest = document(join(games, game["invite"]))["id"]
    assert join(games, guest).status_code == 200, "joining again changes nothing"
    assert document(games.get(f"games/{game['id']}", user="team"))["next_move"] == 1
    for user in ("team", "staff", None):
        assert join(games, guest, user).status_code == 404
        assert games.get(f"games/{guest}", user=user).status_code == 404
        assert move(games, guest, 1, user=user).status_code == 404
    assert join(games, game["id"], "team").status_code == 400
    assert move(games, game["id"], 1, user="other").status_code == 404
    for seat, user, number in ((guest, "other", 1), (guest, "other", 2), (game["id"], "team", 2)):
        assert move(games, seat, number, user=user).status_code == 409
    assert document(move(games, game["id"], 1))["next_move"] == 2
    refused = move(games, game["id"], 2)
    assert (refused.status_code, "the other player" in refused.json()["message"]) == (409, True)
    assert document(move(games, game["id"], 1))["next_move"] == 2, "the same move again"


def test_two_people_without_login_play_by_ids_that_nobody_can_guess_and_a_judge_watches(games: Api) -> None:
    home, guest = seats(games, None, None)
    assert home != guest
    document(move(games, home, 1, user=None))
    document(move(games, guest, 2, user=None))
    assert games.get(f"games/{home}", user="judge").status_code == 200
    assert move(games, home, 3, user=None).json()["winner"] == "you"


@pytest.mark.parametrize("body", [{"practice": False}, {"testcase": "02", "parameters": None, "practice": False}])
def test_a_game_between_people_never_counts(games: Api, body: dict[str, Any]) -> None:
    asked = {name: value for name, value in {"parameters": PILE, **body}.items() if value is not None}
    assert start(games, "team", opponent="person", **asked).status_code == 400
    assert document(start(games, "team", testcase="02", opponent="person"))["counted"] is False


def test_each_has_a_time_of_its_own_which_runs_from_the_moment_of_joining(games: Api, wall: WallClock) -> None:
    limit(games.service, game_seconds=1000)
    game = invite(games)
    wall.step(timedelta(seconds=900))
    guest = document(join(games, game["invite"]))["id"]
    wall.step(timedelta(seconds=600))
    assert 600 <= document(move(games, game["id"], 1))["clock"]["used_seconds"] < 1000
    wall.step(timedelta(seconds=800))
    look_at_clocks(games)
    assert 800 <= document(move(games, guest, 2, user="other"))["clock"]["used_seconds"] < 1000
    wall.step(timedelta(seconds=500))
    look_at_clocks(games)
    late = document(games.get(f"games/{guest}", user="other"))
    assert (late["winner"], late["ending"]) == ("you", "clock")
    assert move(games, game["id"], 3).status_code == 409


def test_a_game_that_nobody_joins_ends_after_an_hour_and_nobody_wins_it(games: Api, wall: WallClock) -> None:
    game = invite(games)
    wall.step(timedelta(hours=2))
    look_at_clocks(games)
    ended = document(games.get(f"games/{game['id']}", user="team"))
    assert (ended["over"], ended["winner"], ended["ending"]) == (True, None, "unjoined")
    assert join(games, game["invite"]).status_code == 409
    transcript = read(games.get(f"games/{game['id']}/transcript", user="team").text)
    assert (transcript.end, replay(transcript).fault) == (None, None)


def test_whoever_resigns_loses_on_both_boards(games: Api) -> None:
    home, guest = seats(games)
    resigned = document(games.post(f"games/{guest}/resign", user="other"))
    assert (resigned["winner"], resigned["ending"]) == ("opponent", "resigned")
    assert document(games.post(f"games/{guest}/resign", user="other")) == resigned
    assert document(games.get(f"games/{home}", user="team"))["winner"] == "you"
    assert games.post(f"games/{home}/resign", user="team").status_code == 409


def test_both_play_over_websockets_and_see_each_other_come(quick_api: Api) -> None:
    add_games(quick_api.service)
    game = invite(quick_api)
    with listening(quick_api) as place, live(place, game["id"]) as home:
        assert receive(home)["joined"] is False
        guest = str(document(join(quick_api, game["invite"]))["id"])
        assert receive(home)["joined"] is True
        with live(place, guest, user="other") as other:
            assert receive(other)["turn"] == "opponent"
            assert ask(home, {"number": 1, "move": STEP})["turn"] == "opponent"
            assert receive(other)["turn"] == "you"
            assert ask(home, {"number": 2, "move": STEP})["code"] == 409
            assert ask(other, {"number": 2, "move": STEP})["turn"] == "opponent"
            assert [each["by"] for each in receive(home)["moves"]] == ["opponent"]
            assert ask(home, {"number": 3, "move": STEP})["winner"] == "you"
            assert receive(other)["winner"] == "opponent"


MOVES = st.lists(st.tuples(st.integers(1, 8), st.sampled_from([STEP, "0 1", "2 0", "1 1"])), max_size=8)


@given(one=MOVES, other=MOVES)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_interleaving_of_posts_from_both_seats_gives_a_legal_transcript(
    api: Api, one: list[tuple[int, str]], other: list[tuple[int, str]]
) -> None:
    """Whatever is answered, the moves are numbered and legal, and an acknowledged one is there, once."""
    if api.get("contests/c").status_code == 404:
        add_games(api.service)
    both = seats(api, parameters={"a": 4, "b": 3, "k": 2})
    acknowledged = []
    with ThreadPoolExecutor(2) as people:
        wanted = [(both[0], "team", one), (both[1], "other", other)]
        for replies in people.map(
            lambda each: [(posted, move(api, each[0], *posted, user=each[1])) for posted in each[2]], wanted
        ):
            for posted, reply in replies:
                assert reply.status_code in {200, 400, 409}, reply.text
                acknowledged += [posted] if reply.is_success else []
    after = document(api.get(f"games/{both[0]}", user="team"))
    made = {each["number"]: each["move"] for each in after["moves"]}
    assert list(made) == list(range(1, len(after["moves"]) + 1))
    assert all(made[number] == text for number, text in acknowledged)
    api.post(f"games/{both[1]}/resign", user="other")
    assert replay(read(api.get(f"games/{both[0]}/transcript", user="team").text)).fault is None
