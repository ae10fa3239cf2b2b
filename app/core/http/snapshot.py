"""The contest of a path as the viewer may see it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends

from app.contests.service.names import NoContest
from app.contests.service.visibility import snapshot_for
from app.core.http.deps import CurrentViewer, TheBoards
from app.scoreboard.queries.contest_snapshot import ContestSnapshot


async def _snapshot(contest_id: str, viewer: CurrentViewer, boards: TheBoards) -> ContestSnapshot:
    snapshot = await snapshot_for(boards, viewer, contest_id)
    if snapshot is None:
        raise NoContest(contest_id)
    return snapshot


TheSnapshot = Annotated[ContestSnapshot, Depends(_snapshot)]
"""The contest of the path as the viewer may see it; 404 where there is none."""
