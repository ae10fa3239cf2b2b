"""Lists of a contest's objects as JSON: whole, filtered or by pages, each read for its request.

A list of submissions, judgements or runs is read some submissions at a time, in threads of its own, and each part is
sent before the next is read: it takes no memory, and no thread that a submission waits for (guarantees 4 and 6). It
has no ETag: that of its text is not known before the last part, that of its version tells of what is hidden (guarantee
3).
"""

import gzip
import hashlib
import zlib
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from collections.abc import Collection as AnyCollection
from dataclasses import dataclass
from functools import partial
from typing import Annotated, NamedTuple, TypeVar, cast

from anyio.to_thread import run_sync
from fastapi import Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.core.load import run_heavy
from app.core.messages import N_, BadRequest
from app.core.service import Service
from app.feed.service.collections import Collection
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import submission_queries
from app.submissions.queries.submission_queries import Teams
from app.submissions.service.judgements import JudgedCase, Judgement
from app.submissions.service.submissions import Submission

# Submissions whose rows are read at once; a page that leaves many out reads at least `FEW`, not row by row.
SLICE, FEW = 256, 16
MOST_ON_A_PAGE = 1000
LEVEL = 4
HEADERS = {"Cache-Control": "no-cache", "Vary": "Authorization, Accept-Encoding"}

T = TypeVar("T")
Numbers = AnyCollection[int]
Judged = Submission | Judgement | JudgedCase
# Properties and the values they are to have, empty for null.
Wanted = Mapping[str, str]


class Listed(NamedTuple):
    """An object of a list as JSON, and the values that it may be asked for by."""

    id: str
    text: bytes
    values: tuple[str, ...]


def listed(collection: Collection, model: BaseModel) -> Listed:
    """An object as its list shows it."""
    values = tuple([getattr(model, name) or "" for name in collection.filters])
    text = model.model_dump_json(exclude_unset=collection.sparse).encode()
    return Listed(getattr(model, "id", ""), text, values)


def only(collection: Collection, objects: Iterable[Listed], asked: Wanted) -> list[Listed]:
    """The objects with the wanted values. Ids that a collection cannot be asked for are empty for none of them."""
    if not asked.keys() <= set(collection.filters):
        return []
    places = [(collection.filters.index(name), value) for name, value in asked.items()]
    return [each for each in objects if all(each.values[place] == value for place, value in places)]


@dataclass(frozen=True, slots=True)
class Large:
    """A collection with thousands of objects, each of one submission.

    documents  what a viewer sees of some submissions (all: None): the number of the submission, and the object
    owner      the number of the submission of an object, or None
    teams      those whose objects a viewer sees; None: all
    objects    about how many objects a submission has
    """

    collection: Collection
    documents: Callable[[Viewer, ContestSnapshot, Session, Numbers | None], Iterable[tuple[int, Judged]]]
    owner: Callable[[ContestSnapshot, Session, str], int | None]
    teams: Callable[[Viewer, ContestSnapshot], Teams] = lambda _viewer, _snapshot: None
    objects: int = 1

    def rows(self, viewer: Viewer, snapshot: ContestSnapshot, session: Session, ids: Numbers) -> list[Listed]:
        """The objects of these submissions, in their order."""
        rows: defaultdict[int, list[Listed]] = defaultdict(list)
        for number, document in self.documents(viewer, snapshot, session, ids):
            rows[number].append(listed(self.collection, document))
        # A session that goes on would hold the rows of the whole list.
        session.expunge_all()
        return [each for id_ in ids for each in rows.get(id_, ())]


@dataclass(slots=True)
class Reader:
    """Reads a large collection for a viewer, in order, from behind the submission `last`; None: it is at its end."""

    kind: Large
    viewer: Viewer
    snapshot: ContestSnapshot
    asked: Wanted
    slice: int = SLICE
    last: int | None = 0

    def go_behind(self, session: Session, id_: str) -> list[Listed]:
        """Go behind the submission of an object; gives the objects of it that follow. Raises BadRequest."""
        self.last = self.kind.owner(self.snapshot, session, id_) or 0
        own = self.kind.rows(self.viewer, self.snapshot, session, (self.last,))
        places = [at for at, each in enumerate(own) if each.id == id_]
        if not places:
            raise BadRequest(N_("expected the id of an object of this list, found %(found)r"), where="after", found=id_)
        return only(self.kind.collection, own[places[0] + 1 :], self.asked)

    def following(self, session: Session, count: int) -> list[Listed]:
        """The wanted objects of the next submissions."""
        teams = self.kind.teams(self.viewer, self.snapshot)
        if team_id := self.asked.get("team_id"):
            teams = (team_id,) if teams is None or team_id in teams else ()
        contest_id, problem_id = self.snapshot.contest.id, self.asked.get("problem_id") or None
        ids = submission_queries.next_ids(
            session, contest_id, self.last or 0, count, teams=teams, problem_id=problem_id
        )
        self.last = ids[-1] if ids else None
        rows = self.kind.rows(self.viewer, self.snapshot, session, ids) if ids else []
        return only(self.kind.collection, rows, self.asked)


@dataclass(frozen=True, slots=True)
class PageWanted:
    """At most so many objects, those after the object of this id; None: from the first one on."""

    limit: int
    after: str | None = None


