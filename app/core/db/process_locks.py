"""Which processes of an installation are gone without having ended in order.

Each has a row (`app.core.db.processes`), which it takes away when it ends in order. Of several on a PostgreSQL
database each also shows a number by a lock, which is free as soon as its connection is: a process whose row is left
and whose number is not shown is gone. Where one process has the database for itself, any other one is.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, select

from app.core.db.locks import shown
from app.tables import ProcessRow

SPACE = int.from_bytes(b"jurp")


def number_of(process_id: str) -> int:
    """The number of 31 bits that a process shows by a lock."""
    return int(process_id.replace("-", "")[:8], 16) & 0x7FFFFFFF


def gone_processes(connection: Connection, ids: Collection[str]) -> dict[str, str]:
    """Those of these processes that are gone without having ended in order, in words."""
    if not ids:
        return {}
    columns = (ProcessRow.id, ProcessRow.kind, ProcessRow.host, ProcessRow.pid)
    rows = connection.execute(select(*columns).where(ProcessRow.id.in_(ids))).all()
    if not rows:
        return {}
    alive = shown(connection, SPACE) if connection.dialect.name == "postgresql" else set()
    return {id_: f"{kind} on {host}, process {pid}," for id_, kind, host, pid in rows if number_of(id_) not in alive}
