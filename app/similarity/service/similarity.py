"""Similarity, for judges: which teams of a contest sent answers or sources that are more alike than they should be.

- Documents of likenesses between teams.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from urllib.parse import quote

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.contests.service.names import problem_called
from app.core.clics import format_reltime, number
from app.core.errors import BadRequest, NotFound
from app.core.messages import N_
from app.core.service import Service
from app.domain.contests import ScoredProblem
from app.domain.scoring import exact
from app.domain.similarity import Pair, Sent, Shared
from app.scoreboard.queries.contest_snapshot import ContestSnapshot, once_a_snapshot
from app.similarity.service.comparing import SOURCES, Compared
from app.submissions.queries import submission_queries
from app.submissions.service.report_bodies import SourceFile
from app.tables import RawScoreRow


class AlikeSubmission(BaseModel):
    """A submission that has something alike with another team's."""

    team_id: str
    submission_id: str
    contest_time: str


class AlikeSources(BaseModel):
    """Two teams with sources that are alike in one problem."""

    problem_id: str
    team_ids: list[str]
    kind: str
    ratio: float
    weight: float
    first_team_id: str
    submissions: list[AlikeSubmission]


class AlikeAnswers(AlikeSources):
    """Two teams with answers that are alike in one problem."""

    shared_cases: int
    telling_cases: int = Field(description="cases in which being alike tells something")


class SimilarityView(BaseModel):
    """Pairs of teams, the most telling first."""

    contest_id: str
    texts: int
    unread: int = Field(description="texts that were not read in the time a request has; ask again for the rest")
    left_off: int
    pairs: list[AlikeAnswers]
    sources: list[AlikeSources]


class SharedAnswer(AlikeSubmission):
    """A team's answer to a case that is alike."""

    sha256: str
    size: int
    verdict: str | None
    raw: int | float | None
    href: str


class SharedSource(SourceFile, AlikeSubmission):
    """A team's source file that is alike."""


class Likeness(BaseModel):
    """The extent to which two teams share sources, or answers to a test case."""

    problem_id: str
    kind: str
    ratio: float
    weight: float
    why_nothing: str | None = Field(description="why it tells nothing; null: it tells something")
    sharing_teams: int
    first_team_id: str


class SharedSources(Likeness):
    """Sources of two teams that are alike."""

    files: list[SharedSource]


class SharedCase(Likeness):
    """A test case to which two teams sent answers that are alike."""

    case: str
    answers: list[SharedAnswer]


class Comparison(BaseModel):
    """The likenesses of two teams, side by side."""

    team_ids: list[str]
    cases: list[SharedCase]
    sources: list[SharedSources]


