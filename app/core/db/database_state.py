"""The state of the database itself, for whoever runs it: its version, its size, and its replicas."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

REPLICAS = text(
    "SELECT coalesce(nullif(application_name, ''), host(client_addr), 'a replica'), state,"
    " CAST(extract(epoch FROM replay_lag) AS float),"
    " CAST(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) AS bigint)"
    " FROM pg_stat_replication ORDER BY 1"
)


class Replica(NamedTuple):
    """A server that follows the database: what it does, and how far it is behind, in seconds and in bytes of the log.

    `state` is None where the role of the service may not see it (`GRANT pg_monitor`). Nothing is behind where nothing
    was written lately: the seconds are None then.
    """

    name: str
    state: str | None
    seconds: float | None
    bytes: int | None


class DatabaseState(NamedTuple):
    """The kind and version of a database, its size in bytes, and its replicas."""

    kind: str
    version: str
    size: int
    replicas: list[Replica]


def database_state(session: Session) -> DatabaseState:
    """Ask the database."""
    if session.get_bind().dialect.name == "sqlite":
        version = session.scalar(text("SELECT sqlite_version()"))
        size = session.scalar(text("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"))
        return DatabaseState("SQLite", str(version), int(size or 0), [])
    version = str(session.scalar(text("SHOW server_version"))).partition(" ")[0]
    size = session.scalar(text("SELECT pg_database_size(current_database())"))
    return DatabaseState("PostgreSQL", version, int(size or 0), replicas(session))


def replicas(session: Session) -> list[Replica]:
    """The servers that follow the database, by name; none of SQLite, nor where it follows another one itself."""
    if session.get_bind().dialect.name == "sqlite" or session.scalar(text("SELECT pg_is_in_recovery()")):
        return []
    return [Replica(*row) for row in session.execute(REPLICAS)]
