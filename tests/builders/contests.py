"""Puts a small contest into a service's tables: the problem `echo`, and submissions already judged."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.core.files.files import FileStore
from app.core.service import Service
from app.domain.counting import RawScore, pair
from app.domain.ids import VeiledIds
from app.judging.service.engine import JudgeFailed
from app.judging.service.grader import Grader
from app.judging.service.messages import Validate, Validated
from app.packages.read import assemble
from app.problems.queries import problems
from app.tables import (
    AnswerRow,
    ContestProblemRow,
    ContestRow,
    InputRequestRow,
    JudgementRow,
    ParticipationRow,
    RawScoreRow,
    SubmissionRow,
)
from tests.builders.packages import package_files
from tests.builders.service import Api, Idle

HOUR = timedelta(hours=1)
PROBLEM = "echo"


FINAL: Mapping[str, str | bytes | None] = {
    "data/secret/02.in": None,
    "data/secret/02.ans": None,
    "data/secret/03.in": None,
    "data/secret/03.ans": None,
    "data/secret/test_group.yaml": "max_score: 100\n",
    "data/secret/a/test_group.yaml": "max_score: 40\nscore_aggregation: sum\n",
    "data/secret/a/02.in": "2\n",
    "data/secret/a/02.ans": "2\n",
    "data/secret/z/test_group.yaml": "max_score: 60\nscore_aggregation: sum\n",
    "data/secret/z/03.in": "3\n",
    "data/secret/z/03.ans": "3\n",
    "jurado.yaml": "checker: exact\nscoring: {kind: absolute, direction: maximise}\nfinal: [secret/z]\n",
}
"""Changes that make case 02 of echo the only provisional one, and 03 the only final one."""


class InlineEngine(Idle):
    """Validates test cases with the real checkers, in this process and at once; judges nothing."""

    def __init__(self, files: FileStore) -> None:
        self._grader = Grader(files)

    def validate(self, request: Validate) -> Future[Validated]:
        """Do as a grader process does."""
        future: Future[Validated] = Future()
        try:
            future.set_result(self._grader.validate(request))
        except Exception as error:
            future.set_exception(JudgeFailed(f"{type(error).__name__}: {error}"))
        return future


def add_problem(service: Service, changes: Mapping[str, str | bytes | None] | None = None, slug: str = PROBLEM) -> None:
    """Bring in the echo package (two secret cases 02 and 03, 50 points each, and a sample 01)."""
    with service.database.write() as session:
        problems.import_package(session, service.files, assemble(slug, package_files(changes)))


def add_contest(
    service: Service,
    contest_id: str = "c",
    *,
    started: timedelta = HOUR,
    duration: timedelta = 5 * HOUR,
    freeze: timedelta | None = None,
    thaw: datetime | None = None,
    rule: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    problem_id: str | None = PROBLEM,
) -> datetime:
    """A contest open to all with one problem, begun `started` ago; `freeze` is before its end. Returns its start."""
    start = (datetime.now(UTC) - started).replace(microsecond=0)
    with service.database.write() as session:
        session.add(
            ContestRow(
                id=contest_id,
                name=f"Contest {contest_id}",
                start_time=start,
                duration_ms=_ms(duration),
                freeze_ms=None if freeze is None else _ms(freeze),
                thaw_time=thaw,
                open_to_all=True,
                settings=dict(settings or {}),
            )
        )
        session.flush()
        if problem_id is not None:
            session.add(
                ContestProblemRow(
                    contest_id=contest_id,
                    problem_id=problem_id,
                    label="A",
                    ordinal=1,
                    rgb="#00f",
                    rule=dict(rule or {}),
                )
            )
    return start


def change_contest(service: Service, contest_id: str = "c", **columns: Any) -> None:
    """Change a contest's row behind the API's back, such as its start, as if time had passed."""
    with service.database.write() as session:
        row = session.get_one(ContestRow, contest_id)
        for name, value in columns.items():
            setattr(row, name, value)
    service.boards.changed(contest_id)


def pass_time(service: Service, passed: timedelta, contest_id: str = "c") -> None:
    """Let a contest have begun earlier, and all that was done in it with it."""
    with service.database.write() as session:
        contest = session.get_one(ContestRow, contest_id)
        assert contest.start_time is not None
        contest.start_time -= passed
        if contest.thaw_time is not None:
            contest.thaw_time -= passed
        contest.pauses = [
            {
                name: None if at is None else (datetime.fromisoformat(at) - passed).isoformat()
                for name, at in each.items()
            }
            for each in contest.pauses
        ]
        for submission in session.scalars(select(SubmissionRow).where(SubmissionRow.contest_id == contest_id)):
            submission.time -= passed
        for participation in session.scalars(select(ParticipationRow).where(ParticipationRow.contest_id == contest_id)):
            participation.start_time -= passed
        for request in session.scalars(select(InputRequestRow).where(InputRequestRow.contest_id == contest_id)):
            request.time -= passed
    service.boards.changed(contest_id)


def add_submission(
    service: Service,
    scores: Mapping[str, RawScore] | None,
    *,
    team: str | None = "team",
    contest_id: str = "c",
    minute: float = 1.0,
    files: Mapping[str, bytes] | None = None,
    judgement_type: str = "PC",
    quiet: bool = False,
) -> int:
    """A submission with an answer for each score, judged unless `scores` is None; returns its id.

    `files` gives the answers of one that is not judged, or other bytes than the made-up ones. `quiet`: boards read
    this submission alone again, as with what the writer commits.
    """
    sent = {case: f"{case}\n".encode() for case in (scores or {})} | dict(files or {})
    with service.database.write(quiet=quiet) as session:
        contest = session.get_one(ContestRow, contest_id)
        assert contest.start_time is not None
        time = contest.start_time + timedelta(minutes=minute)
        row = SubmissionRow(
            contest_id=contest_id,
            problem_id=PROBLEM,
            team_id=team,
            account_id=team or "admin",
            time=time,
            contest_time_ms=round(minute * 60_000),
            size=sum(map(len, sent.values())),
            files=[{"name": f"{case}.out", "case": case, "ignored": None} for case in sent],
            sources=[],
        )
        session.add(row)
        session.flush()
        _add_answers(session, row.id, sent)
        _add_judgement(session, row, scores, judgement_type)
    service.boards.changed(contest_id, row.id if quiet else None)
    return row.id


def ids_of(service: Service, contest_id: str = "c") -> VeiledIds:
    """What makes the ids of a contest's judgements and runs."""
    with service.database.read() as session:
        return VeiledIds(session.get_one(ContestRow, contest_id).secret)


