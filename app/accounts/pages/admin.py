"""The audit log as a page: of a contest for its owners, of the whole server for admins.

- Roles in a contest: its owners and judges.
- Users of the server: search, create, change, roles, new passwords, reset links, delete.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlencode

from fastapi import Depends, Query, Response
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.accounts.pages import audit_words
from app.accounts.schemas import AuditFilter
from app.accounts.service import accounts, reach, role_changes
from app.accounts.service.registering import username_of
from app.contests.queries import contests
from app.core import bodies, csv_tables
from app.core.load import run_heavy
from app.core.messages import N_, BadRequest, Conflict
from app.core.pages import forms, visitor
from app.core.pages.languages import _, confirm, ngettext
from app.core.pages.visits import Change, ContestLook, Look, Visit
from app.problems.queries.problems import problems

PER_PAGE = 50
USERS = "/admin/users"
# Cards on a sheet of A4.
A_SHEET = 10
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


MOST_SHOWN = 100
# What a list of users is filtered by, beside the types of accounts.
ORGANIZER, WITH_ROLE = "organizer", "role"
# The accounts of cards: username, password, name and team.
Cards = Sequence[Mapping[str, object]]
Filter = Annotated[str, Query(max_length=20)]


def users_page(visit: Look, find: Annotated[str, Query(max_length=100)] = "", kind: Filter = "") -> HTMLResponse:
    """The first 100 accounts by id whose name, username or team holds a text, of one type or with roles."""
    wanted, roles = find.casefold().strip(), accounts_queries.roles_of(visit.session)
    organizers = {account_id for account_id, each in roles.items() if each.organiser}
    ids = {ORGANIZER: organizers, WITH_ROLE: {id_ for id_, each in roles.items() if each.contests or each.problems}}
    users = [
        each
        for each in accounts.listed(visit.session)
        if wanted in f"{each.username} {each.name} {each.team_id or ''}".casefold()
        and (not kind or each.type == kind or each.id in ids.get(kind, ()))
    ]
    return visit.page(
        "organiser/users.html",
        200,
        users=users[:MOST_SHOWN],
        count=len(users),
        roles=roles,
        organizers=organizers,
        asked={"find": find, "kind": kind},
        **_objects(visit),
    )


def user_page(visit: Look, account_id: str) -> HTMLResponse:
    """An account with its roles, and the forms that change them."""
    account = accounts.one(visit.session, account_id)
    roles = accounts_queries.roles_of(visit.session, [account_id]).get(account_id, accounts_queries.Roles())
    return visit.page("organiser/user.html", 200, account=account, roles=roles, **_objects(visit))


def _objects(visit: Look) -> dict[str, list[str]]:
    """The ids of the contests and problems at which accounts may have roles."""
    return {
        "contests": [row.id for row in contests(visit.session)],
        "problems": [row.id for row in problems(visit.session)],
    }


async def create_user(visit: Visit, fields: visitor.Fields) -> HTMLResponse:
    """Create an account with a type and roles, and show its password once."""
    made = await run_heavy(partial(_create, visit, fields))
    visit.authenticator.forget()
    return show_passwords(visit, "organiser/passwords.html", [made], contest_id=fields.get("contests"))


def _create(visit: Visit, fields: Mapping[str, str]) -> dict[str, object]:
    name, kind = fields.get("name", "").strip(), fields.get("type", "staff")
    if not name:
        raise BadRequest(N_("expected a name, found nothing"), where="name")
    values = {
        "username": fields.get("username", "").strip() or username_of(name),
        "name": name,
        "type": "staff" if kind == ORGANIZER else kind,
        "team_id": fields.get("team_id", "").strip() or None,
    }
    document, options = bodies.Document([bodies.Item("", values)]), accounts.ImportOptions(generate_passwords=True)
    with visit.service.database.write() as session:
        if accounts_queries.by_username(session, values["username"] or "") is not None:
            raise Conflict(N_("expected an unused one, found %(found)r"), where="username", found=values["username"])
        made = accounts.bring_in(session, visit.service, visit.viewer, document, options)[0]
        if kind == ORGANIZER:
            role_changes.allow(session, visit.viewer, made.id)
        _grant(session, visit, made.id, fields)
    return {**made.model_dump(), "team": made.team_id}


def _grant(session: Session, visit: Visit, account_id: str, fields: Mapping[str, str]) -> None:
    """Give an account a role in the contest and at the problem that a form names."""
    body = forms.made_of(role_changes.RoleBody, {"role": fields.get("role") or "judge"})
    for kind in accounts_queries.ROLES:
        if object_id := fields.get(kind):
            role_changes.grant(session, visit.viewer, kind, object_id, account_id, body)


def change_user(change: Change, account_id: str) -> Response:
    """Change the name, the username, the type or the team of an account."""
    values = {name: change.fields.get(name, "").strip() or None for name in ("username", "name", "type", "team_id")}
    change.forget_accounts()
    document = bodies.Document([bodies.Item("", values)], many=False)
    accounts.change(change.session, change.viewer, account_id, document)
    return change.see(f"{USERS}/{account_id}", done="saved")


def set_user_role(change: Change, account_id: str) -> Response:
    """Give an account a role in a contest or at a problem; without a role, revoke it."""
    change.forget_accounts()
    if change.fields.get("role"):
        _grant(change.session, change, account_id, change.fields)
        return change.see(f"{USERS}/{account_id}", done="granted")
    for kind in accounts_queries.ROLES:
        if object_id := change.fields.get(kind):
            role_changes.revoke(change.session, change.viewer, kind, object_id, account_id)
    return change.see(f"{USERS}/{account_id}", done="revoked")


def set_organizer(change: Change, account_id: str) -> Response:
    """Let an account create contests and problems, or no longer."""
    change.forget_accounts()
    if change.fields.get("organizer") == "yes":
        role_changes.allow(change.session, change.viewer, account_id)
        return change.see(USERS, done="granted")
    role_changes.disallow(change.session, account_id)
    return change.see(USERS, done="revoked")


def _selected(fields: Mapping[str, str]) -> list[str]:
    """The accounts that are selected in a form; raises BadRequest without any."""
    ids = [name.removeprefix("u.") for name in fields if name.startswith("u.")]
    if not ids:
        raise BadRequest(N_("select at least one user"))
    return ids


async def new_passwords(visit: Visit, fields: visitor.Fields) -> HTMLResponse:
    """Give the selected accounts new passwords, and show them once."""
    ids = _selected(fields)
    confirm(
        fields,
        ngettext("Create a new password for %(num)s user?", "Create new passwords for %(num)s users?", len(ids)),
        f"{', '.join(ids[:MOST_OBJECTS])}. {_('Old passwords, sessions and tokens stop working immediately.')}",
        _("Create"),
    )
    made = await run_heavy(partial(reach.renew_passwords, visit.service, visit.viewer, ids))
    visit.authenticator.forget()
    return show_passwords(visit, "organiser/passwords.html", [each.model_dump() for each in made], contest_id=None)


def reset_links(change: Change) -> HTMLResponse:
    """Create a reset link for each selected account, and show them once."""
    made = reach.make_resets(change.session, change.viewer, _selected(change.fields))
    return _unkept(change.page("organiser/reset_links.html", made=made, address=change.address))


async def delete_users(visit: Visit, fields: visitor.Fields) -> Response:
    """Delete the selected accounts, all or none."""
    ids = _selected(fields)
    confirm(
        fields,
        ngettext("Delete %(num)s user?", "Delete %(num)s users?", len(ids)),
        f"{', '.join(ids[:MOST_OBJECTS])}. {_('You cannot undo this. Users with submissions cannot be deleted.')}",
        _("Delete"),
    )
    await run_heavy(partial(_delete, visit, ids))
    visit.authenticator.forget()
    return visit.see(USERS, done="deleted")


def _delete(visit: Visit, ids: Sequence[str]) -> None:
    with visit.service.database.write() as session:
        for account_id in ids:
            accounts.delete(session, visit.viewer, account_id)


def show_passwords(visit: Visit, template: str, people: Cards, **values: object) -> HTMLResponse:
    """A page with cards for accounts with new passwords."""
    cells = ([each["username"], each["password"], each["name"], each.get("team") or ""] for each in people)
    values["csv"] = csv_tables.csv_text(csv_tables.PASSWORD_COLUMNS, cells)
    values["sheets"] = [people[at : at + A_SHEET] for at in range(0, len(people), A_SHEET)]
    return _unkept(visit.page(template, 200, people=people, address=visit.address, **values))


def _unkept(shown: HTMLResponse) -> HTMLResponse:
    """The only page that shows a secret: no cache and no history keeps it."""
    shown.headers["Cache-Control"] = visitor.NO_STORE
    return shown


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
        _("The account loses access to the contest immediately."),
        _("Revoke the role"),
    )
    change.forget_accounts()
    role_changes.revoke(change.session, change.viewer, "contests", contest_id, account_id)
    return change.see(f"/admin/contests/{contest_id}/roles", done="revoked")
