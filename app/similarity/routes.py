"""HTTP routes: similarity of answers and sources, for judges."""

from typing import Annotated

from fastapi import APIRouter, Query

from app.core.http.deps import CurrentViewer, GatedRoute, Reading, TheService, TheSnapshot
from app.similarity.service import Comparison, SimilarityView, comparison, similarity

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


@router.get(
    "/contests/{contest_id}/similarity/{team_id}/{other_team_id}",
    summary="What two teams have alike",
)
def compare_teams(
    _judge: CurrentViewer,
    team_id: str,
    other_team_id: str,
    snapshot: TheSnapshot,
    session: Reading,
    service: TheService,
    problem_id: ProblemId = None,
) -> Comparison:
    """The cases in which they sent answers alike, side by side, also those that tell nothing, with the reason."""
    return comparison(service.files, snapshot, session, (team_id, other_team_id), problem_id)
