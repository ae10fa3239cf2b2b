"""Commands on contests: make, change, pause, resume, delete; and the state of one as a query."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.accounts.service.ownership import own_contest, refuse_open_to_all
from app.accounts.service.viewer import Viewer
from app.contests.queries import contests as stored
from app.contests.schemas.bodies import (
    ChangedContest,
    ContestBody,
    ContestChange,
    ContestView,
    differences,
    version,
)
from app.contests.service import changes, details
from app.contests.service.bounds import keep_default_within, refuse_beyond
from app.contests.service.contests import StateView, contest_of, free_id, refuse_overlaps, state_view, view
from app.contests.service.times import times_change
from app.core.bodies import same_id
from app.core.clics import format_time_or_none
from app.core.clock import utc_now
from app.core.errors import BadRequest, Conflict, PreconditionFailed
from app.core.messages import N_
from app.core.service import Service
from app.core.transactions import after_commit
from app.domain import contests as rules
from app.games.queries import games
from app.problems.queries.scoring_input import clock
from app.teams.queries import teams

THAW_ONLY = frozenset({"id", "scoreboard_thaw_time"})


def listed(session: Session, main_group: str | None = None) -> list[ContestView]:
    """The contests by start time, those without one last; `main_group` selects those of a group ("": of none)."""
    return [view(row) for row in stored.contests(session) if main_group in {None, row.main_scoreboard_group_id or ""}]


def state_of(session: Session, contest_id: str) -> StateView:
    """The state of a contest now; raises NotFound."""
    row = contest_of(session, contest_id)
    times = clock(row)
    return state_view(rules.state(times, utc_now(), row.finalized), times)


def create(session: Session, service: Service, viewer: Viewer, body: ContestBody) -> ContestView:
    """Make a contest, which whoever makes it owns.

    Raises Conflict where its id is taken, BadRequest where its times contradict or it lets teams send too much.
    """
    refuse_open_to_all(viewer, open_to_all=body.open_to_all)
    if body.id is not None and stored.get(session, body.id) is not None:
        raise Conflict(N_("there is a contest %(contest)r already"), contest=body.id)
    row = changes.make(body, body.id or free_id(session, body.name))
    end = clock(row).end
    if end is not None and end <= utc_now() and not body.already_over:
        raise BadRequest(
            N_("expected a contest that is not over, or already_over: true, found %(start)s, which ends at %(end)s"),
            where="start_time",
            start=format_time_or_none(row.start_time),
            end=format_time_or_none(end),
        )
    keep_default_within(viewer, service.settings, row, body)
    refuse_beyond(viewer, service.settings, None, row)
    details.change(session, service.files, viewer, row, body)
    session.add(row)
    own_contest(session, viewer, row.id)
    return view(row)


def change(
    session: Session,
    service: Service,
    viewer: Viewer,
    contest_id: str,
    body: ContestChange,
    seen: str | None = None,
) -> ChangedContest | None:
    """Change what the body names. None where a thaw alone was asked for, and is at exactly that time.

    Raises PreconditionFailed, with both values of each property, unless the contest is a version that `seen` lists.
    """
    row = contest_of(session, contest_id, for_update=True)
    same_id(contest_id, body.id)
    if not row.open_to_all:
        refuse_open_to_all(viewer, open_to_all=body.open_to_all)
    before, settings, now = clock(row), row.settings, utc_now()
    stored_view = view(row)
    changes.change(row, body, now)
    if seen is not None and not _lists(seen, version(stored_view)):
        faults = differences(stored_view, view(row))
        raise PreconditionFailed(N_("the contest has changed since it was read"), where="If-Match", errors=faults)
    refuse_beyond(viewer, service.settings, settings, row)
    if body.finalized and (count := games.count_playing(session, contest_id)):
        raise Conflict(
            N_("%(count)s games are still to be ended, which takes a second: try again"), where="finalized", count=count
        )
    if body.finalized and (count := stored.unjudged(session, row)):
        raise Conflict(N_("%(count)s submissions are still to be judged"), where="finalized", count=count)
    if body.finalized:
        teams.enrol_those_there(session, row)
    details.change(session, service.files, viewer, row, body)
    if clock(row) != before:
        refuse_overlaps(session, row, stored.enrolled(session, contest_id))
    _tell_boards(session, service, contest_id)
    thawing = body.scoreboard_thaw_time is not None and body.model_fields_set <= THAW_ONLY
    if thawing and row.thaw_time == body.scoreboard_thaw_time:
        return None
    return ChangedContest(**dict(view(row)), times_change=times_change(before, clock(row), now))


def _lists(tags: str, current: str) -> bool:
    names = {tag.strip().removeprefix("W/").strip('"') for tag in tags.split(",")}
    return not names.isdisjoint({"*", current})


def pause(session: Session, service: Service, contest_id: str) -> ContestView:
    """Stop the contest's clock; raises Conflict where it does not run."""
    row = contest_of(session, contest_id, for_update=True)
    changes.pause(row, utc_now())
    _tell_boards(session, service, contest_id)
    return view(row)


def resume(session: Session, service: Service, contest_id: str) -> ContestView:
    """Let a stopped clock run on; raises Conflict where it was not stopped."""
    row = contest_of(session, contest_id, for_update=True)
    changes.resume(row, utc_now())
    _tell_boards(session, service, contest_id)
    return view(row)


def delete(session: Session, service: Service, contest_id: str) -> None:
    """Delete a contest; raises Conflict where it has submissions."""
    row = contest_of(session, contest_id)
    if count := stored.submission_count(session, contest_id):
        raise Conflict(N_("the contest has %(count)s submissions"), count=count)
    if count := games.count_playing(session, contest_id):
        raise Conflict(N_("the contest has %(count)s games in play"), count=count)
    session.delete(row)
    _tell_boards(session, service, contest_id)


def _tell_boards(session: Session, service: Service, contest_id: str) -> None:
    after_commit(session, lambda: service.boards.changed(contest_id))
