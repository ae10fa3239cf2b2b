"""Rows of tables whose ids people choose: which ids exist, and their rows and names.

- Ids of submissions that are numbers are given by a server of ours; any other id, another system gave.
- Notices: what a transaction tells the other servers and workers on its database, sent with its commit by NOTIFY.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import TypeVar

from sqlalchemy import ColumnElement, Connection, event, func, select
from sqlalchemy.orm import Session, UOWTransaction

from app import tables
from app.core.messages import N_, Message, joined

Key = TypeVar("Key", str, int)
R = TypeVar("R", bound=tables.GroupRow | tables.OrganizationRow | tables.PersonRow | tables.TeamRow)
# Ids in one IN (...): older SQLites take 999 parameters.
AT_ONCE = 500


def count(session: Session, table: type[tables.Base], *conditions: ColumnElement[bool]) -> int:
    """The number of rows of a table that meet all conditions."""
    return session.scalar(select(func.count()).select_from(table).where(*conditions)) or 0


def ids(session: Session, table: type[R]) -> set[str]:
    """All ids of a table."""
    return set(session.scalars(select(table.id)))


def names(session: Session, table: type[R]) -> dict[str, str]:
    """The names of all rows, by id."""
    return {row[0]: row[1] for row in session.execute(select(table.id, table.name))}


def known(session: Session, table: type[R], ids: Iterable[str]) -> set[str]:
    """The ids among these that rows of the table have."""
    return {id_ for some in portions(ids) for id_ in session.scalars(select(table.id).where(table.id.in_(some)))}


def rows(session: Session, table: type[R], ids: Iterable[str]) -> dict[str, R]:
    """The rows that have one of the ids, by id."""
    every = (row for some in portions(ids) for row in session.scalars(select(table).where(table.id.in_(some))))
    return {row.id: row for row in every}


def portions(ids: Iterable[Key]) -> Iterator[list[Key]]:
    """Each id once, sorted, in lists short enough for one query."""
    wanted = sorted(set(ids))
    for start in range(0, len(wanted), AT_ONCE):
        yield wanted[start : start + AT_ONCE]


# Longer ones may not fit the 64 bits of a column.
MOST_DIGITS = 18


def is_number(text: str) -> bool:
    """Whether the id is nothing but digits. Then it is ours to give, even where no row can have it."""
    return text.isascii() and text.isdigit()


def as_id(text: str) -> int | None:
    """The number an id stands for; None for whatever is no row's id, such as `007` or one beyond 64 bits."""
    if not is_number(text) or text.startswith("0") or len(text) > MOST_DIGITS:
        return None
    return int(text)


CHANNEL = "jurado"
OUTBOX = "notices"
# Of a notice: PostgreSQL takes payloads of less than 8,000 bytes.
IDS_AT_ONCE = 200
# Submissions that are told one by one; where there are more, all of the contest count as changed.
MOST_IDS = 1000
# Characters of an error that is told.
MOST_WORDS = 500
# The part of a statement that sends a JSON list of notices, none or some, with the end of its transaction.
SENDING = (
    f"(SELECT count(pg_notify('{CHANNEL}', payload))"
    " FROM json_array_elements_text(CAST(:payloads AS json)) AS listed (payload))"
)
Word = str | int | float | None


class Kind(StrEnum):
    """What a notice is about, and the words that it has."""

    # Anything that someone may keep: as `Database.changed`.
    CHANGED = "changed"
    # A contest and submissions whose place on its boards changes; without submissions: all of it.
    BOARD = "board"
    # A contest whose log of events has grown, and the last event of it.
    EVENTS = "events"
    # An account whose rights, passwords or tokens change; without one: all.
    ACCOUNT = "account"
    # Something that is counted within a minute: the kind of key, the key, how many of it are remembered.
    COUNTED = "counted"
    # A stored file that a worker waits for, as it cannot read it: its sha256, and why.
    UNREADABLE = "unreadable"


# A kind and its words.
Notice = tuple[Word, ...]


