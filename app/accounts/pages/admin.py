"""The audit log as a page: of a contest for its owners, of the whole server for admins.

- Roles in a contest: its owners and judges.
- Accounts of the server for admins: finding one, a new password, and who may make contests.
"""

import json
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlencode

from fastapi import Depends, Query, Response
from fastapi.responses import HTMLResponse

from app.accounts.pages import audit_words
from app.accounts.schemas import AuditFilter
from app.accounts.service import accounts as service_accounts
from app.accounts.service import reach, role_changes
from app.core.load import run_heavy
from app.core.messages import N_, BadRequest
from app.core.pages import forms, visitor
from app.core.pages.languages import _, confirm
from app.core.pages.visits import Change, ContestLook, Look, Visit

PER_PAGE = 50
MOST_OBJECTS = 20
Text = Annotated[str, Query(max_length=255)]
Before = Annotated[int | None, Query(ge=1, lt=2**63)]


class Asked(NamedTuple):
    """The form of the audit log: its fields as they were sent, and the conditions that they make."""

    fields: dict[str, str]
    query: AuditFilter


def _asked(actor: Text = "", operation: Text = "", before: Before = None) -> Asked:
    conditions = AuditFilter(actor.strip() or None, operation.strip() or None, before=before, limit=PER_PAGE + 1)
    return Asked({"actor": actor, "operation": operation}, conditions)


TheAsked = Annotated[Asked, Depends(_asked)]


def contest_audit(visit: ContestLook, asked: TheAsked) -> HTMLResponse:
    """Who changed what of the contest, newest first."""
    entries = role_changes.listed(visit.session, replace(asked.query, contest_id=visit.snapshot.contest.id))
    return visit.framed("organiser/audit.html", "audit", **_shown(entries, asked, forms.zone_of(visit.request)))


def server_audit(visit: Look, asked: TheAsked) -> HTMLResponse:
    """Who changed what on the server, newest first."""
    entries = role_changes.listed(visit.session, asked.query)
    return visit.page("organiser/server_audit.html", **_shown(entries, asked, forms.zone_of(visit.request)))


def _shown(entries: list[role_changes.AuditEntry], asked: Asked, zone: str) -> dict[str, Any]:
    known = {name: value for name, value in asked.fields.items() if value}
    shown, more = entries[:PER_PAGE], len(entries) > PER_PAGE
    return {
        "entries": [(entry, audit_words.sentences(entry.changes, zone), _values(entry)) for entry in shown],
        "asked": asked.fields,
        "later": urlencode({**known, "before": shown[-1].id}) if more else None,
    }


def _values(entry: role_changes.AuditEntry) -> str:
    """The first rows that changed with their values before and after, as JSON; empty without any."""
    objects = entry.changes.get("objects")
    return (
        json.dumps(objects[:MOST_OBJECTS], ensure_ascii=False, indent=1)
        if isinstance(objects, list) and objects
        else ""
    )


MOST_PEOPLE = 100


def people_page(visit: Look, find: Annotated[str, Query(max_length=100)] = "") -> HTMLResponse:
    """The first 100 accounts by id whose name, username or team holds a text."""
    wanted = find.casefold().strip()
    accounts = [
        each
        for each in service_accounts.listed(visit.session)
        if wanted in f"{each.username} {each.name or ''} {each.team_id or ''}".casefold()
    ]
    organisers = {each.account_id for each in role_changes.organisers(visit.session) if each.organiser}
    return visit.page(
        "organiser/people.html",
        accounts=accounts[:MOST_PEOPLE],
        count=len(accounts),
        organisers=organisers,
        find=find,
    )


async def new_password(visit: Visit, fields: visitor.Fields, account_id: str) -> HTMLResponse:
    """Give an account another password, and show it once."""
    confirm(
        fields,
        _("Make a new password for %(account)s?", account=account_id),
        _("The old password stops working, and all sessions and tokens of the account end."),
        _("New password"),
    )
    made = await run_heavy(partial(reach.renew_password, visit.service, visit.viewer, account_id))
    visit.authenticator.forget(account_id)
    # The only reply that holds the password: going back in the browser must not show it again.
    shown = visit.page("organiser/secret.html", made=made, address=visit.address)
    shown.headers["Cache-Control"] = visitor.NO_STORE
    return shown


def allow(change: Change, account_id: str) -> Response:
    """Let an account make contests and problems of its own."""
    change.forget_accounts()
    role_changes.allow(change.session, change.viewer, account_id)
    return change.see("/admin/people", done="granted")


def disallow(change: Change, account_id: str) -> Response:
    """Let an account make no more contests."""
    change.forget_accounts()
    role_changes.disallow(change.session, account_id)
    return change.see("/admin/people", done="revoked")


def roles_page(visit: ContestLook) -> HTMLResponse:
    """Who owns and who judges the contest."""
    return visit.framed(
        "organiser/roles.html",
        "roles",
        roles=role_changes.roles_at(visit.session, "contests", visit.snapshot.contest.id),
    )


def grant_role(change: Change, contest_id: str) -> Response:
    """Make an account owner or judge of the contest."""
    name = change.fields.get("account", "").strip()
    if not name:
        raise BadRequest(N_("expected a username, found nothing"), where="account")
    body = forms.made_of(role_changes.RoleBody, {"role": change.fields.get("role", "")})
    change.forget_accounts()
    role_changes.grant(change.session, change.viewer, "contests", contest_id, name, body)
    return change.see(f"/admin/contests/{contest_id}/roles", done="granted")


def revoke_role(change: Change, contest_id: str, account_id: str) -> Response:
    """Take the role of an account back."""
    change.confirm(
        _("Revoke the role of %(account)s in this contest?", account=account_id),
        _("The account loses its access to the contest at once."),
        _("Revoke the role"),
    )
    change.forget_accounts()
    role_changes.revoke(change.session, change.viewer, "contests", contest_id, account_id)
    return change.see(f"/admin/contests/{contest_id}/roles", done="revoked")