def judgement_id(service: Service, number: int | str, contest_id: str = "c") -> str:
    """The id under which the judgement of this number is shown."""
    return ids_of(service, contest_id).judgement(int(number))


def run_id(service: Service, number: int | str, case: int = 2, contest_id: str = "c") -> str:
    """The id under which the run of a judgement is shown, on the case with the number `case`."""
    return ids_of(service, contest_id).run(int(number), case)


def _add_answers(session: Session, submission_id: int, sent: Mapping[str, bytes]) -> None:
    for case, data in sent.items():
        answer = AnswerRow(submission_id=submission_id, test_case_id=_case_id(session, case), file_name=f"{case}.out")
        answer.size, answer.data, answer.sha256 = len(data), data, hashlib.sha256(data).hexdigest()
        session.add(answer)


def _add_judgement(
    session: Session, row: SubmissionRow, scores: Mapping[str, RawScore] | None, judgement_type: str
) -> None:
    judgement = JudgementRow(submission_id=row.id, start_time=row.time, current=True)
    session.add(judgement)
    if scores is None:
        judgement.state = "queued"
        return
    judgement.state, judgement.type, judgement.end_time = "done", judgement_type, row.time + timedelta(seconds=1)
    session.flush()
    for case, score in scores.items():
        raw_score = RawScoreRow(
            judgement_id=judgement.id, test_case_id=_case_id(session, case), verdict=score.verdict.value
        )
        raw_score.raw_num, raw_score.raw_den = pair(score.raw)
        raw_score.multiplier_num, raw_score.multiplier_den = pair(score.multiplier)
        raw_score.message = {"key": "accepted", "text": f"case {case}", "args": {}}
        raw_score.run_time_ms, raw_score.time = 3, row.time + timedelta(seconds=1)
        session.add(raw_score)


def _case_id(session: Session, case: str) -> int:
    row = problems.test_case(session, PROBLEM, case)
    assert row is not None, f"no test case {case}"
    return row.id


def _ms(duration: timedelta) -> int:
    return round(duration.total_seconds() * 1000)


def with_checkers(api: Api) -> Api:
    """Let the service of `api` validate what admins put."""
    api.service = replace(api.service, engine=InlineEngine(api.service.files))
    api.app.state.service = api.service
    return api