class Outbox:
    """The notices of one transaction, each once; but what is counted is told as often as it was."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._boards: dict[str, set[int] | None] = {}
        self._others: Counter[Notice] = Counter()

    def add(self, kind: Kind, *words: Word) -> None:
        """Add a notice."""
        self._others[kind.value, *words] += 1

    def add_board(self, contest_id: str, submission_ids: Iterable[int] | None = None) -> None:
        """Add submissions of a contest; None: all of them."""
        known = self._boards.setdefault(contest_id, set())
        if submission_ids is None or known is None:
            self._boards[contest_id] = None
            return
        known.update(submission_ids)
        if len(known) > MOST_IDS:
            self._boards[contest_id] = None

    def payloads(self) -> list[str]:
        """The texts to be sent: JSON lists of the origin, the kind of a notice and its words."""
        counted = Kind.COUNTED.value
        notices = [each for each, times in self._others.items() for _ in range(times if each[0] == counted else 1)]
        for contest_id, ids in self._boards.items():
            listed = sorted(ids or ())
            some = [listed[at : at + IDS_AT_ONCE] for at in range(0, max(1, len(listed)), IDS_AT_ONCE)]
            notices += [(Kind.BOARD.value, contest_id, *each) for each in some]
        return [json.dumps((self._origin, *each)) for each in notices]


@contextmanager
def collected(connection: Connection, origin: str | None) -> Iterator[list[str]]:
    """Collect the notices of a transaction: the list has their texts after the block. Without an origin: none."""
    payloads: list[str] = []
    if origin is None:
        yield payloads
        return
    outbox = connection.info[OUTBOX] = Outbox(origin)
    try:
        yield payloads
    finally:
        del connection.info[OUTBOX]
    payloads += outbox.payloads()


def outbox_of(connection: Connection | Session) -> Outbox | None:
    """The outbox of an open transaction; None where no one else is to be told."""
    if isinstance(connection, Session):
        connection = connection.connection()
    outbox: Outbox | None = connection.info.get(OUTBOX)
    return outbox


def tell(connection: Connection | Session, kind: Kind, *words: Word) -> None:
    """Tell the others, once this transaction is committed."""
    if (outbox := outbox_of(connection)) is not None:
        outbox.add(kind, *words)


def tell_board(connection: Connection | Session, contest_id: str) -> None:
    """Tell the others that all places on a contest's boards may change."""
    if (outbox := outbox_of(connection)) is not None:
        outbox.add_board(contest_id)


def unreadable(sha256: str, error: str) -> Notice:
    """The notice of a stored file that a worker waits for."""
    return (Kind.UNREADABLE.value, sha256, error[:MOST_WORDS])


def send(connection: Connection, arriving: Sequence[Notice]) -> list[None]:
    """Tell the others something that no row says, a handler of the writer."""
    for kind, *words in arriving:
        tell(connection, Kind(str(kind)), *words)
    return [None] * len(arriving)


def watch_session(session: Session, connection: Connection) -> None:
    """Let the others be told of accounts whose rows the session changes."""
    if connection.info.get(OUTBOX) is not None:
        event.listen(session, "after_flush", _note_accounts)


def _note_accounts(session: Session, _context: UOWTransaction) -> None:
    for row in [*session.dirty, *session.deleted]:
        if isinstance(row, tables.AccountRow):
            tell(session, Kind.ACCOUNT, row.id)
        elif isinstance(row, tables.TokenRow | tables.ContestRoleRow | tables.ProblemRoleRow | tables.OrganiserRow):
            tell(session, Kind.ACCOUNT, row.account_id)
        elif isinstance(row, tables.ContestRow | tables.ProblemRow) and row in session.deleted:
            tell(session, Kind.ACCOUNT, None)  # the roles in it go with it, and another one may get its id
    for row in session.new:  # no one knows a new account or token yet
        if isinstance(row, tables.ContestRoleRow | tables.ProblemRoleRow | tables.OrganiserRow):
            tell(session, Kind.ACCOUNT, row.account_id)


COUNTED = {
    "accounts": N_("%(count)s accounts"),
    "awards": N_("%(count)s awards"),
    "clarifications": N_("%(count)s clarifications"),
    "commentary": N_("%(count)s commentary"),
    "groups": N_("%(count)s groups"),
    "games": N_("%(count)s games"),
    "jobs": N_("%(count)s jobs"),
    "main scoreboards": N_("%(count)s main scoreboards"),
    "organizations": N_("%(count)s organizations"),
    "persons": N_("%(count)s persons"),
    "submissions": N_("%(count)s submissions"),
    "teams": N_("%(count)s teams"),
}


def counted(uses: Mapping[str, int]) -> Message:
    """Return numbers of objects by kind as a list such as `2 accounts, 1 awards`."""
    return joined(Message(COUNTED[kind], count=count) for kind, count in uses.items())
