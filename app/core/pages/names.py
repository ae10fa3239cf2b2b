"""Names on the pages of a contest: of the contest, its problems and groups, and its readers; and its messages.

They are read once until something but submissions changes. Reading them for each snapshot took three quarters of a
server whose board 1,000 teams had open in a rush.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from anyio.to_thread import run_sync
from sqlalchemy.orm import Session

from app.accounts.queries import accounts
from app.accounts.service.viewer import Viewer
from app.contests.queries import contests
from app.core.service import Service
from app.domain.contests import Team
from app.messages.queries import messages as stored_messages
from app.problems.queries import pins
from app.scoreboard.queries.contest_snapshot import ContestSnapshot, once_a_snapshot
from app.teams.queries import directory


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a problem's column."""

    id: str
    label: str
    name: str
    most: float


class Message(NamedTuple):
    """What the header of pages needs of a question, an answer or an announcement, to count it for its readers."""

    id: str
    reply_to_id: str | None
    from_team_id: str | None
    to_team_ids: Sequence[str] | None
    to_group_ids: Sequence[str] | None
    problem_id: str | None


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a contest's pages, and its messages, which the header of each page counts.

    `groups` has the names of groups of hidden teams too, `readers` the accounts read so far.
    """

    contest: str
    columns: Sequence[Column]
    groups: Mapping[str, str]
    messages: Sequence[Message]
    readers: dict[str, str | None] = field(default_factory=dict)

    def problem(self, problem_id: str) -> str:
        """The name of a problem; its id while nobody is to read more of it."""
        return next((column.name for column in self.columns if column.id == problem_id), problem_id)

    def reader(self, viewer: Viewer) -> str | None:
        """The name of the account that reads; None where nobody has logged in."""
        return None if viewer.account_id is None else self.readers[viewer.account_id]


def _key(snapshot: ContestSnapshot) -> Hashable:
    """What the names of a contest depend on beside the contest: the problems that may be seen."""
    return (Names, *((each.id, each.rule.max_points) for each in snapshot.view.problems))


def names_at_hand(viewer: Viewer, snapshot: ContestSnapshot) -> Names | None:
    """The names for a viewer, if they have been read. A change of any name has the contest read again."""
    names: Names | None = snapshot.contest.memo.get(_key(snapshot))
    return None if names is None or (viewer.account_id or "") not in {"", *names.readers} else names


def names_of(session: Session, viewer: Viewer, snapshot: ContestSnapshot) -> Names:
    """The names for a viewer."""
    names: Names | None = snapshot.contest.memo.get(_key(snapshot))
    if names is None:
        row = contests.get(session, snapshot.contest.id)
        assert row is not None, "a snapshot has its contest"
        groups = {each.id: each.name for each in directory.groups(session, row)}
        messages = [
            Message(m.id, m.reply_to_id, m.from_team_id, m.to_team_ids, m.to_group_ids, m.problem_id)
            for m in stored_messages.clarifications(session, row.id)
        ]
        read = Names(row.formal_name or row.name, _columns(session, snapshot), groups, messages)
        names = snapshot.contest.memo.setdefault(_key(snapshot), read)
    if viewer.account_id is not None and viewer.account_id not in names.readers:
        account = accounts.get(session, viewer.account_id)
        names.readers[viewer.account_id] = None if account is None else account.name or account.username
    return names


async def names_soon(service: Service, viewer: Viewer, snapshot: ContestSnapshot) -> Names:
    """The names for a viewer, for the event loop: read in a thread only after something has changed."""
    names = names_at_hand(viewer, snapshot)
    return await run_sync(_read, service, viewer, snapshot) if names is None else names


def _read(service: Service, viewer: Viewer, snapshot: ContestSnapshot) -> Names:
    with service.database.read(for_request=True) as session:
        return names_of(session, viewer, snapshot)


def _columns(session: Session, snapshot: ContestSnapshot) -> list[Column]:
    labels = snapshot.contest.labels
    columns = []
    for each in snapshot.view.problems:
        row = pins.row(session, snapshot.contest.id, each.id)
        texts = {} if row is None else row.names
        name = texts.get("en") or next(iter(texts.values()), each.id)
        columns.append(Column(each.id, labels.get(each.id, each.id), name, float(each.rule.max_points)))
    return columns


def groups_shown(viewer: Viewer, snapshot: ContestSnapshot, names: Names) -> dict[str, str]:
    """The names of the groups that have a team the viewer may know of."""
    shown = _groups_of_teams(snapshot, viewer.sees_all)
    own = None if viewer.team_id is None else _teams(snapshot).get(viewer.team_id)
    shown = shown if own is None else shown.union(own.group_ids)
    return {key: name for key, name in names.groups.items() if key in shown}


@once_a_snapshot
def _teams(snapshot: ContestSnapshot) -> dict[str, Team]:
    return {team.id: team for team in snapshot.contest.teams}


@once_a_snapshot
def _groups_of_teams(snapshot: ContestSnapshot, sees_all: bool) -> frozenset[str]:
    teams = (team for team in snapshot.contest.teams if sees_all or not team.hidden)
    return frozenset(group for team in teams for group in team.group_ids)
