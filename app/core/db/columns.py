"""Column types that behave the same on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import BigInteger, DateTime, Dialect, Integer
from sqlalchemy.types import JSON, TypeDecorator

BigId = BigInteger().with_variant(Integer(), "sqlite")
"""A 64-bit id; SQLite only counts up by itself in a column of type INTEGER."""

Json = JSON(none_as_null=True)


class Moment(TypeDecorator[datetime]):
    """A UTC moment: aware in Python, `timestamptz` in PostgreSQL, naive UTC text in SQLite, never a local time."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse naive moments: nobody can tell which zone they meant."""
        if value is None:
            return None
        utc = in_utc(value)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give every moment its zone back."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def in_utc(value: datetime) -> datetime:
    """A moment in UTC; raises ValueError for one without a zone."""
    if value.tzinfo is None:
        raise ValueError(f"expected a moment with a time zone, found {value.isoformat()}")
    return value.astimezone(UTC)
