"""Lets a route be asked for by the label of a problem."""

from __future__ import annotations

from typing import cast

from fastapi import Depends, Request

from app.contests.service.names import problem_called
from app.contests.service.visibility import snapshot_for
from app.core.http.deps import CurrentViewer, TheBoards


async def _by_label(request: Request, viewer: CurrentViewer, boards: TheBoards) -> None:
    """Put the problem's id where the path has its label, before the endpoint reads its parameters."""
    path = cast("dict[str, str]", request.path_params)
    if "contest_id" not in path or "problem_id" not in path:
        return
    snapshot = await snapshot_for(boards, viewer, path["contest_id"])
    if snapshot is not None:
        path["problem_id"] = problem_called(snapshot, path["problem_id"])


ByLabel = Depends(_by_label)
"""Lets a route below `contests/{contest_id}/problems/{problem_id}` be asked for by the problem's label."""
