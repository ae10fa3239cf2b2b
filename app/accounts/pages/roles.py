"""Roles in a contest: its owners and judges; and the invitations that the own account accepts or declines."""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from app.accounts.service import role_changes as commands
from app.accounts.service.role_changes import Kind, RoleBody
from app.accounts.service.viewer import Viewer
from app.contests.pages.home import DONE, Done
from app.core.errors import BadRequest, Unauthorized
from app.core.messages import N_
from app.core.pages.asking import confirm
from app.core.pages.forms import made_of
from app.core.pages.frames import frame
from app.core.pages.gate import Fields, WritingAccounts, see
from app.core.pages.languages import _
from app.core.pages.pages import page
from app.core.pages.visitor import Reading, TheSnapshot, Visitor


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
        roles=commands.in_contest(session, snapshot.contest.id),
    )


def grant_role(
    request: Request, viewer: Visitor, contest_id: str, fields: Fields, session: WritingAccounts
) -> Response:
    """Make an account owner or judge of the contest."""
    name = fields.get("account", "").strip()
    if not name:
        raise BadRequest(N_("expected a username, found nothing"), where="account")
    body = made_of(RoleBody, {"role": fields.get("role", "")})
    commands.grant_in_contest(session, viewer, contest_id, name, body)
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
    commands.revoke_in_contest(session, contest_id, account_id)
    return see(request, f"/admin/contests/{contest_id}/roles", done="revoked")


def accept_role(request: Request, viewer: Visitor, kind: Kind, object_id: str, session: WritingAccounts) -> Response:
    """Accept an invitation to a role."""
    _check(viewer)
    commands.accept(session, viewer, kind, object_id)
    return see(request, "/account")


def decline_role(request: Request, viewer: Visitor, kind: Kind, object_id: str, session: WritingAccounts) -> Response:
    """Decline an invitation to a role."""
    _check(viewer)
    commands.decline(session, viewer, kind, object_id)
    return see(request, "/account")


def _check(viewer: Viewer) -> None:
    if not viewer.logged_in:
        raise Unauthorized(N_("log in to see your invitations"))
