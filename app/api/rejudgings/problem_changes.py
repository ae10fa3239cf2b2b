"""Changes of problems that have submissions: they become a rejudging, which is what the reply then shows."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from fastapi.responses import JSONResponse

from app.api.http.middleware import API
from app.services.rejudgings.problem_changes import RejudgingView

Joins = Annotated[
    int | None,
    Query(alias="rejudging", ge=1, description="make the change a part of this open rejudging, where one is needed"),
]


def accepted(rejudging: RejudgingView) -> JSONResponse:
    """The reply where a change has become a rejudging."""
    return JSONResponse(rejudging.model_dump(), 202, {"Location": f"{API}/{rejudging.href}"})
