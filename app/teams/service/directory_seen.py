"""Visibility of groups, organizations and persons of a contest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.tables import ContestRow, PersonRow, TeamRow
from app.teams.queries import directory as stored
from app.teams.queries import teams
from app.teams.service.teams import may_see

OfTeam = Callable[[TeamRow], Iterable[str | None]]


def persons(viewer: Viewer, snapshot: ContestSnapshot, session: Session, contest: ContestRow) -> Sequence[PersonRow]:
    """The persons that the viewer sees: before the start only judges see any, as entrants are still secret."""
    if viewer.sees_all:
        return stored.persons(session, contest)
    return [] if snapshot.state.started is None else stored.public_persons(session, contest)


def teams_seen(
    viewer: Viewer, session: Session, contest: ContestRow, of_team: OfTeam
) -> tuple[set[str], set[str | None]]:
    """The teams a viewer sees, and what only the other teams are `of_team`: groups or organizations."""
    entrants = teams.taking_part(session, contest)
    seen = [team for team in entrants if may_see(viewer, team)]
    shown = {id_ for team in seen for id_ in of_team(team)} | {contest.main_scoreboard_group_id}
    return {team.id for team in seen}, {id_ for team in entrants for id_ in of_team(team)} - shown


def groups_unseen(viewer: Viewer, session: Session, contest: ContestRow) -> set[str | None]:
    """The groups of which a viewer may not know, as only hidden teams have them."""
    return teams_seen(viewer, session, contest, lambda team: team.group_ids)[1]
