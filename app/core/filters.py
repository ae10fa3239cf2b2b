"""Filtering of CLICS collections: `?team_id=X` on any property that is an id, `?team_id=` for null."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from pydantic import BaseModel

D = TypeVar("D", bound=BaseModel)


def matching(documents: Iterable[D], **wanted: str | None) -> list[D]:
    """The documents whose properties have all the wanted values; None asks for any value, empty text for null."""
    asked = {key: value for key, value in wanted.items() if value is not None}
    return [
        each for each in documents if all((getattr(each, key, None) or "") == value for key, value in asked.items())
    ]
