"""A server that is killed with kill -9 in the middle of games loses no acknowledged move, and makes none twice."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import httpx

from app.packages.catalog import bundled
from ops.chaos.stage import Server
from tests.conftest import forked

CLIENTS = 4
ENOUGH = 25
"""Moves of all clients after which the server is killed; they continue until it is gone."""
FEW = {"graders": "1"}
START = {"parameters": {"a": 10**6, "b": 0, "k": 2}, "opponent": "random", "seed": 3}


def test_every_acknowledged_move_is_in_the_transcript_once_after_kill_9_in_the_middle(tmp_path: Path) -> None:
    problem = tmp_path / "problems" / "lasttreat"
    problem.parent.mkdir()
    problem.symlink_to(bundled()["lasttreat"])
    server = Server(tmp_path / "home", popen=forked, problems=str(problem.parent), **FEW)
    try:
        server.start()
        played = play_until_killed(server)
        server.start()
        with httpx.Client(base_url=f"{server.url}/api/", timeout=60) as client:
            for game, acknowledged in played.items():
                stored = client.get(f"games/{game}").raise_for_status().json()["moves"]
                assert [each["number"] for each in stored] == list(range(1, len(stored) + 1))
                assert [(each["number"], each["move"]) for each in stored][: len(acknowledged)] == acknowledged
                assert 0 <= len(stored) - len(acknowledged) <= 2, "a turn that was on its way, and no more"
                go_on(client, game, acknowledged, stored)
    finally:
        if server.process.poll() is None:
            server.kill()


def play_until_killed(server: Server) -> dict[str, list[tuple[int, str]]]:
    """Play games at once until the server is gone; the acknowledged moves of each."""
    played: dict[str, list[tuple[int, str]]] = {}
    count, enough, begun = threading.Semaphore(0), threading.Event(), threading.Barrier(CLIENTS)

    def client_plays() -> None:
        with httpx.Client(base_url=f"{server.url}/api/", timeout=60) as client:
            made = client.post("contests/practice/problems/lasttreat/games", json=START).raise_for_status()
            game, number = made.json()["id"], 1
            played[game] = []
            begun.wait(60)  # a game that begins when the server is gone would fail
            try:
                while True:
                    reply = post(client, game, number)
                    played[game], number = moves_of(reply), reply["next_move"]
                    count.release()
            except httpx.TransportError:
                return

    def kill_when_enough() -> None:
        for _ in range(ENOUGH):
            count.acquire()
        server.kill()
        enough.set()

    threads = [threading.Thread(target=client_plays) for _ in range(CLIENTS)]
    threads.append(threading.Thread(target=kill_when_enough))
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert enough.is_set()
    assert sum(map(len, played.values())) >= 2 * ENOUGH
    return played


def go_on(client: httpx.Client, game: str, acknowledged: list[tuple[int, str]], stored: list[dict[str, Any]]) -> None:
    """The move that was not answered is sent again: it is there once, whether it had been stored or not."""
    number = len(acknowledged) + 1
    again = moves_of(post(client, game, number))
    assert [each for each, _ in again] == list(range(1, number + 2))
    assert again[: len(stored)] == [(each["number"], each["move"]) for each in stored]


def post(client: httpx.Client, game: str, number: int) -> dict[str, Any]:
    reply = client.post(f"games/{game}/moves", json={"number": number, "move": "1 0"})
    return dict(reply.raise_for_status().json())


def moves_of(game: dict[str, Any]) -> list[tuple[int, str]]:
    return [(each["number"], each["move"]) for each in game["moves"]]
