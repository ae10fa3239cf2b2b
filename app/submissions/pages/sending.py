"""Sending answers from the page of a problem, also without script."""

from __future__ import annotations

from typing import cast

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from app.core.errors import Unauthorized
from app.core.messages import N_
from app.core.pages.visitor import TheService, visitor
from app.submissions.service.submit import OpeningForm, submit


async def send_answers(request: Request, service: TheService, contest_id: str) -> Response:
    """Take the files as the API does, and go to the report of the submission."""
    viewer = await visitor(request)
    if not viewer.logged_in:
        raise Unauthorized(N_("log in to send answers"))
    opening = cast(OpeningForm, request.app.state.open_submission_form(request))
    taken = await submit(service, viewer, contest_id, opening)
    root = request.scope.get("root_path", "")
    return RedirectResponse(f"{root}/c/{contest_id}/submissions/{taken.id}", 303)
