"""One test case of a problem: its input and its expected answer, put again or deleted.

- Jobs as pages: how far each is, its log, and a button that cancels it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, cast

from fastapi import Depends, Request, Response
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app.authoring.service import jobs, packages, testcases
from app.core.messages import N_, Message, NotFound, did_you_mean
from app.core.pages import forms, sent_forms
from app.core.pages.languages import _, confirm
from app.core.pages.pages import type_word
from app.core.pages.visitor import Fields, how_of
from app.core.pages.visits import Look, Visit
from app.core.service import Service
from app.judging.service.problem_changes import How, Preview
from app.problems.queries.problems import existing, test_case

# Bytes of a file that a form shows as text; longer ones, and those that are no text, are put as files.
LONGEST = 20_000


async def _sent(request: Request, problem_id: str) -> tuple[testcases.CaseRequest, How]:
    """The case of a form with files or texts, of which a file goes first; for the version that the form shows."""
    texts = {"group", "name", "input_text", "answer_text", sent_forms.SEEN_VERSION}
    async with forms.open_form(request, texts=texts, files={"input", "answer"}) as form:
        data = {
            kind: form.read(kind) or form.texts.get(f"{kind}_text", "").replace("\r\n", "\n").encode() or None
            for kind in ("input", "answer")
        }
        group, name = (form.texts.get(each, "").strip() for each in ("group", "name"))
        return testcases.CaseRequest(problem_id, group, name, data["input"], data["answer"], {}), how_of(form.texts)


def case_page(visit: Look, problem_id: str, case_name: str) -> HTMLResponse:
    """A test case with its files, as texts where they are short, and the forms to change it."""
    case = _case(visit.session, problem_id, case_name)
    return visit.page(
        "organiser/case.html",
        problem_id=problem_id,
        case=case,
        seen_version=existing(visit.session, problem_id).version,
        input=_text(visit.service, case.sha256, case.size),
        answer=None if case.answer_sha256 is None else _text(visit.service, case.answer_sha256, case.answer_size or 0),
    )


def put_case(
    visit: Visit, sent: Annotated[tuple[testcases.CaseRequest, How], Depends(_sent)], problem_id: str
) -> Response:
    """Put a case, new or there already; what would change anyone's points waits as a rejudging."""
    asked, how = sent
    if asked.input is None:
        asked = replace(asked, input=_stored(visit.service, problem_id, asked.name))
    outcome = testcases.put_case(visit.service, visit.viewer, asked, how)
    assert not isinstance(outcome, Preview), "none was asked for"
    return visit.led_on(outcome, f"/admin/problems/{problem_id}/case/{asked.name}")


def delete_case(fields: Fields, visit: Look, problem_id: str, case_name: str) -> Response:
    """Delete a case; what would change anyone's points waits as a rejudging."""
    confirm(
        fields,
        _("Delete the case %(case)s?", case=case_name),
        _("A change that affects points becomes a pending rejudging. Earlier versions keep the case."),
        _("Delete the case"),
    )
    group = _case(visit.session, problem_id, case_name).group
    opened = testcases.delete_case(visit.service, visit.viewer, (problem_id, group, case_name), How())
    return visit.led_on(opened, f"/admin/problems/{problem_id}/cases", done="removed")


def _case(session: Session, problem_id: str, name: str) -> packages.CaseView:
    """A case of the problem's newest version; raises NotFound."""
    known = {each.name: each for each in packages.one(session, problem_id).testcases}
    if name not in known:
        raise NotFound(
            did_you_mean(
                Message(N_("problem %(problem)r has no test case %(case)r"), problem=problem_id, case=name), name, known
            )
        )
    return known[name]


def _stored(service: Service, problem_id: str, name: str) -> bytes | None:
    """The input of a case that is there already; None for a new one."""
    with service.database.read() as session:
        row = test_case(session, problem_id, name)
        return None if row is None else service.files.load(row.input_sha256)


def _text(service: Service, digest: str, size: int) -> str | None:
    """A stored file as text for a form; None where it is too long or no text."""
    if size > LONGEST:
        return None
    try:
        text = service.files.load(digest).decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


GOING = frozenset({"queued", "running"})


def jobs_page(visit: Look) -> HTMLResponse:
    """The latest jobs that the viewer may see, newest first."""
    listed = jobs.newest(visit.session, visit.viewer)
    return visit.page(
        "organiser/jobs.html",
        jobs=listed,
        is_going=any(job.state in GOING for job in listed),
    )


def job_page(visit: Look, job_id: str) -> HTMLResponse:
    """A job: its progress, its log and its result."""
    job = jobs.one(visit.session, visit.viewer, job_id)
    result = job.result or {}
    report = cast(Mapping[str, Sequence[object]], result.get("report") or {})
    return visit.page(
        "organiser/job.html",
        job=job,
        kind=type_word(job.kind),
        is_going=job.state in GOING,
        cases=_cases(job),
        error=result.get("error"),
        findings=[*report.get("errors", []), *report.get("warnings", []), *report.get("notes", [])],
        is_verified=bool(report),
    )


def cancel_job(visit: Visit, job_id: str) -> Response:
    """Stop everything that the job runs; what it has finished stays."""
    jobs.cancel(visit.service, visit.viewer, job_id)
    return visit.see(f"/admin/jobs/{job_id}")


def _cases(job: jobs.Job) -> list[tuple[str, dict[str, object]]]:
    """The results of a reference run, case by case."""
    cases = (job.result or {}).get("cases")
    if isinstance(cases, dict):
        return [(str(name), facts) for name, facts in cases.items() if isinstance(facts, dict)]
    return []
