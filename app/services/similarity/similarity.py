"""Similarity, for judges: which teams of a contest sent answers or sources that are more alike than they should be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from sqlalchemy.orm import Session

from app.domain.contests import ScoredProblem
from app.domain.similarity import Pair, Sent, Shared
from app.grading.scoreboard_cache import ContestSnapshot
from app.grading.similarity import SOURCES, Compared
from app.service import Service
from app.services.clics import format_reltime, number
from app.services.errors import BadRequest
from app.services.names import problem_called
from app.storage import submission_queries
from app.storage.judgements import exact
from app.storage.tables import RawScoreRow


def problems(snapshot: ContestSnapshot, problem_id: str | None) -> Sequence[ScoredProblem]:
    """The problems to compare: all, or the one named; raises BadRequest where it is none."""
    wanted = problem_id and problem_called(snapshot, problem_id)
    found = [each for each in snapshot.contest.problems if wanted in (None, each.id)]
    if problem_id is not None and not found:
        raise BadRequest(f"problem_id: expected a problem of contest {snapshot.contest.id}, found {problem_id!r}")
    return found


def compared(
    service: Service, session: Session, snapshot: ContestSnapshot, problem: ScoredProblem, until: float | None
) -> Compared:
    """Compared once for each board, once all texts are read."""
    kept: dict[Any, Compared] = snapshot.pages.setdefault("similarity", {})
    found = kept.get((problem.id, until is not None))
    if found is None:
        found = service.similarity.compare(session, snapshot, problem, until)
        if found.unread == 0:
            kept[problem.id, until is not None] = found
    return found


def pair_document(pair: Pair, ids: Ids) -> dict[str, Any]:
    """A pair of teams with alike answers."""
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


def source_document(pair: Pair, ids: Ids) -> dict[str, Any]:
    """A pair of teams with alike sources."""
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


def id_list(session: Session, shared: Iterable[Shared | None]) -> Ids:
    """The shown ids of the submissions that shares refer to."""
    return submission_queries.shown_ids(
        session, {s.submission_id for each in shared if each for s in (each.one, each.other)}
    )


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


def shared_document(
    snapshot: ContestSnapshot,
    problem: ScoredProblem,
    shared: Shared,
    teams: tuple[str, str],
    ids: Ids,
    scores: Mapping[tuple[int, str], RawScoreRow],
) -> dict[str, Any]:
    """A shared answer, with the submission and the score of each team."""
    answers = []
    for sent in _in_order(shared, teams):
        score = scores.get((sent.submission_id, shared.case))
        path = f"contests/{snapshot.contest.id}/submissions/{ids[sent.submission_id]}/answers/{shared.case}"
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


def sources_document(
    session: Session,
    snapshot: ContestSnapshot,
    problem: ScoredProblem,
    shared: Shared,
    teams: tuple[str, str],
    ids: Ids,
) -> dict[str, Any]:
    """Alike sources of two teams, with the files they were sent in."""
    files = []
    for sent in _in_order(shared, teams):
        row = submission_queries.submission(session, snapshot.contest.id, ids[sent.submission_id])
        assert row is not None  # it was read in this transaction
        names = [source["name"] for source in row.sources if source["sha256"] == sent.sha256]
        folder = f"contests/{snapshot.contest.id}/submissions/{ids[sent.submission_id]}/{SOURCES}"
        facts = {"sha256": sent.sha256, "size": sent.size, "name": names[0], "href": f"{folder}/{quote(names[0])}"}
        files.append({**_sent_document(sent, ids), **facts})
    return {**_alike_document(problem, shared), "files": files}
