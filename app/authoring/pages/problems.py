"""Problems: importing and creating them, and the tabs of each, whose forms change its package."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from anyio.to_thread import run_sync
from fastapi import Depends, Query, Request, Response
from fastapi import Path as PathParameter
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from app.authoring.service import editing, jobs, packages, testcases, versions
from app.core.http.errors import status_of, written
from app.core.messages import N_, BadRequest, NotFound, ServiceError
from app.core.pages.forms import accepted_languages, made_of_values, open_form, whole_number
from app.core.pages.languages import _, confirm, ngettext
from app.core.pages.visitor import Fields, faults_of, how_of
from app.core.pages.visits import Change, Look, Visit
from app.judging.service.problem_changes import How
from app.packages import markdown, zips
from app.packages.skeletons import choices, writing
from app.problems.queries.packing import ARGUMENTS
from app.problems.queries.problems import existing, test_cases
from app.problems.queries.testdata import DataBody
from app.problems.service import problems

Number = Annotated[int, PathParameter(ge=1, lt=2**31)]
Tab = Literal["overview", "statement", "cases", "checker", "scoring", "samples", "versions", "preview"]
LINE = re.compile(r"(?::|line )([0-9]{1,6})\b")
OF_IMAGES = "default-src 'none'; style-src 'unsafe-inline'; sandbox"  # an SVG may hold scripts
# The texts of the forms that edit a package, try an answer or add cases.
TEXTS = """
    act language title path text remove folder name least most checker args protocol kind direction testcase answer
    group only seen_version
