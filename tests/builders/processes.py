"""Signs of life of processes."""

from __future__ import annotations

from datetime import datetime

from app.core.db.locks import Work


def sign(id_: str, kind: str, started: datetime, seen: datetime, work: Work) -> dict[str, object]:
    """A row of a process as it writes it."""
    process = {"id": id_, "kind": kind, "host": "here", "pid": 1, "version": "0.1.0", "started": started, "seen": seen}
    return {**process, **work._asdict()}
