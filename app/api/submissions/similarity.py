"""HTTP routes: similarity of answers and sources, for judges."""

from __future__ import annotations

from time import monotonic
from typing import Annotated, Any

from fastapi import APIRouter, Query

from app.api.http.deps import JudgeOrAdmin, Reading, TheService
from app.api.http.gated import GatedRoute
from app.api.http.snapshot import TheSnapshot
from app.services.errors import BadRequest, NotFound
from app.services.similarity.bodies import Comparison, SimilarityView
from app.services.similarity.similarity import (
    compared,
    id_list,
    pair_document,
    problems,
    shared_document,
    source_document,
    sources_document,
)
from app.storage import submission_queries

router = APIRouter(route_class=GatedRoute, tags=["similarity"])
MOST_PAIRS = 1000
FEW_PAIRS = 200
SECONDS = 2.0
"""How long a request reads texts."""
ProblemId = Annotated[str | None, Query(description="only this problem")]


@router.get("/contests/{contest_id}/similarity", summary="Teams whose answers are alike", response_model=SimilarityView)
def get_similarity(
    _judge: JudgeOrAdmin,
    snapshot: TheSnapshot,
    session: Reading,
    service: TheService,
    problem_id: ProblemId = None,
    least: Annotated[float, Query(alias="min", ge=0, le=1, description="the least ratio of a pair")] = 0.0,
    near: Annotated[bool, Query(description="false: only equal files, which is quicker")] = True,
    limit: Annotated[int, Query(ge=1, le=MOST_PAIRS, description="the most pairs of each kind")] = FEW_PAIRS,
) -> Any:
    """Pairs of teams by answers and by sources, the most telling first.

    `unread` above 0 says that so many texts were not read yet in the time a request has; ask again for the rest.
    """
    until = monotonic() + SECONDS if near else None
    found = [compared(service, session, snapshot, problem, until) for problem in problems(snapshot, problem_id)]
    pairs = [pair for each in found for pair in each.pairs if pair.ratio >= least]
    sources = [pair for each in found for pair in each.sources if pair.first and pair.first.ratio >= least]
    pairs.sort(key=lambda pair: -pair.weight)
    sources.sort(key=lambda pair: -pair.weight)
    pairs, sources, left_off = pairs[:limit], sources[:limit], max(0, len(pairs) - limit) + max(0, len(sources) - limit)
    ids = id_list(session, (pair.first for pair in (*pairs, *sources)))
    return {
        "contest_id": snapshot.contest.id,
        "texts": sum(each.texts for each in found),
        "unread": sum(each.unread for each in found),
        "left_off": left_off,
        "pairs": [pair_document(pair, ids) for pair in pairs],
        "sources": [source_document(pair, ids) for pair in sources],
    }


@router.get(
    "/contests/{contest_id}/similarity/{team_id}/{other_team_id}",
    summary="What two teams have alike",
    response_model=Comparison,
)
def compare_teams(
    _judge: JudgeOrAdmin,
    team_id: str,
    other_team_id: str,
    snapshot: TheSnapshot,
    session: Reading,
    service: TheService,
    problem_id: ProblemId = None,
) -> Any:
    """The cases in which they sent answers alike, side by side, also those that tell nothing, with the reason."""
    known = {team.id for team in snapshot.contest.teams}
    for team in (team_id, other_team_id):
        if team not in known:
            raise NotFound(f"no team {team!r} in contest {snapshot.contest.id!r}")
    if team_id == other_team_id:
        raise BadRequest(f"other_team_id: expected another team, found {other_team_id!r} again")
    teams = (team_id, other_team_id)
    cases, sources, until = [], [], monotonic() + SECONDS
    for problem in problems(snapshot, problem_id):
        by_case, by_source = service.similarity.between(session, snapshot, problem, frozenset(teams), until)
        ids = id_list(session, (*by_case, *by_source))
        scores = submission_queries.current_scores(session, ids)
        cases += [shared_document(snapshot, problem, shared, teams, ids, scores) for shared in by_case]
        sources += [sources_document(session, snapshot, problem, shared, teams, ids) for shared in by_source]
    return {"team_ids": teams, "cases": cases, "sources": sources}
