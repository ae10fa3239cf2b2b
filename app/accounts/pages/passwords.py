"""The page on which people set a new password with a code, or by a link that has the code in it."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from app.accounts.service.password_resets import NewPassword, use_reset_in_turn
from app.core.pages.forms import made_of, read_form, refuse_two_texts
from app.core.pages.pages import page
from app.core.pages.visitor import TheService, Visitor, address_of, authenticator_of

Text = Annotated[str, Query(max_length=255)]


async def reset_page(request: Request, viewer: Visitor, username: Text = "", code: Text = "") -> HTMLResponse:
    """The form for a new password; the link that organisers send fills in the username and the code."""
    return page("reset.html", request, viewer=viewer, username=username, code=code)


async def set_forgotten_password(request: Request, service: TheService) -> Response:
    """Set the password as the API does and lead to the login."""
    fields = await read_form(request)
    body = made_of(NewPassword, refuse_two_texts(fields))
    authenticator = authenticator_of(request)
    address = address_of(request)
    account = await use_reset_in_turn(service, body, authenticator.turn(body.username, address), address)
    authenticator.forget(account.id)
    query = urlencode({"username": account.username, "reset": "yes"})
    return RedirectResponse(f"{request.scope.get('root_path', '')}/login?{query}", 303)
