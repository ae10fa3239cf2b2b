"""Games against the judge over HTTP: started, played, resigned, and what a counted one becomes."""

from __future__ import annotations

import pytest

from tests.builders.examples import rule_cases, sqlite_first
from tests.builders.games import GAME, STEP, add_games, document, move, start, win
from tests.builders.service import Api


@pytest.fixture
def games(api: Api) -> Api:
    """A running contest with a problem that is played."""
    add_games(api.service)
    return api


@sqlite_first
def test_anybody_plays_for_practice_from_parameters(games: Api) -> None:
    parameters = {"a": 3, "b": 0, "k": 1}
    reply = start(games, None, parameters=parameters, opponent="one", seed=7)
    game = document(reply)
    assert reply.status_code == 201
    assert reply.headers["location"] == f"/api/games/{game['id']}"
    assert (game["position"], game["turn"], game["next_move"]) == (parameters, "you", 1)
    assert (game["over"], game["winner"], game["moves"], game["seed"]) == (False, None, [], 7)
    after = document(move(games, game["id"], 1, user=None))
    assert (after["position"], after["next_move"]) == ({"a": 1, "b": 0, "k": 1}, 3)
    assert [(each["number"], each["by"], each["move"]) for each in after["moves"]] == [
        (1, "you", STEP),
        (2, "opponent", STEP),
    ]
    won = document(move(games, game["id"], 3, user=None))
    assert (won["over"], won["winner"], won["turn"], won["ending"]) == (True, "you", None, "played")
    assert document(games.get(f"games/{game['id']}")) == won
    assert games.get("contests/c/submissions", user="admin").json() == []


@sqlite_first
def test_the_same_move_again_gets_the_same_answer_also_when_the_game_has_gone_on(games: Api) -> None:
    game = document(start(games, testcase="03"))
    first = document(move(games, game["id"], 1))
    again = document(move(games, game["id"], 1))
    assert {**again, "clock": None} == {**first, "clock": None}
    third = document(move(games, game["id"], 3))
    assert third["next_move"] == 5
    late = document(move(games, game["id"], 1))
    assert {**late, "clock": None} == {**first, "clock": None}
    assert document(games.get(f"games/{game['id']}", user="team"))["next_move"] == 5


@sqlite_first
def test_a_stale_a_future_and_another_move_are_conflicts_and_change_nothing(games: Api) -> None:
    game = document(start(games, testcase="03"))
    for number, text in ((2, STEP), (3, STEP), (2**31 - 1, STEP)):
        reply = move(games, game["id"], number, text)
        assert reply.status_code == 409
        assert "expected 1" in reply.json()["message"]
    move(games, game["id"], 1)
    assert move(games, game["id"], 1, "0 1").status_code == 409
    assert move(games, game["id"], 2).status_code == 409
    assert document(games.get(f"games/{game['id']}", user="team"))["next_move"] == 3


@sqlite_first
def test_a_won_game_becomes_a_submission_whose_answer_is_the_transcript(games: Api) -> None:
    game = win(games)
    assert (game["winner"], game["counted"], game["testcase"]) == ("you", True, "02")
    (sent,) = games.get("contests/c/submissions", user="team").json()
    assert (sent["id"], sent["problem_id"], sent["team_id"]) == (game["submission_id"], GAME, "team")
    answer = games.get(f"contests/c/submissions/{sent['id']}/answers/02", user="team").text
    assert answer == games.get(f"games/{game['id']}/transcript", user="team").text


@sqlite_first
def test_the_seed_of_a_counted_game_is_hidden_until_it_has_ended(games: Api) -> None:
    game = document(start(games))
    assert game["seed"] is None
    assert games.get(f"games/{game['id']}/transcript", user="team").status_code == 409
    ended = document(games.post(f"games/{game['id']}/resign", user="team"))
    assert (ended["winner"], ended["ending"]) == ("opponent", "resigned")
    assert ended["seed"] is not None


