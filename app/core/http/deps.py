"""What endpoints ask for: the service, a transaction, and who the client is.

- Routes that ask who sends a body before they read any of it, and bound the JSON that they read.
- The contest of a path as the viewer may see it.
- Lets a route be asked for by the label of a problem.
- Whoever a request changes things for, as the audit log notes it.
- The two most frequent requests, answered before FastAPI routes them (guarantee 6): see `Direct`.
"""

import re
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Annotated, Any, NamedTuple, cast

from fastapi import Depends, FastAPI, Query, Request, Response
from fastapi.routing import APIRoute
from sqlalchemy.orm import Session
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from app.accounts.service.tokens import ID_LENGTH, OF_ACCOUNTS, Place, Who, check, who_may
from app.accounts.service.viewer import PUBLIC, Viewer
from app.contests.queries import NoContest
from app.contests.service.capabilities import problem_called
from app.contests.service.visibility import refuse_hidden, snapshot_for
from app.core.db.audit import Actor, acting
from app.core.db.database import after_commit, drop_after_commit, run_after_commit
from app.core.http.auth import Authenticator
from app.core.http.errors import RefusedBody, reply_to
from app.core.load import MOST_OF_AN_ACCOUNT, MOST_OF_AN_ADMIN, read_json
from app.core.messages import ServiceError
from app.core.service import Service
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.scoreboard.service.pages import BoardPages


# Any: each part has its own type, which the annotation names.
def of_state(name: str) -> Callable[[Request], Coroutine[object, None, Any]]:
    """A dependency on a part of the running service, by its name in the app's state."""

    async def get(request: Request) -> Any:
        return getattr(request.app.state, name)

    return get


TheService = Annotated[Service, Depends(of_state("service"))]
TheAuthenticator = Annotated[Authenticator, Depends(of_state("authenticator"))]
DRY = "What would have been made (`dry_run`)"


def forget_after(session: Session, authenticator: Authenticator, account_id: str | None = None) -> None:
    """Forget the credentials of an account, or of all, once a transaction is committed."""
    after_commit(session, lambda: authenticator.forget(account_id))


async def get_boards(service: TheService) -> ScoreboardCache:
    """The boards kept in memory."""
    return service.boards


TheBoards = Annotated[ScoreboardCache, Depends(get_boards)]
ThePages = Annotated[BoardPages, Depends(of_state("pages"))]


def _reading(service: TheService) -> Iterator[Session]:
    with service.database.read(for_request=True) as session:
        yield session


async def _read_body(request: Request) -> None:
    """Read the body before a transaction begins: a client that sends it slowly holds no connection and no lock.

    Forms are read while they stream; what takes one opens its transaction itself.
    """
    if not request.headers.get("content-type", "").startswith("multipart/"):
        await request.body()


BodyRead = Annotated[None, Depends(_read_body)]


def _writing(*, quiet: bool) -> Callable[..., Iterator[Session]]:
    def write(service: TheService, _body: BodyRead) -> Iterator[Session]:
        with service.database.write(quiet=quiet) as session:
            yield session
        run_after_commit(session)

    return write


def end_dry_run(session: Session, response: Response) -> None:
    """Take back all that the request has written, and answer 200: nothing has been made."""
    session.flush()  # so that what the database would refuse is refused
    session.rollback()
    drop_after_commit(session)
    response.status_code = 200


DryRun = Annotated[bool, Query(description="only say what would happen: 200, and nothing is kept")]
# The scope "function" ends the transaction before the reply is sent: what a client was told is kept.
Reading = Annotated[Session, Depends(_reading, scope="function")]
Writing = Annotated[Session, Depends(_writing(quiet=False), scope="function")]
# For what everyone may write as often as they like: no board is computed again because of it.
QuietWriting = Annotated[Session, Depends(_writing(quiet=True), scope="function")]


# The key of the request's scope under which a gated route keeps its viewer, as it stands in the contest asked for.
VIEWER = "jurado.viewer"


async def current_viewer(request: Request, authenticator: TheAuthenticator) -> Viewer:
    """Who asks; wrong credentials are refused even where no one has to log in."""
    known: Viewer | None = request.scope.get(VIEWER)
    return known or await authenticator.viewer(request.headers.get("authorization"), address_of(request))


