"""Rows of tables whose ids people choose: which ids exist, and their rows and names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.tables import GroupRow, OrganizationRow, PersonRow, TeamRow

R = TypeVar("R", bound=GroupRow | OrganizationRow | PersonRow | TeamRow)
AT_ONCE = 500
"""Ids in one IN (...): older SQLites take 999 parameters."""


def ids(session: Session, table: type[R]) -> set[str]:
    """All ids of a table."""
    return set(session.scalars(select(table.id)))


def names(session: Session, table: type[R]) -> dict[str, str]:
    """The names of all rows, by id."""
    return {row[0]: row[1] for row in session.execute(select(table.id, table.name))}


def known(session: Session, table: type[R], ids: Iterable[str]) -> set[str]:
    """The ids among these that rows of the table have."""
    known_ids: set[str] = set()
    for some in portions(ids):
        known_ids.update(session.scalars(select(table.id).where(table.id.in_(some))))
    return known_ids


def rows(session: Session, table: type[R], ids: Iterable[str]) -> dict[str, R]:
    """The rows that have one of the ids, by id."""
    by_id: dict[str, R] = {}
    for some in portions(ids):
        by_id.update((row.id, row) for row in session.scalars(select(table).where(table.id.in_(some))))
    return by_id


def portions(ids: Iterable[str]) -> Iterator[list[str]]:
    """Each id once, sorted, in lists short enough for one query."""
    wanted = sorted(set(ids))
    for start in range(0, len(wanted), AT_ONCE):
        yield wanted[start : start + AT_ONCE]
