"""The visitor of a page, the contest as that visitor may see it, and refusals as pages.

- The page at `/`: which contests there are, and the ways into them.
- Unknown addresses: a page for people, the API's document for programs.
- What all pages of organisers share: who may open them, their forms, and the way back after a change.
"""

from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.metadata import version
from typing import Annotated, NamedTuple, cast
from urllib.parse import quote

from fastapi import Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.params import Depends as Needed
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from sqlalchemy.orm import Session
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse

from app.accounts.service.tokens import Place, check, who_may
from app.accounts.service.viewer import PUBLIC, Viewer
from app.contests import queries as queries_contests
from app.contests.service.visibility import is_row_shown, refuse_hidden
from app.core.clock import utc_now
from app.core.db.audit import acting
from app.core.db.database import drop_after_commit, run_after_commit
from app.core.http import auth, deps
from app.core.http.errors import status_of
from app.core.messages import N_, BadRequest, NotFound, ServiceError, Unauthorized, all_in_words, fault
from app.core.pages import forms, sent_again, sent_forms, wording
from app.core.pages.languages import AskFirst, gettext, speaking, translate
from app.core.pages.pages import page
from app.core.service import Service
from app.domain.contests import Clock
from app.judging.service.problem_changes import How
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.tables import ContestRow

TITLES = {
    401: N_("Please log in"),
    403: N_("Access denied"),
    404: N_("No such page"),
    429: N_("Too many requests"),
}


TheService = deps.TheService
Reading = deps.Reading
address_of = deps.address_of


def authenticator_of(request: Request) -> auth.Authenticator:
    """The one who knows accounts."""
    return cast(auth.Authenticator, request.app.state.authenticator)


async def visitor(request: Request) -> Viewer:
    """The viewer of the session, with its role in the contest of the address; a session that has ended is no one's."""
    try:
        viewer = await authenticator_of(request).viewer(request.headers.get("authorization"), address_of(request))
    except Unauthorized:
        return PUBLIC
    return viewer.at(request.path_params.get("contest_id"))


Visitor = Annotated[Viewer, Depends(visitor)]


def _writing(request: Request, service: TheService) -> Iterator[Session]:
    with service.database.write() as session:
        yield session
        if getattr(request.state, "is_refused", False):
            session.rollback()
            drop_after_commit(session)
    run_after_commit(session)


# A page's form has been read by then, as `Change` names its fields first; the API's transactions would read it again.
# The scope "function" ends the transaction before the reply is sent: what a reader was told is stored.
Writing = Annotated[Session, Depends(_writing, scope="function")]


async def _snapshot(contest_id: str, viewer: Visitor, service: TheService) -> ContestSnapshot:
    return await deps.get_snapshot(contest_id, viewer, service.boards)


TheSnapshot = Annotated[ContestSnapshot, Depends(_snapshot)]


class PageRoute(APIRoute):
    """A route whose refusals are pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[object, None, Response]]:
        """Turn refusals into pages around the route's handler."""
        handle = super().get_route_handler()

        async def acted(request: Request) -> Response:
            viewer, path = await visitor(request), request.url.path
            # Pages of organizers have a gate that lets no one else through; a code opens the page of registration.
            if self.path.startswith("/c/{contest_id}") and not self.path.endswith("/register"):
                await refuse_hidden(request.app.state.service.boards, viewer, request.path_params["contest_id"])
            if request.method != "POST":
                return await handle(request)
            name = f"page_{self.name}"
            with acting(deps.actor_of(viewer, name, request.method, path, address_of(request), request.path_params)):
                return await handle(request)

        async def shown(request: Request) -> Response:
            return await or_refusal(request, acted(request))

        return shown


async def or_refusal(request: Request, reply: Coroutine[object, None, Response]) -> Response:
    """The reply, or the page of its refusal, in the reader's language; the form to log in for who has to."""
    with speaking(forms.language_of(request)):
        try:
            return await reply
        except (AskFirst, ServiceError, RequestValidationError) as error:
            # Transactions of the route end after its page is made, and see no exception.
            request.state.is_refused = True
            refusal = _invalid(error) if isinstance(error, RequestValidationError) else error
        if isinstance(refusal, Unauthorized):
            return RedirectResponse(f"/login?next={quote(forms.here_of(request))}", 303)
        if isinstance(refusal, AskFirst):
            return await sent_again.ask(request, refusal, await visitor(request))
        return await refused(request, refusal)


def _invalid(error: RequestValidationError) -> BadRequest:
    """An address that is none, as the API refuses it."""
    faults = [fault(each) for each in error.errors()]
    return BadRequest(all_in_words(faults, len(faults)), errors=faults)


async def refused(request: Request, refusal: ServiceError) -> Response:
    """The page of a refusal: the form that was refused, as it was sent, or a page that says why."""
    status = status_of(refusal)
    shown = await sent_again.form_again(request, refusal, status) or await _refusal_page(request, refusal, status)
    if refusal.retry_after is not None:
        shown.headers["Retry-After"] = str(refusal.retry_after)
    return shown


