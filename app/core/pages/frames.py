"""The frame around every page of a contest: its name, the places in it, the clock, unread messages, and who reads.

Open pages keep it up to date by `app.core.pages.frames`.

- Names on the pages of a contest: of the contest, its problems and groups, and its readers; and its messages.
- The part of a contest's page that open pages fetch again (`app.feed.pages`): state, clock and unread notifications.
"""

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import cast

from anyio.to_thread import run_sync
from fastapi import Request, Response
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests import queries as contests_queries
from app.core.clock import utc_now
from app.core.pages.languages import named
from app.core.pages.pages import READ
from app.core.pages.wording import is_endless, length, seconds
from app.core.service import Service
from app.domain.contests import Clock
from app.domain.counting import Attempt
from app.messages import queries as messages_queries
from app.messages.service.clarifications import readable
from app.problems.queries import pins
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.tables import AccountRow, ClarificationRow
from app.teams import queries as teams_queries


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a problem's column; `names` are the problem's, by language."""

    id: str
    label: str
    names: Mapping[str, str]
    most: float

    @property
    def name(self) -> str:
        """Return the problem's name in the reader's language."""
        return named(self.names, self.id)


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a contest's pages, and its messages, which the header of each page counts.

    `groups` has the names of groups of hidden teams too, `readers` the accounts read so far.
    """

    contest: str
    columns: Sequence[Column]
    groups: Mapping[str, str]
    messages: Sequence[ClarificationRow]
    readers: dict[str, str | None] = field(default_factory=dict)

    def problem(self, problem_id: str) -> str:
        """The name of a problem; its id while no one is to read more of it."""
        return next((column.name for column in self.columns if column.id == problem_id), problem_id)

    def reader(self, viewer: Viewer) -> str | None:
        """The name of the account that reads; None where no one has logged in."""
        return None if viewer.account_id is None else self.readers[viewer.account_id]


def _key(snapshot: ContestSnapshot) -> Hashable:
    """What the names of a contest depend on beside the contest: the problems that may be seen."""
    return (Names, *((each.id, each.rule.max_points) for each in snapshot.view.problems))


def names_of(session: Session, viewer: Viewer, snapshot: ContestSnapshot) -> Names:
    """The names for a viewer, read once: a change of any name has the contest read again."""
    names = cast("Names | None", snapshot.contest.memo.get(_key(snapshot)))
    if names is None:
        row = contests_queries.get(session, snapshot.contest.id)
        assert row is not None, "a snapshot has its contest"
        groups = {each.id: each.name for each in teams_queries.groups(session, row)}
        messages = messages_queries.clarifications(session, row.id)
        read = Names(row.formal_name or row.name, _columns(session, snapshot), groups, messages)
        names = cast(Names, snapshot.contest.memo.setdefault(_key(snapshot), read))
    if viewer.account_id is not None and viewer.account_id not in names.readers:
        account = session.get(AccountRow, viewer.account_id)
        names.readers[viewer.account_id] = None if account is None else account.name or account.username
    return names


async def names_soon(service: Service, viewer: Viewer, snapshot: ContestSnapshot) -> Names:
    """The names for a viewer, for the event loop; in a thread unless they are known."""
    known = cast("Names | None", snapshot.contest.memo.get(_key(snapshot)))
    if known is not None and (viewer.account_id is None or viewer.account_id in known.readers):
        return known

    def read() -> Names:
        with service.database.read(for_request=True) as session:
            return names_of(session, viewer, snapshot)

    return await run_sync(read)


def _columns(session: Session, snapshot: ContestSnapshot) -> list[Column]:
    labels = snapshot.contest.labels
    columns = []
    for each in snapshot.view.problems:
        texts = pins.row(session, snapshot.contest.id, each.id).names
        columns.append(Column(each.id, labels.get(each.id, each.id), texts, float(each.rule.max_points)))
    return columns


def groups_shown(viewer: Viewer, snapshot: ContestSnapshot, names: Names) -> dict[str, str]:
    """The names of the groups that have a team the viewer may know of."""
    teams = (each for each in snapshot.contest.teams if viewer.sees_all or not each.hidden or each.id == viewer.team_id)
    shown = {group for team in teams for group in team.group_ids}
    return {key: name for key, name in names.groups.items() if key in shown}


class Phase(StrEnum):
    """The state of a contest for one reader; `final`: its results are."""

    BEFORE = "before"
    RUNNING = "running"
    PAUSED = "paused"
    OVER = "over"
    FINAL = "final"


