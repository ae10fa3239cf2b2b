"""Tasks of graders: answers, cases, settings and rules; those of a rejudging with the changes it would make."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection, bindparam, func, select
from sqlalchemy.orm import Session

from app import tables
from app.contests.schemas import Rule
from app.core.json_documents import CaseDocument, ProblemChanges
from app.domain.documents import CaseAnswer, MessageDocument, ProblemSettingsDocument
from app.problems.queries import pins, problem_diff
from app.submissions.queries.judgements import UNFINISHED


@dataclass(frozen=True, slots=True)
class Task:
    """A judgement to be made: what to check, with which settings, and how it will be summed up.

    `counted_cases` has a negative number for each case that is not there yet, but will be when a rejudging is applied.
    `lost` counts the attempts whose process was gone before they ended, `failures` those in which the checker failed,
    and `error` says what was noted of the last.
    """

    judgement_id: int
    submission_id: int
    attempt: int
    contest_id: str
    problem_id: str
    settings: ProblemSettingsDocument
    rule: Rule
    counted_cases: frozenset[int]
    answers: Sequence[CaseAnswer]
    rejudging_id: int | None = None
    submitted: datetime | None = None
    lost: int = 0
    failures: int = 0
    error: str = ""
    trace: str = ""


@dataclass(frozen=True, slots=True)
class _Sent:
    """An answer as it was sent, and its case as it is now."""

    removed: bool
    size: int
    answer: CaseAnswer


@dataclass(frozen=True, slots=True)
class _Ground:
    """The version of a problem that judges submissions. `cases`: those the rejudging changes; None means deleted.

    `is_whole`: all cases of the version are there, as it is not that of the problem's rows.

    `limit` is there only where a rejudging gives another one: else it was compared with the answers when they came.
    """

    settings: ProblemSettingsDocument
    counted: frozenset[int]
    cases: Mapping[str, CaseDocument | None]
    rules: Mapping[str, Rule]
    limit: int | None = None
    is_whole: bool = False


# Built once (guarantee 6).
HEADS = (
    select(
        tables.JudgementRow.id,
        tables.JudgementRow.rejudging_id,
        tables.JudgementRow.start_time,
        tables.JudgementRow.lost,
        tables.JudgementRow.failures,
        func.coalesce(tables.JudgementRow.error, "").label("error"),
        func.coalesce(tables.JudgementRow.trace, "").label("trace"),
        tables.SubmissionRow.id.label("submission_id"),
        tables.SubmissionRow.contest_id,
        tables.SubmissionRow.problem_id,
        tables.ContestProblemRow.rule,
        tables.ContestProblemRow.version.label("pinned"),
        tables.ProblemRow.version,
    )
    .join(tables.SubmissionRow, tables.SubmissionRow.id == tables.JudgementRow.submission_id)
    .join(tables.ProblemRow, tables.ProblemRow.id == tables.SubmissionRow.problem_id)
    .outerjoin(
        tables.ContestProblemRow,
        (tables.ContestProblemRow.contest_id == tables.SubmissionRow.contest_id)
        & (tables.ContestProblemRow.problem_id == tables.SubmissionRow.problem_id),
    )
    .where(tables.JudgementRow.id.in_(bindparam("ids", expanding=True)))
    .order_by(tables.JudgementRow.id)
)


def load_tasks(session: Session, attempts: Mapping[int, int]) -> list[Task]:
    """Read what the judgements in `attempts` (id -> attempt) need: two queries, and some for each problem."""
    connection = session.connection()  # the session's own way through the mapped classes costs twice as much
    heads = connection.execute(HEADS, {"ids": list(attempts)}).all()
    sent = _answers(connection, [head.submission_id for head in heads])
    grounds: dict[tuple[int | None, str, str], _Ground] = {}
    tasks = []
    for head in heads:
        key = (head.rejudging_id, head.contest_id, head.problem_id)
        if key not in grounds:
            grounds[key] = _ground(session, *key, is_pinned=head.pinned not in {None, head.version})
        ground = grounds[key]
        task = Task(
            head.id,
            head.submission_id,
            attempts[head.id],
            head.contest_id,
            head.problem_id,
            ground.settings,
            ground.rules.get(head.contest_id) or head.rule or Rule(),
            ground.counted,
            [answer for each in sent[head.submission_id] if (answer := _on(ground, each)) is not None],
            head.rejudging_id,
            head.start_time,
            head.lost,
            head.failures,
            head.error,
            head.trace,
        )
        tasks.append(task)
    return tasks


def _ground(
    session: Session, rejudging_id: int | None, contest_id: str, problem_id: str, *, is_pinned: bool
) -> _Ground:
    row = None if rejudging_id is None else session.get(tables.RejudgingRow, rejudging_id)
    changes: ProblemChanges = {} if row is None else row.changes
    if not changes and not is_pinned:
        connection, of_problem = session.connection(), {"problem_id": problem_id}
        counted = frozenset(connection.scalars(COUNTED, of_problem))
        return _Ground(connection.scalars(SETTINGS, of_problem).one(), counted, {}, {})
    wanted = problem_diff.merged(problem_diff.document(session, problem_id, contest_id), changes)
    ids = pins.case_ids(session, problem_id)
    names = sorted(problem_diff.counted_cases(wanted))
    counted = frozenset(ids.get(name, -at) for at, name in enumerate(names, start=1))
    settings = wanted["columns"]["settings"]
    limit = problem_diff.answer_limit(settings) if changes else None
    cases = wanted["cases"] if is_pinned else changes.get("cases", {})
    rules = {name: Rule.model_validate(rule) for name, rule in changes.get("rules", {}).items()}
    return _Ground(settings, counted, cases, rules, limit, is_pinned)


def _on(ground: _Ground, sent: _Sent) -> CaseAnswer | None:
    """The answer with its case as it is to be judged; None where the case is none any longer."""
    name = sent.answer.case_name
    case = ground.cases.get(name)
    if case is None and (sent.removed or ground.is_whole or name in ground.cases):
        return None
    if case is not None and case["answer_sha256"] is None:
        return None  # it is not open before it has one, and then everything is judged again
    answer = sent.answer
    if ground.limit is not None and answer.refused is None and sent.size > ground.limit:
        answer = replace(answer, refused=too_large(ground.limit))
    if case is None:
        return answer
    return replace(
        answer,
        input_sha256=case["input_sha256"],
        answer_sha256=case["answer_sha256"],
        checker_args=case["checker_args"],
        points_num=case["points_num"],
        points_den=case["points_den"],
    )


def too_large(limit: int) -> MessageDocument:
    """The message about an answer with more bytes than it may have."""
    text = f"expected at most {limit} bytes, found more"
    return {"key": "too-large", "text": text, "args": {"limit": limit}}


ANSWERS = (
    select(
        tables.AnswerRow.submission_id,
        tables.TestCaseRow.removed,
        tables.AnswerRow.size,
        tables.AnswerRow.test_case_id,
        tables.TestCaseRow.input_sha256,
        tables.TestCaseRow.answer_sha256,
        tables.AnswerRow.data,
        tables.AnswerRow.sha256,
        tables.AnswerRow.refused,
        tables.TestCaseRow.checker_args,
        tables.TestCaseRow.points_num,
        tables.TestCaseRow.points_den,
        tables.TestCaseRow.name,
    )
    .join(tables.TestCaseRow, tables.TestCaseRow.id == tables.AnswerRow.test_case_id)
    .where(tables.AnswerRow.submission_id.in_(bindparam("ids", expanding=True)))
    .order_by(tables.AnswerRow.submission_id, tables.TestCaseRow.ordinal)
)


def _answers(connection: Connection, submissions: Sequence[int]) -> dict[int, list[_Sent]]:
    answers: dict[int, list[_Sent]] = defaultdict(list)
    for row in connection.execute(ANSWERS, {"ids": list(submissions)}):
        answers[row[0]].append(_Sent(row[1], row[2], CaseAnswer(*row[3:])))
    return answers


SETTINGS = select(tables.ProblemRow.settings).where(tables.ProblemRow.id == bindparam("problem_id"))
COUNTED = (
    select(tables.TestCaseRow.id)
    .join(
        tables.TestGroupRow,
        (tables.TestGroupRow.problem_id == tables.TestCaseRow.problem_id)
        & (tables.TestGroupRow.name == tables.TestCaseRow.group_name),
    )
    .where(
        tables.TestCaseRow.problem_id == bindparam("problem_id"),
        tables.TestGroupRow.kind == "provisional",
        tables.TestCaseRow.answer_sha256.is_not(None),
        tables.TestCaseRow.removed.is_(False),
    )
)


def waiting_for_file(session: Session, sha256: str) -> int:
    """The number of judgements that wait for this stored file."""
    return session.scalar(select(func.count()).where(UNFINISHED, tables.JudgementRow.waits_for == sha256)) or 0


def one_case_each(session: Session) -> list[tuple[str, str, str]]:
    """For every problem with a bundled checker its name, and the sha256 of one case's input and expected answer."""
    first = (
        select(func.min(tables.TestCaseRow.id))
        .where(tables.TestCaseRow.answer_sha256.is_not(None), tables.TestCaseRow.removed.is_(False))
        .group_by(tables.TestCaseRow.problem_id)
    )
    query = (
        select(tables.ProblemRow.settings, tables.TestCaseRow.input_sha256, tables.TestCaseRow.answer_sha256)
        .join(tables.TestCaseRow, tables.TestCaseRow.problem_id == tables.ProblemRow.id)
        .where(tables.TestCaseRow.id.in_(first))
    )
    rows = session.execute(query)
    return [(row[0]["checker"], row[1], str(row[2])) for row in rows if row[0].get("program") is None]
