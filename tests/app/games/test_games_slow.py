"""Opponents that think for longer: games wait their turn, and no one else waits for them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Event
from typing import Any

import pytest

from app.core.load import AT_ONCE
from games.doors import Opponent
from games.lasttreat.opponents import OPPONENTS
from tests.builders.games import STEP, add_games, document, move, start
from tests.builders.service import Api
from tests.builders.waiting import until

PILES = {"a": 9, "b": 0, "k": 1}
WAITING = 5


class Slow:
    """An opponent that thinks until it is let go, and notes which games it thought about, in order."""

    def __init__(self) -> None:
        self.begun: list[Any] = []
        self.go = Event()

    def choose(self, position: Any, _random: Random) -> str:
        """Wait, and make the only move."""
        self.begun.append(position)
        assert self.go.wait(60)
        return STEP


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    """The opponent `slow` of the last treat."""
    opponent = Slow()
    monkeypatch.setitem(OPPONENTS, "slow", Opponent("thinks until it is let go", opponent.choose))
    yield opponent
    opponent.go.set()


def test_games_against_a_slow_opponent_wait_their_turn_and_everybody_else_plays_on(quick_api: Api, slow: Slow) -> None:
    """More games wait than there are threads for opponents; requests that read the database have theirs."""
    api = quick_api
    add_games(api.service)
    waiting = [document(start(api, "other", parameters=PILES, opponent="slow"))["id"] for _ in range(WAITING)]
    with ThreadPoolExecutor(WAITING) as people:
        moves = [people.submit(move, api, game, 1, user="other") for game in waiting]
        until(lambda: len(slow.begun) == AT_ONCE["games"])
        mine = document(start(api, "team", parameters=PILES, opponent="one"))
        while not mine["over"]:
            mine = document(move(api, mine["id"], mine["next_move"]))
        assert mine["winner"] == "you"
        assert api.get("contests/c/games", user="team").status_code == 200
        assert len(slow.begun) == AT_ONCE["games"], "no third one has begun"
        assert not any(each.done() for each in moves)
        slow.go.set()
        assert {document(each.result())["next_move"] for each in moves} == {3}
    assert len(slow.begun) == WAITING, "each thought once"
