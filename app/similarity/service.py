"""Similarity, for judges: which teams of a contest sent answers or sources that are more alike than they should be.

Equal bytes are detected by their sha256, from rows alone. For near-duplicates texts are read until the time of a
request is over; `unread` counts the others.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from time import monotonic

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.contests.service.capabilities import problem_called
from app.core.clics import format_reltime
from app.core.files.files import FileStore
from app.core.messages import N_, BadRequest
from app.domain import contests, counting
from app.domain.similarity import CaseAnswers, Pair, Sent, Shared, Sketch, pairs, sketch, source_sketch
from app.problems.queries import pins
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.similarity import queries as similarity_queries
from app.submissions.queries import submission_queries

# Seconds for which a request reads texts.
SECONDS = 2.0
# Standard checkers: everyone who solves a case sends the same answer.
ONE_RIGHT_ANSWER = frozenset({"exact", "tokens", "floats", "lines", "unordered"})
SOURCES = "sources"


class AlikeSubmission(BaseModel):
    """A submission that has something alike with another team's."""

    team_id: str
    submission_id: str
    contest_time: str


class AlikePair(BaseModel):
    """Two teams with answers, or sources, that are alike in one problem."""

    problem_id: str
    team_ids: list[str]
    kind: str
    ratio: float
    weight: float
    first_team_id: str
    submissions: list[AlikeSubmission]
    cases: list[str] = Field(description="the cases with shared answers; none for sources")
    telling_cases: int = Field(description="cases in which being alike tells something; 1 for sources")


class SimilarityView(BaseModel):
    """Pairs of teams, the most telling first."""

    contest_id: str
    texts: int
    unread: int = Field(description="texts that were not read in the time of a request")
    left_off: int
    pairs: list[AlikePair]
    sources: list[AlikePair]


class _Texts:
    """The texts of one question: their sketches, and how many were not read in time."""

    def __init__(self, session: Session, files: FileStore, seconds: float) -> None:
        self.session, self._files = session, files
        self._until = monotonic() + seconds
        self.seen = 0
        self.unread = 0

    def answers(self, snapshot: ContestSnapshot, problem: contests.ScoredProblem) -> Iterator[CaseAnswers]:
        """Read the answers of a problem, case by case."""
        scores = {attempt.id: attempt.scores or {} for attempt in snapshot.attempts if attempt.problem_id == problem.id}
        checker = pins.row(self.session, snapshot.contest.id, problem.id).settings["checker"]
        single = problem.rule.kind is contests.Kind.ABSOLUTE and checker in ONE_RIGHT_ANSWER
        for case in similarity_queries.cases(self.session, snapshot.contest.id, problem.id):
            sent = [replace(each, right=single and _full(scores, each, case.name)) for each in case.answers]
            yield CaseAnswers(case.name, sent, self._of_case(case), case.expected)

    def sources(self, snapshot: ContestSnapshot, problem: contests.ScoredProblem) -> CaseAnswers:
        """Read the sources of a problem's submissions."""
        sent = similarity_queries.sources(self.session, snapshot.contest.id, problem.id)
        wanted = self._wanted(sent)
        read: dict[str, Sketch] = {}
        for sha256 in wanted:
            if monotonic() > self._until:
                break
            read[sha256] = source_sketch(self._files.load(sha256))
        return CaseAnswers(SOURCES, sent, self._counted(wanted, read))

    def _of_case(self, case: similarity_queries.StoredCase) -> Mapping[str, Sketch]:
        wanted = self._wanted(case.answers)
        read: dict[str, Sketch] = {}
        if wanted:
            if case.expected is not None:
                read[case.expected] = sketch(self._files.load(case.expected))
            for sha256, data in similarity_queries.contents(self.session, self._files, case.id, list(wanted.values())):
                if monotonic() > self._until:
                    break
                read[sha256] = sketch(data)
        return self._counted(wanted, read)

    def _wanted(self, sent: Iterable[Sent]) -> Mapping[str, int]:
        """The texts to compare, each with one of its submissions; a text alone needs no comparison."""
        texts = {each.sha256: each.submission_id for each in sent}
        return texts if len(texts) > 1 else {}

    def _counted(self, wanted: Iterable[str], read: Mapping[str, Sketch]) -> Mapping[str, Sketch]:
        self.seen += sum(1 for _ in wanted)
        self.unread += sum(1 for sha256 in wanted if sha256 not in read)
        return read


def similarity(
    files: FileStore,
    snapshot: ContestSnapshot,
    session: Session,
    problem_id: str | None,
    least: float,
    limit: int,
    seconds: float = SECONDS,
) -> SimilarityView:
    """List pairs of teams by answers and by sources, at most `limit` of each, the most telling first.

    Pairs have at least the ratio `least`. Texts left unread after `seconds` are counted.
    """
    texts = _Texts(session, files, seconds)
    answers: list[Pair] = []
    sources: list[Pair] = []
    for problem in _problems(snapshot, problem_id):
        answers += (pair for pair in pairs(problem.id, texts.answers(snapshot, problem)) if pair.ratio >= least)
        sources += (p for p in pairs(problem.id, [texts.sources(snapshot, problem)]) if p.first.ratio >= least)
    answers.sort(key=lambda pair: -pair.weight)
    sources.sort(key=lambda pair: -pair.weight)
    left_off = max(0, len(answers) - limit) + max(0, len(sources) - limit)
    answers, sources = answers[:limit], sources[:limit]
    ids = _ids(session, (pair.first for pair in (*answers, *sources)))
    return SimilarityView(
        contest_id=snapshot.contest.id,
        texts=texts.seen,
        unread=texts.unread,
        left_off=left_off,
        pairs=[_alike(pair, pair.ratio, ids) for pair in answers],
        sources=[_alike(pair, pair.first.ratio, ids) for pair in sources],
    )


def _problems(snapshot: ContestSnapshot, problem_id: str | None) -> Sequence[contests.ScoredProblem]:
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


def _full(scores: Mapping[int, Mapping[str, counting.RawScore]], answer: Sent, case: str) -> bool:
    """Whether the answer earns all points of its case."""
    score = scores.get(answer.submission_id, {}).get(case)
    return score is not None and score.accepted and score.multiplier is not None and score.multiplier >= 1


def _alike(pair: Pair, ratio: float, ids: Mapping[int, str]) -> AlikePair:
    """Name a pair of teams, and the two submissions that first had something alike."""
    return AlikePair(
        problem_id=pair.problem_id,
        team_ids=list(pair.teams),
        kind=pair.kind,
        ratio=ratio,
        weight=round(pair.weight, 4),
        first_team_id=pair.first.one.team_id,
        submissions=[_sender(sent, ids) for sent in (pair.first.one, pair.first.other)],
        cases=[] if pair.first.case == SOURCES else [each.case for each in pair.cases],
        telling_cases=pair.telling,
    )


def _sender(sent: Sent, ids: Mapping[int, str]) -> AlikeSubmission:
    contest_time = format_reltime(timedelta(milliseconds=sent.time_ms))
    return AlikeSubmission(team_id=sent.team_id, submission_id=ids[sent.submission_id], contest_time=contest_time)


def _ids(session: Session, shared: Iterable[Shared]) -> Mapping[int, str]:
    """Look up the shown ids of the submissions that shares refer to."""
    return submission_queries.shown_ids(session, {s.submission_id for each in shared for s in (each.one, each.other)})
