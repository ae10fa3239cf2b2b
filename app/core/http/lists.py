"""Reads: each waits for a place (guarantee 6); and lists of a contest's objects as JSON, whole or filtered.

Few requests read at once, and fewer of one viewer. The event loop does everything else in the meantime, so what a
submission waits for does not grow with the number of readers. One account or address waits in the common lines with few
of its requests, so that others come in between (guarantee 4). A read whose client leaves while it waits is answered all
the same: it takes a place of its own account or address.

A list of submissions, judgements or runs is read some submissions at a time, in threads of its own, and each part is
sent before the next is read: it takes no memory, and no thread that a submission waits for (guarantees 4 and 6). It
has no ETag: that of its text is not known before the last part, that of its version tells of what is hidden (guarantee
3).
"""

import asyncio
import gzip
import hashlib
import zlib
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Collection as AnyCollection
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Annotated, TypeVar, cast
from urllib.parse import parse_qsl
from weakref import WeakValueDictionary

from anyio.to_thread import run_sync
from fastapi import Depends, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from sqlalchemy.orm import Session
from starlette.datastructures import Headers, State
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.accounts.service.viewer import Viewer
from app.core.clics import matching
from app.core.http.auth import Authenticator
from app.core.http.errors import error_response, headers_of
from app.core.load import run_heavy, source_of
from app.core.messages import N_, Unavailable
from app.core.service import Service
from app.core.settings import Settings
from app.feed.service.collections import Collection
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import submission_queries
from app.submissions.queries.submission_queries import Teams
from app.submissions.service.judgements import JudgedCase, Judgement
from app.submissions.service.submission_form import Submission

LEVEL = 4
HEADERS = {"Cache-Control": "no-cache", "Vary": "Authorization, Accept-Encoding"}

T = TypeVar("T")
Numbers = AnyCollection[int]
Judged = Submission | Judgement | JudgedCase


def texts(collection: Collection, models: Iterable[BaseModel], asked: Mapping[str, str | None]) -> bytes:
    """The objects with the wanted values as JSON, with commas between them."""
    chosen = matching(models, **asked)
    return b",".join([each.model_dump_json(exclude_unset=collection.sparse).encode() for each in chosen])


@dataclass(frozen=True, slots=True)
class Large:
    """A collection with thousands of objects, each of one submission.

    documents  what a viewer sees of some submissions (all: None): the number of the submission, and the object
    teams      those whose objects a viewer sees; None: all
    objects    about how many objects a submission has
    """

    collection: Collection
    documents: Callable[[Viewer, ContestSnapshot, Session, Numbers | None], Iterable[tuple[int, Judged]]]
    teams: Callable[[Viewer, ContestSnapshot], Teams] = lambda _viewer, _snapshot: None
    objects: int = 1


class ListRequest:
    """A request for a collection: how the client wants its reply."""

    def __init__(self, request: Request) -> None:
        service: Service = request.app.state.service
        self._known = request.headers.get("if-none-match", "")
        self._zipped = "gzip" in request.headers.get("accept-encoding", "")
        self._database = service.database
        self._slice = service.settings.list_slice

    async def large(
        self, kind: Large, viewer: Viewer, snapshot: ContestSnapshot, **wanted: str | None
    ) -> StreamingResponse:
        """Submissions, judgements or runs."""
        headers = {**HEADERS, "Content-Encoding": "gzip"} if self._zipped else HEADERS
        parts = self._parts(kind, viewer, snapshot, wanted)
        pieces = _zipped(parts) if self._zipped else parts
        # Before the reply begins: a fault of the database is one of the request.
        first = await run_heavy(partial(next, pieces), "lists")
        return StreamingResponse(_in_threads(chain([first], pieces)), media_type="application/json", headers=headers)

    def _parts(
        self, kind: Large, viewer: Viewer, snapshot: ContestSnapshot, asked: Mapping[str, str | None]
    ) -> Iterator[bytes]:
        """Yield the text of a whole list, some submissions at a time."""
        teams = kind.teams(viewer, snapshot)
        if team_id := asked.get("team_id"):
            teams = (team_id,) if teams is None or team_id in teams else ()
        count, problem_id = max(1, self._slice // kind.objects), asked.get("problem_id") or None
        separator, ids = b"[", [0]
        while ids:
            with self._database.read(for_request=True) as session:
                ids = submission_queries.next_ids(
                    session, snapshot.contest.id, ids[-1], count, teams=teams, problem_id=problem_id
                )
                documents = sorted(kind.documents(viewer, snapshot, session, ids), key=itemgetter(0)) if ids else []
            if objects := texts(kind.collection, (document for _, document in documents), asked):
                yield separator + objects
                separator = b","
        yield b"[]" if separator == b"[" else b"]"

    async def small(
        self, collection: Collection, viewer: Viewer, snapshot: ContestSnapshot, **wanted: str | None
    ) -> Response:
        """A collection as a viewer sees it."""

        def read(session: Session) -> Response:
            documents = collection.documents(viewer, snapshot, session)
            return self._reply(texts(collection, map(collection.parsed, documents), wanted))

        return await run_heavy(partial(self._read, read), "lists")

    async def few(self, documents: Callable[[Session], T]) -> T:
        """A handful of objects."""
        return await run_sync(self._read, documents)

    def _read(self, read: Callable[[Session], T]) -> T:
        with self._database.read(for_request=True) as session:
            return read(session)

    def _reply(self, objects: bytes) -> Response:
        text = b"[" + objects + b"]"
        headers = {**HEADERS, "ETag": f'"{hashlib.blake2b(text, digest_size=12).hexdigest()}"'}
        if headers["ETag"] in self._known:
            return Response(status_code=304, headers=headers)
        if self._zipped:  # here, as the layer that zips other replies does it in the event loop
            headers["Content-Encoding"] = "gzip"
            text = gzip.compress(text, LEVEL, mtime=0)
        return Response(text, media_type="application/json", headers=headers)


async def _in_threads(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Make each part when it is asked for, in a thread of the lists."""
    while part := await run_heavy(partial(next, parts, None), "lists"):
        yield part


def _zipped(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Zip a text in parts as one gzip member."""
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    for part in parts:
        yield packer.compress(part) + packer.flush(zlib.Z_SYNC_FLUSH)
    yield packer.flush()


TheLists = Annotated[ListRequest, Depends(ListRequest)]


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
        if scope["method"] != "GET" or not is_read(scope):
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
        """The account, if its login is known; otherwise the address, and all who are no one or have yet to log in."""
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