@dataclass(frozen=True, slots=True)
class TimeShown:
    """The contest's clock: `left` of `whole`, the share that has gone and where the freeze begins, in per cent.

    Before the start, `left` is the time until then; None while no start is set.

    left_seconds  for the page's own clock while it runs; None: it stands still
    whole_seconds length of the contest, for the same
    is_endless    there is no end to count to
    paused        the start of the pause, while the contest is paused
    """

    phase: Phase
    left: str | None
    whole: str
    gone: int
    freeze_at: int | None
    left_seconds: int | None
    whole_seconds: int = 0
    is_endless: bool = False
    paused: datetime | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """What all pages of a contest show.

    messages  messages of the jury that its reader may read; for judges, questions of teams
    waiting   questions without an answer, for judges
    verdicts  judged submissions of the reader's team
    version   differs once the state or the times of the contest, or the number of notifications, have changed
    """

    id: str
    name: str
    tab: str
    time: TimeShown
    is_frozen: bool
    reader: str | None
    has_team: bool
    is_judge: bool
    messages: int
    waiting: int
    verdicts: int
    version: str

    def unread(self, read: str) -> int:
        """The number of notifications that the reader has not seen; `read` is the value of the cookie READ."""
        if self.is_judge:
            return self.waiting
        messages, verdicts = counts(read)
        return max(0, self.messages - messages) + max(0, self.verdicts - verdicts)

    def counted(self, read: str = "0", *, messages: bool = True, verdicts: bool = True) -> str:
        """The value of the cookie READ of a reader who has seen all messages, all verdicts, or both since `read`."""
        old_messages, old_verdicts = counts(read)
        return f"{self.messages if messages else old_messages}.{self.verdicts if verdicts else old_verdicts}"

    @property
    def is_paused(self) -> bool:
        """Does the clock stand still?"""
        return self.time.phase is Phase.PAUSED


def counts(read: str) -> tuple[int, int]:
    """The numbers of messages and verdicts in a text such as `3.12`."""
    messages, _, verdicts = read.partition(".")
    return int(messages), int(verdicts or 0)


def frame(session: Session, viewer: Viewer, snapshot: ContestSnapshot, tab: str) -> Frame:
    """The frame of a contest's page; `tab` names the place that the page belongs to."""
    return frame_of(names_of(session, viewer, snapshot), viewer, snapshot, tab)


def frame_of(names: Names, viewer: Viewer, snapshot: ContestSnapshot, tab: str) -> Frame:
    """The frame by names that have been read."""
    clock = snapshot.contest.own_clock(viewer.team_id)
    frozen = snapshot.public and snapshot.state.frozen is not None and snapshot.state.thawed is None
    time = time_shown(clock, is_final=snapshot.state.finalized is not None)
    addressed = addressed_to(viewer, snapshot, names.messages)
    answered = {message.reply_to_id for message in names.messages}
    waiting = sum(message.id not in answered for message in addressed) if viewer.sees_all else 0
    verdicts = len(judged(viewer, snapshot))
    facts = (time.phase, clock, frozen, len(addressed), waiting, verdicts, names.contest)
    return Frame(
        snapshot.contest.id,
        names.contest,
        tab,
        time,
        frozen,
        names.reader(viewer),
        viewer.team_id is not None,
        viewer.sees_all,
        len(addressed),
        waiting,
        verdicts,
        hashlib.sha256(repr(facts).encode()).hexdigest()[:16],
    )


def time_shown(clock: Clock, *, is_final: bool = False) -> TimeShown:
    """The clock as the bar on top shows it."""
    now = utc_now()
    whole = clock.duration
    phase = Phase.FINAL if is_final else _phase(clock, now)
    passed = min(max(clock.contest_time(now), timedelta(0)), whole)
    freeze_at = None if clock.freeze_time is None else _share(clock.freeze_time, whole)
    endless = is_endless(clock)
    left: timedelta | None = whole - passed
    if phase is Phase.BEFORE:
        left = None if clock.start is None else clock.start - now
    counts = left is not None and (phase is Phase.BEFORE or (phase is Phase.RUNNING and not endless))
    return TimeShown(
        phase,
        None if left is None else seconds(left),
        length(whole),
        _share(passed, whole),
        freeze_at,
        int(left.total_seconds()) if left is not None and counts else None,
        int(whole.total_seconds()),
        endless,
        clock.pauses[-1].start if phase is Phase.PAUSED else None,
    )


def _phase(clock: Clock, now: datetime) -> Phase:
    if not clock.started(now):
        return Phase.BEFORE
    if clock.ended(now):
        return Phase.OVER
    return Phase.PAUSED if clock.paused(now) else Phase.RUNNING


def addressed_to(
    viewer: Viewer, snapshot: ContestSnapshot, messages: Sequence[ClarificationRow]
) -> list[ClarificationRow]:
    """The messages that notify the viewer, oldest first: of the jury; for judges, of teams; none without login."""
    if not viewer.logged_in:
        return []
    seen = readable(viewer, snapshot, messages)
    return [message for message in seen if (message.from_team_id is not None) is viewer.sees_all]


def judged(viewer: Viewer, snapshot: ContestSnapshot) -> list[Attempt]:
    """The judged submissions of the viewer's team, problem by problem."""
    if viewer.team_id is None:
        return []
    places = ((viewer.team_id, problem.id) for problem in snapshot.problems)
    return [each for place in places for each in snapshot.cells.get(place, ()) if each.scores is not None]


def _share(part: timedelta, whole: timedelta) -> int:
    return min(100, max(0, round(100 * part / whole))) if whole else 0


YEAR = 366 * 86_400


def keep_read(request: Request, reply: Response, frame: Frame, read: str) -> None:
    """Store the value of the cookie READ in the browser."""
    path = f"{request.scope.get('root_path', '')}/c/{frame.id}"
    reply.set_cookie(READ, read, max_age=YEAR, path=path, httponly=True, samesite="lax")