# Seconds for which a request reads texts.
SECONDS = 2.0
# The ids of submissions as they are shown.
Ids = Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The pairs asked for: of one problem (None: all), of at least this ratio, at most so many of each kind.

    near  False: only equal files, which is quicker
    """

    problem_id: str | None
    least: float
    limit: int
    near: bool


def similarity(service: Service, snapshot: ContestSnapshot, session: Session, wanted: Wanted) -> SimilarityView:
    """List pairs of teams by answers and by sources, the most telling first; counts texts left unread in the time."""
    until = monotonic() + SECONDS if wanted.near else None
    problems = _problems(snapshot, wanted.problem_id)
    compared = [_compared(service, session, snapshot, problem, until) for problem in problems]
    pairs = [pair for each in compared for pair in each.pairs if pair.ratio >= wanted.least]
    sources = [pair for each in compared for pair in each.sources if pair.first and pair.first.ratio >= wanted.least]
    pairs.sort(key=lambda pair: -pair.weight)
    sources.sort(key=lambda pair: -pair.weight)
    left_off = max(0, len(pairs) - wanted.limit) + max(0, len(sources) - wanted.limit)
    pairs, sources = pairs[: wanted.limit], sources[: wanted.limit]
    ids = _ids(session, (pair.first for pair in (*pairs, *sources)))
    return SimilarityView(
        contest_id=snapshot.contest.id,
        texts=sum(each.texts for each in compared),
        unread=sum(each.unread for each in compared),
        left_off=left_off,
        pairs=[_alike_answers(pair, ids) for pair in pairs],
        sources=[_alike_sources(pair, ids) for pair in sources],
    )


def comparison(
    service: Service, snapshot: ContestSnapshot, session: Session, teams: tuple[str, str], problem_id: str | None
) -> Comparison:
    """Show what two teams have alike, case by case; raises NotFound or BadRequest where these are not two teams."""
    known_ids = {team.id for team in snapshot.contest.teams}
    for team in teams:
        if team not in known_ids:
            raise NotFound(N_("no team %(team)r in contest %(contest)r"), team=team, contest=snapshot.contest.id)
    if teams[0] == teams[1]:
        raise BadRequest(N_("expected another team, found %(found)r again"), where="other_team_id", found=teams[1])
    cases: list[SharedCase] = []
    sources: list[SharedSources] = []
    until = monotonic() + SECONDS
    for problem in _problems(snapshot, problem_id):
        by_case, by_source = service.similarity.between(session, snapshot, problem, frozenset(teams), until)
        ids = _ids(session, (*by_case, *by_source))
        scores = submission_queries.current_scores(session, ids)
        cases += [_shared_case(snapshot, problem, shared, teams, ids, scores) for shared in by_case]
        sources += [_shared_sources(session, snapshot, problem, shared, teams, ids) for shared in by_source]
    return Comparison(team_ids=list(teams), cases=cases, sources=sources)


def _problems(snapshot: ContestSnapshot, problem_id: str | None) -> Sequence[ScoredProblem]:
    """List the problems to compare: all, or the one named; raises BadRequest where it is none."""
    wanted = problem_id and problem_called(snapshot, problem_id)
    problems = [each for each in snapshot.contest.problems if wanted in (None, each.id)]
    if problem_id is not None and not problems:
        raise BadRequest(
            N_("expected a problem of contest %(contest)s, found %(found)r"),
            where="problem_id",
            contest=snapshot.contest.id,
            found=problem_id,
        )
    return problems


def _compared(
    service: Service, session: Session, snapshot: ContestSnapshot, problem: ScoredProblem, until: float | None
) -> Compared:
    """Compare the submissions of a problem; kept for each board once all texts are read."""
    cache, key = _whole_comparisons(snapshot), (problem.id, until is not None)
    compared = cache.get(key)
    if compared is None:
        compared = service.similarity.compare(session, snapshot, problem, until)
        if compared.unread == 0:
            cache[key] = compared
    return compared


@once_a_snapshot
def _whole_comparisons(_snapshot: ContestSnapshot) -> dict[tuple[str, bool], Compared]:
    """The comparisons that left no text unread, by problem, and by whether texts were read at all."""
    return {}


def _alike_answers(pair: Pair, ids: Ids) -> AlikeAnswers:
    shown = dict(_alike_sources(pair, ids)) | {"ratio": pair.ratio}
    return AlikeAnswers(**shown, shared_cases=pair.shared, telling_cases=pair.telling)


def _alike_sources(pair: Pair, ids: Ids) -> AlikeSources:
    """Name a pair of teams, and the two submissions that first had something alike."""
    assert pair.first is not None  # a pair is made for what it shares
    return AlikeSources(
        problem_id=pair.problem_id,
        team_ids=list(pair.teams),
        kind=pair.likeness.word,
        ratio=pair.first.ratio,
        weight=round(pair.weight, 4),
        first_team_id=pair.first.one.team_id,
        submissions=[_sender(sent, ids) for sent in (pair.first.one, pair.first.other)],
    )


def _sender(sent: Sent, ids: Ids) -> AlikeSubmission:
    contest_time = format_reltime(timedelta(milliseconds=sent.time_ms))
    return AlikeSubmission(team_id=sent.team_id, submission_id=ids[sent.submission_id], contest_time=contest_time)


def _ids(session: Session, shared: Iterable[Shared | None]) -> Ids:
    """Look up the shown ids of the submissions that shares refer to."""
    return submission_queries.shown_ids(
        session, {s.submission_id for each in shared if each for s in (each.one, each.other)}
    )


def _in_order(shared: Shared, teams: tuple[str, str]) -> tuple[Sent, Sent]:
    return (shared.one, shared.other) if shared.one.team_id == teams[0] else (shared.other, shared.one)


def _likeness(problem: ScoredProblem, shared: Shared) -> Likeness:
    return Likeness(
        problem_id=problem.id,
        kind=shared.likeness.word,
        ratio=shared.ratio,
        weight=round(shared.weight, 4),
        why_nothing=shared.why or None,
        sharing_teams=shared.sharing,
        first_team_id=shared.one.team_id,
    )


def _shared_case(
    snapshot: ContestSnapshot,
    problem: ScoredProblem,
    shared: Shared,
    teams: tuple[str, str],
    ids: Ids,
    scores: Mapping[tuple[int, str], RawScoreRow],
) -> SharedCase:
    """Show a shared answer, with the submission and the score of each team."""
    answers = []
    for sent in _in_order(shared, teams):
        score, sender = scores.get((sent.submission_id, shared.case)), _sender(sent, ids)
        address = f"contests/{snapshot.contest.id}/submissions/{sender.submission_id}"
        answer = SharedAnswer(
            **dict(sender),
            sha256=sent.sha256,
            size=sent.size,
            verdict=None if score is None else score.verdict,
            raw=None if score is None else number(exact(score.raw_num, score.raw_den)),
            href=f"{address}/answers/{shared.case}",
        )
        answers.append(answer)
    return SharedCase(**dict(_likeness(problem, shared)), case=shared.case, answers=answers)


def _shared_sources(
    session: Session,
    snapshot: ContestSnapshot,
    problem: ScoredProblem,
    shared: Shared,
    teams: tuple[str, str],
    ids: Ids,
) -> SharedSources:
    """Show alike sources of two teams, with the files they were sent in."""
    files = []
    for sent in _in_order(shared, teams):
        sender = _sender(sent, ids)
        row = submission_queries.submission(session, snapshot.contest.id, sender.submission_id)
        assert row is not None  # it was read in this transaction
        name = next(source["name"] for source in row.sources if source["sha256"] == sent.sha256)
        address = f"contests/{snapshot.contest.id}/submissions/{sender.submission_id}"
        file = SharedSource(
            **dict(sender), sha256=sent.sha256, size=sent.size, name=name, href=f"{address}/{SOURCES}/{quote(name)}"
        )
        files.append(file)
    return SharedSources(**dict(_likeness(problem, shared)), files=files)
