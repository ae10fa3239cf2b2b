"""Commands on contests: make, change, pause, resume, delete; and the state of one as a query.

- Bounds on what owners of contests let teams send: admins are not bound.
- Details of a contest beside its times: banner, logo, place, and the group whose board is the main one.
"""

from sqlalchemy.orm import Session

from app.accounts.service.reach import EVERYTHING, reach_of
from app.accounts.service.viewer import Viewer, own, refuse_open_to_all, refuse_unusable
from app.contests import queries, schemas
from app.contests import queries as contests_queries
from app.contests.service import changes, visibility
from app.contests.service.contests import StateView, free_id, state_view, view
from app.core.bodies import mismatch, refuse, same_id
from app.core.clics import format_time, format_time_or_none
from app.core.clock import utc_now
from app.core.db import by_id, database
from app.core.files import file_references, files
from app.core.messages import N_, BadRequest, Conflict, Fault, Forbidden, Message
from app.core.service import Service
from app.domain import contests as rules
from app.games import queries as games_queries
from app.tables import ContestProblemRow, ContestRow, GroupRow
from app.teams import queries as teams_queries


def refuse_beyond(viewer: Viewer, before: schemas.ContestSettings, row: ContestRow) -> None:
    """Raise BadRequest where an owner raises a limit above the default; one that an admin has set higher may stay."""
    faults = []
    for name, most in (("team_bytes", schemas.TEAM_BYTES), ("contest_bytes", schemas.CONTEST_BYTES)):
        wanted = getattr(row.settings, name)
        if not viewer.is_admin and wanted != getattr(before, name) and (wanted is None or wanted > most):
            actual = Message(N_("null (any number)")) if wanted is None else str(wanted)
            expected = N_("at most %(most)s bytes, as only an admin may allow more")
            faults.append(mismatch(f"settings.{name}", expected, actual, most=most))
    refuse(faults)


def change_details(
    session: Session,
    files: files.FileStore,
    viewer: Viewer | None,
    row: ContestRow,
    body: schemas.ContestBody | schemas.ContestChange,
) -> None:
    """Give a contest what the body names; raises BadRequest with everything that is wrong.

    `viewer` is whoever asks, who may name the groups in reach; None: an import, which has checked them.
    """
    named = body.model_fields_set
    details = dict(row.details or {})
    faults: list[Fault] = []
    if "main_scoreboard_group_id" in named:
        group = body.main_scoreboard_group_id
        reach = EVERYTHING if viewer is None else reach_of(session, viewer)
        known_ids = reach.within(by_id.known(session, GroupRow, [group] if group else []), reach.groups)
        if group not in {None, row.main_scoreboard_group_id, *known_ids}:
            faults.append(mismatch("main_scoreboard_group_id", N_("a group that exists"), repr(group)))
        row.main_scoreboard_group_id = group
    if "location" in named:
        details["location"] = None if body.location is None else body.location.model_dump()
    for name in schemas.FILES:
        if name in named:
            references, wrong = file_references.keep(
                files, name, getattr(body, name) or [], details.get(name, []), "body"
            )
            details[name] = references
            faults += wrong
    refuse(faults)
    row.details = {name: value for name, value in details.items() if value}


THAW_ONLY = frozenset({"id", "scoreboard_thaw_time"})


def listed(session: Session, viewer: Viewer, main_group: str | None = None) -> list[schemas.ContestView]:
    """List the contests that the viewer may know of, by start time; `main_group` selects those of a group or none ("").

    Those without a start time come last.
    """
    return [
        view(row)
        for row in contests_queries.contests(session)
        if main_group in {None, row.main_scoreboard_group_id or ""} and visibility.is_row_shown(session, viewer, row)
    ]


def one(session: Session, contest_id: str) -> schemas.ContestView:
    """The contest; raises NotFound."""
    return view(queries.contest_of(session, contest_id))


def files_of(session: Session, contest_id: str, name: str) -> list[file_references.StoredReference]:
    """The files of a contest's banner or logo; raises NotFound."""
    files: list[file_references.StoredReference] = queries.contest_of(session, contest_id).details.get(name, [])
    return files


def state_of(session: Session, contest_id: str) -> StateView:
    """The state of a contest now; raises NotFound."""
    row = queries.contest_of(session, contest_id)
    times = queries.clock(row)
    return state_view(rules.state(times, utc_now(), row.finalized), times)


def create(session: Session, service: Service, viewer: Viewer, body: schemas.ContestBody) -> schemas.ContestView:
    """Make a contest, which whoever makes it owns.

    Raises Conflict where its id is taken, BadRequest where its times contradict or it lets teams send too much.
    """
    refuse_open_to_all(viewer, open_to_all=body.open_to_all)
    if body.id is not None and contests_queries.get(session, body.id) is not None:
        raise Conflict(N_("there is a contest %(contest)r already"), contest=body.id)
    row = changes.make(body, body.id or free_id(session, body.name))
    end = queries.clock(row).end
    if end is not None and end <= utc_now() and not body.already_over:
        raise BadRequest(
            N_("expected a contest that is not over, or already_over: true, found %(start)s, which ends at %(end)s"),
            where="start_time",
            start=format_time_or_none(row.start_time),
            end=format_time_or_none(end),
        )
    refuse_beyond(viewer, schemas.ContestSettings(), row)
    change_details(session, service.files, viewer, row, body)
    session.add(row)
    own(session, viewer, "contests", row.id)
    return view(row)


