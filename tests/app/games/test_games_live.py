"""Games over a WebSocket: moves in both directions, resumption, refusals, and two connections at once."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection

from app.accounts.service.tokens import SESSION_COOKIE
from app.operations.commands import crowd as commands_crowd
from tests.builders.games import STEP, add_games, document, move, start
from tests.builders.service import PASSWORD, Api
from tests.builders.sockets import SECONDS, ask, authorization, listening, live, receive
from tests.builders.waiting import until


@pytest.fixture
def games(quick_api: Api) -> Api:
    """A running contest with a problem that is played."""
    add_games(quick_api.service)
    return quick_api


@pytest.fixture
def place(games: Api) -> Iterator[str]:
    """Where the app is served."""
    with listening(games) as place:
        yield place


def started(games: Api) -> str:
    return str(document(start(games, testcase="03"))["id"])


def play(socket: ClientConnection, number: int, text: str = STEP) -> Any:
    return ask(socket, {"number": number, "move": text})


def closing_code(socket: ClientConnection) -> int | None:
    """The code with which the server closes a connection, after everything that it has sent."""
    while True:
        try:
            socket.recv(timeout=SECONDS)
        except ConnectionClosed as closed:
            return None if closed.rcvd is None else closed.rcvd.code


def test_a_game_is_played_to_its_end_over_one_connection_which_the_server_closes(games: Api, place: str) -> None:
    game = started(games)
    with live(place, game) as socket:
        first = receive(socket)
        assert (first["type"], first["next_move"], first["moves"]) == ("game", 1, [])
        after = play(socket, 1)
        assert [(each["number"], each["by"]) for each in after["moves"]] == [(1, "you"), (2, "opponent")]
        assert [each["number"] for each in play(socket, 3)["moves"]] == [3, 4]
        won = play(socket, 5)
        assert (won["winner"], won["over"], [each["number"] for each in won["moves"]]) == ("you", True, [5])
        assert closing_code(socket) == 1000
    assert len(games.get("contests/c/submissions", user="team").json()) == 1


def test_a_client_resumes_behind_the_last_move_that_it_knows_and_repeats_what_was_not_answered(
    games: Api,
    place: str,
) -> None:
    game = started(games)
    with live(place, game) as socket:
        receive(socket)
        play(socket, 1)
        socket.send(json.dumps({"number": 3, "move": STEP}))
        socket.close_socket()  # its reply is never read
    assert document(move(games, game, 3))["next_move"] == 5
    with live(place, game, "?since=2") as again:
        resumed = receive(again)
        assert [each["number"] for each in resumed["moves"]] == [3, 4]
        repeated = play(again, 3)
        assert [each["number"] for each in repeated["moves"]] == [3, 4]
        assert play(again, 5)["winner"] == "you"


def test_refusals_come_over_the_connection_which_stays_open(games: Api, place: str) -> None:
    game = started(games)
    with live(place, game) as socket:
        receive(socket)
        for text, code in (
            ("no JSON", 400),
            ("[]", 400),
            ("{}", 400),
            ('{"number": 1}', 400),
            (json.dumps({"number": 2**64, "move": STEP}), 400),
            (json.dumps({"number": -1, "move": STEP}), 400),
            ('{"number": 1e3, "move": "1 0"}', 400),
            (json.dumps({"number": 1, "move": "7 0"}), 400),
            (json.dumps({"number": 1, "move": "x" * 5000}), 400),
            ('{"number": NaN, "move": "1 0"}', 400),
            ('{"number": 1e999, "move": "1 0"}', 400),
            ('{"number": ' + "9" * 4000 + ', "move": "1 0"}', 400),
            ('{"number": 1, "move": "\\ud800 0"}', 400),
            ('{"number": 1, "move": "1 0\\u0000"}', 400),
            ('{"\\ud800": 1}', 400),
            ('{"number": 1, "move": "1 0", "resign": true}', 400),
            ('{"resign": false}', 400),
            (json.dumps({"number": 2, "move": STEP}), 409),
            ("[" * 3000, 400),
        ):
            refused = ask(socket, text)
            assert (refused["type"], refused["code"]) == ("error", code), text
        assert ask(socket, b"1 0")["code"] == 400
        assert ask(socket, b"\xff" * 4096)["code"] == 400
        assert play(socket, 1)["next_move"] == 3


def test_two_connections_see_each_others_moves_and_only_one_of_two_moves_counts(games: Api, place: str) -> None:
    game = started(games)
    with live(place, game) as one, live(place, game) as other:
        for socket in (one, other):
            receive(socket)
        assert play(one, 1)["next_move"] == 3
        assert [each["number"] for each in receive(other)["moves"]] == [1, 2]
        refused = play(other, 1, "0 1")
        assert (refused["type"], refused["code"]) == ("error", 409)
        posted = move(games, game, 3)
        assert posted.status_code == 200
        for socket in (one, other):
            assert [each["number"] for each in receive(socket)["moves"]] == [3, 4]
        one.send('{"resign": true}')
        for socket in (one, other):
            ended = receive(socket)
            assert (ended["ending"], ended["winner"]) == ("resigned", "opponent")


@pytest.mark.parametrize(
    ("user", "query", "more", "status"),
    [
        ("other", "", {}, 404),
        ("team", "?since=1", {}, 400),
        ("team", "?since=-1", {}, 400),
        ("team", "?since=1e3", {}, 400),
        ("nobody", "", {}, 401),
        ("team", "", {"Origin": "https://elsewhere.example"}, 403),
    ],
)
def test_a_connection_that_may_not_be_is_refused_before_it_begins(
    games: Api, place: str, user: str, query: str, more: dict[str, str], status: int
) -> None:
    game = started(games)
    with pytest.raises(InvalidStatus) as refused:
        live(place, game, query, user, **more)
    assert refused.value.response.status_code == status


def test_a_judge_watches_and_may_not_move(games: Api, place: str) -> None:
    game = started(games)
    with live(place, game) as socket, live(place, game, user="judge") as watching:
        receive(socket)
        receive(watching)
        play(socket, 1)
        assert [each["number"] for each in receive(watching)["moves"]] == [1, 2]
        assert play(watching, 3)["code"] == 403


def test_a_changed_password_ends_the_connection(games: Api, place: str) -> None:
    game = started(games)
    with live(place, game) as socket:
        receive(socket)
        changed = {"id": "team", "password": "another good secret"}
        assert games.patch("accounts/team", user="admin", json=changed).status_code == 200
        assert closing_code(socket) == 1008


def test_the_stop_of_the_server_closes_connections_and_loses_nothing(games: Api, place: str) -> None:
    game = started(games)
    with live(place, game) as socket:
        receive(socket)
        assert play(socket, 1)["next_move"] == 3
        games.portal.call(games.app.state.hub.stop)
        assert closing_code(socket) == 1008
    assert document(games.get(f"games/{game}", user="team"))["next_move"] == 3
    with pytest.raises(InvalidStatus) as refused, live(place, game):
        pass
    assert refused.value.response.status_code == 503


def test_a_frame_of_a_megabyte_closes_the_connection_and_nothing_else(games: Api, place: str) -> None:
    game = started(games)
    with live(place, game) as socket:
        receive(socket)
        socket.send("x" * 2**20)
        assert closing_code(socket) == 1009
    with live(place, game) as again:
        receive(again)
        assert play(again, 1)["next_move"] == 3


def test_a_page_of_ours_plays_by_the_cookie_of_its_session_and_one_of_another_origin_does_not(
    games: Api, place: str
) -> None:
    game = started(games)
    cookie = games.post("/login", data={"username": "team", "password": PASSWORD}).cookies[SESSION_COOKIE]
    session = {"Cookie": f"{SESSION_COOKIE}={cookie}"}
    with live(place, game, user=None, Origin=f"http://{place}", **session) as socket:
        receive(socket)
        assert play(socket, 1)["next_move"] == 3
        for origin in ("https://elsewhere.example", f"http://{place}.elsewhere.example", "null"):
            with pytest.raises(InvalidStatus) as refused:
                live(place, game, user=None, Origin=origin, **session)
            assert refused.value.response.status_code == 403
        with pytest.raises(InvalidStatus) as nobody:
            live(place, game, user=None, Origin=f"http://{place}")
        assert nobody.value.response.status_code == 404
        assert games.post("/logout", headers=session).status_code == 303
        assert closing_code(socket) == 1008, "the connection ends with its session"


def test_a_client_that_sends_pings_for_ever_and_reads_nothing_is_cut_off(
    games: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands_crowd, "MOST_UNREAD", 2**20)
    game, crowd = started(games), games.app.state.hub.crowd

    def flood(noisy: socket.socket) -> None:
        while True:
            noisy.sendall(PING * 1000)

    with listening(games, small_buffers=True) as place, shake_hands(place, game) as noisy:
        with pytest.raises(ConnectionError):
            flood(noisy)
        until(lambda: crowd._open == 0)


def test_a_client_that_falls_silent_with_bytes_unread_is_cut_off(games: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """It answers no ping, and a connection that is only closed would wait until it had read all."""
    monkeypatch.setattr(commands_crowd, "SECONDS_BETWEEN_CLOSINGS", 0.05)
    game, crowd = started(games), games.app.state.hub.crowd
    options = {"ws_ping_interval": 1.0, "ws_ping_timeout": 0.05}
    with listening(games, small_buffers=True, **options) as place, shake_hands(place, game) as silent:
        silent.sendall(PING * 4000)
        until(lambda: bool(crowd._open == 0))


PING = b"\x89\xfd\0\0\0\0" + b"x" * 125
"""A ping with as many bytes as one may have, masked with zeros."""


def shake_hands(place: str, game: str) -> socket.socket:
    """Open a WebSocket with a small buffer, and read nothing more than that."""
    host, port = place.split(":")
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.settimeout(SECONDS)
    raw.connect((host, int(port)))
    headers = {
        **authorization("team"),
        "Host": place,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec-WebSocket-Version": "13",
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    raw.sendall(f"GET /api/games/{game}/live HTTP/1.1\r\n{lines}\r\n".encode())
    assert b" 101 " in raw.recv(100)
    return raw
