"""HTTP routes: self-registration for a contest: its terms, and people who register."""

from __future__ import annotations

from functools import partial
from typing import Annotated, cast

from fastapi import APIRouter, Depends, Request, Response

from app.accounts.schemas.registration_bodies import (
    PublicTerms,
    RegisteredView,
    Registration,
    RegistrationBody,
    TermsChange,
    TermsView,
)
from app.accounts.service import registration
from app.accounts.service.registering import Pace, register
from app.core.addresses import source_of
from app.core.heavy import run_heavy
from app.core.http.deps import CurrentViewer, QuietWriting, Reading, TheService, address_of
from app.core.http.gated import GatedRoute

router = APIRouter(route_class=GatedRoute, tags=["accounts"])
NO_STORE = {"Cache-Control": "no-store"}


async def get_pace(request: Request) -> Pace:
    """The bounds on how often an address registers."""
    return cast(Pace, request.app.state.registration_pace)


ThePace = Annotated[Pace, Depends(get_pace)]


@router.get(
    "/contests/{contest_id}/registration",
    summary="Whether people may register by themselves",
    response_model=TermsView | PublicTerms,
)
def get_registration(viewer: CurrentViewer, session: Reading, contest_id: str) -> TermsView | PublicTerms:
    """Its code, its cap and how many have registered are for its owners and admins."""
    return registration.terms(session, viewer, contest_id)


@router.patch("/contests/{contest_id}/registration", summary="Open or close self-registration, or change its terms")
def change_registration(viewer: CurrentViewer, session: QuietWriting, contest_id: str, body: TermsChange) -> TermsView:
    """What is left out stays. The first opening makes a code."""
    return registration.change(session, viewer, contest_id, body)


@router.post("/contests/{contest_id}/registration/code", summary="Make a new code", status_code=201)
def create_registration_code(_viewer: CurrentViewer, session: QuietWriting, contest_id: str) -> TermsView:
    """With the old one nobody registers any more."""
    return registration.renew_code(session, contest_id)


@router.get("/contests/{contest_id}/registrations", summary="Who has registered")
def list_registrations(_viewer: CurrentViewer, session: Reading, contest_id: str) -> list[RegisteredView]:
    """The first one first. A place is free again once its account is deleted."""
    return registration.registered(session, contest_id)


@router.post("/contests/{contest_id}/registrations", summary="Register for a contest", status_code=201)
async def create_registration(
    _viewer: CurrentViewer,
    request: Request,
    service: TheService,
    pace: ThePace,
    response: Response,
    contest_id: str,
    body: RegistrationBody,
) -> Registration:
    """Nobody need log in: the contest's code is enough. 403 while it is closed, 409 once every place is taken."""
    pace.take(source_of(address_of(request)))
    response.headers.update(NO_STORE)
    return await run_heavy(partial(register, service, contest_id, body))
