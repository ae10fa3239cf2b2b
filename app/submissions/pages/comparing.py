"""The page that compares two submissions to a problem case by case, with both answers on one board's clock."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from fastapi import Query
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.core.messages import N_, BadRequest, Unauthorized
from app.core.pages.languages import _
from app.core.pages.visits import ContestLook
from app.core.pages.wording import shown_time, signed
from app.problems.queries import pins
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.pages.answers import MOST_LISTED, CaseLine, board_of, case_lines, group_lines
from app.submissions.queries import submission_queries
from app.submissions.service.reports import Report, report

Id = Annotated[str, Query(max_length=40)]


@dataclass(frozen=True, slots=True)
class Choice:
    """A submission that may be compared: its id, and when it came in the contest."""

    id: str
    time: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A case in both submissions; `change`: points that the second one has more, as text; empty: without points."""

    name: str
    first: CaseLine | None
    second: CaseLine | None
    change: str
    mark: str

    @property
    def has_answers(self) -> bool:
        """Whether there is something to draw."""
        return any(line is not None and line.has_answer for line in (self.first, self.second))


def compare_page(visit: ContestLook, a: Id = "", b: Id = "") -> HTMLResponse:
    """Show two submissions to one problem; if `b` is missing, `a` and the one before it."""
    session, viewer, snapshot = visit.session, visit.viewer, visit.snapshot
    if not viewer.logged_in and not snapshot.contest.settings.show_others_answers:
        raise Unauthorized(N_("log in to compare submissions"))
    first = report(viewer, snapshot, session, a) if a else None
    choices = _choices(viewer, snapshot, session, first)
    if not b:
        a, b = _pair(a, choices)
    first, second = (report(viewer, snapshot, session, each) if each else None for each in (a, b))
    if first is not None and second is not None and first.problem_id != second.problem_id:
        both = f"{first.problem_id} and {second.problem_id}"
        raise BadRequest(N_("expected a submission to the same problem as a, found %(found)s"), where="b", found=both)
    gain = 0.0 if first is None or second is None else (second.points or 0.0) - (first.points or 0.0)
    row = None if first is None else pins.row(session, snapshot.contest.id, first.problem_id)
    label = None if first is None else snapshot.contest.labels.get(first.problem_id, first.problem_id)
    return visit.framed(
        "compare.html",
        "answers",
        first=first,
        second=second,
        a=a,
        b=b,
        label=label,
        name="" if first is None else visit.names.problem(first.problem_id),
        board=board_of(visit.service, row),
        choices=choices,
        pairs=[] if first is None or second is None else _pairs(snapshot, first, second),
        groups=[group_lines(snapshot, each) for each in (first, second) if each is not None],
        change=None if first is None or second is None else signed(gain, 2) or _("no change"),
    )


def _choices(viewer: Viewer, snapshot: ContestSnapshot, session: Session, first: Report | None) -> list[Choice]:
    """The submissions of the viewer's own team, or for judges of the first one's, to its problem; newest first."""
    team_id = first.team_id if first is not None and viewer.sees_all else viewer.team_id
    if team_id is None:
        return []
    rows = submission_queries.of_team(session, snapshot.contest.id, team_id, MOST_LISTED)
    return [
        Choice(row.shown_id, shown_time(snapshot.contest.clock, timedelta(milliseconds=row.contest_time_ms)))
        for row in rows
        if first is None or row.problem_id == first.problem_id
    ]


def _pair(a: str, choices: Sequence[Choice]) -> tuple[str, str]:
    """Return a submission after the one before it, or before the next one; with "" if there is no other."""
    ids = [choice.id for choice in choices]
    if a not in ids or len(ids) == 1:
        return a, ""
    at = ids.index(a)
    return (ids[at + 1], a) if at + 1 < len(ids) else (a, ids[at - 1])


def _pairs(snapshot: ContestSnapshot, first: Report, second: Report) -> list[Pair]:
    lines = [{line.name: line for line in case_lines(snapshot, each)} for each in (first, second)]
    given = [{case.name: case.points or 0.0 for case in each.cases} for each in (first, second)]
    pairs = []
    for name in {**lines[0], **lines[1]}:
        one, other = lines[0].get(name), lines[1].get(name)
        gain = given[1].get(name, 0.0) - given[0].get(name, 0.0)
        change, mark = signed(gain, 2) or _("same"), "ac" if gain > 0 else "wa" if gain < 0 else "no"
        if any(line is not None and line.uncounted for line in (one, other)):
            change, mark = "", "no"
        pairs.append(Pair(name, one, other, change, mark))
    return pairs
