"""The state of the database itself, for whoever runs it: its version, its size, and its replicas."""

from __future__ import annotations

from pydantic import BaseModel, Field
from sqlalchemy import text
from sqlalchemy.orm import Session

REPLICAS = text(
    "SELECT coalesce(nullif(application_name, ''), host(client_addr), 'a replica') AS name, state,"
    " CAST(extract(epoch FROM replay_lag) AS float) AS seconds_behind,"
    " CAST(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) AS bigint) AS bytes_behind"
    " FROM pg_stat_replication ORDER BY 1"
)


class ReplicaState(BaseModel):
    """A server that follows the database; `state` null: the service's role may not see it."""

    name: str
    state: str | None
    seconds_behind: float | None = Field(description="null where nothing was written lately")
    bytes_behind: int | None


class DatabaseFacts(BaseModel):
    """The database that a service uses."""

    kind: str
    version: str
    size: int = Field(description="bytes")
    replicas: list[ReplicaState]


def database_state(session: Session) -> DatabaseFacts:
    """Ask the database."""
    if session.get_bind().dialect.name == "sqlite":
        version = session.scalar(text("SELECT sqlite_version()"))
        size = session.scalar(text("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"))
        return DatabaseFacts(kind="SQLite", version=str(version), size=int(size or 0), replicas=[])
    version = str(session.scalar(text("SHOW server_version"))).partition(" ")[0]
    size = session.scalar(text("SELECT pg_database_size(current_database())"))
    return DatabaseFacts(kind="PostgreSQL", version=version, size=int(size or 0), replicas=replicas(session))


def replicas(session: Session) -> list[ReplicaState]:
    """The servers that follow the database, by name; none of SQLite, nor where it follows another one itself."""
    if session.get_bind().dialect.name == "sqlite" or session.scalar(text("SELECT pg_is_in_recovery()")):
        return []
    return [ReplicaState.model_validate(row) for row in session.execute(REPLICAS).mappings()]
