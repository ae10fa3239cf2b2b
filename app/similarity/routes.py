"""HTTP routes: similarity of answers and sources, for judges."""

from typing import Annotated

from fastapi import APIRouter, Query

from app.core.http.deps import CurrentViewer, GatedRoute, Reading, TheService, TheSnapshot
from app.similarity.service import SimilarityView, similarity

router = APIRouter(route_class=GatedRoute, tags=["similarity"])
MOST_PAIRS = 1000
FEW_PAIRS = 200
ProblemId = Annotated[str | None, Query(description="only this problem")]


@router.get("/contests/{contest_id}/similarity", summary="Teams whose answers are alike")
def get_similarity(
    _judge: CurrentViewer,
    snapshot: TheSnapshot,
    session: Reading,
    service: TheService,
    problem_id: ProblemId = None,
    least: Annotated[float, Query(alias="min", ge=0, le=1, description="the least ratio of a pair")] = 0.0,
    limit: Annotated[int, Query(ge=1, le=MOST_PAIRS, description="the most pairs of each kind")] = FEW_PAIRS,
) -> SimilarityView:
    """Pairs of teams by answers and by sources, the most telling first.

    `unread` above 0 says that so many texts were not read yet in the time a request has; choose one problem.
    """
    return similarity(service.files, snapshot, session, problem_id, least, limit)
