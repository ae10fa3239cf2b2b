"""Test cases: what contestants may read of them, and how an admin puts and takes away single ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.domain.case_scores import FoundScore
from app.domain.clock import utc_now
from app.domain.contests import CaseKind, ScoredProblem
from app.domain.scoring import phase_scale
from app.grading.messages import Validate
from app.grading.questions import JudgeFailed
from app.grading.scoreboard_cache import ContestSnapshot
from app.packages.errors import Faults
from app.packages.files import BAD_NAME, NAME
from app.packages.texts import check_texts
from app.service import Service
from app.services.clics import number
from app.services.errors import BadRequest, Conflict
from app.services.problems.jobs import ReferenceRunRequest, queue_run
from app.services.problems.packages import CaseView, details, existing
from app.services.rejudgings.problem_changes import RejudgingView, change
from app.services.viewer import Viewer
from app.storage import participations, problems, rejudging_changes, testcases
from app.storage.problems import ProblemInUse
from app.storage.tables import ProblemRow, TestCaseRow
from app.storage.testcases import NewCase

METHOD = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


class TestCase(BaseModel):
    """A test case as a contest shows it; `best_raw` is the best raw score that counts, None where there is none."""

    __test__ = False

    name: str
    group: str
    kind: str
    ordinal: int
    size: int
    sha256: str
    max_points: float
    best_raw: int | float | None = None
    href: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A row with the case it is in the rules."""

    row: TestCaseRow
    kind: CaseKind


def shown_cases(viewer: Viewer, snapshot: ContestSnapshot, session: Session, problem: ScoredProblem) -> list[Shown]:
    """Samples and provisional cases for everybody, those without an expected answer for judges.

    Final ones for those who may have their inputs: the contest's snapshot knows of none where nobody may.
    """
    kinds = {group.name: group.kind for group in problem.groups}
    rows = problems.test_cases(session, problem.id)
    found = [Shown(row, kinds.get(row.group_name, CaseKind.FINAL)) for row in rows]
    if viewer.sees_all:
        return found
    final = finals_shown(viewer, snapshot, session, problem)
    open_ = [each for each in found if each.row.answer_sha256 is not None]
    return [each for each in open_ if final or each.kind is not CaseKind.FINAL]


def finals_shown(viewer: Viewer, snapshot: ContestSnapshot, session: Session, problem: ScoredProblem) -> bool:
    """May the viewer have the final inputs of a problem?"""
    contest = snapshot.contest
    asked = None
    if viewer.team_id is not None and contest.finals.window is not None:
        asked = participations.asked(session, contest.id, viewer.team_id, problem.id)
    return contest.finals.shown(contest.clock, utc_now(), asked)


def document(viewer: Viewer, snapshot: ContestSnapshot, problem: ScoredProblem, each: Shown) -> dict[str, Any]:
    """One test case as the viewer may see it."""
    row = each.row
    counts = each.kind in problem.counting(snapshot.phase)
    scale = phase_scale(problem, snapshot.phase)
    shows_best = viewer.sees_all or snapshot.contest.settings.show_best
    best = snapshot.bests(problem).best
    return {
        "name": row.name,
        "group": row.group_name,
        "kind": each.kind.value,
        "ordinal": row.ordinal,
        "size": row.input_size,
        "sha256": row.input_sha256,
        "max_points": row.points_num / row.points_den * scale if counts else 0.0,
        **({"best_raw": number(best.get(row.name))} if shows_best else {}),
        "href": f"contests/{snapshot.contest.id}/problems/{row.problem_id}/testcases/{row.name}/input",
    }


def checked(
    service: Service,
    problem_id: str,
    group: str,
    name: str,
    fields: Mapping[str, str],
    given: bytes | None,
    expected: bytes | None,
) -> tuple[NewCase, FoundScore | None]:
    """A test case to be put, with the score of its expected answer; raises BadRequest with all its faults."""
    with service.database.read() as session:
        row = existing(session, problem_id)
        groups = [each.name for each in problems.groups(session, problem_id)]
    faults = _name_faults(group, name, groups)
    options = _options(fields, faults)
    score = None
    if given is None:
        faults.add("input", "expected a file, found nothing")
    else:
        score = _check(service, row, f"data/{group}/{name}", given, expected, faults)
    if faults.found:
        errors = [{"file": each.file, "where": each.where, "message": each.message} for each in faults.found]
        raise BadRequest("; ".join(str(each) for each in faults.found), errors=errors)
    assert given is not None  # else there is a fault
    provenance = {"from": "admin", **({"reference": options} if options else {})}
    return NewCase(problem_id, group, name, given, expected, provenance), score