def copy(
    session: Session, service: Service, viewer: Viewer, contest_id: str, body: schemas.ContestCopy
) -> schemas.ContestView:
    """Create a draft with the settings, images and problems of a contest, and its teams if asked for.

    The release of the final inputs moves with the start; the main group is copied if the viewer may use it. Raises
    Forbidden if the viewer may not create contests, BadRequest for a problem at which it has no role.
    """
    if not (viewer.is_admin or viewer.grants.organiser):
        raise Forbidden(N_("only an account that may own contests, or an admin may do this"))
    row, entries = queries.contest_of(session, contest_id), contests_queries.entries(session, contest_id)
    for entry in entries:
        refuse_unusable(viewer, entry.problem_id)
    before = view(row).model_dump(mode="json", include={"duration", "scoreboard_freeze_duration", "settings"})
    release = row.settings.final_release
    if release is not None and row.start_time is not None and body.start_time is not None:
        release += body.start_time - row.start_time
    settings = {**before["settings"], "visibility": "draft", "final_release": format_time_or_none(release)}
    own_values = body.model_dump(mode="json", exclude={"teams"})
    values = {**before, **own_values, "settings": settings, "open_to_all": row.open_to_all and viewer.is_admin}
    made = create(session, service, viewer, schemas.ContestBody.model_validate(values))
    copied, reach = queries.contest_of(session, made.id), reach_of(session, viewer)
    copied.details = dict(row.details)
    if row.main_scoreboard_group_id is not None and reach.within([row.main_scoreboard_group_id], reach.groups):
        copied.main_scoreboard_group_id = row.main_scoreboard_group_id
    session.flush()  # its problems refer to it
    columns = ("problem_id", "label", "ordinal", "rgb", "color", "rule", "limits", "version")
    session.add_all(
        ContestProblemRow(contest_id=made.id, **{name: getattr(entry, name) for name in columns}) for entry in entries
    )
    if body.teams and not row.open_to_all:
        teams_queries.enrol(session, made.id, [team.id for team in teams_queries.taking_part(session, row)])
    return view(copied)


def change(
    session: Session, service: Service, viewer: Viewer, contest_id: str, body: schemas.ContestChange
) -> schemas.ContestView | None:
    """Change what the body names. None where a thaw alone was asked for, and is at exactly that time."""
    row = queries.contest_of(session, contest_id, for_update=True)
    same_id(contest_id, body.id)
    if not row.open_to_all:
        refuse_open_to_all(viewer, open_to_all=body.open_to_all)
    settings = row.settings
    changes.change(row, body, utc_now())
    refuse_beyond(viewer, settings, row)
    if body.finalized and (count := games_queries.count_playing(session, contest_id)):
        raise Conflict(
            N_("%(count)s games are still to be ended, which takes a second: try again"), where="finalized", count=count
        )
    if body.finalized and (count := contests_queries.unjudged(session, row)):
        raise Conflict(N_("%(count)s submissions are still to be judged"), where="finalized", count=count)
    if body.finalized and (end := contests_queries.last_end(session, row)) is not None and end > utc_now():
        raise Conflict(N_("teams with extra time may submit until %(end)s"), where="finalized", end=format_time(end))
    if body.finalized:
        # A team made later would otherwise appear on the final board of a contest open to all.
        teams_queries.enrol_those_there(session, row)
    change_details(session, service.files, viewer, row, body)
    _tell_boards(session, service, contest_id)
    thawing = body.scoreboard_thaw_time is not None and body.model_fields_set <= THAW_ONLY
    if thawing and row.thaw_time == body.scoreboard_thaw_time:
        return None
    return view(row)


def pause(session: Session, service: Service, contest_id: str) -> schemas.ContestView:
    """Stop the contest's clock; raises Conflict where it does not run."""
    row = queries.contest_of(session, contest_id, for_update=True)
    changes.pause(row, utc_now())
    _tell_boards(session, service, contest_id)
    return view(row)


def resume(session: Session, service: Service, contest_id: str) -> schemas.ContestView:
    """Let a stopped clock run on; raises Conflict where it was not stopped."""
    row = queries.contest_of(session, contest_id, for_update=True)
    changes.resume(row, utc_now())
    _tell_boards(session, service, contest_id)
    return view(row)


def delete(session: Session, service: Service, contest_id: str) -> None:
    """Delete a contest; raises Conflict where it has submissions."""
    row = queries.contest_of(session, contest_id)
    if count := contests_queries.submission_count(session, contest_id):
        raise Conflict(N_("the contest has %(count)s submissions"), count=count)
    if count := games_queries.count_playing(session, contest_id):
        raise Conflict(N_("the contest has %(count)s games in play"), count=count)
    session.delete(row)
    _tell_boards(session, service, contest_id)


def _tell_boards(session: Session, service: Service, contest_id: str) -> None:
    database.after_commit(session, lambda: service.boards.changed(contest_id))
