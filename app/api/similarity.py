"""Similarity, for judges: which teams of a contest sent answers or sources that are more alike than they should be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from time import monotonic
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query
from sqlalchemy.orm import Session

from app.api.clics import format_reltime, number
from app.api.deps import JudgeOrAdmin, Reading, TheService
from app.api.errors import BadRequest, NotFound
from app.api.gated import GatedRoute
from app.api.named import problem_called
from app.api.similarity_bodies import Comparison, SimilarityView
from app.api.standings import TheStanding
from app.domain.contests import ScoredProblem
from app.domain.similarity import Pair, Sent, Shared
from app.grading.boards import Standing
from app.grading.similarity import SOURCES, Compared
from app.service import Service
from app.storage import judged
from app.storage.judgements import exact
from app.storage.tables import RawScoreRow

router = APIRouter(route_class=GatedRoute, tags=["similarity"])

MOST_PAIRS = 1000
FEW_PAIRS = 200
SECONDS = 2.0
"""How long a request reads texts."""

ProblemId = Annotated[str | None, Query(description="only this problem")]


@router.get("/contests/{contest_id}/similarity", summary="Teams whose answers are alike", response_model=SimilarityView)
def get_similarity(
    _judge: JudgeOrAdmin,
    standing: TheStanding,
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
    found = [_compared(service, session, standing, problem, until) for problem in _problems(standing, problem_id)]
    pairs = [pair for each in found for pair in each.pairs if pair.ratio >= least]
    sources = [pair for each in found for pair in each.sources if pair.first and pair.first.ratio >= least]
    pairs.sort(key=lambda pair: -pair.weight)
    sources.sort(key=lambda pair: -pair.weight)
    pairs, sources, left_off = pairs[:limit], sources[:limit], max(0, len(pairs) - limit) + max(0, len(sources) - limit)
    ids = _ids(session, (pair.first for pair in (*pairs, *sources)))
    return {
        "contest_id": standing.contest.id,
        "texts": sum(each.texts for each in found),
        "unread": sum(each.unread for each in found),
        "left_off": left_off,
        "pairs": [_pair_document(pair, ids) for pair in pairs],
        "sources": [_source_document(pair, ids) for pair in sources],
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
    standing: TheStanding,
    session: Reading,
    service: TheService,
    problem_id: ProblemId = None,
) -> Any:
    """The cases in which they sent answers alike, side by side, also those that tell nothing, with the reason."""
    known = {team.id for team in standing.contest.teams}
    for team in (team_id, other_team_id):
        if team not in known:
            raise NotFound(f"no team {team!r} in contest {standing.contest.id!r}")
    if team_id == other_team_id:
        raise BadRequest(f"other_team_id: expected another team, found {other_team_id!r} again")
    teams = (team_id, other_team_id)
    cases, sources, until = [], [], monotonic() + SECONDS
    for problem in _problems(standing, problem_id):
        by_case, by_source = service.similarity.between(session, standing, problem, frozenset(teams), until)
        ids = _ids(session, (*by_case, *by_source))
        scores = judged.current_scores(session, ids)
        cases += [_shared_document(standing, problem, shared, teams, ids, scores) for shared in by_case]
        sources += [_sources_document(session, standing, problem, shared, teams, ids) for shared in by_source]
    return {"team_ids": teams, "cases": cases, "sources": sources}


def _problems(standing: Standing, problem_id: str | None) -> Sequence[ScoredProblem]:
    wanted = problem_id and problem_called(standing, problem_id)
    found = [each for each in standing.contest.problems if wanted in (None, each.id)]
    if problem_id is not None and not found:
        raise BadRequest(f"problem_id: expected a problem of contest {standing.contest.id}, found {problem_id!r}")
    return found


def _compared(
    service: Service, session: Session, standing: Standing, problem: ScoredProblem, until: float | None
) -> Compared:
    """Compared once for each board, once all texts are read."""
    kept: dict[Any, Compared] = standing.pages.setdefault("similarity", {})
    found = kept.get((problem.id, until is not None))
    if found is None:
        found = service.similarity.compare(session, standing, problem, until)
        if found.unread == 0:
            kept[problem.id, until is not None] = found
    return found


def _pair_document(pair: Pair, ids: Ids) -> dict[str, Any]:
    assert pair.first is not None  # a pair is made for what it shares
    return {
        "problem_id": pair.problem_id,
        "team_ids": pair.teams,
        "kind": pair.likeness.word,
        "shared_cases": pair.shared,
        "telling_cases": pair.telling,
        "ratio": pair.ratio,
        **_first(pair, pair.first, ids),
    }


def _source_document(pair: Pair, ids: Ids) -> dict[str, Any]:
    assert pair.first is not None  # a pair is made for what it shares
    return {
        "problem_id": pair.problem_id,
        "team_ids": pair.teams,
        "kind": pair.likeness.word,
        "ratio": pair.first.ratio,
        **_first(pair, pair.first, ids),
    }


def _first(pair: Pair, shared: Shared, ids: Ids) -> dict[str, Any]:
    """What weighs the pair, and the two submissions that first had something alike, the earlier one first."""
    return {
        "weight": round(pair.weight, 4),
        "first_team_id": shared.one.team_id,
        "submissions": [_sent_document(sent, ids) for sent in (shared.one, shared.other)],
    }


def _sent_document(sent: Sent, ids: Ids) -> dict[str, Any]:
    return {
        "team_id": sent.team_id,
        "submission_id": ids[sent.submission_id],
        "contest_time": format_reltime(timedelta(milliseconds=sent.time_ms)),
    }


Ids = Mapping[int, str]
"""The ids of submissions as they are shown."""


def _ids(session: Session, shared: Iterable[Shared | None]) -> Ids:
    return judged.shown_ids(session, {s.submission_id for each in shared if each for s in (each.one, each.other)})


def _alike_document(problem: ScoredProblem, shared: Shared) -> dict[str, Any]:
    return {
        "problem_id": problem.id,
        "kind": shared.likeness.word,
        "ratio": shared.ratio,
        "weight": round(shared.weight, 4),
        "why_nothing": shared.why or None,
        "sharing_teams": shared.sharing,
        "first_team_id": shared.one.team_id,
    }


def _in_order(shared: Shared, teams: tuple[str, str]) -> tuple[Sent, Sent]:
    return (shared.one, shared.other) if shared.one.team_id == teams[0] else (shared.other, shared.one)


def _shared_document(
    standing: Standing,
    problem: ScoredProblem,
    shared: Shared,
    teams: tuple[str, str],
    ids: Ids,
    scores: Mapping[tuple[int, str], RawScoreRow],
) -> dict[str, Any]:
    answers = []
    for sent in _in_order(shared, teams):
        score = scores.get((sent.submission_id, shared.case))
        path = f"contests/{standing.contest.id}/submissions/{ids[sent.submission_id]}/answers/{shared.case}"
        answers.append(
            {
                **_sent_document(sent, ids),
                "sha256": sent.sha256,
                "size": sent.size,
                "verdict": None if score is None else score.verdict,
                "raw": None if score is None else number(exact(score.raw_num, score.raw_den)),
                "href": path,
            }
        )
    return {"case": shared.case, **_alike_document(problem, shared), "answers": answers}


def _sources_document(
    session: Session, standing: Standing, problem: ScoredProblem, shared: Shared, teams: tuple[str, str], ids: Ids
) -> dict[str, Any]:
    files = []
    for sent in _in_order(shared, teams):
        row = judged.submission(session, standing.contest.id, ids[sent.submission_id])
        assert row is not None  # it was read in this transaction
        names = [source["name"] for source in row.sources if source["sha256"] == sent.sha256]
        folder = f"contests/{standing.contest.id}/submissions/{ids[sent.submission_id]}/{SOURCES}"
        facts = {"sha256": sent.sha256, "size": sent.size, "name": names[0], "href": f"{folder}/{quote(names[0])}"}
        files.append({**_sent_document(sent, ids), **facts})
    return {**_alike_document(problem, shared), "files": files}
