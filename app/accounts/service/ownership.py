"""What organisers may reach beside the contest or problem of the address: other problems, teams, groups, contests."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy.orm import Session

from app.accounts.queries import roles as stored
from app.accounts.service.grants import OWNER
from app.accounts.service.viewer import Viewer
from app.core.bodies import mismatch, refuse
from app.core.clock import utc_now
from app.core.errors import Conflict, Forbidden
from app.core.messages import N_, Message
from app.tables import ContestRoleRow, ProblemRoleRow, TeamRow
from app.teams.queries import teams


def own_contest(session: Session, viewer: Viewer, contest_id: str) -> None:
    """Make the viewer the owner of a contest it has just made; admins need no role."""
    if not viewer.is_admin:
        session.flush()
        row = ContestRoleRow(contest_id=contest_id, account_id=str(viewer.account_id), role=OWNER)
        row.granted_by, row.granted = viewer.account_id, utc_now()
        session.add(row)


def own_problem(session: Session, viewer: Viewer, problem_id: str) -> None:
    """Make the viewer the owner of a problem it has just brought in; admins need no role."""
    if not viewer.is_admin:
        session.flush()
        row = ProblemRoleRow(problem_id=problem_id, account_id=str(viewer.account_id), role=OWNER)
        row.granted_by, row.granted = viewer.account_id, utc_now()
        session.add(row)


def refuse_foreign_version(viewer: Viewer, problem_id: str) -> None:
    """Raise Conflict where the viewer may not bring in a new version of this problem, which exists."""
    if not (viewer.is_admin or viewer.grants.problems.get(problem_id) == OWNER):
        raise Conflict(
            N_("there is a problem %(problem)r already, and only an owner of it may replace it"), problem=problem_id
        )


def refuse_unusable(viewer: Viewer, problem_id: str) -> None:
    """Raise BadRequest for a problem at which the viewer has no role: whether it exists stays untold."""
    if not (viewer.is_admin or problem_id in viewer.grants.problems):
        refuse([mismatch("id", Message(N_("a problem at which you have a role")), repr(problem_id))])


def refuse_open_to_all(viewer: Viewer, *, open_to_all: bool | None) -> None:
    """Raise Forbidden where an organiser opens a contest to all: it would show all teams of the server."""
    if open_to_all and not viewer.is_admin:
        raise Forbidden(N_("only an admin may let every team of the server take part"), where="open_to_all")


def refuse_foreign_contests(viewer: Viewer, contest_ids: Collection[str]) -> None:
    """Raise Forbidden where the viewer does not own all of these contests."""
    if not viewer.is_admin and any(viewer.grants.contests.get(each) != OWNER for each in contest_ids):
        raise Forbidden(
            N_("this changes contests that are not yours, too: only an owner of all of them, or an admin, may")
        )


def refuse_foreign_object(viewer: Viewer, contest_id: str, owner_id: str | None, noun: str) -> None:
    """Raise Forbidden where an object that the contest shows was not made for it."""
    if not viewer.is_admin and owner_id != contest_id:
        raise Forbidden(
            N_("the %(noun)s was not made for this contest: only an admin may change it"), noun=Message(noun)
        )


def own_teams(session: Session, viewer: Viewer, contest_id: str) -> Sequence[TeamRow]:
    """The teams that the viewer may let take part in this contest, by id: for an admin all of the server.

    For others those that were made for this contest or one of their own, or are enrolled there by name.
    """
    if viewer.is_admin:
        return teams.teams(session)
    owned = {each for each, role in viewer.grants.contests.items() if role == OWNER}
    return stored.teams_of_contests(session, owned | {contest_id})


def refuse_foreign_teams(session: Session, viewer: Viewer, contest_id: str, team_ids: Collection[str]) -> None:
    """Raise BadRequest with the teams that are in no contest of the viewer's; whether they exist stays untold."""
    if viewer.is_admin:  # who is refused an unknown team by its own name
        return
    known_ids = {row.id for row in own_teams(session, viewer, contest_id)}
    faults = [
        mismatch(f"team_ids[{at}]", Message(N_("a team of a contest that you own")), repr(team_id))
        for at, team_id in enumerate(team_ids)
        if team_id not in known_ids
    ]
    refuse(faults)
