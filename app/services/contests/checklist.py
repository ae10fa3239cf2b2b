"""The checklist of a contest before its start: what is set, what is missing, and what an organiser may want to know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from sqlalchemy.orm import Session

from app.domain.clock import utc_now
from app.grading.verification import VERIFICATION
from app.service import Service
from app.services.contests.contests import contest_of
from app.storage import accounts, contests, jobs, pins, registrations, teams
from app.storage.scoring_input import clock
from app.storage.tables import ContestProblemRow, ContestRow, JobRow

SHOWN = 5
"""Names that a sentence lists."""


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
    """A point of the checklist: its mark, its sentence, and the part of the contest that it is about."""

    mark: Mark
    text: str
    part: Part


def checklist(session: Session, service: Service, contest_id: str) -> list[Point]:
    """The points of a contest in the order in which one sets it up; raises NotFound."""
    row = contest_of(session, contest_id)
    return [
        *_times(row, utc_now()),
        *_problems(session, contests.entries(session, contest_id)),
        *_teams(session, row),
        *_server(service),
    ]


def is_ready(points: Sequence[Point]) -> bool:
    """Whether nothing of the checklist is open."""
    return all(point.mark is not Mark.OPEN for point in points)


def _times(row: ContestRow, now: datetime) -> Iterator[Point]:
    times = clock(row)
    if times.start is None:
        yield Point(Mark.OPEN, "No start is set.", Part.TIMES)
    else:
        verb = "Started" if times.started(now) else "Starts"
        yield Point(Mark.DONE, f"{verb} {times.start.astimezone(UTC):%Y-%m-%d %H:%M} UTC.", Part.TIMES)
    if times.freeze_before_end is None:
        yield Point(Mark.LOOK, "The board does not freeze: everybody sees every result at once.", Part.TIMES)
    else:
        yield Point(Mark.DONE, f"The board freezes {times.freeze_before_end} before the end.", Part.TIMES)


def _problems(session: Session, entries: Sequence[ContestProblemRow]) -> Iterator[Point]:
    if not entries:
        yield Point(Mark.OPEN, "No problem is in the contest.", Part.PROBLEMS)
        return
    noun = "problem is" if len(entries) == 1 else "problems are"
    yield Point(Mark.DONE, f"{len(entries)} {noun} in the contest.", Part.PROBLEMS)
    verified: dict[str, JobRow] = {}
    for job in jobs.of_kind(session, VERIFICATION):
        verified.setdefault(str(job.params["problem_id"]), job)
    for entry in entries:
        yield from _problem(session, entry, verified.get(entry.problem_id))


def _problem(session: Session, entry: ContestProblemRow, verification: JobRow | None) -> Iterator[Point]:
    row = pins.row(session, entry.contest_id, entry.problem_id)
    cases = pins.cases(session, entry.contest_id, entry.problem_id)
    lacking = [case.name for case in cases if case.answer_sha256 is None]
    if lacking:
        text = f"{entry.label}: without an expected answer {_listed(lacking)}: nobody can answer these."
        yield Point(Mark.OPEN, text, Part.PROBLEMS)
    if row is not None and not row.statements:
        yield Point(Mark.LOOK, f"{entry.label} has no statement.", Part.PROBLEMS)
    if verification is None:
        return
    if verification.ended is None:
        yield Point(Mark.LOOK, f"{entry.label} is still being verified.", Part.PROBLEMS)
    elif errors := _errors(verification):
        yield Point(Mark.OPEN, f"{entry.label}: its verification found {errors}.", Part.PROBLEMS)


def _errors(verification: JobRow) -> str:
    report = (verification.result or {}).get("report")
    errors = report.get("errors") if isinstance(report, dict) else None
    if errors:
        return f"{len(errors)} error{'s' if len(errors) != 1 else ''}"
    return "" if verification.state == "done" else f"no result: it is {verification.state}"


def _teams(session: Session, row: ContestRow) -> Iterator[Point]:
    known = teams.taking_part(session, row)
    terms = registrations.terms(session, row.id)
    is_open = terms is not None and terms.is_open
    if not known and not is_open:
        yield Point(Mark.OPEN, "No team takes part.", Part.TEAMS)
        return
    noun = "team takes" if len(known) == 1 else "teams take"
    how = ", as every team of the server does" if row.open_to_all else ""
    yield Point(Mark.DONE, f"{len(known)} {noun} part{how}.", Part.TEAMS)
    if is_open:
        yield Point(Mark.DONE, "People may register by themselves with the contest's code.", Part.TEAMS)
    with_passwords = accounts.with_passwords(session)
    able = {account.team_id for account in accounts.accounts(session) if account.id in with_passwords}
    unable = [team.name for team in known if team.id not in able and not team.hidden]
    if unable:
        yield Point(Mark.LOOK, f"Without an account that can log in: {_listed(unable)}.", Part.TEAMS)


def _server(service: Service) -> Iterator[Point]:
    alive = service.engine.graders().alive
    if alive:
        yield Point(Mark.DONE, f"{alive} grader{'s are' if alive != 1 else ' is'} ready to judge.", Part.SERVER)
    else:
        yield Point(Mark.OPEN, "No grader is able to judge.", Part.SERVER)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
