"""Examples of documents, each written beside its model; the description of the API shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel

from app.core.clics import JsonObject

M = TypeVar("M", bound=BaseModel)
TIME, CONTEST_TIME = "2026-11-21T03:19:00.000Z", "1:00:00.000"
STATE = {
    "started": "2026-11-21T02:19:00.000Z",
    "frozen": None,
    "ended": None,
    "thawed": None,
    "finalized": None,
    "end_of_updates": None,
}
EXAMPLES: dict[str, JsonObject] = {}
"""By the name of the model."""


def example(document: JsonObject) -> Callable[[type[M]], type[M]]:
    """Decorate a model with an example of it; a test holds each against its schema."""

    def keep(model: type[M]) -> type[M]:
        EXAMPLES[model.__name__] = document
        return model

    return keep
