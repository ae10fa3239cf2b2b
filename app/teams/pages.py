"""The teams of a contest: those that take part, a class list with its preview, cards to print, registration."""

import csv
import io
import string
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import Depends, Query, Request, Response
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.accounts.pages.admin import Cards, show_passwords
from app.accounts.schemas import TermsChange, TermsView
from app.accounts.service import reach, registration
from app.accounts.service.accounts import ImportOptions
from app.accounts.service.grants import OWNER, Grants
from app.accounts.service.registering import username_of
from app.accounts.service.viewer import Viewer, own_teams
from app.contests.queries import contest_of
from app.core import bodies, table_rows
from app.core.db.database import drop_after_commit, run_after_commit
from app.core.load import run_heavy
from app.core.messages import N_, BadRequest, ServiceError
from app.core.pages import forms
from app.core.pages.forms import MOST_DIGITS, made_of_values, open_form, read_form, whole_number
from app.core.pages.frames import frame
from app.core.pages.languages import _, confirm, ngettext, refuse_outdated
from app.core.pages.visitor import Fields, TheSnapshot, faults_of
from app.core.pages.visits import Change, ContestLook, Visit
from app.submissions.queries.submission_context import counts_by_team
from app.tables import AccountRow, TeamRow
from app.teams import queries as teams_queries
from app.teams.service import team_changes, teams

EXAMPLE = "name,team,organization,group\nAna Pérez,The Ants,Ostrava,juniors\nBen Novák,The Ants,Ostrava,juniors\n"
# Bytes of a class list, as the API takes.
LARGEST = 4 * 2**20
MOST_TEAMS = 1000  # created by one form


def teams_page(visit: ContestLook, find: Annotated[str, Query(max_length=100)] = "") -> HTMLResponse:
    """The teams that take part, the ways to add some, and self-registration."""
    contest = contest_of(visit.session, visit.snapshot.contest.id)
    terms = registration.terms(visit.session, visit.viewer, contest.id)
    teams = teams_queries.taking_part(visit.session, contest)
    taking_part = {row.id for row in teams}
    accounts: dict[str, list[AccountRow]] = {}
    for account in accounts_queries.accounts(visit.session):
        accounts.setdefault(account.team_id or "", []).append(account)
    return visit.framed(
        "organiser/teams.html",
        "teams",
        teams=[row for row in teams if find.casefold().strip() in f"{row.name} {row.display_name}".casefold()],
        count=len(teams),
        find=find,
        accounts=accounts,
        enrolled=teams_queries.enrolled(visit.session, contest.id),
        counts=counts_by_team(visit.session, contest.id),
        others=[row for row in own_teams(visit.session, visit.viewer, contest.id) if row.id not in taking_part],
        open_to_all=contest.open_to_all,
        may_import=visit.viewer.manages,
        terms=terms if isinstance(terms, TermsView) else None,
        terms_stored=_terms_of(visit.session, visit.viewer, contest.id, forms.zone_of(visit.request)),
        example=EXAMPLE,
        address=visit.address,
    )


@dataclass(frozen=True, slots=True)
class Sent:
    """A class list as it was sent: its text, and whether it is to be stored or only looked at."""

    text: str
    is_preview: bool
    replace: bool


async def _sent(request: Request) -> Sent:
    """Read the form with a file or a text; raises BadRequest where it has neither."""
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        async with open_form(request, texts={"text", "replace"}, files={"file"}) as form:
            data = form.read("file")
            text = await run_sync(table_rows.table_text, data, None) if data else form.texts.get("text", "")
            fields: Mapping[str, str] = form.texts
        return Sent(_some(text), is_preview=True, replace="replace" in fields)
    fields = await read_form(request, longest=3 * LARGEST)
    return Sent(_some(fields.get("text", "")), is_preview="keep" not in fields, replace="replace" in fields)


def _some(text: str) -> str:
    if not text.strip():
        raise BadRequest(N_("expected a file or a text, found nothing"), where="the class list")
    return text


async def create_teams(visit: Visit, snapshot: TheSnapshot, fields: Fields) -> HTMLResponse:
    """Create teams with one account each, as a class list would, and show their passwords, once."""
    return await run_sync(_create, visit, snapshot, fields)


