"""The page on which people register for a contest, with its code or by a link that has the code in it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, cast

from anyio.to_thread import run_sync
from fastapi import Query, Request
from fastapi.responses import HTMLResponse

from app.accounts.pages.sessions import keep_session
from app.accounts.schemas.registration_bodies import Registration, RegistrationBody
from app.accounts.service import registration, tokens
from app.accounts.service.accounts import account_of
from app.accounts.service.registering import Pace, register
from app.accounts.service.viewer import PUBLIC, known_viewer
from app.core.addresses import source_of
from app.core.heavy import run_heavy
from app.core.pages.forms import made_of, read_form, refuse_two_texts
from app.core.pages.frames import frame
from app.core.pages.index import address_of as own_address
from app.core.pages.pages import page
from app.core.pages.visitor import Reading, TheService, TheSnapshot, Visitor, address_of, authenticator_of
from app.core.service import Service
from app.scoreboard.queries.contest_snapshot import ContestSnapshot

Code = Annotated[str, Query(max_length=100)]


def registration_page(
    request: Request,
    viewer: Visitor,
    snapshot: TheSnapshot,
    session: Reading,
    code: Code = "",
    team_code: Code = "",
) -> HTMLResponse:
    """The form to register; the link that organisers hand out fills in the code."""
    return page(
        "register.html",
        request,
        viewer=viewer,
        frame=frame(session, viewer, snapshot, "register"),
        terms=registration.terms(session, PUBLIC, snapshot.contest.id),
        code=code,
        team_code=team_code,
    )


async def register_on_page(request: Request, service: TheService, snapshot: TheSnapshot) -> HTMLResponse:
    """Make the account as the API does and begin a session of it."""
    fields = await read_form(request)
    made = await _registered(request, service, snapshot.contest.id, fields)
    authenticator_of(request).forget(made.account_id)
    return await run_sync(_welcome, request, service, snapshot, made, fields.get("code", ""))


async def _registered(request: Request, service: Service, contest_id: str, fields: Mapping[str, str]) -> Registration:
    cast(Pace, request.app.state.registration_pace).take(source_of(address_of(request)))
    body = made_of(RegistrationBody, refuse_two_texts(fields))
    return await run_heavy(partial(register, service, contest_id, body))


def _welcome(
    request: Request, service: Service, snapshot: ContestSnapshot, made: Registration, code: str
) -> HTMLResponse:
    """The page after the registration: whoever registered is logged in, and reads the code for friends once."""
    with service.database.write(quiet=True) as session:
        viewer = known_viewer(session, account_of(session, made.account_id))
        token = tokens.begin_session(session, viewer)
    with service.database.read() as session:
        shown = page(
            "registered.html",
            request,
            201,
            viewer=viewer,
            frame=frame(session, viewer, snapshot, "register"),
            made=made,
            code=code,
            address=own_address(request),
        )
    keep_session(request, shown, token)
    return shown
