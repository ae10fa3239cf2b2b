"""The frame around every page of a contest: its name, the places in it, the clock, and who reads."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.orm import Session

from app.domain.clock import utc_now
from app.domain.contests import Clock
from app.grading.contest_snapshot import ContestSnapshot
from app.services.viewer import Viewer
from app.storage import accounts, contests
from app.web.wording import length, seconds


@dataclass(frozen=True, slots=True)
class TimeShown:
    """The contest's clock: `left` of `whole`, the share that has gone and where the freeze begins, in per cent.

    left_seconds  for the page's own clock while it runs; None: it stands still
    """

    left: str
    whole: str
    gone: int
    freeze_at: int | None
    left_seconds: int | None


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
    row = contests.get(session, snapshot.contest.id)
    assert row is not None, "a snapshot has its contest"
    account = accounts.get(session, viewer.account_id) if viewer.account_id is not None else None
    clock = snapshot.contest.own_clock(viewer.team_id)
    frozen = snapshot.public and snapshot.state.frozen is not None and snapshot.state.thawed is None
    return Frame(
        row.id,
        row.formal_name or row.name,
        tab,
        time_shown(clock),
        frozen,
        None if account is None else account.name or account.username,
        viewer.team_id is not None,
    )


def time_shown(clock: Clock) -> TimeShown:
    """The clock as the bar on top shows it."""
    now = utc_now()
    whole = clock.duration
    passed = min(max(clock.contest_time(now), timedelta(0)), whole)
    freeze_at = None if clock.freeze_time is None else _share(clock.freeze_time, whole)
    left = whole - passed
    running = int(left.total_seconds()) if clock.running(now) else None
    return TimeShown(seconds(left), length(whole), _share(passed, whole), freeze_at, running)


def _share(part: timedelta, whole: timedelta) -> int:
    return min(100, max(0, round(100 * part / whole))) if whole else 0