async def _refusal_page(request: Request, refusal: ServiceError, status: int) -> Response:
    place, colon, words = translate(await refusal.full_message(request.app.state.service)).partition(": ")
    title = gettext(TITLES.get(status, N_("Something went wrong")))
    listed = refusal.errors if refusal.errors is not None and len(refusal.errors) > 1 else []
    faults = [{**each, "where": sent_forms.field_words(str(each.get("where") or ""))} for each in listed]
    return page(
        "refusal.html",
        request,
        status,
        title=title,
        sentence=f"{sent_forms.field_words(place)}{colon}{words}",
        faults=faults,
        back=sent_again.back_to(request),
        viewer=await visitor(request),
    )


class Span(NamedTuple):
    """When a contest begins, ends or was paused: a message with places for times, which pages write in a zone."""

    message: str
    start: datetime | None
    end: datetime | None
    length: timedelta
    paused: datetime | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """A contest in a list."""

    id: str
    name: str
    state: str
    span: Span
    has_started: bool
    visibility: str


def index(request: Request, viewer: Visitor) -> HTMLResponse:
    """The contests there are, as anyone may see them."""
    service = cast(Service, request.app.state.service)
    now = utc_now()
    with service.database.read() as session:
        rows = [row for row in queries_contests.contests(session) if is_row_shown(session, viewer, row)]
        contests = [listed(row, now) for row in rows]
    return page(
        "index.html",
        request,
        viewer=viewer,
        contests=contests,
        version=version("jurado"),
        address=address_of_index(request),
    )


def address_of_index(request: Request) -> str:
    """The address the service was asked at, with its path prefix, without a slash at the end."""
    return f"{request.url.scheme}://{request.url.netloc}{request.scope.get('root_path', '')}"


def listed(row: ContestRow, now: datetime) -> Listed:
    """The line of a contest in a list."""
    times = queries_contests.clock(row)
    name = row.formal_name or row.name
    visibility = row.settings.visibility
    return Listed(row.id, name, state(row, times, now), span(times, now), times.started(now), visibility)


def state(row: ContestRow, times: Clock, now: datetime) -> str:
    """The state of a contest in one word, which is a message."""
    if row.finalized is not None and row.finalized <= now:
        return N_("final")
    if not times.started(now):
        return N_("scheduled")
    if times.ended(now):
        return N_("ended")
    if times.paused(now):
        return N_("paused")
    return N_("frozen") if times.frozen(now) else N_("running")


def span(times: Clock, now: datetime) -> Span:
    """When a contest begins or ends, as far as that is set and worth showing."""
    paused = times.pauses[-1].start if times.paused(now) else None
    return Span(_message(times, now), times.start, times.end, times.duration, paused)


def _message(times: Clock, now: datetime) -> str:
    if times.start is None:
        return N_("no start is set")
    if not times.started(now):
        return (
            N_("from %(start)s, without an end") if wording.is_endless(times) else N_("from %(start)s for %(length)s")
        )
    if times.paused(now):
        return N_("paused since %(paused)s")
    if wording.is_endless(times):
        return N_("always open")
    return N_("ended %(end)s") if times.ended(now) else N_("until %(end)s")


Handler = Callable[[Request, Exception], Awaitable[Response]]


def pages_for_people(handler: Handler) -> Handler:
    """A handler of HTTP errors that shows browsers a page for an unknown address outside of the API."""

    async def reply(request: Request, error: Exception) -> Response:
        path = request.url.path.removeprefix(request.scope.get("root_path", ""))
        is_unknown = isinstance(error, HTTPException) and error.status_code in {404, 405}
        if not is_unknown or path.startswith("/api/") or "text/html" not in request.headers.get("accept", ""):
            return await handler(request, error)
        return await or_refusal(request, _refuse(path))

    return reply


async def _refuse(path: str) -> Response:
    raise NotFound(N_("no page %(page)r"), page=path[:200])


Faults = Sequence[Mapping[str, object]]
# Of pages with passwords: no cache and no history keeps them.
NO_STORE = "private, no-store"


def needs(operation: str) -> Needed:
    """The dependency that lets those through who may call an operation of the API; others get its refusal."""
    who = who_may(operation)

    async def gate(request: Request, viewer: Visitor) -> None:
        path = request.path_params
        check(who, viewer, Place(path.get("contest_id"), path.get("problem_id")))

    return Needed(gate)


async def _fields(request: Request) -> dict[str, str]:
    return await forms.read_form(request)


# The fields of a form. A handler names them before its transaction: a slow sender holds no one's writing up.
Fields = Annotated[dict[str, str], Depends(_fields)]


def how_of(fields: Mapping[str, str]) -> How:
    """How a form changes a problem: only the version that the form was made for, if it names one."""
    return How(version=forms.whole_number(sent_forms.SEEN_VERSION, fields.get(sent_forms.SEEN_VERSION, "")))


def faults_of(refusal: ServiceError) -> Faults:
    """The faults of a refusal, one a line; the sentence itself where it lists none."""
    return list(refusal.errors or [{"where": refusal.where or "", "message": translate(refusal.fault)}])