@sqlite_first
def test_resigning_again_changes_nothing_and_an_ended_game_takes_no_move(games: Api) -> None:
    game = document(start(games))
    once = document(games.post(f"games/{game['id']}/resign", user="team"))
    assert document(games.post(f"games/{game['id']}/resign", user="team")) == once
    refused = move(games, game["id"], 1)
    assert refused.status_code == 409
    assert "resigned" in refused.json()["message"]
    assert len(games.get("contests/c/submissions", user="team").json()) == 1


@rule_cases(
    ("body", "says"),
    [
        ({}, "testcase or parameters"),
        ({"testcase": "02", "parameters": {}}, "testcase or parameters"),
        ({"testcase": "nine"}, "no test case"),
        ({"testcase": "02", "opponent": "nobody"}, "opponent"),
        ({"testcase": "02", "seed": 1}, "seed: expected none"),
        ({"testcase": "02", "side": 1}, "side: expected none"),
        ({"testcase": "02", "opponent": "random"}, "opponent: expected none in a game that counts"),
        ({"parameters": {"a": 2**64, "b": 0, "k": 1}}, "parameters.a"),
        ({"parameters": {"a": -1, "b": 0, "k": 1}}, "parameters.a"),
        ({"parameters": {"a": 1e3, "b": 0, "k": 1}}, "parameters.a"),
        ({"parameters": {"a": True, "b": 0, "k": 1}}, "parameters.a"),
        ({"parameters": {"a": "1e3", "b": 0, "k": 1}}, "parameters.a"),
        ({"parameters": {"a": 3, "b": 0, "k": 1}, "seed": 2**64}, "seed"),
        ({"parameters": {"a": 3, "b": 0, "k": 1}, "seed": -1}, "seed"),
        ({"parameters": {"a": 3, "b": 0, "k": 1}, "seed": 1e3}, "seed"),
    ],
)
def test_a_game_that_cannot_be_is_refused_with_where_expected_found(
    games: Api, body: dict[str, object], says: str
) -> None:
    reply = games.post(f"contests/c/problems/{GAME}/games", user="team", json=body)
    assert reply.status_code in {400, 404}
    assert says in reply.json()["message"]
    assert games.get("contests/c/games", user="team").json() == []


@rule_cases("number", [2**64, -1, 0, 1e3, "1", True, None])
def test_a_number_that_is_none_is_refused(games: Api, number: object) -> None:
    game = document(start(games))
    reply = games.post(f"games/{game['id']}/moves", user="team", json={"number": number, "move": STEP})
    assert reply.status_code == 400


@rule_cases("text", ["2 0", "0 0", "1", "1 0 0", "-1 0", "1e0 0", "٣ 0", "1 0\n", "", "x" * 300])
def test_an_illegal_move_is_refused_and_changes_nothing(games: Api, text: str) -> None:
    game = document(start(games))
    assert move(games, game["id"], 1, text).status_code == 400
    assert document(games.get(f"games/{game['id']}", user="team"))["next_move"] == 1


@sqlite_first
def test_nobody_sees_or_plays_the_game_of_another_team(games: Api) -> None:
    game = document(start(games))
    for user in (None, "other", "staff"):
        assert games.get(f"games/{game['id']}", user=user).status_code == 404
        assert move(games, game["id"], 1, user=user).status_code == 404
        assert games.post(f"games/{game['id']}/resign", user=user).status_code == 404
        assert games.get("contests/c/games", user=user).json() == []
    for user in ("judge", "admin"):
        assert games.get(f"games/{game['id']}", user=user).status_code == 200
        assert move(games, game["id"], 1, user=user).status_code == 403
        assert [each["id"] for each in games.get("contests/c/games", user=user).json()] == [game["id"]]
    assert games.get("games/none", user="team").status_code == 404


@sqlite_first
def test_games_are_listed_by_problem(games: Api) -> None:
    ended, open_ = win(games), document(start(games, testcase="03"))
    practice = document(start(games, "team", parameters={"a": 3, "b": 0, "k": 1}))

    def ids(query: str) -> list[str]:
        return [each["id"] for each in games.get(f"contests/c/games{query}", user="team").json()]

    assert ids("") == [practice["id"], open_["id"], ended["id"]]
    assert ids("?problem_id=A") == ids("")
