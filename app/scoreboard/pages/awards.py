"""The awards of a contest: those that the board gives, and those given by hand."""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from app.contests.pages.finals import medals_of
from app.contests.pages.home import DONE, Done
from app.contests.service.contests import contest_of
from app.core.messages import N_
from app.core.pages.asking import confirm
from app.core.pages.forms import made_of_values
from app.core.pages.frames import frame
from app.core.pages.gate import Fields, see
from app.core.pages.languages import _
from app.core.pages.pages import page
from app.core.pages.visitor import Reading, TheSnapshot, Visitor, Writing
from app.scoreboard.service import awards
from app.scoreboard.service.awards import AwardBody

MEDAL_NAMES = (("gold", N_("Gold")), ("silver", N_("Silver")), ("bronze", N_("Bronze")), ("ranks", N_("Ranks")))
"""The awards that are counted, as the form names them."""


def awards_page(
    request: Request, viewer: Visitor, snapshot: TheSnapshot, session: Reading, done: Done = ""
) -> HTMLResponse:
    """The awards in their order, each with the teams that get it once the results are final."""
    names = {team.id: team.name for team in snapshot.contest.teams}
    return page(
        "organiser/awards.html",
        request,
        viewer=viewer,
        frame=frame(session, viewer, snapshot, "awards"),
        done=DONE.get(done),
        awards=awards.documents(viewer, snapshot, session),
        names=names,
        teams=sorted(names.items(), key=lambda pair: pair[1].casefold()),
        medals=MEDAL_NAMES,
        given=medals_of(contest_of(session, snapshot.contest.id)),
        is_final=snapshot.state.finalized is not None,
    )


def give_award(request: Request, viewer: Visitor, snapshot: TheSnapshot, fields: Fields, session: Writing) -> Response:
    """Give an award by hand, to the team that is chosen or to none yet."""
    team_ids = [fields["team_id"]] if fields.get("team_id") else []
    body = made_of_values(AwardBody, {"citation": fields.get("citation", "").strip(), "team_ids": team_ids})
    awards.make(viewer, snapshot, session, body)
    return see(request, f"/admin/contests/{snapshot.contest.id}/awards", done="added")


def remove_award(
    request: Request, viewer: Visitor, snapshot: TheSnapshot, award_id: str, fields: Fields, session: Writing
) -> Response:
    """Take an award back; one that the board would give is not given."""
    known = {each.id: each.citation for each in awards.documents(viewer, snapshot, session)}
    if award_id in known:
        confirm(
            fields,
            _("Remove the award “%(award)s”?", award=known[award_id]),
            _("It will not be given to anyone."),
            _("Remove the award"),
        )
    awards.delete(viewer, snapshot, session, award_id)
    return see(request, f"/admin/contests/{snapshot.contest.id}/awards", done="removed")
