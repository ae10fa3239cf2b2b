"""The problems of a contest: putting them in, taking them out, their labels, points and versions.

- The form for a prediction contest, which is made of one CSV table.
"""

from collections.abc import Mapping, Sequence

from anyio.to_thread import run_sync
from fastapi import Response
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.authoring.service import contest_problems, packages
from app.contests import queries as contests_queries
from app.core.messages import N_, BadRequest
from app.core.pages import forms, wording
from app.core.pages.languages import _, named, refuse_outdated
from app.core.pages.visits import Change, ContestLook, Look, Visit
from app.domain.contests import Kind, ScoredProblem
from app.domain.participation import is_for_practice
from app.judging.service.problem_changes import How
from app.problems.queries import pins


def problems_page(visit: ContestLook) -> HTMLResponse:
    """The problems of the contest in order, and those that may be put in."""
    contest_id = visit.snapshot.contest.id
    entries = _entries(visit.session, visit.viewer, contest_id, visit.snapshot.contest.problems)
    taken = {entry["id"] for entry in entries}
    manages = visit.viewer.manages
    return visit.framed(
        "organiser/contest_problems.html",
        "problems",
        entries=entries,
        is_practice=is_for_practice(visit.snapshot.contest.clock),
        others=[each for each in packages.listed(visit.session, visit.viewer) if manages and each.id not in taken],
    )


def add_problems(change: Change, contest_id: str) -> Response:
    """Put the problems that are ticked into the contest, all of them or none."""
    wanted = [name.removeprefix("p.") for name in change.fields if name.startswith("p.")]
    if not wanted:
        raise BadRequest(N_("expected at least one to be selected, found none"), where="problems")
    for problem_id in wanted:
        rule = {"reference_counts": True} if f"r.{problem_id}" in change.fields else {}
        body = forms.made_of_values(contest_problems.EntryBody, {"id": problem_id, "rule": rule})
        contest_problems.add(change.session, change.service.boards, change.viewer, contest_id, body)
        change.session.flush()
    return change.see(f"/admin/contests/{contest_id}/problems", done="added")


def change_problem(change: Change, contest_id: str, problem_id: str) -> Response:
    """Change a problem's label, its points or its version here; what would change results waits as a rejudging."""
    if "label" in change.fields:
        contests_queries.get(change.session, contest_id, for_update=True)
        labels = {row.problem_id: row.label for row in contests_queries.entries(change.session, contest_id)}
        refuse_outdated(change.fields, {"label": labels.get(problem_id, "")})
    values = _change(change.fields)
    if change.fields.get("reference") in {"yes", "no"}:
        own = contests_queries.entry(change.session, contest_id, problem_id)
        rule = {} if own is None else own.rule.model_dump(exclude_unset=True)
        values["rule"] = {**rule, "reference_counts": change.fields["reference"] == "yes"}
    body = forms.made_of_values(contest_problems.EntryChange, values)
    entry = contest_id, problem_id
    outcome = contest_problems.alter(change.service, change.viewer, change.session, entry, body, How())
    return change.led_on(outcome, f"/admin/contests/{contest_id}/problems")


def remove_problem(change: Change, contest_id: str, problem_id: str) -> Response:
    """Take a problem out, as long as no one has sent anything for it here."""
    change.confirm(
        _("Remove the problem %(problem)s from the contest?", problem=problem_id),
        _("The problem itself stays on the server, and can be added again."),
        _("Remove the problem"),
    )
    contest_problems.remove(change.session, change.service.boards, contest_id, problem_id)
    return change.see(f"/admin/contests/{contest_id}/problems", done="removed")


def new_predictions(visit: Look) -> HTMLResponse:
    """The form for a prediction contest."""
    return visit.page("organiser/predictions.html")


async def create_predictions(visit: Visit) -> Response:
    """Create a prediction contest, and lead to it."""
    async with forms.open_form(visit.request, texts=contest_problems.TableBody.model_fields, files={"table"}) as form:
        sent = form.read("table") or b"", forms.made_of(contest_problems.TableBody, form.texts)
        made = await run_sync(contest_problems.create_predictions, visit.service, visit.viewer, *sent)
    visit.authenticator.forget(visit.viewer.account_id)
    return visit.see(f"/admin/contests/{made.id}", done="predictions")


def _change(fields: Mapping[str, str]) -> dict[str, object]:
    """The values of a change: each form changes one thing."""
    if "version" in fields:
        return {"version": forms.whole_number("version", fields["version"])}
    values: dict[str, object] = {}
    if fields.get("label", "").strip():
        values["label"] = fields["label"].strip()
    if (ordinal := forms.whole_number("ordinal", fields.get("ordinal", ""))) is not None:
        values["ordinal"] = ordinal
    return values


def _entries(
    session: Session, viewer: Viewer, contest_id: str, scored: Sequence[ScoredProblem]
) -> list[dict[str, object]]:
    scored_by_id = {problem.id: problem for problem in scored}
    listed = []
    for row in contests_queries.entries(session, contest_id):
        problem = pins.row(session, contest_id, row.problem_id)
        cases = pins.cases(session, contest_id, row.problem_id)
        known = scored_by_id.get(row.problem_id)
        listed.append(
            {
                "id": row.problem_id,
                "label": row.label,
                "name": named(problem.names, row.problem_id),
                "line": "" if known is None else wording.rule_line(known.rule, len(cases), known.groups),
                "lacking": sum(case.answer_sha256 is None for case in cases),
                "version": row.version or problem.version,
                "newest": problem.version,
                "is_pinned": row.version is not None,
                "submissions": contests_queries.submission_count(session, contest_id, problem_id=row.problem_id),
                "may_open": viewer.reads_problem(row.problem_id),
                "reference_counts": known.rule.reference_counts if known and known.rule.kind is Kind.RELATIVE else None,
            }
        )
    return listed