def store(
    service: Service, new: NewCase, score: FoundScore | None, account_id: str | None, joins: int | None
) -> tuple[CaseView, bool] | RejudgingView:
    """Put a test case: at once, or as a rejudging where submissions exist."""
    for data in (new.input, new.answer):
        if data is not None:
            service.files.keep(data)  # before the first query: other writers do not wait for the disk
    created = False

    def write() -> None:
        nonlocal created
        _, created = testcases.put_case(session, service.files, new, score)

    try:
        with service.database.write() as session:
            reason = f"test case {new.name} of {new.problem_id} has been put"
            made = change(session, new.problem_id, write, reason, account_id, joins=joins)
            job_id = _start_reference_run(session, new, account_id)
            found = details(session, existing(session, new.problem_id))
    except ProblemInUse as used:
        raise Conflict(str(used)) from None
    if job_id is not None:
        service.jobs.wake(job_id)
    if made is not None:
        service.engine.take_up()
        return made.model_copy(update={"reference_run": job_id})
    case = next(case for case in found.testcases if case.name == new.name)
    return case.model_copy(update={"reference_run": job_id}), created


def _start_reference_run(session: Session, new: NewCase, account_id: str | None) -> str | None:
    """Queue the job that makes the case's expected answer; None where it has one, or the problem names no solver."""
    wanted = rejudging_changes.wanted(session, new.problem_id)
    answered = wanted["cases"][new.name]["answer_sha256"] is not None
    if answered or wanted["columns"]["settings"].get("reference") is None:
        return None
    asked = ReferenceRunRequest(testcases=[new.name])
    return queue_run(session, existing(session, new.problem_id), asked, account_id).id


def _name_faults(group: str, name: str, groups: list[str]) -> Faults:
    faults = Faults()
    if not NAME.fullmatch(name) or name == "test_group":
        faults.add("name", BAD_NAME)
    if group not in {"sample", *groups}:
        faults.expect("group", "", expected=f"one of {', '.join(dict.fromkeys(['sample', *groups]))}", found=group)
    return faults


def _options(fields: Mapping[str, str], faults: Faults) -> dict[str, Any]:
    """How a reference run shall make the answer, each value checked."""
    options: dict[str, Any] = {}
    if (method := fields.get("method")) is not None:
        if METHOD.fullmatch(method):
            options["method"] = method
        else:
            faults.expect("method", "", expected="a method's name", found=repr(method[:80]))
    for key, kind, most in (("seconds", float, 3600), ("seed", int, 2**63 - 1)):
        if (text := fields.get(key)) is not None:
            try:
                value = kind(text)
            except ValueError:
                value = kind(-1)
            if 0 <= value <= most and (key == "seed" or value > 0):
                options[key] = value
            else:
                faults.expect(key, "", expected=f"a number up to {most}", found=repr(text[:80]))
    return options


def _check(
    service: Service, row: ProblemRow, path: str, given: bytes, expected: bytes | None, faults: Faults
) -> FoundScore | None:
    """Hold the files against the package's rules for texts, the problem's bounds and its checker."""
    files = {f"{path}.in": given, **({f"{path}.ans": expected} if expected is not None else {})}
    check_texts(files, faults)
    limit = row.settings["inputs"]["limit"]
    if len(given) > limit:
        faults.expect(f"{path}.in", "", expected=f"at most {limit} bytes", found=str(len(given)))
        return None
    question = Validate(row.settings["checker"], given, expected=expected)
    try:
        validated = service.engine.validate(question).result()
    except JudgeFailed as failed:
        faults.add(f"{path}.in", f"the checker failed by itself: {failed}")
        return None
    for fault in validated.faults:
        suffix = ".in" if fault["file"] == "input" else ".ans"
        faults.add(f"{path}{suffix}", fault["text"])
    return validated.score
