"""Similarity, for judges: which teams of a contest sent answers or sources that are more alike than they should be.

Equal bytes are detected by their sha256, from rows alone. For near-duplicates texts are read until the time of a
request is over; `unread` counts the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from time import monotonic
from urllib.parse import quote

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.contests.service.capabilities import problem_called
from app.core.clics import format_reltime, number
from app.core.errors import BadRequest, NotFound
from app.core.files.files import FileStore
from app.core.messages import N_
from app.domain.contests import Kind, ScoredProblem
from app.domain.counting import RawScore
from app.domain.scoring import exact
from app.domain.similarity import CaseAnswers, Pair, Sent, Shared, Sketch, alike, pairs, sketch, source_sketch
from app.problems.queries import pins
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.similarity import queries as similarity_queries
from app.similarity.queries import StoredCase
from app.submissions.queries import submission_queries
from app.submissions.service.report_bodies import SourceFile
from app.tables import RawScoreRow

# Seconds for which a request reads texts.
SECONDS = 2.0
ONE_RIGHT_ANSWER = frozenset({"exact", "tokens", "floats", "lines", "unordered"})
SOURCES = "sources"


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
    unread: int = Field(description="texts that were not read in the time of a request")
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


@dataclass(frozen=True, slots=True)
class Wanted:
    """The pairs asked for: of one problem (None: all), of at least this ratio, at most so many of each kind.

    near  False: only equal files, which is quicker
    """

    problem_id: str | None
    least: float
    limit: int
    near: bool


class _Texts:
    """The texts of one question: their sketches, and how many were not read in time (`until` None: none is read).

    teams  read only the texts of these
    """

    def __init__(
        self, session: Session, files: FileStore, until: float | None, teams: frozenset[str] | None = None
    ) -> None:
        self.session, self._files, self._until, self._teams = session, files, until, teams
        self.seen = 0
        self.unread = 0

    def answers(self, snapshot: ContestSnapshot, problem: ScoredProblem) -> Iterator[CaseAnswers]:
        """Read the answers of a problem, case by case."""
        scores = {attempt.id: attempt.scores or {} for attempt in snapshot.attempts if attempt.problem_id == problem.id}
        row = pins.row(self.session, snapshot.contest.id, problem.id)
        checker = None if row is None else row.settings.get("checker")
        single = problem.rule.kind is Kind.ABSOLUTE and checker in ONE_RIGHT_ANSWER
        for case in similarity_queries.cases(self.session, snapshot.contest.id, problem.id):
            sent = [replace(each, right=single and _full(scores, each, case.name)) for each in case.answers]
            yield CaseAnswers(case.name, sent, self._of_case(case), case.expected)

    def sources(self, snapshot: ContestSnapshot, problem: ScoredProblem) -> CaseAnswers:
        """Read the sources of a problem's submissions."""
        sent = similarity_queries.sources(self.session, snapshot.contest.id, problem.id)
        wanted = self._wanted(sent)
        read: dict[str, Sketch] = {}
        for sha256 in wanted:
            if self._until is None or monotonic() > self._until:
                break
            read[sha256] = source_sketch(self._files.load(sha256))
        return CaseAnswers(SOURCES, sent, self._counted(wanted, read))

    def _of_case(self, case: StoredCase) -> Mapping[str, Sketch]:
        wanted = self._wanted(case.answers)
        read: dict[str, Sketch] = {}
        if self._until is not None and wanted:
            if case.expected is not None:
                read[case.expected] = sketch(self._files.load(case.expected))
            for sha256, data in similarity_queries.contents(self.session, self._files, case.id, list(wanted.values())):
                if monotonic() > self._until:
                    break
                read[sha256] = sketch(data)
        return self._counted(wanted, read)

    def _wanted(self, sent: Iterable[Sent]) -> Mapping[str, int]:
        """The texts to compare, each with one of its submissions; a text alone needs no comparison."""
        texts = {each.sha256: each.submission_id for each in sent if not self._teams or each.team_id in self._teams}
        return texts if len(texts) > 1 else {}

    def _counted(self, wanted: Iterable[str], read: Mapping[str, Sketch]) -> Mapping[str, Sketch]:
        self.seen += sum(1 for _ in wanted)
        self.unread += sum(1 for sha256 in wanted if sha256 not in read)
        return read


