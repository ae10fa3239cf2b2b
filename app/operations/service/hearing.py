"""What a server does with the notices of other processes: the same calls as with what it has written itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from app.accounts.service.guesses import Failures
from app.archive.queries.scrub import Scrub
from app.core.db import notices
from app.core.db.database import Database
from app.core.db.notices import Kind
from app.core.db.writer import Writer
from app.feed.service.hub import Hub
from app.games.service.playing import Games
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.submissions.queries.usage import Usage
from app.submissions.service.gate import Gate

if TYPE_CHECKING:
    from app.core.db.listener import Listener


def listening(database: Database) -> Listener | None:
    """The listener of a process, not started yet; None where it has the database for itself."""
    if database.origin is None:
        return None
    from app.core.db.listener import Listener

    return Listener(database.url, database.origin)


def hear_of_workers(listener: Listener, scrub: Scrub) -> None:
    """Let servers know of the stored files that workers wait for."""
    listener.hear(Kind.UNREADABLE, scrub.note_elsewhere)


def hear_of_rows(listener: Listener, database: Database, boards: ScoreboardCache, usage: Usage) -> None:
    """Let changes of rows reach the caches that are made of them."""

    def board(contest_id: str, *submission_ids: int) -> None:
        for submission_id in submission_ids:
            boards.changed(contest_id, submission_id)
        if not submission_ids:
            boards.changed(contest_id)

    listener.hear(Kind.CHANGED, database.changed)
    listener.hear(Kind.BOARD, board)
    listener.hear(Kind.BYTES, usage.add_elsewhere)
    listener.hear(Kind.IMPORTED, usage.forget)
    listener.lost(usage.forget_all)
    listener.lost(database.changed)


def share_counts(listener: Listener, writer: Writer, counts: Mapping[str, Failures]) -> None:
    """Count what is bounded within a minute over all servers; `counts` are by the kind of their keys."""

    def tell(key: tuple[str, str], most: int) -> None:
        writer.submit(notices.send, (Kind.COUNTED.value, *key, most))

    def hear(kind: str, name: str, most: int) -> None:
        if kind in counts:
            counts[kind].add_elsewhere((kind, name), most)

    for each in counts.values():
        each.tell = tell
    listener.hear(Kind.COUNTED, hear)


def share_gate(listener: Listener, writer: Writer, gate: Gate) -> None:
    """Let the gate of each server close with that of all others."""

    def tell(arriving: Sequence[notices.Notice]) -> None:
        for sent in [writer.submit(notices.send, notice) for notice in arriving]:
            sent.result()

    gate.tell = tell
    listener.hear(Kind.CLOSED, gate.close_elsewhere)
    listener.hear(Kind.OPENED, gate.open_elsewhere)


def hear_of_followers(listener: Listener, hub: Hub, games: Games) -> None:
    """Let what others write and ask for reach feeds, streams and games."""
    publisher = hub.publisher
    listener.hear(Kind.EVENTS, publisher.written)
    listener.hear(Kind.LOOK, publisher.asked)
    listener.hear(Kind.LOOKED, publisher.answered)
    listener.hear(Kind.CHANGED, hub.sender.start)  # with the first webhook that there is
    listener.hear(Kind.GAME, games.changed_elsewhere)
    listener.lost(publisher.lost)
    listener.lost(games.lost)
