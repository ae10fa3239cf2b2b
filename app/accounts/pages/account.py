"""Accounts on pages: logging in and out, and the own account. A session is a token in a cookie that no script reads."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from app.accounts.pages.sessions import drop_session, keep_session
from app.accounts.queries import accounts
from app.accounts.service import role_changes, tokens
from app.accounts.service.own_account import OwnChange, change_password, own_account
from app.accounts.service.viewer import PUBLIC, Viewer
from app.core.errors import Unauthorized
from app.core.messages import N_
from app.core.pages.forms import made_of, read_form, refuse_two_texts
from app.core.pages.languages import gettext
from app.core.pages.pages import page
from app.core.pages.preferences import inside
from app.core.pages.visitor import Reading, TheService, Visitor, address_of, authenticator_of
from app.core.service import Service

WRONG = N_("This username and password do not belong together. Both are as they were given to you; capitals count.")


def login_page(
    request: Request,
    viewer: Visitor,
    session: Reading,
    next: Annotated[str, Query(max_length=2000)] = "/",
    username: Annotated[str, Query(max_length=255)] = "",
    reset: str = "",
) -> HTMLResponse:
    """The form to log in; `reset` after a new password has been set."""
    return page(
        "login.html",
        request,
        viewer=viewer,
        next=inside(next),
        username=username,
        fault=None,
        is_reset=reset == "yes",
        is_new=accounts.only_one(session),
    )


async def log_in(request: Request, service: TheService) -> Response:
    """Check the password, begin a session and go where the visitor came from."""
    form = await read_form(request)
    username, next_ = form.get("username", ""), inside(form.get("next", "/"))
    viewer = await authenticator_of(request).check_password(username, form.get("password", ""), address_of(request))
    if viewer is None:
        is_new = await run_sync(_is_new, service)
        values = {"next": next_, "username": username, "fault": gettext(WRONG), "is_reset": False, "is_new": is_new}
        return page("login.html", request, 401, viewer=PUBLIC, **values)
    token = await run_sync(_begin, service, viewer)
    authenticator_of(request).forget(viewer.account_id)  # the oldest session may have ended
    reply = RedirectResponse(f"{request.scope.get('root_path', '')}{next_}", 303)
    keep_session(request, reply, token)
    return reply


def _is_new(service: Service) -> bool:
    with service.database.read() as session:
        return accounts.only_one(session)


async def log_out(request: Request, service: TheService, viewer: Visitor) -> Response:
    """End the session: its token is good no more."""
    if viewer.credential.digest is not None:
        await run_sync(_end, service, viewer)
        authenticator_of(request).forget(viewer.account_id)
    reply = RedirectResponse(f"{request.scope.get('root_path', '')}/", 303)
    drop_session(request, reply)
    return reply


def account_page(request: Request, viewer: Visitor, session: Reading, changed: str = "") -> HTMLResponse:
    """The own account: who one is, its sessions and tokens, and the form for another password."""
    if not viewer.logged_in:
        raise Unauthorized(N_("log in to see your account"))
    return page(
        "account.html",
        request,
        viewer=viewer,
        account=own_account(session, viewer),
        tokens=tokens.listed(session, viewer),
        invitations=role_changes.invitations(session, viewer),
        changed=changed == "yes",
    )


async def set_password(request: Request, service: TheService, viewer: Visitor) -> Response:
    """Change the own password; all other sessions and tokens end."""
    if not viewer.logged_in:
        raise Unauthorized(N_("log in to change your password"))
    body = made_of(OwnChange, refuse_two_texts(await read_form(request)))
    check = partial(authenticator_of(request).check_password, address=address_of(request))
    await change_password(service, viewer, body, check)
    authenticator_of(request).forget(viewer.account_id)
    return RedirectResponse(f"{request.scope.get('root_path', '')}/account?changed=yes", 303)


def _begin(service: Service, viewer: Viewer) -> str:
    with service.database.write(quiet=True) as session:
        return tokens.begin_session(session, viewer)


def _end(service: Service, viewer: Viewer) -> None:
    with service.database.write(quiet=True) as session:
        tokens.end_session(session, viewer)
