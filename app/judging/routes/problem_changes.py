"""Changes of problems: how a request wants them made, and the reply where one waits as a rejudging or is previewed."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from fastapi import Depends, Header, Query
from fastapi.responses import JSONResponse

from app.core.errors import BadRequest
from app.core.http.errors import ErrorBody
from app.core.http.middleware import API
from app.core.messages import N_
from app.judging.service.rejudgings import problem_changes
from app.judging.service.rejudgings.previews import Preview
from app.judging.service.rejudgings.problem_changes import How, RejudgingView

VERSION = re.compile(r'(?:W/)?"?([0-9]{1,9})"?')
RESPONSES: dict[int | str, dict[str, object]] = {
    **problem_changes.RESPONSES,
    412: {"model": ErrorBody, "description": "the problem is no longer the version that If-Match names"},
}
PREVIEWED: dict[int | str, dict[str, object]] = {
    200: {"model": Preview, "description": "what the change would do (preview=true)"}
}


def _how(
    rejudging: Annotated[
        int | None, Query(ge=1, description="make the change a part of this open rejudging, where one is needed")
    ] = None,
    contests: Annotated[
        Literal["follow", "keep"],
        Query(description="follow: contests with submissions go along, by a rejudging; keep: they keep their version"),
    ] = "follow",
    preview: Annotated[bool, Query(description="only say what the change would do (200); nothing is stored")] = False,
    if_match: Annotated[
        str | None, Header(description="the version of the problem (its ETag) that the change is made for; else 412")
    ] = None,
) -> How:
    """The options of a change of a problem."""
    return How(rejudging, contests == "keep", preview, None if if_match is None else _version(if_match))


def _version(text: str) -> int:
    match = VERSION.fullmatch(text.strip())
    if match is None:
        raise BadRequest(
            N_('expected the number of a version, such as "3", found %(found)r'), where="If-Match", found=text[:80]
        )
    return int(match[1])


TheHow = Annotated[How, Depends(_how)]


def accepted(outcome: RejudgingView | Preview) -> JSONResponse:
    """The reply where a change has become a rejudging, or was only previewed."""
    if isinstance(outcome, Preview):
        return JSONResponse(outcome.model_dump())
    return JSONResponse(outcome.model_dump(), 202, {"Location": f"{API}/{outcome.href}"})
