"""The checklist of a contest before its start: what is set, what is missing, and what an organiser may want to know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.contests import queries as contests_queries
from app.contests.queries import clock, contest_of
from app.core.clock import utc_now
from app.core.service import Service
from app.problems.queries import pins
from app.problems.queries.pins import VERIFICATION
from app.tables import ContestProblemRow, ContestRow, JobRow
from app.teams import queries as teams_queries

# Names that a sentence lists.
SHOWN = 5


class Mark(StrEnum):
    """Whether a point is settled, open, or worth a look."""

    DONE = "done"
    OPEN = "open"
    LOOK = "look"


class Part(StrEnum):
    """The part of a contest in which a point is settled."""

    TIMES = "times"
    PROBLEMS = "problems"
    TEAMS = "teams"
    SERVER = "server"


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the checklist: its mark, the key and the values of its sentence, and the part that it is about."""

    mark: Mark
    key: str
    part: Part
    values: Mapping[str, str | int] = field(default_factory=dict)


def checklist(session: Session, service: Service, contest_id: str) -> list[Point]:
    """The points of a contest in the order in which one sets it up; raises NotFound."""
    row = contest_of(session, contest_id)
    return [
        *_times(row, utc_now()),
        *_problems(session, contests_queries.entries(session, contest_id)),
        *_teams(session, row),
        *_server(service),
    ]


def is_ready(points: Sequence[Point]) -> bool:
    """Whether nothing of the checklist is open."""
    return all(point.mark is not Mark.OPEN for point in points)


def _times(row: ContestRow, now: datetime) -> Iterator[Point]:
    times = clock(row)
    if times.start is None:
        yield Point(Mark.OPEN, "no-start", Part.TIMES)
    else:
        key = "started" if times.started(now) else "starts"
        yield Point(Mark.DONE, key, Part.TIMES, {"time": f"{times.start.astimezone(UTC):%Y-%m-%d %H:%M}"})
    if times.freeze_before_end is None:
        yield Point(Mark.LOOK, "no-freeze", Part.TIMES)
    else:
        yield Point(Mark.DONE, "freeze", Part.TIMES, {"time": str(times.freeze_before_end)})


def _problems(session: Session, entries: Sequence[ContestProblemRow]) -> Iterator[Point]:
    if not entries:
        yield Point(Mark.OPEN, "no-problems", Part.PROBLEMS)
        return
    yield Point(Mark.DONE, "problems", Part.PROBLEMS, {"num": len(entries)})
    verified: dict[str, JobRow] = {}
    for job in pins.jobs(session, VERIFICATION):
        verified.setdefault(str(job.params["problem_id"]), job)
    for entry in entries:
        yield from _problem(session, entry, verified.get(entry.problem_id))


def _problem(session: Session, entry: ContestProblemRow, verification: JobRow | None) -> Iterator[Point]:
    row = pins.row(session, entry.contest_id, entry.problem_id)
    cases = pins.cases(session, entry.contest_id, entry.problem_id)
    lacking = [case.name for case in cases if case.answer_sha256 is None]
    if lacking:
        yield Point(Mark.OPEN, "no-answers", Part.PROBLEMS, {"label": entry.label, **_listed(lacking)})
    if row is not None and not row.statements:
        yield Point(Mark.LOOK, "no-statement", Part.PROBLEMS, {"label": entry.label})
    if verification is None:
        return
    if verification.ended is None:
        yield Point(Mark.LOOK, "verifying", Part.PROBLEMS, {"label": entry.label})
    elif errors := _errors(verification):
        yield Point(Mark.OPEN, "verified-errors", Part.PROBLEMS, {"label": entry.label, "num": errors})
    elif verification.state != "done":
        values = {"label": entry.label, "state": verification.state}
        yield Point(Mark.OPEN, "verified-nothing", Part.PROBLEMS, values)


def _errors(verification: JobRow) -> int:
    report = (verification.result or {}).get("report")
    errors = report.get("errors") if isinstance(report, dict) else None
    return len(errors) if errors else 0


def _teams(session: Session, row: ContestRow) -> Iterator[Point]:
    known = teams_queries.taking_part(session, row)
    terms = accounts_queries.terms(session, row.id)
    is_open = terms is not None and terms.is_open
    if not known and not is_open:
        yield Point(Mark.OPEN, "no-teams", Part.TEAMS)
        return
    yield Point(Mark.DONE, "all-teams" if row.open_to_all else "teams", Part.TEAMS, {"num": len(known)})
    if is_open:
        yield Point(Mark.DONE, "registration", Part.TEAMS)
    with_passwords = accounts_queries.with_passwords(session)
    able = {account.team_id for account in accounts_queries.accounts(session) if account.id in with_passwords}
    unable = [team.name for team in known if team.id not in able and not team.hidden]
    if unable:
        yield Point(Mark.LOOK, "no-logins", Part.TEAMS, _listed(unable))


def _server(service: Service) -> Iterator[Point]:
    alive = service.engine.graders().alive
    if alive:
        yield Point(Mark.DONE, "graders", Part.SERVER, {"num": alive})
    else:
        yield Point(Mark.OPEN, "no-graders", Part.SERVER)


def _listed(names: Sequence[str]) -> dict[str, str | int]:
    return {"names": ", ".join(names[:SHOWN]), "more": max(0, len(names) - SHOWN)}