"""
MOST_FILES = 500
# The texts of a form, and its files by name.
Sent = tuple[dict[str, str], dict[str, bytes]]


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


def new_page(visit: Look) -> HTMLResponse:
    """The form that creates a problem."""
    return visit.page("organiser/problem_new.html", fitting=choices.FITTING)


def create(visit: Visit, fields: Fields) -> Response:
    """Create a problem, and show it."""
    values: dict[str, object] = {name: fields.get(name, "") for name in ("id", "title", "scoring", "checker")}
    values |= {"languages": fields.get("languages", "").replace(",", " ").split(), "empty": "empty" in fields}
    created = editing.create(visit.service, visit.viewer, made_of_values(editing.NewProblem, values))
    visit.authenticator.forget(visit.viewer.account_id)  # it owns a problem more
    return visit.see(f"/admin/problems/{created.id}", done="created")


def problem_page(visit: Look, problem_id: str, tab: Tab = "overview") -> HTMLResponse:
    """A tab of a problem: where it stands, or a part of its package to be edited."""
    return _problem(visit, problem_id, tab, visit.request.query_params)


async def _sent(request: Request) -> Sent:
    """The texts and files of a form, without fields of files in which none was chosen."""
    async with open_form(request, texts=TEXTS.split(), files={"files"}, most_files=MOST_FILES) as form:
        files = {name.rpartition("/")[2]: stream.read() for name, stream in form.named("files")}
        texts = {name: text.replace("\r\n", "\n") for name, text in form.texts.items()}
        return texts, {name: data for name, data in files.items() if data or name != "files"}


Uploaded = Annotated[Sent, Depends(_sent)]


def save(visit: Visit, sent: Uploaded, problem_id: str, tab: Tab) -> Response:
    """Save the part of the package that a tab edits; or show a preview of it, or what the checker says of an answer."""
    (fields, files), refusal, trial = sent, None, None
    try:
        if fields.get("act") == "try":
            asked = {name: fields.get(name, "") for name in ("testcase", "answer")}
            trial = editing.try_answer(visit.service, problem_id, made_of_values(editing.TrialRequest, asked))
        elif fields.get("act") != "preview":
            with visit.reading() as look:
                change = _edit(packages.one(look.session, problem_id), fields, files)
            outcome = editing.edit(visit.service, visit.viewer, problem_id, change, how_of(fields))
            query = {"lang": fields["language"]} if "title" in fields else {}
            return visit.led_on(outcome, f"/admin/problems/{problem_id}/{tab}", **query)
    except BadRequest as error:
        refusal = error
    with visit.reading() as look:
        return _problem(look, problem_id, tab, fields, refusal, trial)


def _edit(problem: packages.ProblemDetails, fields: Mapping[str, str], files: Mapping[str, bytes]) -> editing.Edit:
    """The files and the YAML keys of a package that a form changes."""
    changed: dict[str, bytes | None] = dict.fromkeys(fields.get("remove", "").split())
    folder = "/".join(filter(None, (fields.get("folder"), fields.get("name"))))
    changed |= {f"{folder}/{name}": data for name, data in files.items()}
    if path := fields.get("path"):
        changed[path] = fields.get("text", "").encode()
    keys: dict[str, dict[str, object]] = {"jurado.yaml": {}}
    if "title" in fields:
        keys["problem.yaml"] = {"name": {**problem.names, fields.get("language", ""): fields["title"]}}
    elif fields.get("act") == "drop":
        keys["problem.yaml"] = {
            "name": {code: name for code, name in problem.names.items() if code != fields["language"]}
        }
    if "kind" in fields:
        keys["jurado.yaml"]["scoring"] = {name: fields.get(name, "") for name in ("kind", "direction")}
    if "checker" in fields:
        points = "fraction" if problem.scoring["kind"] == "absolute" else "raw"
        program = {"protocol": fields["protocol"], "points": points} if fields.get("protocol") else None
        keys["jurado.yaml"] |= {"checker": fields["checker"] or None, "program": program}
        args = fields.get("args", "").split()
        if args or fields["checker"] != problem.checker:  # the same checker keeps its arguments
            keys |= {f"data/{each.name}/test_group.yaml": {ARGUMENTS: args or None} for each in problem.groups}
    if fields.get("least"):
        score = [whole_number(name, fields.get(name, "")) for name in ("least", "most")]
        keys["submissions/submissions.yaml"] = {folder.removeprefix("submissions/"): {"score": score}}
    return changed, keys


def package_file(visit: Look, problem_id: str, path: str) -> Response:
    """An image of a statement, as its editor shows it; raises NotFound."""
    image = editing.read_files(visit.service, existing(visit.session, problem_id), path).get(path)
    media_type = markdown.image_type(path)
    if image is None or media_type is None:
        raise NotFound(N_("no page %(page)r"), page=path[:200])
    return Response(image, headers={"Content-Security-Policy": OF_IMAGES}, media_type=media_type)


def add_cases(visit: Visit, sent: Uploaded, problem_id: str) -> Response:
    """Put the cases of a zip, or of files NAME.in and NAME.ans; shows every fault by its entry where there are some."""
    fields, files = sent
    if not files:
        raise BadRequest(N_("expected files, found none"), where="files")
    name, data = next(iter(files.items()))
    if len(files) > 1 or not name.endswith(".zip"):
        data = zips.zip_bytes({f"{fields.get('group') or 'secret'}/{name}": data for name, data in files.items()})
    try:
        outcome = testcases.put_cases(
            visit.service, visit.viewer, problem_id, data, how_of(fields), only="only" in fields
        )
    except BadRequest as refusal:
        with visit.reading() as look:
            return _problem(look, problem_id, "cases", fields, refusal)
    return visit.led_on(outcome, f"/admin/problems/{problem_id}/cases")


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
    tab = "scoring" if fields.get("act") == "group" else "cases"
    return visit.led_on(outcome, f"/admin/problems/{problem_id}/{tab}")


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
    return change.led_on(outcome, f"/admin/problems/{problem_id}/versions")


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


def _problem(
    visit: Look,
    problem_id: str,
    tab: Tab,
    asked: Mapping[str, str],
    refusal: ServiceError | None = None,
    trial: editing.Trial | None = None,
) -> HTMLResponse:
    """A tab, with what was asked for or sent; its template reads only what it shows."""
    service, session = visit.service, visit.session
    row, problem = existing(session, problem_id), packages.one(session, problem_id)
    samples = problems.samples_of(service, row, test_cases(session, problem_id))
    spoken = problems.choose_language(None, accepted_languages(visit.request), sorted(row.names))
    language = asked.get("language") or asked.get("lang") or spoken
    folder = f"{visit.request.scope.get('root_path', '')}/admin/problems/{problem_id}/files/statement"
    faults = [] if refusal is None else faults_of(refusal)
    lines = [line for fault in faults for line in str(fault.get("message")).splitlines()]

    def shown(text: str) -> Markup:
        return Markup(problems.fragment(problem_id, problems.with_samples(text, samples, language), folder))

    def outline(path: str) -> str:
        wanted = choices.Choices(problem_id, "points", "python" if path == "checker.py" else "c++", empty=True)
        return writing.skeleton(problem_id, wanted)[path].decode()

    return visit.page(
        f"organiser/problem_{tab}.html",
        200 if refusal is None else 400,
        faults=faults,
        wrong=[(int(place[1]), line) for line in lines if (place := LINE.search(line))],
        problem=problem,
        tab=tab,
        asked=asked,
        language=language,
        trial=trial,
        read=partial(editing.read_files, service, row),
        shown=shown,
        outline=outline,
        verification=jobs.verification(session, visit.viewer, problem_id),
        jobs=partial(jobs.newest, session, visit.viewer),
        versions=partial(versions.listed, session, problem_id),
    )


def _arrangement(fields: Mapping[str, str]) -> Mapping[str, object]:
    """The document of a change of cases: each form changes one group, or the cases that it ticks."""
    act, group = fields.get("act", ""), fields.get("group", "").strip()
    ticked = [name.removeprefix("c.") for name in fields if name.startswith("c.")]
    if act == "group":
        most = whole_number("max_points", fields.get("max_points", ""))
        final = {"yes": True, "no": False}.get(fields.get("final", ""))
        known = {"name": group, "max_points": most, "aggregation": fields.get("aggregation") or None, "final": final}
        return {"groups": [{name: value for name, value in known.items() if value is not None}]}
    if not ticked:
        raise BadRequest(N_("expected at least one to be selected, found none"), where="cases")
    changes: Mapping[str, Mapping[str, object]] = {
        "delete": {"delete": ticked},
        "first": {"order": ticked},
        "move": {"move": dict.fromkeys(ticked, group), "groups": [{"name": group}]},
        "points": {"points": dict.fromkeys(ticked, whole_number("points", fields.get("points", "")))},
    }
    if act not in changes:
        raise BadRequest(N_("expected group, delete, first, move or points, found something else"), where="act")
    return changes[act]
