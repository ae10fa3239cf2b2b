"""HTTP routes: which problems are in a contest, under which label, and how they are scored there."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from app.api.http.deps import AdminOnly, TheBoards, TheService, Writing
from app.api.http.gated import GatedRoute
from app.api.http.middleware import API
from app.api.rejudgings.problem_changes import Joins, accepted
from app.services.bodies import same_id
from app.services.contests.changes import refuse_final
from app.services.contests.contests import contest_of
from app.services.errors import BadRequest, Conflict
from app.services.problems.contest_problems import (
    EntryBody,
    EntryChange,
    EntryView,
    check_label,
    checked_rule,
    entry_of,
    problem_row,
    view,
)
from app.services.rejudgings.problem_changes import RESPONSES, change
from app.services.transactions import after_commit
from app.storage import contests, problems
from app.storage.tables import ContestProblemRow

router = APIRouter(route_class=GatedRoute, tags=["contests"])


@router.post("/contests/{contest_id}/problems", summary="Put a problem into a contest", status_code=201)
def add_contest_problem(
    _viewer: AdminOnly, session: Writing, boards: TheBoards, contest_id: str, body: EntryBody, response: Response
) -> EntryView:
    """The scoring rule may be given, else it is the problem's own."""
    refuse_final(contest_of(session, contest_id))
    problem = problems.get(session, body.id)
    if problem is None:
        raise BadRequest(f"id: expected a problem that exists, found {body.id!r}")
    there = contests.entries(session, contest_id)
    if any(entry.problem_id == body.id for entry in there):
        raise Conflict(f"problem {body.id!r} is in the contest already")
    row = ContestProblemRow(
        contest_id=contest_id,
        problem_id=body.id,
        label=body.label or contests.free_label({entry.label for entry in there}),
        ordinal=body.ordinal if body.ordinal is not None else max((entry.ordinal for entry in there), default=-1) + 1,
        rgb=body.rgb,
        color=body.color,
        rule=body.rule.model_dump(exclude_none=True),
        limits=body.limits.model_dump(exclude_unset=True),
    )
    check_label(session, row)
    shown = view(session, row, problem)
    session.add(row)
    after_commit(session, lambda: boards.changed(contest_id))
    response.headers["Location"] = f"{API}/contests/{contest_id}/problems/{body.id}"
    return shown


@router.patch(
    "/contests/{contest_id}/problems/{problem_id}",
    summary="Change a problem's place, rule or limits",
    response_model=EntryView,
    responses=RESPONSES,
)
def change_contest_problem(
    viewer: AdminOnly,
    session: Writing,
    service: TheService,
    contest_id: str,
    problem_id: str,
    body: EntryChange,
    joins: Joins = None,
) -> Any:
    """The place changes at once; a rule that would change what anybody has becomes a rejudging (202), to be applied."""
    row = entry_of(session, contest_id, problem_id)
    refuse_final(contest_of(session, contest_id))
    same_id(problem_id, body.id)
    named = body.model_fields_set
    row.label = body.label or row.label
    row.ordinal = row.ordinal if body.ordinal is None else body.ordinal
    row.rgb = body.rgb if "rgb" in named else row.rgb
    row.color = body.color if "color" in named else row.color
    if body.limits is not None:
        row.limits = body.limits.model_dump(exclude_unset=True)
    check_label(session, row)
    after_commit(session, lambda: service.boards.changed(contest_id))
    if body.rule is not None:
        wanted = checked_rule(session, row, body.rule)

        def write() -> None:
            row.rule = wanted

        reason = f"another rule for {problem_id}"
        made = change(session, problem_id, write, reason, viewer.account_id, contest_id=contest_id, joins=joins)
        if made is not None:
            after_commit(session, service.engine.take_up)
            return accepted(made)
    return view(session, row, problem_row(session, problem_id))


@router.delete("/contests/{contest_id}/problems/{problem_id}", summary="Take a problem out", status_code=204)
def remove_contest_problem(
    _viewer: AdminOnly, session: Writing, boards: TheBoards, contest_id: str, problem_id: str
) -> None:
    """Only while nobody has submitted to it here."""
    row = entry_of(session, contest_id, problem_id)
    refuse_final(contest_of(session, contest_id))
    if count := contests.submission_count(session, contest_id, problem_id=problem_id):
        raise Conflict(f"the problem has {count} submissions in this contest")
    session.delete(row)
    after_commit(session, lambda: boards.changed(contest_id))
