"""Accounts on pages: logging in and out, and the own account. A session is a token in a cookie that no script reads.

- The page on which people register for a contest, with its code or by a link that has the code in it.
- The page that a reset link opens: a new password, without the old one.
- The cookie of a session: a token that no script reads.
- Tokens for programs.
"""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Annotated, cast

from anyio.to_thread import run_sync
from fastapi import Query, Request, Response
from fastapi.responses import HTMLResponse

from app.accounts import queries as accounts_queries
from app.accounts.schemas import Registration, RegistrationBody
from app.accounts.service import accounts, reach, registration, tokens
from app.accounts.service.registering import Pace, refuse_uninvited, register
from app.accounts.service.viewer import PUBLIC, Viewer, known_viewer
from app.core import clics, clock, load
from app.core.messages import N_, BadRequest, Unauthorized
from app.core.pages import forms, visitor
from app.core.pages.frames import frame
from app.core.pages.languages import _, gettext
from app.core.pages.visits import Change, ContestLook, Look, Visit
from app.core.service import Service


def keep_session(request: Request, reply: Response, token: str) -> None:
    """Let the browser keep the token of a session that has begun."""
    reply.set_cookie(
        tokens.SESSION_COOKIE,
        token,
        max_age=int(tokens.SESSION_LASTS.total_seconds()),
        path=request.scope.get("root_path", "") or "/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def drop_session(request: Request, reply: Response) -> None:
    """Let the browser forget the session's token."""
    path = request.scope.get("root_path", "") or "/"
    reply.delete_cookie(tokens.SESSION_COOKIE, path=path, httponly=True, samesite="lax")


WRONG = N_("Wrong username or password. Both are case-sensitive.")


def login_page(
    visit: Look,
    next: Annotated[str, Query(max_length=2000)] = "/",
    username: Annotated[str, Query(max_length=255)] = "",
) -> HTMLResponse:
    """The form to log in."""
    return visit.page(
        "login.html",
        next=forms.inside(next),
        username=username,
        fault=None,
        is_new=accounts_queries.only_one(visit.session),
    )


async def log_in(visit: Visit) -> Response:
    """Check the password, begin a session and go where the visitor came from."""
    form = await forms.read_form(visit.request)
    username, next_ = form.get("username", ""), forms.inside(form.get("next", "/"))
    viewer = await visit.authenticator.check_password(
        username, form.get("password", ""), visitor.address_of(visit.request)
    )
    if viewer is None:
        is_new = await run_sync(_is_new, visit.service)
        values = {"next": next_, "username": username, "fault": gettext(WRONG), "is_new": is_new}
        return replace(visit, viewer=PUBLIC).page("login.html", 401, **values)
    token = await run_sync(_begin, visit.service, viewer)
    visit.authenticator.forget(viewer.account_id)  # the oldest session may have ended
    reply = visit.see(next_)
    keep_session(visit.request, reply, token)
    return reply


def _is_new(service: Service) -> bool:
    with service.database.read() as session:
        return accounts_queries.only_one(session)


async def log_out(visit: Visit) -> Response:
    """End the session: its token is good no more."""
    if visit.viewer.credential.digest is not None:
        await run_sync(_end, visit.service, visit.viewer)
        visit.authenticator.forget(visit.viewer.account_id)
    reply = visit.see("/")
    drop_session(visit.request, reply)
    return reply


def reset_page(visit: Look, code: str) -> HTMLResponse:
    """The form for a new password, which a reset link opens."""
    return visit.page("reset.html", account=reach.account_of_reset(visit.session, code), code=code)


async def use_reset(visit: Visit, code: str) -> Response:
    """Set the password as the API does and begin a session."""
    fields = forms.refuse_two_texts(await forms.read_form(visit.request))
    body = forms.made_of(reach.ForgottenChange, {"code": code, "password": fields.get("password", "")})
    account = await load.run_heavy(partial(reach.use_reset, visit.service, body))
    visit.authenticator.forget(account.id)
    reply = visit.see("/account", done="password")
    keep_session(visit.request, reply, await run_sync(_begin_for, visit.service, account.id))
    return reply


def account_page(visit: Look) -> HTMLResponse:
    """The own account: who one is, its sessions and tokens, and the form for another password."""
    _check(visit.viewer, N_("log in to see your account"))
    return visit.page(
        "account.html",
        account=accounts.own_account(visit.session, visit.viewer),
        tokens=tokens.listed(visit.session, visit.viewer),
    )


async def set_password(visit: Visit) -> Response:
    """Change the own password; all other sessions and tokens end."""
    _check(visit.viewer, N_("log in to change your password"))
    body = forms.made_of(accounts.OwnChange, forms.refuse_two_texts(await forms.read_form(visit.request)))
    check = partial(visit.authenticator.check_password, address=visitor.address_of(visit.request))
    await accounts.change_password(visit.service, visit.viewer, body, check)
    visit.authenticator.forget(visit.viewer.account_id)
    return visit.see("/account", done="password")


def _begin(service: Service, viewer: Viewer) -> str:
    with service.database.write(quiet=True) as session:
        return tokens.begin_session(session, viewer)


def _begin_for(service: Service, account_id: str) -> str:
    with service.database.write(quiet=True) as session:
        return tokens.begin_session(session, known_viewer(session, accounts.account_of(session, account_id)))


def _end(service: Service, viewer: Viewer) -> None:
    with service.database.write(quiet=True) as session:
        tokens.end_session(session, viewer)


def registration_page(visit: ContestLook, code: Annotated[str, Query(max_length=100)] = "") -> HTMLResponse:
    """Show the form to register; the link that organizers hand out fills in the code, which opens private contests."""
    refuse_uninvited(visit.session, visit.snapshot.contest.id, code)
    return visit.framed(
        "register.html",
        "register",
        terms=registration.terms(visit.session, PUBLIC, visit.snapshot.contest.id),
        code=code,
    )


async def register_on_page(visit: Visit, snapshot: visitor.TheSnapshot) -> HTMLResponse:
    """Make the account as the API does and begin a session of it."""
    fields = await forms.read_form(visit.request)
    with visit.reading() as look:
        refuse_uninvited(look.session, snapshot.contest.id, fields.get("code", ""))
    cast(Pace, visit.request.app.state.registration_pace).take(load.source_of(visitor.address_of(visit.request)))
    body = forms.made_of(RegistrationBody, forms.refuse_two_texts(fields))
    made = await load.run_heavy(partial(register, visit.service, snapshot.contest.id, body))
    visit.authenticator.forget(made.account_id)
    return await run_sync(_welcome, visit, snapshot, made)


def _welcome(visit: Visit, snapshot: visitor.TheSnapshot, made: Registration) -> HTMLResponse:
    """The page after the registration: whoever registered is logged in."""
    database = visit.service.database
    with database.write(quiet=True) as session:
        viewer = known_viewer(session, accounts.account_of(session, made.account_id))
        token = tokens.begin_session(session, viewer)
    visit = replace(visit, viewer=viewer)
    with database.read() as session:
        place = frame(session, viewer, snapshot, "register")
        shown = visit.page("registered.html", 201, frame=place, made=made)
    keep_session(visit.request, shown, token)
    return shown


# Days that a token may last by the form; without any it lasts until it is taken back.
MOST_DAYS = 3650


def make_token(change: Change) -> HTMLResponse:
    """Make a token for a program, and show its secret this once; no cache keeps the page."""
    _check(change.viewer, N_("log in to see your tokens"))
    made = tokens.create(change.session, change.viewer, _asked(change.fields))
    # The only reply that holds the secret: going back in the browser must not show it again.
    shown = change.page("token.html", made=made, address=change.address)
    shown.headers["Cache-Control"] = visitor.NO_STORE
    return shown


def revoke_token(change: Change, token_id: str) -> Response:
    """Take a token back, or end a session: it is good no more."""
    _check(change.viewer, N_("log in to see your tokens"))
    change.confirm(
        _("Revoke this session or token?"),
        _("Browsers and programs that use it are logged out immediately."),
        _("Revoke"),
    )
    tokens.delete(change.session, change.viewer, token_id)
    change.forget_accounts(change.viewer.account_id)
    return change.see("/account")


def _check(viewer: Viewer, refusal: str) -> None:
    if not viewer.logged_in:
        raise Unauthorized(refusal)


def _asked(fields: dict[str, str]) -> tokens.TokenBody:
    """The token that a form asks for; raises BadRequest."""
    label = fields.get("label", "").strip()
    if not label:
        raise BadRequest(N_("expected what the token is for, found nothing"), where="label")
    if label == tokens.SESSION:
        raise BadRequest(
            N_("expected another one than %(session)r, which sessions of browsers have"),
            where="label",
            session=tokens.SESSION,
        )
    values = {"label": label}
    if days := forms.whole_number("days", fields.get("days", "")):
        values["expires"] = clics.format_time(clock.utc_now() + timedelta(days=min(days, MOST_DAYS)))
    return forms.made_of(tokens.TokenBody, values)