def _create(visit: Visit, snapshot: TheSnapshot, fields: Fields) -> HTMLResponse:
    contest_id, viewer = snapshot.contest.id, visit.viewer
    names = numbered(fields.get("name", "").strip(), whole_number("count", fields.get("count", "")) or 1)
    with visit.reading() as look:
        session = look.session
        here = {row.name for row in teams_queries.taking_part(session, contest_of(session, contest_id))}
        if known := here.intersection(names):
            raise BadRequest(
                N_("expected names that no team of the contest has, found %(found)r"), where="name", found=min(known)
            )
        usernames = [username_of(each) for each in names]
        taken = {name for pair in accounts_queries.usernames(session).items() for name in pair}
        taken |= {row.name for row in teams_queries.teams(session)}
    if not taken.isdisjoint([*names, *usernames]):
        # Teams of other contests with these names stay out of it: only what the contest keeps is in reach.
        usernames = [f"{contest_id}.{each}" for each in usernames]
        viewer = replace(viewer, role="owner", grants=Grants(contests={contest_id: OWNER}))
    text = io.StringIO()
    csv.writer(text).writerows([("name", "username", "team"), *zip(names, usernames, names, strict=True)])
    return _import(visit, snapshot, Sent(text.getvalue(), False, False), viewer)


def numbered(first: str, count: int) -> list[str]:
    """The names of so many teams from the first one on: Team 01, Team 02, and so on; raises BadRequest."""
    if not first:
        raise BadRequest(N_("expected a name, found nothing"), where="name")
    if count > MOST_TEAMS:
        raise BadRequest(
            N_("expected at most %(most)s teams, found %(found)s"), where="count", most=MOST_TEAMS, found=count
        )
    if count == 1:
        return [first]
    stem = first.rstrip(string.digits)
    digits = first[len(stem) :][-MOST_DIGITS:] or "01"
    stem = stem if stem != first else f"{first} "
    return [f"{stem}{int(digits) + at:0{len(digits)}}" for at in range(count)]


async def import_teams(visit: Visit, snapshot: TheSnapshot, sent: Annotated[Sent, Depends(_sent)]) -> HTMLResponse:
    """Say what a class list would make; or make it, and show the passwords as cards, once."""
    return await run_sync(_import, visit, snapshot, sent, visit.viewer)


def _import(visit: Visit, snapshot: TheSnapshot, sent: Sent, viewer: Viewer) -> HTMLResponse:
    options = ImportOptions(replace=sent.replace, generate_passwords=True, dry_run=sent.is_preview)
    faults, made, service = [], None, visit.service
    with service.database.write() as session:
        try:
            made = team_changes.bring_in_class_list(
                session, service, viewer, bodies.Document(lines=sent.text), options, snapshot.contest.id
            )
            session.flush()
        except ServiceError as refusal:
            faults = list(faults_of(refusal))
        if made is None or sent.is_preview:
            session.rollback()
            drop_after_commit(session)
    if made is not None and not sent.is_preview:
        run_after_commit(session)
        visit.authenticator.forget()
        people = [each.model_dump() for each in made.people if getattr(each, "password", None)]
        return _cards(visit, snapshot, people, len(made.people) - len(people))
    with visit.reading() as look:
        place = frame(look.session, visit.viewer, snapshot, "teams")
    status = 400 if faults else 200
    return visit.page("organiser/team_preview.html", status, frame=place, faults=faults, made=made, sent=sent)


def _cards(visit: Visit, snapshot: TheSnapshot, people: Cards, without: int = 0) -> HTMLResponse:
    """Accounts with their new passwords as cards; `without`: how many more accounts keep theirs."""
    with visit.reading() as look:
        place = frame(look.session, visit.viewer, snapshot, "teams")
    is_set_up = snapshot.state.started is not None
    return show_passwords(visit, "organiser/cards.html", people, frame=place, is_set_up=is_set_up, without=without)


async def reissue_cards(visit: Visit, snapshot: TheSnapshot, fields: Fields) -> HTMLResponse:
    """Give all accounts of a team, or of all teams, new passwords, and show them as cards, once."""
    ids = await run_sync(_accounts_of, visit, snapshot.contest.id, fields.get("team_id"))
    confirm(
        fields,
        ngettext("Create %(num)s new card?", "Create %(num)s new cards?", len(ids)),
        _("Old passwords, sessions and tokens stop working immediately."),
        _("Create"),
    )
    made = await run_heavy(partial(reach.renew_passwords, visit.service, visit.viewer, ids))
    visit.authenticator.forget()
    return await run_sync(_cards, visit, snapshot, [each.model_dump() for each in made])


