"""Compares the answers and sources of a contest's teams: reads them, keeps their fingerprints, asks the domain.

Equal bytes are told by their sha256, without reading anything else. Whatever else is alike needs fingerprints: each
text is read once, its fingerprint is kept in memory, and a question is answered with those that could be made in
its time; `unread` says how many are missing, and the same question again makes the next ones.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from cachetools import LRUCache
from sqlalchemy.orm import Session

from app.core.files.files import FileStore
from app.domain.contests import Kind, ScoredProblem
from app.domain.counting import RawScore
from app.domain.fingerprints import Fingerprint, Grain, fingerprint, grain_of, source_fingerprint
from app.domain.similarity import CaseAnswers, Pair, Pairs, Sent, Shared, alike, in_order
from app.problems.queries import pins
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.similarity import queries as similarity_queries
from app.similarity.queries import StoredCase

# Fingerprints in memory, less than a kilobyte each.
MOST_KEPT = 200_000
ONE_RIGHT_ANSWER = frozenset({"exact", "tokens", "floats", "lines", "unordered"})
SOURCES = "sources"

Scores = Mapping[int, Mapping[str, RawScore]]


@dataclass(frozen=True, slots=True)
class Compared:
    """Similar pairs at one problem, the most telling ones first; `unread` texts are not compared beyond equality."""

    pairs: Sequence[Pair]
    sources: Sequence[Pair]
    texts: int
    unread: int


class Similarity:
    """Compares, one question at a time, and keeps fingerprints between questions. May be used from any thread."""

    def __init__(self, files: FileStore, most: int = MOST_KEPT) -> None:
        self._files = files
        self._cached: LRUCache[tuple[str, Grain | None], Fingerprint] = LRUCache(most)
        self._grains: LRUCache[str, Grain] = LRUCache(most)
        self._lock = threading.Lock()

    def compare(
        self, session: Session, snapshot: ContestSnapshot, problem: ScoredProblem, until: float | None
    ) -> Compared:
        """All pairs of teams with answers or sources alike at one problem.

        Texts are read until the clock (`monotonic`) says so; None: only equal files are compared.
        """
        with self._lock:
            texts = _Texts(self, session, until)
            pairs, sources = Pairs(problem.id), Pairs(problem.id)
            for answers in self._cases(texts, snapshot, problem):
                pairs.add(answers)
            sources.add(self._sources(texts, snapshot, problem))
            return Compared(in_order(pairs.close()), in_order(sources.close()), texts.seen, texts.unread)

    def between(
        self, session: Session, snapshot: ContestSnapshot, problem: ScoredProblem, teams: frozenset[str], until: float
    ) -> tuple[list[Shared], list[Shared]]:
        """Everything that two teams share at one problem, also what tells nothing: cases, and sources."""
        with self._lock:
            texts = _Texts(self, session, until)
            cases = [shared for answers in self._cases(texts, snapshot, problem) for shared in alike(answers, teams)]
            return cases, alike(self._sources(texts, snapshot, problem), teams)

    def _cases(self, texts: _Texts, snapshot: ContestSnapshot, problem: ScoredProblem) -> Iterator[CaseAnswers]:
        scores: Scores = {a.id: a.scores or {} for a in snapshot.attempts if a.problem_id == problem.id}
        row = pins.row(texts.session, snapshot.contest.id, problem.id)
        checker = None if row is None else row.settings.get("checker")
        single = problem.rule.kind is Kind.ABSOLUTE and checker in ONE_RIGHT_ANSWER
        for case in similarity_queries.cases(texts.session, snapshot.contest.id, problem.id):
            sent = [replace(each, right=single and _full(scores, each, case.name)) for each in case.answers]
            yield CaseAnswers(case.name, sent, texts.of_case(case), case.expected)

    def _sources(self, texts: _Texts, snapshot: ContestSnapshot, problem: ScoredProblem) -> CaseAnswers:
        rows = similarity_queries.sources(texts.session, snapshot.contest.id, problem.id)
        sent = [
            Sent(row.team_id, row.submission_id, row.time_ms, source["sha256"], source["size"])
            for row in rows
            for source in row.sources
            if source["size"] > 0
        ]
        return CaseAnswers(SOURCES, sent, texts.of_sources({each.sha256 for each in sent}))

    def known(self, sha256: str, grain: Grain | None) -> Fingerprint | None:
        """A fingerprint made before; without a grain, that of a source."""
        return self._cached.get((sha256, grain))

    def keep(self, sha256: str, grain: Grain | None, made: Fingerprint) -> Fingerprint:
        """Keep one more; those not asked for longest go when there are too many."""
        self._cached[sha256, grain] = made
        return made

    def grain(self, sha256: str, data: Callable[[], bytes]) -> Grain:
        """The grain that suits a text; its bytes are asked for only once."""
        grain = self._grains.get(sha256)
        if grain is None:
            grain = self._grains[sha256] = grain_of(data())
        return grain

    def load(self, sha256: str) -> bytes:
        """The bytes of a stored file."""
        return self._files.load(sha256)

    def contents(self, session: Session, case_id: int, submission_ids: Sequence[int]) -> Iterator[tuple[str, bytes]]:
        """The bytes of some answers to a case, each with its sha256."""
        return similarity_queries.contents(session, self._files, case_id, submission_ids)


class _Texts:
    """The fingerprints for one question: those kept, and new ones until the time is up (None: no fingerprints)."""

    def __init__(self, owner: Similarity, session: Session, until: float | None) -> None:
        self._owner = owner
        self.session = session
        self._until = until
        self.seen = 0
        self.unread = 0

    def of_case(self, case: StoredCase) -> dict[str, Fingerprint]:
        first = {answer.sha256: answer.submission_id for answer in reversed(case.answers)}
        self.seen += len(first)
        if self._until is None or len(first) < 2:
            return {}
        grain = self._grain(case)
        fingerprints = self._known([*first, *([case.expected] if case.expected else [])], grain)
        if case.expected is not None and case.expected not in fingerprints:
            made = fingerprint(self._owner.load(case.expected), grain)
            fingerprints[case.expected] = self._owner.keep(case.expected, grain, made)
        missing = [id_ for sha256, id_ in first.items() if sha256 not in fingerprints]
        if missing and not self._late():
            for sha256, data in self._owner.contents(self.session, case.id, missing):
                fingerprints[sha256] = self._owner.keep(sha256, grain, fingerprint(data, grain))
                if self._late():
                    break
        self.unread += sum(1 for sha256 in first if sha256 not in fingerprints)
        return fingerprints

    def of_sources(self, sha256s: Iterable[str]) -> dict[str, Fingerprint]:
        wanted = sorted(sha256s)
        self.seen += len(wanted)
        if self._until is None or len(wanted) < 2:
            return {}
        fingerprints = self._known(wanted, None)
        for sha256 in wanted:
            if sha256 not in fingerprints and not self._late():
                fingerprints[sha256] = self._owner.keep(sha256, None, source_fingerprint(self._owner.load(sha256)))
        self.unread += len(wanted) - len(fingerprints)
        return fingerprints

    def _grain(self, case: StoredCase) -> Grain:
        """Cut as suits the expected answer, or the first one sent."""
        expected, first = case.expected, case.answers[0]
        if expected is not None:
            return self._owner.grain(expected, lambda: self._owner.load(expected))
        ids = [first.submission_id]
        return self._owner.grain(first.sha256, lambda: next(self._owner.contents(self.session, case.id, ids))[1])

    def _known(self, sha256s: Iterable[str], grain: Grain | None) -> dict[str, Fingerprint]:
        cached = ((sha256, self._owner.known(sha256, grain)) for sha256 in sha256s)
        return {sha256: known for sha256, known in cached if known is not None}

    def _late(self) -> bool:
        return self._until is not None and monotonic() > self._until


def _full(scores: Scores, answer: Sent, case: str) -> bool:
    """Whether the answer earns all points of its case."""
    score = scores.get(answer.submission_id, {}).get(case)
    return score is not None and score.accepted and score.multiplier is not None and score.multiplier >= 1
