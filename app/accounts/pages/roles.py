"""Roles in a contest: its owners and judges; and the invitations that the own account accepts or declines.

- API tokens on the account's page: making one, which is shown this once, and taking one back.
"""

from __future__ import annotations

from datetime import timedelta

from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from app.accounts.queries import RoleKind
from app.accounts.service import role_changes, tokens
from app.accounts.service.role_changes import RoleBody
from app.accounts.service.tokens import TokenBody
from app.accounts.service.viewer import Viewer
from app.core.clics import format_time
from app.core.clock import utc_now
from app.core.db.database import after_commit
from app.core.errors import BadRequest, Unauthorized
from app.core.messages import N_
from app.core.pages.forms import made_of
from app.core.pages.frames import frame
from app.core.pages.gate import NO_STORE, Fields, WritingAccounts, see
from app.core.pages.languages import _, confirm
from app.core.pages.pages import DONE, Done, page
from app.core.pages.visitor import Reading, TheSnapshot, Visitor, Writing, address_of_index, authenticator_of


def roles_page(
    request: Request, viewer: Visitor, snapshot: TheSnapshot, session: Reading, done: Done = ""
) -> HTMLResponse:
    """Who owns and who judges the contest."""
    return page(
        "organiser/roles.html",
        request,
        viewer=viewer,
        frame=frame(session, viewer, snapshot, "roles"),
        done=DONE.get(done),
        roles=role_changes.roles_at(session, "contests", snapshot.contest.id),
    )


def grant_role(
    request: Request, viewer: Visitor, contest_id: str, fields: Fields, session: WritingAccounts
) -> Response:
    """Make an account owner or judge of the contest."""
    name = fields.get("account", "").strip()
    if not name:
        raise BadRequest(N_("expected a username, found nothing"), where="account")
    body = made_of(RoleBody, {"role": fields.get("role", "")})
    role_changes.grant(session, viewer, "contests", contest_id, name, body)
    return see(request, f"/admin/contests/{contest_id}/roles", done="granted")


def revoke_role(
    request: Request, contest_id: str, account_id: str, fields: Fields, session: WritingAccounts
) -> Response:
    """Take the role of an account back."""
    confirm(
        fields,
        _("Revoke the role of %(account)s in this contest?", account=account_id),
        _("The account loses its access to the contest at once."),
        _("Revoke the role"),
    )
    role_changes.revoke(session, "contests", contest_id, account_id)
    return see(request, f"/admin/contests/{contest_id}/roles", done="revoked")


def accept_role(
    request: Request, viewer: Visitor, kind: RoleKind, object_id: str, session: WritingAccounts
) -> Response:
    """Accept an invitation to a role."""
    _check(viewer)
    role_changes.accept(session, viewer, kind, object_id)
    return see(request, "/account")


def decline_role(
    request: Request, viewer: Visitor, kind: RoleKind, object_id: str, session: WritingAccounts
) -> Response:
    """Decline an invitation to a role."""
    _check(viewer)
    role_changes.decline(session, viewer, kind, object_id)
    return see(request, "/account")


def _check(viewer: Viewer) -> None:
    if not viewer.logged_in:
        raise Unauthorized(N_("log in to see your invitations"))


# Days that a token may last by the form; without any it lasts until it is taken back.
LASTS = (30, 365)


def make_token(
    request: Request,
    viewer: Visitor,
    fields: Fields,
    session: Writing,
) -> HTMLResponse:
    """Make a token for a program, and show its secret this once; no cache keeps the page."""
    _check_of_tokens(viewer)
    made = tokens.create(session, viewer, _asked(fields))
    shown = page("token.html", request, viewer=viewer, made=made, address=address_of_index(request))
    shown.headers["Cache-Control"] = NO_STORE
    return shown


def revoke_token(
    request: Request,
    viewer: Visitor,
    fields: Fields,
    session: Writing,
    token_id: str,
) -> Response:
    """Take a token back, or end a session: it is good no more."""
    _check_of_tokens(viewer)
    confirm(
        fields,
        _("Revoke this session or token?"),
        _("Browsers and programs that use it are logged out at once."),
        _("Revoke"),
    )
    tokens.delete(session, viewer, token_id)
    after_commit(session, lambda: authenticator_of(request).forget(viewer.account_id))
    return see(request, "/account")


def _check_of_tokens(viewer: Viewer) -> None:
    if not viewer.logged_in:
        raise Unauthorized(N_("log in to see your tokens"))


def _asked(fields: dict[str, str]) -> TokenBody:
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
    if days := fields.get("days", ""):
        if days not in {str(each) for each in LASTS}:
            raise BadRequest(
                N_("expected one of %(names)s or nothing, found %(found)r"),
                where="days",
                names=", ".join(map(str, LASTS)),
                found=days[:40],
            )
        values["expires"] = format_time(utc_now() + timedelta(days=int(days)))
    return made_of(TokenBody, values)
