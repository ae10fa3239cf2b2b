"""Facts of a contest that CLICS has no property for: `jurado.json` of contest packages, written and read.

Limits of a problem, clocks of a team's own, timers for final inputs, chosen submissions, and what is opened of a frozen
board: CLICS has no words for these, and without them the board that comes back is another one. And its people: see
`app.archive.service.people`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from pydantic import Field, ValidationError
from sqlalchemy.orm import Session

from app.archive.service import people
from app.archive.service.people import KeptTeam, OfGame, RoleOf, SelfRegistered, Submitted, Terms
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


class Own(Body):
    """The whole document."""

    limits: list[OfProblem] = Field(default_factory=list)
    participations: list[OfTeam] = Field(default_factory=list)
    input_requests: list[Request] = Field(default_factory=list)
    chosen: list[Choice] = Field(default_factory=list)
    revealed: list[Place] = Field(default_factory=list)
    games: list[OfGame] = Field(default_factory=list)
    registration: list[Terms] = Field(default_factory=list)
    registered: list[SelfRegistered] = Field(default_factory=list)
    roles: list[RoleOf] = Field(default_factory=list)
    kept_teams: list[KeptTeam] = Field(default_factory=list)


# The properties of which there is one in each list.
KEYS: Mapping[str, Sequence[str]] = {
    "limits": ("problem_id",),
    "participations": ("team_id",),
    "input_requests": ("team_id", "problem_id"),
    "chosen": ("team_id", "problem_id"),
    "revealed": ("team_id", "problem_id"),
    "games": ("id",),
    "registration": (),
    "registered": ("account_id",),
    "roles": ("account_id",),
    "kept_teams": ("team_id",),
}
# Acts of teams, left out where their submissions are.
OF_SUBMISSIONS = ("participations", "input_requests", "chosen", "revealed", "games")


def document(session: Session, contest: ContestRow) -> Own:
    """The whole document of a contest, reduced to the teams that take part."""
    entries = contests_queries.entries(session, contest.id)
    team_ids, problem_ids = (
        {row.id for row in teams_queries.taking_part(session, contest)},
        {row.problem_id for row in entries},
    )
    clocks = sorted(contests_queries.participations(session, contest.id).items())
    rows = [each for each in contests_queries.requests(session, contest.id) if _is_of(each, team_ids, problem_ids)]
    chosen = [each for each in contests_queries.chosen(session, contest.id) if _is_of(each, team_ids, problem_ids)]
    shown = submission_queries.shown_ids(session, {row.submission_id for row in chosen})
    in_roles = people.roles(session, contest)
    return Own.model_construct(
        limits=[
            OfProblem(problem_id=row.problem_id, limits=row.limits) for row in entries if row.limits.model_fields_set
        ],
        participations=[
            OfTeam.model_construct(team_id=team_id, kind=cast(OwnClock, clock.kind.value), start_time=clock.start)
            for team_id, clock in clocks
            if team_id in team_ids
        ],
        input_requests=[
            Request.model_construct(team_id=row.team_id, problem_id=row.problem_id, time=row.time) for row in rows
        ],
        chosen=[
            Choice.model_construct(
                team_id=row.team_id,
                problem_id=row.problem_id,
                time=row.time,
                submission_id=shown[row.submission_id],
            )
            for row in chosen
        ],
        revealed=[
            Place(team_id=team_id, problem_id=problem_id)
            for team_id, problem_id in contest.revealed
            if team_id in team_ids and problem_id in problem_ids
        ],
        games=people.games(session, contest.id, team_ids),
        registration=people.terms(session, contest),
        registered=people.registered(session, contest, team_ids, {each.account_id for each in in_roles}),
        roles=in_roles,
        kept_teams=[
            KeptTeam(team_id=team_id)
            for team_id in sorted(teams_queries.of_contests(session, [contest.id]))
            if team_id in team_ids
        ],
    )


def _is_of(row: InputRequestRow | ChosenSubmissionRow, team_ids: Collection[str], problem_ids: Collection[str]) -> bool:
    return row.team_id in team_ids and row.problem_id in problem_ids


@dataclass(frozen=True, slots=True)
class Known:
    """The ids that may be referred to."""

    teams: Collection[str]
    problems: Collection[str]
    submissions: Mapping[str, Submitted]
    groups: Collection[str]
    accounts: Collection[str]
    new_teams: Collection[str]


def read(document: Mapping[str, object], faults: FaultList) -> Own:
    """Read the whole document; one without anything where `faults` gets what is wrong with it."""
    try:
        return Own.model_validate(document)
    except ValidationError as error:
        faults.extend({"file": FILE, **fault(each)} for each in error.errors(include_url=False))
        return Own()


def keep(session: Session, contest: ContestRow, own: Own, known: Known, faults: FaultList) -> None:
    """Put it into the tables, but for the roles, which are granted last; `faults` gets what is wrong with it."""
    _check(own, known, faults)
    if faults:
        return
    for limited in own.limits:
        row = contests_queries.entry(session, contest.id, limited.problem_id)
        assert row is not None, "it is one of the contest's"
        row.limits = limited.limits
    session.add_all(ParticipationRow(contest_id=contest.id, **dict(body)) for body in own.participations)
    session.add_all(InputRequestRow(contest_id=contest.id, **dict(body)) for body in own.input_requests)
    for choice in own.chosen:
        values = {**dict(choice), "submission_id": known.submissions[choice.submission_id].number}
        session.add(ChosenSubmissionRow(contest_id=contest.id, **values))
    people.open_registration(session, contest, own.registration, own.registered)
    new = [each.team_id for each in own.kept_teams if each.team_id in known.new_teams]
    teams_queries.keep(session, contest.id, new)  # the passwords of old ones are no business of its owners
    people.keep_games(session, contest.id, own.games, known.submissions, FILE, faults)
    contest.revealed = [[body.team_id, body.problem_id] for body in own.revealed]


def _check(own: Own, known: Known, faults: FaultList) -> None:
    """Note second objects of a key, and references to what is not there."""
    for name, properties in KEYS.items():
        keys = set()
        for at, body in enumerate(getattr(own, name)):
            where, key = f"{name}[{at}]", tuple(getattr(body, each) for each in properties)
            _check_references(body, known, where, faults)
            if key in keys:
                again = Message(N_("a second one of %(names)s"), names=", ".join(key) or name)
                faults.add(FILE, where, Message(N_("one of a kind")), again)
            keys.add(key)


def _check_references(body: Body, known: Known, where: str, faults: FaultList) -> None:
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
