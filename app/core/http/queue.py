"""Who reads waits for a place: few read at once, and fewer of one viewer (guarantee 6).

The event loop does everything else meanwhile, so what a submission waits for does not grow with the number of readers.
One account or address waits in the common lines with few of its requests, so that others come in between (guarantee 4).

- Reads wait for their place before the app sees them. One whose client leaves in the meantime is answered all the same:
  it takes a place of its own account or address.
"""

import asyncio
from collections.abc import Hashable, Sequence
from contextlib import ExitStack
from typing import cast
from urllib.parse import parse_qsl
from weakref import WeakValueDictionary

from starlette.datastructures import Headers, State
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.http.auth import Authenticator
from app.core.http.errors import error_response, headers_of
from app.core.load import source_of
from app.core.messages import N_, Unavailable
from app.core.settings import Settings

STREAMS = ("/event-feed", "/stream")
NO = frozenset({"false", "0", "no", "off", "f", "n"})
BUSY = Unavailable(N_("too many long reads at this moment; try again"), 1)


class Queued:
    """Around the app: a GET below /api waits for its place, and has it until its reply begins.

    Of replies in pieces, requests that have come are served between two pieces. Streams that stay open have limits of
    their own (`app.feed.service.streams`).
    """

    def __init__(self, app: ASGIApp, state: State, settings: Settings) -> None:
        self.app = app
        self._state = state
        self._of_one = settings.most_reads_of_one
        self._seconds = settings.read_wait_seconds
        self._all = asyncio.Semaphore(settings.most_reads)
        # Those of accounts and addresses that read or wait.
        self._own: WeakValueDictionary[Hashable, asyncio.Semaphore] = WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["type"] != "http" or scope["method"] != "GET" or not is_read(scope):
            await self.app(scope, receive, send)
            return
        # One's own place comes first: whoever waits for it takes none of the common ones.
        turns = [*map(self._turn, self._askers(scope)), self._all]
        with ExitStack() as place:
            try:
                async with asyncio.timeout(self._seconds):
                    for turn in turns:
                        await turn.acquire()
                        place.callback(turn.release)
            except TimeoutError:
                await error_response(503, BUSY.message, headers=headers_of(BUSY))(scope, receive, send)
                return

            async def send_and_leave(message: Message) -> None:
                # From here on only the client's speed counts: a slow one holds no place.
                place.close()
                if message.get("more_body"):
                    # Requests that have come are served between two pieces of a long reply.
                    await asyncio.sleep(0)
                await send(message)

            await self.app(scope, receive, send_and_leave)

    def _turn(self, asker: Hashable) -> asyncio.Semaphore:
        turn = self._own.get(asker)
        if turn is None:
            turn = self._own[asker] = asyncio.Semaphore(self._of_one)
        return turn

    def _askers(self, scope: Scope) -> Sequence[Hashable]:
        """The account, if its login is known; else the address, and all who are nobody or have yet to log in."""
        header = Headers(scope=scope).get("authorization")
        viewer = None if header is None else cast(Authenticator, self._state.authenticator).remembered(header)
        if viewer is not None:
            return [("account", viewer.account_id)]
        client = scope.get("client")
        everybody = "nobody" if header is None else "somebody new"
        return [(everybody, source_of(client[0]) if client else ""), everybody]


def is_read(scope: Scope) -> bool:
    """Is it a read that ends? A feed that ends with what is there now is one."""
    path: str = scope["path"]
    if not path.startswith("/api/"):
        return False
    if not path.endswith(STREAMS):
        return True
    query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
    return query.get("stream", "").lower() in NO
