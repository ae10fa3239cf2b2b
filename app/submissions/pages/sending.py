"""Sending answers from the page of a problem, also without script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypedDict, cast

from fastapi import Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy.orm import Session

from app.core.errors import Unauthorized
from app.core.messages import N_
from app.core.pages.languages import gettext
from app.core.pages.visitor import TheService, visitor
from app.domain.contests import Carry, Counting, ScoredProblem
from app.problems.queries import pins
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries.submission_context import answer_rules
from app.submissions.service.answer_files import PATTERNS
from app.submissions.service.submit import OpeningForm, submit

# What becomes of a case without a file.
KEPT = {
    Carry.BEST: N_("your best answer so far stays in force"),
    Carry.LATEST: N_("your latest answer stays in force"),
    Carry.NONE: N_("an earlier answer does not count beside this submission"),
}


class PanelCase(TypedDict):
    """A case that a file may be for; `has`: an answer to it counts already."""

    name: str
    has: bool


class Panel(TypedDict):
    """The facts by which the panel looks at files before they are sent."""

    label: str
    limit: int
    patterns: Sequence[str]
    cases: Sequence[PanelCase]
    kept: str


class Case(Protocol):
    """A case of the problem's page."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def mine(self) -> int | float | None: ...  # noqa: D102


def panel(session: Session, snapshot: ContestSnapshot, problem: ScoredProblem, cases: Sequence[Case]) -> Panel:
    """The facts for the panel of a problem; the server goes by the same ones when the files come."""
    row = pins.row(session, snapshot.contest.id, problem.id)
    assert row is not None, "the problem is in the contest"
    limit, pattern = answer_rules(row, snapshot.contest.settings)
    rule = problem.rule
    return {
        "label": snapshot.contest.labels.get(problem.id, problem.id),
        "limit": limit,
        "patterns": [pattern] if pattern else PATTERNS,
        "cases": [{"name": case.name, "has": case.mine is not None} for case in cases],
        "kept": gettext(KEPT[Carry.BEST if rule.counting is Counting.BEST_CASE else rule.carry]),
    }


async def send_answers(request: Request, service: TheService, contest_id: str) -> Response:
    """Take the files as the API does, and go to the report of the submission."""
    viewer = await visitor(request)
    if not viewer.logged_in:
        raise Unauthorized(N_("log in to send answers"))
    opening = cast(OpeningForm, request.app.state.open_submission_form(request))
    taken = await submit(service, viewer, contest_id, opening)
    root = request.scope.get("root_path", "")
    return RedirectResponse(f"{root}/c/{contest_id}/submissions/{taken.id}", 303)
