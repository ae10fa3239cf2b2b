"""What endpoints ask for: the service, a transaction, and who the client is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, cast

from fastapi import Depends, Query, Request, Response
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.core.http.auth import Authenticator
from app.core.service import Service
from app.core.transactions import drop_after_commit, run_after_commit
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.scoreboard.service.pages import BoardPages


async def get_service(request: Request) -> Service:
    """The running service."""
    return cast(Service, request.app.state.service)


async def get_authenticator(request: Request) -> Authenticator:
    """Who knows the accounts."""
    return cast(Authenticator, request.app.state.authenticator)


TheService = Annotated[Service, Depends(get_service)]
TheAuthenticator = Annotated[Authenticator, Depends(get_authenticator)]


async def get_boards(service: TheService) -> ScoreboardCache:
    """The boards kept in memory."""
    return service.boards


async def get_pages(request: Request) -> BoardPages:
    """The written boards kept in memory."""
    return cast(BoardPages, request.app.state.pages)


TheBoards = Annotated[ScoreboardCache, Depends(get_boards)]
ThePages = Annotated[BoardPages, Depends(get_pages)]


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


def _writing(service: TheService, _body: BodyRead) -> Iterator[Session]:
    with service.database.write() as session:
        yield session
    run_after_commit(session)


def _writing_quietly(service: TheService, _body: BodyRead) -> Iterator[Session]:
    with service.database.write(quiet=True) as session:
        yield session
    run_after_commit(session)


def end_dry_run(session: Session, response: Response) -> None:
    """Take back all that the request has written, and answer 200: nothing has been made."""
    session.flush()  # so that what the database would refuse is refused
    session.rollback()
    drop_after_commit(session)
    response.status_code = 200


DryRun = Annotated[bool, Query(description="only say what would happen: 200, and nothing is kept")]
# The scope "function" ends the transaction before the reply is sent: what a client was told is kept.
Reading = Annotated[Session, Depends(_reading, scope="function")]
Writing = Annotated[Session, Depends(_writing, scope="function")]
QuietWriting = Annotated[Session, Depends(_writing_quietly, scope="function")]
"""For what everybody may write as often as they like: no board is computed anew because of it."""


VIEWER = "jurado.viewer"
"""The key of the request's scope under which a gated route keeps its viewer, as it stands in the contest asked for."""


async def current_viewer(request: Request, authenticator: TheAuthenticator) -> Viewer:
    """Who asks; wrong credentials are refused even where nobody has to log in."""
    known: Viewer | None = request.scope.get(VIEWER)
    return known or await authenticator.viewer(request.headers.get("authorization"), address_of(request))


def address_of(request: Request) -> str:
    """The address a request comes from."""
    return request.client.host if request.client is not None else ""


CurrentViewer = Annotated[Viewer, Depends(current_viewer)]
"""Who asks, and may: `app.accounts.service.rights` has decided it, before the body was read."""
