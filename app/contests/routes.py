"""HTTP routes: contests: what they are called, and when they run.

- HTTP routes: what submissions are made of and end with: languages and judgement types.
- HTTP routes: what teams may send to a contest, and what they have sent.
- HTTP routes: a team's part in a contest: whose clock it goes by, and whether it is disqualified.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.accounts.routes.accounts import WritingAccounts
from app.contests.schemas import FILES, ContestBody, ContestChange, ContestCopy, ContestView
from app.contests.service import commands as service_commands
from app.contests.service import contests
from app.contests.service.capabilities import ParticipationBody, ParticipationView, begin, participation
from app.core.clics import JsonObject
from app.core.http import downloads, middleware
from app.core.http.deps import CurrentViewer, GatedRoute, Reading, TheBoards, TheService, Writing
from app.teams.service.team_changes import ContestTeamBody, change_in_contest
from app.teams.service.teams import TeamView

router = APIRouter(route_class=GatedRoute, tags=["contests"])


@router.get("/", summary="Which API this is")
async def get_api_information(_viewer: CurrentViewer) -> contests.ApiInformation:
    """The version of the CLICS Contest API, and who provides it."""
    return contests.api_information()


@router.get("/contests", summary="All contests")
def list_contests(
    viewer: CurrentViewer,
    session: Reading,
    main_scoreboard_group_id: Annotated[
        str | None, Query(description="only those with this one; empty: with none")
    ] = None,
) -> list[ContestView]:
    """Sorted by start time;

    contests without one come last. Drafts and private contests are listed only for their organizers and teams.
    """
    return service_commands.listed(session, viewer, main_scoreboard_group_id)


@router.get("/contests/{contest_id}", summary="One contest")
def get_contest(_viewer: CurrentViewer, session: Reading, contest_id: str) -> ContestView:
    """Its names, times and settings."""
    return service_commands.one(session, contest_id)


def _add_files(name: str) -> None:
    """Add the route of the banner or the logo of a contest."""

    def get_file(
        _viewer: CurrentViewer, session: Reading, service: TheService, contest_id: str, file_name: str
    ) -> Response:
        """An image."""
        return downloads.reply(service.files, service_commands.files_of(session, contest_id, name), file_name)

    add = router.add_api_route
    path, operation = f"/contests/{{contest_id}}/{name}/{{file_name}}", f"get_contest_{name}"
    summary = f"A contest's {name}"
    add(path, get_file, operation_id=operation, summary=summary, response_class=Response, responses=downloads.ANY_FILE)


for _name in FILES:
    _add_files(_name)


@router.get("/contests/{contest_id}/state", summary="Has it started, is it frozen, has it ended")
def get_contest_state(_viewer: CurrentViewer, session: Reading, contest_id: str) -> contests.StateView:
    """What has happened by now."""
    return service_commands.state_of(session, contest_id)


@router.post("/contests", summary="Make a contest", status_code=201)
def create_contest(
    viewer: CurrentViewer, session: WritingAccounts, service: TheService, body: ContestBody, response: Response
) -> ContestView:
    """Without an id it gets one from its name. With a start in the past it is running.

    A contest whose end is in the past needs `already_over`.
    """
    made = service_commands.create(session, service, viewer, body)
    response.headers["Location"] = f"{middleware.API}/contests/{made.id}"
    return made


@router.post("/contests/{contest_id}/copy", summary="Copy a contest", status_code=201)
def copy_contest(
    viewer: CurrentViewer, session: WritingAccounts, service: TheService, contest_id: str, body: ContestCopy
) -> ContestView:
    """Create a draft with its settings and problems, and its teams if asked for; without submissions and messages."""
    return service_commands.copy(session, service, viewer, contest_id, body)


@router.patch(
    "/contests/{contest_id}",
    summary="Change a contest",
    responses={204: {"description": "the thaw time is as asked for"}},
    response_model=ContestView,
)
def change_contest(
    viewer: CurrentViewer, session: Writing, service: TheService, contest_id: str, body: ContestChange
) -> ContestView | Response:
    """What is left out stays. The start may only change while it is more than 30 s away, and to such a time.

    No change of times moves a freeze that has begun or opens a frozen board, unless `move_freeze` or
    `scoreboard_thaw_time` asks for it.
    """
    return service_commands.change(session, service, viewer, contest_id, body) or Response(status_code=204)


@router.post("/contests/{contest_id}/pause", summary="Let a running contest's time stand still")
def pause_contest(_viewer: CurrentViewer, session: Writing, service: TheService, contest_id: str) -> ContestView:
    """No one can submit during the pause; the freeze and the end move by its length."""
    return service_commands.pause(session, service, contest_id)


@router.post("/contests/{contest_id}/resume", summary="Resume a paused contest")
def resume_contest(_viewer: CurrentViewer, session: Writing, service: TheService, contest_id: str) -> ContestView:
    """From the contest time at which it was paused."""
    return service_commands.resume(session, service, contest_id)


@router.delete("/contests/{contest_id}", summary="Delete a contest", status_code=204)
def delete_contest(session: WritingAccounts, service: TheService, contest_id: str) -> None:
    """Only one without submissions."""
    service_commands.delete(session, service, contest_id)


@router.get("/contests/{contest_id}/judgement-types", summary="How judgements may end")
def list_judgement_types(_viewer: CurrentViewer, session: Reading, contest_id: str) -> list[contests.JudgementTypeView]:
    """The types that this contest shows: without PC if partly correct is shown as AC."""
    return contests.judgement_types(session, contest_id)


@router.get("/contests/{contest_id}/judgement-types/{type_id}", summary="One judgement type")
def get_judgement_type(
    _viewer: CurrentViewer, session: Reading, contest_id: str, type_id: str
) -> contests.JudgementTypeView:
    """Its name, and whether it solves the problem."""
    return contests.judgement_type(session, contest_id, type_id)


@router.get("/contests/{contest_id}/languages", summary="What may be submitted")
def list_languages(_viewer: CurrentViewer, session: Reading, contest_id: str) -> list[contests.LanguageView]:
    """Answer files, and nothing else."""
    return contests.languages(session, contest_id)


@router.get("/contests/{contest_id}/languages/{language_id}", summary="One language")
def get_language(_viewer: CurrentViewer, session: Reading, contest_id: str, language_id: str) -> contests.LanguageView:
    """There is one: `answers`."""
    return contests.language(session, contest_id, language_id)


@router.get("/contests/{contest_id}/limits", summary="What teams may send, and have sent")
def get_limits(_viewer: CurrentViewer, session: Reading, contest_id: str) -> contests.LimitsView:
    """For judges: bytes of the whole contest, and the limits that hold at each problem. A team has its quota."""
    return contests.contest_limits(session, contest_id)


@router.get("/contests/{contest_id}/participation", summary="The clock of one's own team")
def get_participation(viewer: CurrentViewer, session: Reading, contest_id: str) -> ParticipationView:
    """The contest's clock, or the team's own."""
    return participation(session, viewer, contest_id)


@router.post("/contests/{contest_id}/participation", summary="Start one's own clock", status_code=201)
def begin_participation(
    viewer: CurrentViewer, service: TheService, contest_id: str, body: ParticipationBody, response: Response
) -> ParticipationView:
    """Starts once; again, it returns the running clock. It cannot be stopped."""
    begun, is_new = begin(service, viewer, contest_id, body)
    response.status_code = 201 if is_new else 200
    return begun


@router.patch(
    "/contests/{contest_id}/teams/{team_id}",
    summary="Disqualify a team or give it extra time",
    response_model=TeamView,
    response_model_exclude_unset=True,
)
def change_team_in_contest(
    viewer: CurrentViewer, session: Writing, boards: TheBoards, contest_id: str, team_id: str, body: ContestTeamBody
) -> JsonObject:
    """Submissions of a disqualified team stay and are judged, but count nowhere. Both decisions can be undone."""
    return change_in_contest(session, boards, viewer, contest_id, team_id, body)
