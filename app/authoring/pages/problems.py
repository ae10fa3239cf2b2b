"""Problems as such: bringing packages in with all faults, verification, ladder, cases, versions, reference runs."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, cast

from anyio.to_thread import run_sync
from fastapi import Depends, Query, Request, Response
from fastapi import Path as PathParameter
from fastapi.responses import HTMLResponse

from app.authoring.service import jobs, packages, testcases, versions
from app.core.http.errors import status_of, written
from app.core.messages import N_, BadRequest, ServiceError
from app.core.pages.forms import made_of_values, open_form, whole_number
from app.core.pages.languages import _, confirm, named, ngettext
from app.core.pages.visitor import (
    Fields,
    faults_of,
    how_of,
)
from app.core.pages.visits import Change, Look, Visit
from app.judging.service.problem_changes import How
from app.problems.queries.testdata import DataBody

Number = Annotated[int, PathParameter(ge=1, lt=2**31)]
AGGREGATIONS = ("sum", "min", "pass-fail")


def list_page(visit: Look) -> HTMLResponse:
    """The problems that the viewer may read, and the form to bring a package in."""
    return _list(visit)


@asynccontextmanager
async def _open_package(request: Request) -> AsyncIterator[packages.SentPackage]:
    """The package of a form in a file of its own, gone afterwards; raises BadRequest where there is none."""
    async with open_form(request, texts={"id"}, files={"package"}) as form:
        sent = form.file("package")
        if sent is None or not sent.name:
            raise BadRequest(N_("expected a zip file, found nothing"), where="package")
        async with written(sent.stream) as path:
            yield packages.SentPackage(path, form.texts.get("id", "").strip() or None, Path(sent.name).stem or None)


async def bring_in(visit: Visit) -> Response:
    """Bring a package in, and show the problem; or the list again with every fault by file and line."""
    try:
        async with _open_package(visit.request) as sent:
            outcome = await run_sync(packages.bring_in, visit.service, visit.viewer, sent, How())
    except ServiceError as refusal:
        return await run_sync(_refused, visit, refusal)
    visit.authenticator.forget(visit.viewer.account_id)  # it may own a problem more
    if isinstance(outcome, packages.BroughtIn):
        return visit.see(f"/admin/problems/{outcome.id}", done="added")
    return visit.led_on(outcome, "/admin/problems")


def problem_page(visit: Look, problem_id: str) -> HTMLResponse:
    """A problem whole: where it stands, what its verification found, its cases by groups, versions and jobs."""
    return _problem(visit, problem_id)


async def _zip(request: Request) -> tuple[bytes, bool]:
    """The zip of cases of a form, and whether all other cases go."""
    async with open_form(request, texts={"only"}, files={"cases"}) as form:
        data = form.read("cases")
        if not data:
            raise BadRequest(N_("expected a zip file, found nothing"), where="cases")
        return data, "only" in form.texts


def add_cases(visit: Visit, sent: Annotated[tuple[bytes, bool], Depends(_zip)], problem_id: str) -> Response:
    """Put the cases of a zip; shows every fault by its entry where there are some."""
    data, only = sent
    try:
        outcome = testcases.put_cases(visit.service, visit.viewer, problem_id, data, How(), only=only)
    except ServiceError as refusal:
        with visit.reading() as look:
            return _problem(look, problem_id, refusal)
    return visit.led_on(outcome, f"/admin/problems/{problem_id}")


def arrange_cases(visit: Visit, fields: Fields, problem_id: str) -> Response:
    """Change groups, their points, the groups and the order of cases, or delete those ticked, as one version."""
    body = made_of_values(DataBody, _arrangement(fields))
    if body.delete:
        confirm(
            fields,
            ngettext("Delete %(num)s case?", "Delete %(num)s cases?", len(body.delete)),
            _("A change that affects points becomes a pending rejudging. Earlier versions keep the cases."),
            _("Delete"),
        )
    outcome = testcases.arrange(visit.service, visit.viewer, problem_id, body, how_of(fields))
    return visit.led_on(outcome, f"/admin/problems/{problem_id}")


def verify(change: Change, problem_id: str) -> Response:
    """Run everything that the package brings, as a job."""
    job = jobs.start_verification(change.session, change.service, change.viewer, problem_id)
    return change.see(f"/admin/jobs/{job.id}")


def run_reference(change: Change, problem_id: str) -> Response:
    """Let the reference solver make the answers of the cases that are ticked, or of those that lack one."""
    ticked = [name.removeprefix("c.") for name in change.fields if name.startswith("c.")]
    values: dict[str, object] = {name: change.fields[name] for name in ("seconds", "method") if change.fields.get(name)}
    asked = made_of_values(jobs.ReferenceRunRequest, {**values, "testcases": ticked or None}, strict=False)
    job = jobs.start_run(change.session, change.service, change.viewer, problem_id, asked)
    return change.see(f"/admin/jobs/{job.id}")


def version_page(
    visit: Look, problem_id: str, number: Number, against: Annotated[int | None, Query(ge=1, lt=2**31)] = None
) -> HTMLResponse:
    """What a version of a problem changes, field by field and case by case."""
    return visit.page(
        "organiser/version.html",
        problem_id=problem_id,
        version=versions.one(visit.session, problem_id, number),
        diff=versions.diff(visit.session, problem_id, number, against),
    )


def restore_version(change: Change, problem_id: str, number: Number) -> Response:
    """Make a version the newest again; what would change results waits as a rejudging."""
    outcome = versions.restore(change.service, change.viewer, change.session, problem_id, number, How())
    return change.led_on(outcome, f"/admin/problems/{problem_id}")


def _list(visit: Look, refusal: ServiceError | None = None) -> HTMLResponse:
    return visit.page(
        "organiser/problems.html",
        200 if refusal is None else status_of(refusal),
        problems=packages.listed(visit.session, visit.viewer),
        may_bring_in=visit.viewer.is_admin or visit.viewer.grants.organiser,
        faults=[] if refusal is None else faults_of(refusal),
    )


def _refused(visit: Visit, refusal: ServiceError) -> HTMLResponse:
    with visit.reading() as look:
        return _list(look, refusal)


def _problem(visit: Look, problem_id: str, refusal: ServiceError | None = None) -> HTMLResponse:
    session, viewer = visit.session, visit.viewer
    problem = packages.one(session, problem_id)
    verification = jobs.verification(session, viewer, problem_id)
    result = (verification and verification.result) or {}
    report = cast(Mapping[str, Sequence[object]], result.get("report") or {})
    cases: dict[str, list[packages.CaseView]] = {group.name: [] for group in problem.groups}
    for case in problem.testcases:
        cases.setdefault(case.group, []).append(case)
    return visit.page(
        "organiser/problem.html",
        200 if refusal is None else 400,
        faults=[] if refusal is None else faults_of(refusal),
        problem=problem,
        name=named(problem.names, problem.id),
        groups=[(group, cases[group.name]) for group in problem.groups],
        owns=viewer.is_admin or viewer.grants.problems.get(problem_id) == "owner",
        verification=verification,
        findings=[*report.get("errors", []), *report.get("warnings", []), *report.get("notes", [])],
        example_points=report.get("points", {}),
        ladder=_ladder(problem.settings),
        has_solver=problem.settings.get("reference") is not None,
        versions=versions.listed(session, problem_id),
        jobs=[job for job in jobs.newest(session, viewer) if job.params.get("problem_id") == problem_id][:10],
        aggregations=AGGREGATIONS,
    )


def _ladder(settings: Mapping[str, object]) -> Sequence[tuple[str, str]]:
    """The methods of the problem's ladder with the points that each must earn, out of 100."""
    ladder = cast(Mapping[str, Mapping[str, object]], settings.get("ladder") or {})
    return [
        (name, f"{span[0]:g} to {span[1]:g}")
        for name, span in ladder.get("points", {}).items()
        if isinstance(span, list)
    ]


def _arrangement(fields: Mapping[str, str]) -> dict[str, object]:
    """The document of a change of cases: each form changes one group, or the cases that it ticks."""
    values: dict[str, object] = {}
    group = fields.get("group", "").strip()
    ticked = [name.removeprefix("c.") for name in fields if name.startswith("c.")]
    if fields.get("act") == "group":
        known: dict[str, object] = {"name": group}
        if fields.get("max_points", "").strip():
            known["max_points"] = whole_number("max_points", fields["max_points"])
        if fields.get("aggregation"):
            known["aggregation"] = fields["aggregation"]
        values["groups"] = [known]
    elif not ticked:
        raise BadRequest(N_("expected at least one to be ticked, found none"), where="cases")
    elif fields.get("act") == "delete":
        values["delete"] = ticked
    elif fields.get("act") == "first":
        values["order"] = ticked
    elif fields.get("act") == "move":
        values["move"] = dict.fromkeys(ticked, group)
        values["groups"] = [{"name": group}]
    elif fields.get("act") == "points":
        values["points"] = dict.fromkeys(ticked, whole_number("points", fields.get("points", "")))
    else:
        raise BadRequest(N_("expected group, delete, first, move or points, found something else"), where="act")
    return values
