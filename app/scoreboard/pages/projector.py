"""The board for a hall: what everyone may see, whoever opens it; large, without any tools.

- The ceremony: the frozen board opens step by step, forward and back, on this page alone until it opens for all.
- The awards of a contest: those that the board gives, and those given by hand.
"""

from typing import Annotated, Literal

from fastapi import Depends, Query, Request, Response
from fastapi.responses import HTMLResponse

from app.accounts.service.viewer import PUBLIC
from app.contests.pages.finals import medals_of
from app.contests.queries import NoContest, contest_of
from app.contests.service.visibility import snapshot_for
from app.core.messages import N_, BadRequest
from app.core.pages.forms import made_of_values, whole_number
from app.core.pages.frames import frame, groups_shown, names_of
from app.core.pages.languages import _
from app.core.pages.pages import page
from app.core.pages.visitor import Fields, Reading, TheService, TheSnapshot
from app.core.pages.visits import Change, ContestLook, Look, Visit
from app.core.pages.wording import seconds
from app.domain.board import Step
from app.scoreboard.pages.board_rows import BoardRows
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.service import scoreboard
from app.scoreboard.service.pages import arrays_of
from app.scoreboard.service.reveal import rehearsal, reveal

# Rows that a hall is shown, page by page: half an hour at 12 seconds a page.
MOST_ROWS = 500
# Rows that stay while the others go by.
TOP = 5
Theme = Literal["light", "dark", "system"]


async def _public(contest_id: str, service: TheService) -> ContestSnapshot:
    """Everyone's snapshot, also where an admin's browser drives the projector."""
    snapshot = await snapshot_for(service.boards, PUBLIC, contest_id)
    if snapshot is None:
        raise NoContest(contest_id)
    return snapshot


PublicSnapshot = Annotated[ContestSnapshot, Depends(_public)]


def projector(
    request: Request,
    snapshot: PublicSnapshot,
    session: Reading,
    theme: Theme = "light",
    group: Annotated[str | None, Query(max_length=36)] = None,
    rows: Annotated[int | None, Query(ge=6, le=60)] = None,
    every: Annotated[int, Query(ge=3, le=120)] = 12,
) -> HTMLResponse:
    """Who leads and how long is left, then page after page of the board, its first rows always there."""
    names = names_of(session, PUBLIC, snapshot)
    groups = groups_shown(PUBLIC, snapshot, names)
    if group is not None and group not in groups:
        raise BadRequest(N_("expected the id of a group of this board, found %(found)r"), where="group", found=group)
    arrays = arrays_of(snapshot, group)
    columns, board = names.columns, BoardRows(arrays, names.columns, groups, snapshot.contest.clock)
    freeze = snapshot.contest.clock.freeze_time
    return page(
        "organiser/projector.html",
        request,
        viewer=PUBLIC,
        frame=frame(session, PUBLIC, snapshot, "scoreboard"),
        theme=theme,
        rows=rows,
        every=every,
        top=TOP,
        group=None if group is None else groups[group],
        columns=columns,
        lines=[board.line(place) for place in range(min(MOST_ROWS, len(arrays.teams)))],
        teams=len(arrays.teams),
        stage=snapshot.stage,
        freeze_at=None if freeze is None else seconds(freeze),
    )


# Rows above and below the team that a step is about.
AROUND = 12
MOST_STEPS = 10_000


def ceremony_page(
    visit: Look, snapshot: PublicSnapshot, step: Annotated[int, Query(ge=0, le=MOST_STEPS)] = 0
) -> HTMLResponse:
    """The board after so many steps, around the team that the last one was about."""
    place, is_over = frame(visit.session, visit.viewer, snapshot, "ceremony"), snapshot.state.ended is not None
    if snapshot.freeze.until is None:
        return visit.page("organiser/ceremony.html", frame=place, scene=None, is_over=is_over)
    scene = rehearsal(snapshot).scene(step)
    arrays = scene.board.main
    shown = names_of(visit.session, visit.viewer, snapshot)
    columns, board = shown.columns, BoardRows(arrays, shown.columns, shown.groups, snapshot.contest.clock)
    at_team = scene.opening.team_id if scene.opening is not None else scene.next[0] if scene.next is not None else None
    centre = (board.place_of(at_team) or 0) if at_team is not None else 0
    first = max(0, min(centre - AROUND, len(arrays.teams) - 2 * AROUND))
    return visit.page(
        "organiser/ceremony.html",
        frame=place,
        scene=scene,
        is_over=is_over,
        columns=columns,
        lines=[board.line(place) for place in range(first, min(first + 2 * AROUND, len(arrays.teams)))],
        teams=len(arrays.teams),
        names={team.id: team.name for team in snapshot.contest.teams},
        labels=snapshot.contest.labels,
    )


def publish(visit: Visit, fields: Fields, contest_id: str) -> Response:
    """Open for everyone what has been shown so far, or all of it; the order is the one of the rehearsal."""
    if "all" in fields:
        reveal(visit.service, contest_id, Step.ALL)
        return visit.see(f"/admin/contests/{contest_id}/ceremony", done="thawed")
    steps = whole_number("steps", fields.get("steps", ""))
    if steps is None or not 1 <= steps <= MOST_STEPS:
        raise BadRequest(
            N_("expected a number from 1 to %(most)s, found %(found)r"),
            where="steps",
            most=MOST_STEPS,
            found=fields.get("steps", "")[:40],
        )
    for _step in range(steps):
        if not reveal(visit.service, contest_id, Step.CELL).opened:
            break
    return visit.see(f"/admin/contests/{contest_id}/ceremony", done="saved")


# The awards that are counted, as the form names them.
MEDAL_NAMES = (("gold", N_("Gold")), ("silver", N_("Silver")), ("bronze", N_("Bronze")), ("ranks", N_("Ranks")))


def awards_page(visit: ContestLook) -> HTMLResponse:
    """The awards in their order, each with the teams that get it once the results are final."""
    return visit.framed(
        "organiser/awards.html",
        "awards",
        awards=scoreboard.documents(visit.viewer, visit.snapshot, visit.session),
        names=dict(visit.teams),
        teams=visit.teams,
        medals=MEDAL_NAMES,
        given=medals_of(contest_of(visit.session, visit.snapshot.contest.id)),
        is_final=visit.snapshot.state.finalized is not None,
    )


def give_award(snapshot: TheSnapshot, change: Change) -> Response:
    """Give an award by hand, to the team that is chosen or to none yet."""
    team_ids, citation = list(filter(None, [change.fields.get("team_id")])), change.fields.get("citation", "").strip()
    body = made_of_values(scoreboard.AwardBody, {"citation": citation, "team_ids": team_ids})
    scoreboard.make(change.viewer, snapshot, change.session, body)
    return change.see(f"/admin/contests/{snapshot.contest.id}/awards", done="added")


def remove_award(snapshot: TheSnapshot, change: Change, award_id: str) -> Response:
    """Take an award back; one that the board would give is not given."""
    known = {each.id: each.citation for each in scoreboard.documents(change.viewer, snapshot, change.session)}
    if award_id in known:
        change.confirm(
            _("Remove the award “%(award)s”?", award=known[award_id]),
            _("It will not be given to anyone."),
            _("Remove the award"),
        )
    scoreboard.delete(change.viewer, snapshot, change.session, award_id)
    return change.see(f"/admin/contests/{snapshot.contest.id}/awards", done="removed")
