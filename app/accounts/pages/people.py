"""Accounts of the server for admins: finding one, a new password, a reset code, and who may make contests."""

from __future__ import annotations

from functools import partial
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query, Request, Response
from fastapi.responses import HTMLResponse

from app.accounts.service import account_changes
from app.accounts.service import role_changes as commands
from app.accounts.service.password_resets import ResetBody, make_reset, renew_password
from app.contests.pages.home import DONE, Done
from app.core.heavy import run_heavy
from app.core.pages.asking import confirm
from app.core.pages.gate import NO_STORE, Fields, WritingAccounts, see
from app.core.pages.index import address_of
from app.core.pages.languages import _
from app.core.pages.pages import page
from app.core.pages.visitor import Reading, TheService, Visitor, Writing, authenticator_of

PER_PAGE = 100


def people_page(
    request: Request,
    viewer: Visitor,
    session: Reading,
    find: Annotated[str, Query(max_length=100)] = "",
    start: Annotated[int, Query(ge=0, le=10**6)] = 0,
    done: Done = "",
) -> HTMLResponse:
    """The accounts by id, those whose name, username or team holds a text."""
    wanted = find.casefold().strip()
    accounts = [
        each
        for each in account_changes.listed(session)
        if wanted in f"{each.username} {each.name or ''} {each.team_id or ''}".casefold()
    ]
    organisers = {each.account_id for each in commands.organisers(session) if each.organiser}
    query = {"find": find} if find else {}
    more = start + PER_PAGE < len(accounts)
    return page(
        "organiser/people.html",
        request,
        viewer=viewer,
        done=DONE.get(done),
        accounts=accounts[start : start + PER_PAGE],
        count=len(accounts),
        organisers=organisers,
        find=find,
        earlier=urlencode({**query, "start": max(0, start - PER_PAGE)}) if start else None,
        later=urlencode({**query, "start": start + PER_PAGE}) if more else None,
    )


async def new_password(
    request: Request, service: TheService, viewer: Visitor, account_id: str, fields: Fields
) -> HTMLResponse:
    """Give an account another password, and show it once."""
    confirm(
        fields,
        _("Make a new password for %(account)s?", account=account_id),
        _("The old password stops working, and all sessions and tokens of the account end."),
        _("New password"),
    )
    made = await run_heavy(partial(renew_password, service, viewer, account_id))
    authenticator_of(request).forget(account_id)
    return _once(request, viewer, made.username, "password", made.password, None)


def reset_code(request: Request, viewer: Visitor, account_id: str, session: Writing) -> HTMLResponse:
    """Make a code with which the owner of an account sets a password, and show it once."""
    made = make_reset(session, viewer, account_id, ResetBody())
    return _once(request, viewer, made.username, "code", made.code, made.expires)


def allow(request: Request, viewer: Visitor, account_id: str, session: WritingAccounts) -> Response:
    """Let an account make contests and problems of its own."""
    commands.allow(session, viewer, account_id)
    return see(request, "/admin/people", done="granted")


def disallow(request: Request, account_id: str, session: WritingAccounts) -> Response:
    """Let an account make no more contests."""
    commands.disallow(session, account_id)
    return see(request, "/admin/people", done="revoked")


def _once(
    request: Request, viewer: Visitor, username: str, what: str, secret: str, expires: str | None
) -> HTMLResponse:
    shown = page(
        "organiser/secret.html",
        request,
        viewer=viewer,
        username=username,
        what=what,
        secret=secret,
        expires=expires,
        address=address_of(request),
    )
    shown.headers["Cache-Control"] = NO_STORE
    return shown
