"""The results of a contest as a table to print or save, and as certificates, one page per team."""

from collections import defaultdict
from typing import Annotated, Literal

from fastapi import Query
from fastapi.responses import HTMLResponse

from app.contests.queries import contest_of
from app.core.pages.visits import ContestLook
from app.scoreboard.pages.board_rows import BoardRows
from app.scoreboard.service import scoreboard
from app.scoreboard.service.pages import arrays_of
from app.teams import queries as teams_queries


def results_page(
    visit: ContestLook,
    certificates: Annotated[Literal["all", "awarded"] | None, Query()] = None,
    team: Annotated[list[str] | None, Query(description="only these teams")] = None,
) -> HTMLResponse:
    """Show the standings with organizations and awards, or certificates of all teams or some."""
    snapshot, session, names = visit.snapshot, visit.session, visit.names
    board = BoardRows(arrays_of(snapshot, None), names.columns, names.groups, snapshot.contest.clock)
    members, awards = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for person in teams_queries.persons(session, contest_of(session, snapshot.contest.id)):
        for team_id in person.team_ids if person.role == "contestant" else ():
            members[team_id].append(person.name)
    for award in scoreboard.documents(visit.viewer, snapshot, session):
        for team_id in award.team_ids or ():
            awards[team_id].append(award.citation)
    chosen = team or (awards if certificates == "awarded" else None)
    return visit.framed(
        "organiser/certificates.html" if certificates else "organiser/results.html",
        "results",
        lines=[each for each in map(board.line, range(board.count)) if chosen is None or each.team_id in chosen],
        columns=names.columns,
        organizations=scoreboard.organizations_of(session, snapshot.contest.id),
        members=members,
        awards=awards,
        teams=board.count,
        end=snapshot.contest.clock.end,
        is_final=snapshot.state.finalized is not None,
    )
