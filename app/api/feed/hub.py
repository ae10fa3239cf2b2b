"""The hub: between the keeper's thread and the streams in the event loop."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated, cast

from fastapi import Depends, Request

from app.api.errors import ApiError, NotFound
from app.api.feed.keeper import Keeper
from app.api.feed.log import Line, Log
from app.api.feed.readers import Place, read_token
from app.api.feed.sender import Sender
from app.api.feed.streams import Client, Waiting, Wish, Write, follow
from app.service import Service


class Stopping(ApiError):
    """The server stops."""

    status = 503


class Hub:
    """Everything that follows contests in one running service."""

    def __init__(self, service: Service) -> None:
        settings = service.settings
        self.keeper = Keeper(service, settings.feed_coalesce_seconds)
        self.seconds = settings.feed_keep_alive_seconds
        self.stopping = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: defaultdict[str, Waiting] = defaultdict(Waiting)
        self.keeper.listen(self._told)
        self.sender = Sender(service, self.keeper)

    async def open_log(self, contest_id: str) -> Log:
        """The log of a contest as it is from now on; raises NotFound where there is no such contest."""
        if self.stopping:
            raise Stopping("the server stops")
        self._loop = asyncio.get_running_loop()
        found = await asyncio.wrap_future(self.keeper.fresh(contest_id))
        if found is None:
            raise NotFound(f"no contest {contest_id!r}")
        return found

    def place(self, log: Log, wish: Wish, token: str | None) -> Place:
        """Where a client begins: behind its token, or at the beginning; raises BadRequest for a token of no use."""
        if token is None:
            return Place(log.head, 0, 0)
        return read_token(token, log.epoch, log.head, wish.reader.role)

    def join(self, contest_id: str, client: Client) -> None:
        """A stream begins."""
        self._waiting[contest_id].clients.add(client)
        self.keeper.follow(contest_id)

    def leave(self, contest_id: str, client: Client) -> None:
        """A stream has ended."""
        self._waiting[contest_id].clients.discard(client)
        self.keeper.leave(contest_id)

    async def stream(
        self, log: Log, client: Client, wish: Wish, place: Place, write: Write, keep_alive: bytes
    ) -> AsyncIterator[bytes]:
        """Follow a log for a client until it, the contest or the server has gone."""
        self.join(log.contest_id, client)
        try:
            if self.stopping:
                return
            async for chunk in follow(log, client, wish, place, write, keep_alive, self.seconds):
                yield chunk
        finally:
            self.leave(log.contest_id, client)

    def stop(self) -> None:
        """End all streams; called in the event loop, before the server waits for its replies to end."""
        self.stopping = True
        for waiting in self._waiting.values():
            for client in waiting.clients:
                client.leave()

    def close(self) -> None:
        """Stop the keeper and the calling of webhooks; blocks."""
        self.sender.close()
        self.keeper.close()

    def _told(self, contest_id: str) -> None:
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(self._wake, contest_id)

    def _wake(self, contest_id: str) -> None:
        waiting = self._waiting.get(contest_id)
        if waiting is not None:
            waiting.wake()


def as_line(log: Log, role: str) -> Write:
    """Events as lines of NDJSON."""

    def write(line: Line, token: str) -> bytes:
        return line.at(token) if token else line.sent(log.epoch, role)

    return write


async def get_hub(request: Request) -> Hub:
    """The hub of the running service."""
    return cast(Hub, request.app.state.hub)


TheHub = Annotated[Hub, Depends(get_hub)]
