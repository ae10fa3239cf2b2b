"""The frame around every page of a contest: its name, the places in it, the clock, and who reads."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.orm import Session

from app.domain.clock import utc_now
from app.domain.contests import Clock
from app.grading.contest_snapshot import ContestSnapshot
from app.services.viewer import Viewer
from app.web.names import Names, names_of
from app.web.wording import is_endless, length, seconds


@dataclass(frozen=True, slots=True)
class TimeShown:
    """The contest's clock: `left` of `whole`, the share that has gone and where the freeze begins, in per cent.

    left_seconds  for the page's own clock while it runs; None: it stands still
    is_endless    there is no end to count to
    """

    left: str
    whole: str
    gone: int
    freeze_at: int | None
    left_seconds: int | None
    is_endless: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """What all pages of a contest show."""

    id: str
    name: str
    tab: str
    time: TimeShown
    is_frozen: bool
    reader: str | None
    has_team: bool


def frame(session: Session, viewer: Viewer, snapshot: ContestSnapshot, tab: str) -> Frame:
    """The frame of a contest's page; `tab` names the place that the page belongs to."""
    return frame_of(names_of(session, viewer, snapshot), viewer, snapshot, tab)


def frame_of(names: Names, viewer: Viewer, snapshot: ContestSnapshot, tab: str) -> Frame:
    """The frame by names that have been read."""
    clock = snapshot.contest.own_clock(viewer.team_id)
    frozen = snapshot.public and snapshot.state.frozen is not None and snapshot.state.thawed is None
    return Frame(
        snapshot.contest.id,
        names.contest,
        tab,
        time_shown(clock),
        frozen,
        names.reader(viewer),
        viewer.team_id is not None,
    )


def time_shown(clock: Clock) -> TimeShown:
    """The clock as the bar on top shows it."""
    now = utc_now()
    whole = clock.duration
    passed = min(max(clock.contest_time(now), timedelta(0)), whole)
    freeze_at = None if clock.freeze_time is None else _share(clock.freeze_time, whole)
    left = whole - passed
    endless = is_endless(clock)
    running = int(left.total_seconds()) if clock.running(now) and not endless else None
    return TimeShown(seconds(left), length(whole), _share(passed, whole), freeze_at, running, endless)


def _share(part: timedelta, whole: timedelta) -> int:
    return min(100, max(0, round(100 * part / whole))) if whole else 0
