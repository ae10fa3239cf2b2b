"""Column types that behave the same on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Generic, TypeVar

from pydantic import BaseModel
from sqlalchemy import BigInteger, DateTime, Dialect, Integer
from sqlalchemy.types import JSON, TypeDecorator

BigId = BigInteger().with_variant(Integer(), "sqlite")
"""A 64-bit id; SQLite only counts up by itself in a column of type INTEGER."""

Json = JSON(none_as_null=True)
M = TypeVar("M", bound=BaseModel)


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


class Model(TypeDecorator[M], Generic[M]):
    """A pydantic model as JSON; with `exclude_unset`, properties that were not given stay out and are not defaults."""

    impl = Json
    cache_ok = True

    def __init__(self, model: type[M], *, exclude_unset: bool = False) -> None:
        super().__init__()
        self.model = model
        self.exclude_unset = exclude_unset

    def process_bind_param(self, value: M | None, dialect: Dialect) -> object:
        """Write a model, or values that are valid for it."""
        if value is None:
            return None
        return self.model.model_validate(value).model_dump(mode="json", exclude_unset=self.exclude_unset)

    def process_result_value(self, value: object, dialect: Dialect) -> M | None:
        """Read the stored JSON."""
        return None if value is None else self.model.model_validate(value)

    def compare_values(self, x: M | None, y: M | None) -> bool:
        """Compare which properties were given, too: equal models may differ in these."""
        return x == y and (x is None or y is None or x.model_fields_set == y.model_fields_set)


def in_utc(value: datetime) -> datetime:
    """A moment in UTC; raises ValueError for one without a zone."""
    if value.tzinfo is None:
        raise ValueError(f"expected a moment with a time zone, found {value.isoformat()}")
    return value.astimezone(UTC)
