"""Facts of a contest that CLICS has no property for: `jurado.json` of contest packages, written and read.

Limits of a problem, clocks of a team's own, timers for final inputs, chosen submissions, and what is opened of a frozen
board: CLICS has no words for these, and without them the board that comes back is another one. And its people: see
`app.archive.service.people`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, cast

from pydantic import Field, ValidationError
from sqlalchemy.orm import Session

from app.archive.service import people
from app.archive.service.people import KeptTeam, OfGame, OfPeople, RoleOf, SelfRegistered, Terms
from app.contests import queries as contests_queries
from app.contests.schemas import Limits
from app.core.bodies import Body
from app.core.clics import Id, Time
from app.core.errors import fault
from app.core.faults import FaultList
from app.core.messages import N_, Message
from app.submissions.queries import submission_queries
from app.tables import ChosenSubmissionRow, ContestRow, InputRequestRow, ParticipationRow
from app.teams import queries as teams_queries

FILE = "jurado.json"
OwnClock = Literal["virtual", "personal"]


class OfProblem(Body):
    """Limits on a team's submissions to a problem."""

    problem_id: str
    limits: Limits


class OfTeam(Body):
    """A clock of a team's own."""

    team_id: Id
    kind: OwnClock
    start_time: Time


class Place(Body):
    """A team at a problem; of a frozen board: it is open."""

    team_id: Id
    problem_id: str = Field(max_length=255)


class Request(Place):
    """A team's timer for a problem's final inputs."""

    time: Time


class Choice(Request):
    """The submission a team wants to be judged by at a problem."""

    submission_id: str


One = OfProblem | OfTeam | Place | OfGame | OfPeople
B = TypeVar("B", OfProblem, OfTeam, Place, Request, Choice, OfGame, Terms, SelfRegistered, RoleOf, KeptTeam)
# The kinds of objects, each with the properties of which there is one.
KEYS: Mapping[str, Sequence[str]] = {
    "limits": ("problem_id",),
    "participations": ("team_id",),
    "input_requests": ("team_id", "problem_id"),
    "chosen": ("team_id", "problem_id"),
    "revealed": ("team_id", "problem_id"),
    "games": ("id",),
    **people.KEYS,
}
# Acts of teams, left out where their submissions are.
OF_SUBMISSIONS = frozenset(KEYS) - {"limits", *people.KEYS}


def document(session: Session, contest: ContestRow) -> dict[str, Sequence[One]]:
    """The objects of each of KEYS, reduced to the teams that take part."""
    entries = contests_queries.entries(session, contest.id)
    team_ids, problem_ids = (
        {row.id for row in teams_queries.taking_part(session, contest)},
        {row.problem_id for row in entries},
    )
    clocks = sorted(contests_queries.participations(session, contest.id).items())
    rows = [each for each in contests_queries.requests(session, contest.id) if _is_of(each, team_ids, problem_ids)]
    chosen = [each for each in contests_queries.chosen(session, contest.id) if _is_of(each, team_ids, problem_ids)]
    shown = submission_queries.shown_ids(session, {row.submission_id for row in chosen})
    return {
        "limits": [
            OfProblem(problem_id=row.problem_id, limits=row.limits) for row in entries if row.limits.model_fields_set
        ],
        "participations": [
            OfTeam.model_construct(team_id=team_id, kind=cast(OwnClock, clock.kind.value), start_time=clock.start)
            for team_id, clock in clocks
            if team_id in team_ids
        ],
        "input_requests": [
            Request.model_construct(team_id=row.team_id, problem_id=row.problem_id, time=row.time) for row in rows
        ],
        "chosen": [
            Choice.model_construct(
                team_id=row.team_id,
                problem_id=row.problem_id,
                time=row.time,
                submission_id=shown[row.submission_id],
            )
            for row in chosen
        ],
        "revealed": [
            Place(team_id=team_id, problem_id=problem_id)
            for team_id, problem_id in contest.revealed
            if team_id in team_ids and problem_id in problem_ids
        ],
        "games": people.documents(session, contest.id, team_ids),
        **people.document(session, contest, team_ids),
    }


def _is_of(row: InputRequestRow | ChosenSubmissionRow, team_ids: Collection[str], problem_ids: Collection[str]) -> bool:
    return row.team_id in team_ids and row.problem_id in problem_ids