def address_of(request: Request) -> str:
    """The address a request comes from."""
    return request.client.host if request.client is not None else ""


# Who asks, and may: `app.accounts.service.tokens` has decided it, before the body was read.
CurrentViewer = Annotated[Viewer, Depends(current_viewer)]


async def get_snapshot(contest_id: str, viewer: CurrentViewer, boards: TheBoards) -> ContestSnapshot:
    """The contest of a path as the viewer may see it; raises NoContest."""
    snapshot = await snapshot_for(boards, viewer, contest_id)
    if snapshot is None:
        raise NoContest(contest_id)
    return snapshot


# The contest of the path as the viewer may see it; 404 where there is none.
TheSnapshot = Annotated[ContestSnapshot, Depends(get_snapshot)]


async def _by_label(request: Request, viewer: CurrentViewer, boards: TheBoards) -> None:
    """Put the problem's id where the path has its label, before the endpoint reads its parameters."""
    path = cast("dict[str, str]", request.path_params)
    if "contest_id" not in path or "problem_id" not in path:
        return
    snapshot = await snapshot_for(boards, viewer, path["contest_id"])
    if snapshot is not None:
        path["problem_id"] = problem_called(snapshot, path["problem_id"])


# Lets a route below `contests/{contest_id}/problems/{problem_id}` be asked for by the problem's label.
ByLabel = Depends(_by_label)


# Operations that change nothing of anyone's but a game of one's own: judges who practise fill no log with moves.
PLAY = frozenset({"create_game", "create_move", "resign_game", "page_begin_game", "page_play_on"})


def is_noted(viewer: Viewer, operation: str) -> bool:
    """Return whether the audit log notes an operation of this viewer."""
    return viewer.logged_in and viewer.is_audited and operation not in PLAY


def actor_of(
    viewer: Viewer, operation: str, method: str, path: str, address: str, ids: Mapping[str, str | None]
) -> Actor | None:
    """The actor of a request; None where a team acts for itself, or no one is logged in.

    `ids` are the variables of its address, such as contest_id and problem_id.
    """
    if not is_noted(viewer, operation):
        return None
    digest = viewer.credential.digest
    return Actor(
        account_id=viewer.account_id,
        role=viewer.account_type or "" if viewer.role == "public" else viewer.role,
        address=address,
        credential="password" if digest is None else f"token {digest[:ID_LENGTH]}",
        operation=operation,
        method=method,
        path=path,
        contest_id=ids.get("contest_id"),
        problem_id=ids.get("problem_id"),
    )


WITH_BODIES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
OF_CONTESTS = frozenset({Who.CONTEST_JUDGES, Who.CONTEST_OWNERS})
# Their services refuse hidden contests: submissions wait for no board, and a code of registration admits by itself.
OWN_GATES = frozenset({"submit", "create_registration"})
CONTEST = "contest_id"


class GatedRoute(APIRoute):
    """A route that asks `app.accounts.service.tokens` who may use it, before FastAPI reads the body."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[object, None, Response]]:
        """Put the gate before the route's handler."""
        handle = super().get_route_handler()
        operation = self.operation_id or self.name
        who = who_may(operation)
        most = MOST_OF_AN_ACCOUNT if who in OF_ACCOUNTS else MOST_OF_AN_ADMIN
        takes_bodies = bool(WITH_BODIES & (self.methods or set()))

        async def gated(request: Request) -> Response:
            await admit(request, operation)
            if not takes_bodies:
                return await handle(request)
            with acting_for(request, operation):
                return await handle(_Bounded(request, most))

        return gated


async def admit(request: Request, operation: str) -> None:
    """Keep the viewer of a request in its scope; raises Unauthorized, Forbidden, or NoContest of a hidden contest."""
    viewer, who = await current_viewer(request, request.app.state.authenticator), who_may(operation)
    place = _place(request, who)
    viewer = request.scope[VIEWER] = check(who, viewer, place)
    if place.contest_id is not None and operation not in OWN_GATES:
        await refuse_hidden(request.app.state.service.boards, viewer, place.contest_id)