def page_of(reader: Reader, session: Session, wanted: PageWanted) -> tuple[list[Listed], bool]:
    """A page, and whether more follow; raises BadRequest for an unknown `wanted.after`."""
    objects = [] if wanted.after is None else reader.go_behind(session, wanted.after)
    count = min(max(wanted.limit + 1, FEW), reader.slice)
    while reader.last is not None and len(objects) <= wanted.limit:
        objects += reader.following(session, count)
        count = reader.slice
    return objects[: wanted.limit], len(objects) > wanted.limit


class Lists:
    """Reads lists from the database of a service, the rows of `slice_` submissions at once."""

    def __init__(self, service: Service, slice_: int = SLICE) -> None:
        self._database = service.database
        self.slice = slice_

    async def few(self, read: Callable[[Session], T]) -> T:
        """Read a handful of objects."""
        return await run_sync(self._read, read)

    async def many(self, read: Callable[[Session], T]) -> T:
        """Read something in one of the few threads."""
        return await run_heavy(partial(self._read, read), "lists")

    def _read(self, read: Callable[[Session], T]) -> T:
        with self._database.read(for_request=True) as session:
            return read(session)


class ListRequest:
    """A request for a collection: how the client wants its reply."""

    def __init__(self, request: Request) -> None:
        self._known = request.headers.get("if-none-match", "")
        self._zipped = "gzip" in request.headers.get("accept-encoding", "")
        self._lists = cast(Lists, request.app.state.lists)
        self._url = request.url

    async def large(
        self,
        kind: Large,
        viewer: Viewer,
        snapshot: ContestSnapshot,
        wanted_page: PageWanted | None,
        **wanted: str | None,
    ) -> Response:
        """Submissions, judgements or runs: all of them, or a page."""
        reader = Reader(kind, viewer, snapshot, _asked(wanted), self._lists.slice)
        if wanted_page is not None:
            return await self._lists.few(partial(self._page, reader, wanted_page))
        headers = {**HEADERS, "Content-Encoding": "gzip"} if self._zipped else HEADERS
        part = partial(self._lists.many, _Parts(reader, zipped=self._zipped).next)
        first = await part()  # before the reply begins: a fault of the database is one of the request
        return StreamingResponse(_pieces(first, part, reader), media_type="application/json", headers=headers)

    async def small(
        self, collection: Collection, viewer: Viewer, snapshot: ContestSnapshot, **wanted: str | None
    ) -> Response:
        """A collection as a viewer sees it."""

        def read(session: Session) -> Response:
            documents = collection.documents(viewer, snapshot, session)
            objects = [listed(collection, collection.parsed(each)) for each in documents]
            return self._reply(only(collection, objects, _asked(wanted)))

        return await self._lists.many(read)

    async def few(self, documents: Callable[[Session], T]) -> T:
        """A handful of objects."""
        return await self._lists.few(documents)

    def _page(self, reader: Reader, wanted: PageWanted, session: Session) -> Response:
        objects, is_more = page_of(reader, session, wanted)
        reply = self._reply(objects)
        if is_more:
            reply.headers["Link"] = f'<{self._after(objects[-1].id)}>; rel="next"'
        return reply

    def _after(self, id_: str) -> str:
        """The address of the page after an object, without the server's name, which a proxy may have otherwise."""
        following = self._url.include_query_params(after=id_)
        return f"{following.path}?{following.query}"

    def _reply(self, objects: Sequence[Listed]) -> Response:
        text = b"[" + b",".join([each.text for each in objects]) + b"]"
        headers = {**HEADERS, "ETag": _tag(text)}
        if headers["ETag"] in self._known:
            return Response(status_code=304, headers=headers)
        if self._zipped:  # here, as the layer that zips other replies does it in the event loop
            headers["Content-Encoding"] = "gzip"
            text = gzip.compress(text, LEVEL, mtime=0)
        return Response(text, media_type="application/json", headers=headers)


class _Parts:
    """The text of a whole list, part by part, zipped as one gzip member where that is wanted."""

    def __init__(self, reader: Reader, *, zipped: bool) -> None:
        self._reader = reader
        self._gzip = zlib.compressobj(LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS) if zipped else None
        self._separator = b"["

    def next(self, session: Session) -> bytes:
        """Read the next part, which may be empty; the reader is at its end with the last one."""
        text = b""
        if objects := self._reader.following(session, max(1, self._reader.slice // self._reader.kind.objects)):
            text = self._separator + b",".join([each.text for each in objects])
            self._separator = b","
        if self._reader.last is None:
            text += b"[]" if self._separator == b"[" else b"]"
        if self._gzip is None:
            return text
        return self._gzip.compress(text) + (self._gzip.flush() if self._reader.last is None else b"")


async def _pieces(first: bytes, part: Callable[[], Awaitable[bytes]], reader: Reader) -> AsyncIterator[bytes]:
    yield first
    while reader.last is not None:
        yield await part()


def _asked(wanted: Mapping[str, str | None]) -> Wanted:
    return {name: value for name, value in wanted.items() if value is not None}


def _tag(text: bytes) -> str:
    return f'"{hashlib.blake2b(text, digest_size=12).hexdigest()}"'


TheLists = Annotated[ListRequest, Depends(ListRequest)]


def wanted_page(
    limit: Annotated[
        int | None, Query(ge=1, le=MOST_ON_A_PAGE, description="at most so many; the header Link names the next page")
    ] = None,
    after: Annotated[str | None, Query(max_length=255, description="only those after the object of this id")] = None,
) -> PageWanted | None:
    """The page that a request asks for; None: the whole list."""
    if limit is None and after is None:
        return None
    return PageWanted(MOST_ON_A_PAGE if limit is None else limit, after)


ThePage = Annotated[PageWanted | None, Depends(wanted_page)]