def similarity(files: FileStore, snapshot: ContestSnapshot, session: Session, wanted: Wanted) -> SimilarityView:
    """List pairs of teams by answers and by sources, the most telling first; counts texts left unread in the time."""
    texts = _Texts(session, files, monotonic() + SECONDS if wanted.near else None)
    answers: list[Pair] = []
    sources: list[Pair] = []
    for problem in _problems(snapshot, wanted.problem_id):
        answers += (p for p in pairs(problem.id, texts.answers(snapshot, problem)) if p.ratio >= wanted.least)
        sources += (p for p in pairs(problem.id, [texts.sources(snapshot, problem)]) if p.first.ratio >= wanted.least)
    answers.sort(key=lambda pair: -pair.weight)
    sources.sort(key=lambda pair: -pair.weight)
    left_off = max(0, len(answers) - wanted.limit) + max(0, len(sources) - wanted.limit)
    answers, sources = answers[: wanted.limit], sources[: wanted.limit]
    ids = _ids(session, (pair.first for pair in (*answers, *sources)))
    return SimilarityView(
        contest_id=snapshot.contest.id,
        texts=texts.seen,
        unread=texts.unread if wanted.near else 0,
        left_off=left_off,
        pairs=[_alike_answers(pair, ids) for pair in answers],
        sources=[_alike_sources(pair, ids) for pair in sources],
    )


def comparison(
    files: FileStore, snapshot: ContestSnapshot, session: Session, teams: tuple[str, str], problem_id: str | None
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
    both = frozenset(teams)
    texts = _Texts(session, files, monotonic() + SECONDS, both)
    for problem in _problems(snapshot, problem_id):
        by_case = [shared for answers in texts.answers(snapshot, problem) for shared in alike(answers, both)]
        by_source = alike(texts.sources(snapshot, problem), both)
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


def _full(scores: Mapping[int, Mapping[str, RawScore]], answer: Sent, case: str) -> bool:
    """Whether the answer earns all points of its case."""
    score = scores.get(answer.submission_id, {}).get(case)
    return score is not None and score.accepted and score.multiplier is not None and score.multiplier >= 1


def _alike_answers(pair: Pair, ids: Mapping[int, str]) -> AlikeAnswers:
    shown = dict(_alike_sources(pair, ids)) | {"ratio": pair.ratio}
    return AlikeAnswers(**shown, shared_cases=len(pair.cases), telling_cases=pair.telling)


def _alike_sources(pair: Pair, ids: Mapping[int, str]) -> AlikeSources:
    """Name a pair of teams, and the two submissions that first had something alike."""
    first = pair.first
    return AlikeSources(
        problem_id=pair.problem_id,
        team_ids=list(pair.teams),
        kind=pair.kind,
        ratio=first.ratio,
        weight=round(pair.weight, 4),
        first_team_id=first.one.team_id,
        submissions=[_sender(sent, ids) for sent in (first.one, first.other)],
    )


def _sender(sent: Sent, ids: Mapping[int, str]) -> AlikeSubmission:
    contest_time = format_reltime(timedelta(milliseconds=sent.time_ms))
    return AlikeSubmission(team_id=sent.team_id, submission_id=ids[sent.submission_id], contest_time=contest_time)


def _ids(session: Session, shared: Iterable[Shared]) -> Mapping[int, str]:
    """Look up the shown ids of the submissions that shares refer to."""
    return submission_queries.shown_ids(session, {s.submission_id for each in shared for s in (each.one, each.other)})


def _in_order(shared: Shared, teams: tuple[str, str]) -> tuple[Sent, Sent]:
    return (shared.one, shared.other) if shared.one.team_id == teams[0] else (shared.other, shared.one)


def _likeness(problem: ScoredProblem, shared: Shared) -> Likeness:
    return Likeness(
        problem_id=problem.id,
        kind=shared.kind,
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
    ids: Mapping[int, str],
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
    ids: Mapping[int, str],
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