@dataclass(frozen=True, slots=True)
class Submitted:
    """A submission that has been brought in: the number of its row, and whose it is."""

    number: int
    team_id: str
    problem_id: str


@dataclass(frozen=True, slots=True)
class Known:
    """The ids that may be referred to."""

    teams: Collection[str]
    problems: Collection[str]
    submissions: Mapping[str, Submitted]
    groups: Collection[str]
    accounts: Collection[str]
    new_teams: Collection[str]


def keep(
    session: Session, contest: ContestRow, own: Mapping[str, Sequence[object]], known: Known, faults: FaultList
) -> list[RoleOf]:
    """Put it into the tables, and return the roles, which are granted last; `faults` gets what is wrong with it."""
    given = _Given(own, known, faults)
    for limited in given.bodies("limits", OfProblem):
        row = contests_queries.entry(session, contest.id, limited.problem_id)
        assert row is not None, "it is one of the contest's"
        row.limits = limited.limits
    session.add_all(
        ParticipationRow(contest_id=contest.id, **dict(body)) for body in given.bodies("participations", OfTeam)
    )
    session.add_all(
        InputRequestRow(contest_id=contest.id, **dict(body)) for body in given.bodies("input_requests", Request)
    )
    for choice in given.bodies("chosen", Choice):
        values = {**dict(choice), "submission_id": known.submissions[choice.submission_id].number}
        session.add(ChosenSubmissionRow(contest_id=contest.id, **values))
    people.open_registration(
        session, contest, given.bodies("registration", Terms), given.bodies("registered", SelfRegistered)
    )
    people.keep_teams(session, contest, given.bodies("kept_teams", KeptTeam), known.new_teams)
    people.keep(session, contest.id, given.bodies("games", OfGame), known.submissions, FILE, faults)
    contest.revealed = [[body.team_id, body.problem_id] for body in given.bodies("revealed", Place)]
    return given.bodies("roles", RoleOf)


@dataclass(frozen=True, slots=True)
class _Given:
    """The objects of a package, and its list of faults."""

    own: Mapping[str, Sequence[object]]
    known: Known
    faults: FaultList

    def bodies(self, name: str, model: type[B]) -> list[B]:
        """The objects of one kind that refer to known ids, the last one of a key."""
        bodies: dict[tuple[str, ...], B] = {}
        for at, each in enumerate(self.own.get(name, ())):
            where = f"{name}[{at}]"
            body = self._read(model, each, where)
            if body is None or _refers_to_nothing(body, self.known, where, self.faults):
                continue
            key = tuple(getattr(body, each) for each in KEYS[name])
            if key in bodies:
                self.faults.add(
                    FILE,
                    where,
                    Message(N_("one of a kind")),
                    Message(N_("a second one of %(names)s"), names=", ".join(key) or name),
                )
            bodies[key] = body
        return list(bodies.values())

    def _read(self, model: type[B], value: object, where: str) -> B | None:
        try:
            return model.model_validate(value)
        except ValidationError as error:
            self.faults.extend({"file": FILE, **fault(each, at=where)} for each in error.errors(include_url=False))
            return None


def _refers_to_nothing(body: One, known: Known, where: str, faults: FaultList) -> bool:
    before = faults.count
    if isinstance(body, Terms) and body.group_id is not None and body.group_id not in known.groups:
        faults.add(FILE, f"{where}.group_id", "a group that exists", repr(body.group_id))
    if isinstance(body, SelfRegistered) and body.account_id not in known.accounts:
        faults.add(FILE, f"{where}.account_id", "an account that exists", repr(body.account_id))
    if isinstance(body, OfTeam | Place | OfGame | KeptTeam) and body.team_id not in known.teams:
        faults.add(FILE, f"{where}.team_id", Message(N_("a team of the contest")), repr(body.team_id))
    if isinstance(body, OfProblem | Place | OfGame) and body.problem_id not in known.problems:
        faults.add(FILE, f"{where}.problem_id", Message(N_("a problem of the contest")), repr(body.problem_id)[:80])
    if isinstance(body, Choice):
        submitted = known.submissions.get(body.submission_id)
        if submitted is None or (submitted.team_id, submitted.problem_id) != (body.team_id, body.problem_id):
            faults.add(
                FILE,
                f"{where}.submission_id",
                Message(N_("one of the team's to the problem")),
                repr(body.submission_id)[:80],
            )
    return faults.count > before
