"""Facts of a contest that CLICS has no property for: `jurado.json` of contest packages, written and read.

Limits of a problem, clocks of a team's own, timers for final inputs, chosen submissions, and what is opened of a frozen
board: without these the board that comes back is another one. And answers that were refused, as they were too large.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar, cast

from pydantic import Field, ValidationError
from sqlalchemy.orm import Session

from app import tables
from app.contests import queries as contests_queries
from app.contests.schemas import Limits
from app.core import bodies, clics, faults
from app.core.messages import N_, Message, fault
from app.submissions.queries import submission_queries, submissions
from app.teams import queries as teams_queries

FILE = "jurado.json"
OwnClock = Literal["virtual", "personal"]
B = TypeVar("B", bound=bodies.Body)


@dataclass(frozen=True, slots=True)
class Submitted:
    """A submission that has been brought in: the number of its row, and whose it is."""

    number: int
    team_id: str
    problem_id: str


class OfProblem(bodies.Body):
    """Limits on a team's submissions to a problem."""

    problem_id: str
    limits: Limits


class OfTeam(bodies.Body):
    """A clock of a team's own."""

    team_id: clics.Id
    kind: OwnClock
    start_time: clics.Time


class Place(bodies.Body):
    """A team at a problem; of a frozen board: it is open."""

    team_id: clics.Id
    problem_id: str = Field(max_length=255)


class Request(Place):
    """A team's timer for a problem's final inputs."""

    time: clics.Time


class Choice(Request):
    """The submission a team wants to be judged by at a problem."""

    submission_id: str


class RefusedAnswer(bodies.Body):
    """A submission's answer to a case that was refused; its bytes were not kept."""

    submission_id: str
    case: str


class Own(bodies.Body):
    """The whole document."""

    limits: list[OfProblem] = Field(default_factory=list)
    participations: list[OfTeam] = Field(default_factory=list)
    input_requests: list[Request] = Field(default_factory=list)
    chosen: list[Choice] = Field(default_factory=list)
    revealed: list[Place] = Field(default_factory=list)
    refused: list[RefusedAnswer] = Field(default_factory=list)


# Acts of teams, left out where their submissions are.
OF_SUBMISSIONS = ("participations", "input_requests", "chosen", "revealed", "refused")


def document(session: Session, contest: tables.ContestRow) -> Own:
    """The whole document of a contest; of the teams that take part."""
    entries = contests_queries.entries(session, contest.id)
    team_ids = {row.id for row in teams_queries.taking_part(session, contest)}
    problem_ids = {row.problem_id for row in entries}

    def is_of(row: tables.InputRequestRow | tables.ChosenSubmissionRow) -> bool:
        return row.team_id in team_ids and row.problem_id in problem_ids

    clocks = sorted(contests_queries.participations(session, contest.id).items())
    chosen = list(filter(is_of, contests_queries.chosen(session, contest.id)))
    refused = submissions.refused_answers(session, contest.id)
    numbers = {row.submission_id for row in chosen} | {number for number, _ in refused}
    shown = submission_queries.shown_ids(session, numbers)
    return Own.model_construct(
        limits=[
            OfProblem(problem_id=row.problem_id, limits=row.limits) for row in entries if row.limits.model_fields_set
        ],
        participations=[
            OfTeam.model_construct(team_id=team_id, kind=cast(OwnClock, clock.kind.value), start_time=clock.start)
            for team_id, clock in clocks
            if team_id in team_ids
        ],
        input_requests=[_of(Request, row) for row in filter(is_of, contests_queries.requests(session, contest.id))],
        chosen=[_of(Choice, row, submission_id=shown[row.submission_id]) for row in chosen],
        revealed=[
            Place(team_id=team_id, problem_id=problem_id)
            for team_id, problem_id in contest.revealed
            if team_id in team_ids and problem_id in problem_ids
        ],
        refused=[RefusedAnswer(submission_id=shown[number], case=case) for number, case in refused],
    )


def _of(model: type[B], row: object, **more: object) -> B:
    """A row as a model shows it, without a second check of what was checked when it was stored."""
    values = {name: more.get(name, getattr(row, name, None)) for name in model.model_fields}
    return cast(B, model.model_construct(None, **values))


def read(document: Mapping[str, object], faults: faults.FaultList) -> Own:
    """Read the whole document; an empty one if it has faults, which `faults` gets."""
    try:
        return Own.model_validate(document)
    except ValidationError as error:
        faults.extend({"file": FILE, **fault(each)} for each in error.errors(include_url=False))
        return Own()


def check(own: Own, submitted: Mapping[str, Submitted], faults: faults.FaultList) -> None:
    """Note second objects of a key, and chosen submissions that are another team's or problem's."""
    for name, listed in own:
        keys = set()
        for at, body in enumerate(listed if name != "refused" else ()):
            key = tuple(getattr(body, each) for each in ("team_id", "problem_id") if hasattr(body, each))
            if key in keys:
                again = Message(N_("a second one of %(names)s"), names=", ".join(key))
                faults.add(FILE, f"{name}[{at}]", Message(N_("one of a kind")), again)
            keys.add(key)
    for at, body in enumerate(own.chosen):
        sent = submitted.get(body.submission_id)
        if sent is None or (sent.team_id, sent.problem_id) != (body.team_id, body.problem_id):
            expected = Message(N_("one of the team's to the problem"))
            faults.add(FILE, f"chosen[{at}].submission_id", expected, repr(body.submission_id)[:80])


def keep(session: Session, contest: tables.ContestRow, own: Own, submitted: Mapping[str, Submitted]) -> None:
    """Put it into the tables."""
    for limited in own.limits:
        row = contests_queries.entry(session, contest.id, limited.problem_id)
        assert row is not None, "it is one of the contest's"
        row.limits = limited.limits
    session.add_all(tables.ParticipationRow(contest_id=contest.id, **dict(body)) for body in own.participations)
    session.add_all(tables.InputRequestRow(contest_id=contest.id, **dict(body)) for body in own.input_requests)
    for choice in own.chosen:
        values = {**dict(choice), "submission_id": submitted[choice.submission_id].number}
        session.add(tables.ChosenSubmissionRow(contest_id=contest.id, **values))
    contest.revealed = [[body.team_id, body.problem_id] for body in own.revealed]
