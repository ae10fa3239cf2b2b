"""The reply to a request that makes one object or many: shared by accounts, teams and the directory."""

from __future__ import annotations

from typing import TypeVar

from fastapi import Response
from sqlalchemy.orm import Session

from app.core.http.deps import end_dry_run
from app.core.http.middleware import API

T = TypeVar("T")


def many_or_one(
    session: Session, response: Response, made: list[T], address: str, *, many: bool, dry_run: bool
) -> T | list[T]:
    """All objects where `many` were sent, else the only one with its address; a dry run is rolled back."""
    if dry_run:
        end_dry_run(session, response)
    if many:
        return made
    response.headers["Location"] = f"{API}/{address}"
    return made[0]