def acting_for(request: Request, operation: str) -> AbstractContextManager[None]:
    """Note the changes that are made meanwhile as those of the viewer, where it is one whose changes are noted."""
    viewer: Viewer = request.scope[VIEWER]
    if not is_noted(viewer, operation):  # teams, mostly: their address is not taken apart
        return nullcontext()
    ids = {CONTEST: request.query_params.get(CONTEST), **request.path_params}
    return acting(actor_of(viewer, operation, request.method, request.url.path, address_of(request), ids))


def _place(request: Request, who: Who) -> Place:
    """What the address names. Operations of contests without one in their path take it from the query."""
    path = request.path_params
    contest_id = path.get(CONTEST)
    if contest_id is None and who in OF_CONTESTS:
        contest_id = request.query_params.get(CONTEST)
    return Place(contest_id, path.get("problem_id"))


class _Bounded(Request):
    """A request whose JSON has at most so many values."""

    def __init__(self, request: Request, most: int) -> None:
        super().__init__(request.scope, request.receive)
        self._most = most
        self._value: object = None
        self._is_read = False

    async def body(self) -> bytes:
        """The bytes of the body; raises RefusedBody."""
        with _as_http():
            return await super().body()

    async def json(self) -> object:
        """The value of the body, read once; raises RefusedBody."""
        if not self._is_read:
            with _as_http():
                self._value = await read_json(await self.body(), self._most)
            self._is_read = True
        return self._value


@contextmanager
def _as_http() -> Iterator[None]:
    try:
        yield
    except ServiceError as refusal:
        raise RefusedBody(refusal) from None


ADDRESS = re.compile(r"(/api/contests|/c)/([A-Za-z0-9_.-]+)(/[\w/]+)")
ANY = re.compile(rb".*", re.DOTALL)


def _is_foreign(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a page of another origin may have sent a request: it is to be told what CORS says."""
    return b"origin" in headers or headers.get(b"sec-fetch-site", b"same-origin") != b"same-origin"


class Endpoint(NamedTuple):
    """Answers a request with a matching query. `path` and `operation` are those of FastAPI's route."""

    path: str
    operation: str
    answer: Callable[[Request], Awaitable[Response]]
    query: re.Pattern[bytes] = ANY


class Direct:
    """A layer around `app` that answers by `endpoints`: by the method and the address without the contest's id.

    FastAPI's and Starlette's layers take a third of a submission's processor time. FastAPI has routes for both requests
    too, which send the same replies, and take everything else: pages of browsers, other queries, and logins that are
    not known yet, so that wrong ones wait with other refusals.

    `framed` adds the log, the metrics and the headers where no layer outside of this one does.
    """

    def __init__(
        self,
        app: ASGIApp,
        owner: FastAPI,
        endpoints: Mapping[tuple[str, str], Endpoint],
        framed: Callable[[ASGIApp], ASGIApp] = lambda answer: answer,
    ) -> None:
        self.app = app
        self._owner = owner
        self._endpoints = endpoints
        self._framed = framed(self._answer)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or leave it to the app."""
        address = ADDRESS.fullmatch(scope["path"])
        endpoint = None if address is None else self._endpoints.get((scope["method"], address[1] + address[3]))
        if address is None or endpoint is None or endpoint.query.fullmatch(scope["query_string"]) is None:
            await self.app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        viewer = self._viewer(headers.get(b"authorization"))
        if viewer is None or _is_foreign(headers):
            await self.app(scope, receive, send)
            return
        scope.update({"app": self._owner, "route": endpoint, "path_params": {"contest_id": address[2]}, VIEWER: viewer})
        await self._framed(scope, receive, send)

    def _viewer(self, header: bytes | None) -> Viewer | None:
        """Return who asks, if that is known without a look at the database."""
        authenticator: Authenticator = self._owner.state.authenticator
        return PUBLIC if header is None else authenticator.remembered(header.decode("latin-1"))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint: Endpoint = scope["route"]
        request = Request(scope, receive)
        try:
            await admit(request, endpoint.operation)
            with acting_for(request, endpoint.operation):
                response = await endpoint.answer(request)
        except ClientDisconnect:
            raise
        except Exception as error:
            response = await reply_to(request, error)
        await response(scope, receive, send)
