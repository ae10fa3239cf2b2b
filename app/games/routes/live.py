"""A game over a WebSocket: what the client sends becomes moves, and it is told of every change of the game.

A message of the client is `{"number": N, "move": TEXT}` or `{"resign": true}`. One of the server is the game with
`"type": "game"`, whose `moves` are those that this connection has not been told yet, or a refusal,
`{"type": "error", "code": INT, "message": TEXT}`. `?since=N` resumes behind the move with that number. A move whose
reply was lost is sent again: it is the same move. The server closes the connection when the game has ended.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from contextlib import suppress
from typing import Literal, cast

import structlog
from fastapi import APIRouter, WebSocket
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.websockets import WebSocketDisconnect

from app.accounts.service.viewer import Viewer
from app.core.bodies import Body
from app.core.errors import MOST_LISTED, BadRequest, ServiceError, all_in_words, fault
from app.core.http.auth import Authenticator
from app.core.http.errors import error_response, status_of, unavailable
from app.core.messages import N_
from app.core.metrics import Metrics
from app.feed.service.hub import Hub
from app.feed.service.streams import Client
from app.games.service.bodies import MoveBody
from app.games.service.playing import Games
from app.games.service.referee import Table

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.games")
router = APIRouter()
LONGEST_MESSAGE = 4096
ENDED, LEFT, FAULT = 1000, 1008, 1011


class ResignBody(Body):
    """A message that gives the game up."""

    resign: Literal[True]


class Player(Client):
    """The client of one connection: it leaves when its rights end, or the server does."""

    def __init__(self, viewer: Viewer, address: str, live: Live, contest_id: str | None) -> None:
        super().__init__(viewer, address, contest_id)
        self._live = live

    def leave(self) -> None:
        """Close the connection."""
        super().leave()
        self._live.close_soon(LEFT)


class Live:
    """One connection to one game; `known` is the number of the last move that it was told of."""

    def __init__(self, socket: WebSocket, games: Games, viewer: Viewer, game_id: str, known: int) -> None:
        self._socket = socket
        self._games = games
        self._viewer = viewer
        self._game_id = game_id
        self._known = known
        self._has_end = False
        self._sending = asyncio.Lock()
        self._acting = self._looking = self._behind = False
        self._tasks: set[asyncio.Task[None]] = set()
        self.closing = False

    def begin(self) -> None:
        """Begin to hear of changes."""
        self._games.watch(self._game_id, self.changed)

    def end(self) -> None:
        """Hear of nothing any more."""
        self._games.leave(self._game_id, self.changed)

    async def tell(self, table: Table, since: int | None = None) -> None:
        """Send the game with the moves behind those told, if there is anything new; `since`: behind that one anyway."""
        async with self._sending:
            begin = self._known if since is None else since
            is_news = len(table.moves) > begin or (table.over and not self._has_end)
            if self.closing or not is_news:
                return
            shown = await self._games.shown(table, max(0, begin))
            self._known = max(self._known, len(table.moves))
            self._has_end = table.over
            await self._socket.send_text('{"type":"game",' + shown.model_dump_json()[1:])
        if table.over:
            await self.close(ENDED)

    async def hear(self, text: str | None) -> None:
        """Do what a message says, and answer it."""
        self._acting = True
        try:
            message = read_message(text)
            if isinstance(message, ResignBody):
                await self.tell(await self._games.resign(self._viewer, self._game_id))
                return
            await self._games.move(self._viewer, self._game_id, message)
            self._behind = False
            await self.tell(await self._games.now(self._viewer, self._game_id), message.number - 1)
        except ServiceError as refused:
            self._behind = True
            await self._send(error_response(status_of(refused), refused.message))
        finally:
            self._acting = False
        if self._behind:
            await self.look()

    def changed(self) -> None:
        """The game has changed; what this connection did itself it is told of anyway.

        A client that does not read is told once of all that happened meanwhile.
        """
        self._behind = True
        if not self._acting and not self._looking:
            self._soon(self.look())

    async def look(self) -> None:
        """Tell of the game as it is now, until nothing has changed meanwhile."""
        self._looking = self._behind = True
        try:
            with suppress(ServiceError, WebSocketDisconnect, RuntimeError):
                while self._behind and not self.closing:
                    self._behind = False
                    await self.tell(await self._games.now(self._viewer, self._game_id))
        finally:
            self._looking = False

    def close_soon(self, code: int) -> None:
        """Close the connection from where nothing can be awaited."""
        self._soon(self.close(code))

    async def close(self, code: int) -> None:
        """Close the connection once."""
        if self.closing:
            return
        self.closing = True
        with suppress(RuntimeError, WebSocketDisconnect):  # it may be closed from the other side
            await self._socket.close(code)

    async def failed(self, error: Exception) -> None:
        """Tell of a fault of the server, and close."""
        metrics = cast(Metrics, self._socket.app.state.metrics)
        reply = unavailable(error, self._socket.url.path, metrics)
        if reply is None:
            log.exception("fault", path=self._socket.url.path)
            metrics.failed()
            reply = error_response(500, "a fault of the server; it has been logged")
        await self._send(reply)
        await self.close(FAULT)

    async def _send(self, reply: JSONResponse) -> None:
        if not self.closing:
            await self._socket.send_text('{"type":"error",' + bytes(reply.body).decode()[1:])

    def _soon(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


@router.websocket("/games/{game_id}/live")
async def play_live(socket: WebSocket, game_id: str) -> None:
    """Play a game over one connection, or watch it as a judge."""
    state = socket.app.state
    games, hub = cast(Games, state.games), cast(Hub, state.hub)
    address = socket.client.host if socket.client is not None else ""
    try:
        viewer = await cast(Authenticator, state.authenticator).viewer(socket.headers.get("authorization"), address)
        hub.check_going()
        since = await _since(socket.query_params.get("since"), games, viewer, game_id)
        table = await games.now(viewer, game_id)
        live = Live(socket, games, viewer, game_id, since)
        player = Player(viewer, address, live, table.game.contest_id)
        with hub.crowd.place(player), hub.guarding(player):
            await socket.accept()
            await _converse(socket, live, player)
    except ServiceError as refused:
        await socket.send_denial_response(error_response(status_of(refused), refused.message))


async def _converse(socket: WebSocket, live: Live, player: Player) -> None:
    """Hear and tell until either side closes the connection."""
    expiry = player.seconds_left()
    timer = None if expiry is None else asyncio.get_running_loop().call_later(expiry, player.leave)
    live.begin()
    try:
        await live.look()
        while not live.closing:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            await live.hear(message.get("text"))
    except (WebSocketDisconnect, RuntimeError):
        return  # it was closed while something was sent
    except Exception as error:
        await live.failed(error)
    finally:
        live.end()
        if timer is not None:
            timer.cancel()


def read_message(text: str | None) -> MoveBody | ResignBody:
    """What a client's message says; raises BadRequest."""
    if text is None or len(text) > LONGEST_MESSAGE:
        raise BadRequest(
            N_("expected a text of at most %(most)s characters, found something else"),
            where="message",
            most=LONGEST_MESSAGE,
        )
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise BadRequest(N_("expected JSON, found something else"), where="message") from None
    model = ResignBody if isinstance(value, dict) and "resign" in value else MoveBody
    try:
        return model.model_validate(value)
    except ValidationError as error:
        given = error.errors(include_url=False)
        raise BadRequest(all_in_words([fault(each) for each in given[:MOST_LISTED]], len(given))) from None


async def _since(text: str | None, games: Games, viewer: Viewer, game_id: str) -> int:
    """The number of the last move that a client knows of; -1 where it knows nothing of the game. Raises BadRequest.

    It may know of a move that another server has told it of, and this one will hear of in a moment: the rows have it.
    """
    if text is None:
        return -1
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
    table = await games.now(viewer, game_id)
    if number is not None and number > len(table.moves):
        table = await games.look(viewer, game_id)
    if number is None or number > len(table.moves):
        raise BadRequest(
            N_("expected the number of a move up to %(count)s, found %(found)r"),
            where="since",
            count=len(table.moves),
            found=text[:40],
        )
    return number