def _accounts_of(visit: Visit, contest_id: str, team_id: str | None) -> list[str]:
    """The accounts of a team of a contest, or of all its teams, that the viewer may change."""
    with visit.reading() as look:
        teams = teams_queries.taking_part(look.session, contest_of(look.session, contest_id))
        rows = teams_queries.accounts_of(look.session, {row.id for row in teams if team_id in {None, row.id}})
        own = reach.reach_of(look.session, visit.viewer)
        ids = [row.id for row in rows if own.within([row.id], own.accounts)]
    if not ids:
        raise BadRequest(N_("you cannot change any account of these teams"))
    return ids


def rename(change: Change, contest_id: str, team_id: str) -> Response:
    """Give a team another name, the one it is shown by."""
    values = {"name": change.fields.get("name", "").strip(), "display_name": None}
    document = bodies.Document([bodies.Item("", values)], many=False)
    team_changes.change(change.session, change.service, change.viewer, team_id, document)
    return change.see(f"/admin/contests/{contest_id}/teams", done="saved")


def enrol(change: Change, contest_id: str) -> Response:
    """Add the selected teams to the contest."""
    wanted = [name.removeprefix("t.") for name in change.fields if name.startswith("t.")]
    body = made_of_values(teams.Enrolment, {"team_ids": wanted})
    team_changes.enrol(change.session, change.service, change.viewer, contest_id, body)
    return change.see(f"/admin/contests/{contest_id}/teams", done="enrolled")


def withdraw(change: Change, contest_id: str, team_id: str) -> Response:
    """Let a team take part no more, as long as it has sent nothing."""
    change.confirm(
        _("Remove %(team)s from the contest?", team=_name(change.session, team_id)),
        _("The team and its accounts stay on the server, and can be added again."),
        _("Remove the team"),
    )
    team_changes.withdraw(change.session, change.service, contest_id, team_id)
    return change.see(f"/admin/contests/{contest_id}/teams", done="removed")


def set_disqualified(change: Change, contest_id: str, team_id: str) -> Response:
    """Disqualify a team, or take that back."""
    body = team_changes.ContestTeamBody(disqualified=change.fields.get("disqualified") == "yes")
    if body.disqualified:
        change.confirm(
            _("Disqualify %(team)s?", team=_name(change.session, team_id)),
            _("It disappears from the scoreboard, and its answers no longer count as the best. You can undo this."),
            _("Disqualify"),
        )
    team_changes.change_in_contest(change.session, change.service.boards, change.viewer, contest_id, team_id, body)
    return change.see(f"/admin/contests/{contest_id}/teams", done="saved")


def give_extra_time(change: Change, contest_id: str, team_id: str) -> Response:
    """Let a team's time end some minutes later than the contest."""
    minutes = forms.whole_number("extra", change.fields.get("extra", "")) or 0
    body = made_of_values(team_changes.ContestTeamBody, {"extra_time": f"{minutes // 60}:{minutes % 60:02}:00"})
    team_changes.change_in_contest(change.session, change.service.boards, change.viewer, contest_id, team_id, body)
    return change.see(f"/admin/contests/{contest_id}/teams", done="saved")


def set_registration(change: Change, contest_id: str) -> Response:
    """Open or close self-registration, or change its terms."""
    contest_of(change.session, contest_id, for_update=True)
    fields = change.fields
    refuse_outdated(fields, _terms_of(change.session, change.viewer, contest_id, fields.get(forms.ZONE, "")))
    values: dict[str, object] = {"open": bool(fields.get("open")), "until": forms.moment(fields, "until")}
    if (most := whole_number("most", fields.get("most", ""))) is not None:
        values["most"] = most
    registration.change(change.session, change.viewer, contest_id, made_of_values(TermsChange, values))
    return change.see(f"/admin/contests/{contest_id}/teams", done="saved")


def new_code(change: Change, contest_id: str) -> Response:
    """Create a new registration code; the old one stops working."""
    change.confirm(
        _("Create a new registration code?"),
        _("The old code and all links with it stop working."),
        _("New code"),
    )
    registration.renew_code(change.session, contest_id)
    return change.see(f"/admin/contests/{contest_id}/teams", done="saved")


def _terms_of(session: Session, viewer: Viewer, contest_id: str, zone: str) -> dict[str, str]:
    """The fields of the form of registration, with times in a zone; empty for those who may not change them."""
    terms = registration.terms(session, viewer, contest_id)
    if not isinstance(terms, TermsView):
        return {}
    return {
        "open": "on" if terms.open else "",
        "most": str(terms.most),
        "until": forms.moment_shown(terms.until, zone),
    }


def _name(session: Session, team_id: str) -> str:
    """The name of a team for a question; the id if there is none, which the change then refuses."""
    team = session.get(TeamRow, team_id)
    return team_id if team is None else team.display_name or team.name
