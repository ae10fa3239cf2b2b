"""Facts of a contest that CLICS has no property for: `jurado.json` of contest packages, written and read.

Limits of a problem, clocks of a team's own, timers for final inputs, chosen submissions, and what is opened of a frozen
board: without these the board that comes back is another one. And its people: self-registration, roles, kept teams.

The terms of registration come without their code. A role is granted again where the same account, by id and username,
is here before the import; the accounts themselves are not made: as CLICS shows them, an owner is an admin.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, cast

from pydantic import BaseModel, Field, ValidationError
from sqlalchemy.orm import Session

from app import tables
from app.accounts import queries as accounts_queries
from app.accounts.schemas import LARGEST_TEAM, MOST, TermsProperties, Username
from app.accounts.service.grants import Granted
from app.contests import queries as contests_queries
from app.contests.schemas import Limits
from app.core import bodies, clics, clock, faults
from app.core.messages import N_, Message, fault
from app.submissions.queries import submission_queries
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


class Terms(TermsProperties):
    """The terms of self-registration; they come in closed, as their code stays where it was handed out."""

    most: int = Field(ge=0, le=MOST)
    team_size: int = Field(ge=1, le=LARGEST_TEAM)


class SelfRegistered(bodies.Body):
    """An account whose owner registered it."""

    account_id: clics.Id
    time: clics.Time


class RoleOf(bodies.Body):
    """The role of an account in the contest."""

    account_id: clics.Id
    username: Username
    role: Granted


class KeptTeam(bodies.Body):
    """A team that was made for the contest."""

    team_id: clics.Id


class ImportedRole(BaseModel):
    """A role of the package: `granted` to the account here, or the reason why not."""

    account_id: str
    username: str
    role: Granted
    granted: bool
    reason: str | None


class Own(bodies.Body):
    """The whole document."""

    limits: list[OfProblem] = Field(default_factory=list)
    participations: list[OfTeam] = Field(default_factory=list)
    input_requests: list[Request] = Field(default_factory=list)
    chosen: list[Choice] = Field(default_factory=list)
    revealed: list[Place] = Field(default_factory=list)
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
    "registration": (),
    "registered": ("account_id",),
    "roles": ("account_id",),
    "kept_teams": ("team_id",),
}
# Acts of teams, left out where their submissions are.
OF_SUBMISSIONS = ("participations", "input_requests", "chosen", "revealed")


def document(session: Session, contest: tables.ContestRow) -> Own:
    """The whole document of a contest, reduced to the teams that take part."""
    entries = contests_queries.entries(session, contest.id)
    team_ids = {row.id for row in teams_queries.taking_part(session, contest)}
    problem_ids = {row.problem_id for row in entries}

    def is_of(row: tables.InputRequestRow | tables.ChosenSubmissionRow) -> bool:
        return row.team_id in team_ids and row.problem_id in problem_ids

    clocks = sorted(contests_queries.participations(session, contest.id).items())
    chosen = list(filter(is_of, contests_queries.chosen(session, contest.id)))
    shown = submission_queries.shown_ids(session, {row.submission_id for row in chosen})
    terms = accounts_queries.terms(session, contest.id)
    in_roles = {row.account_id: row.role for row in accounts_queries.of_contest(session, contest.id)}
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
        registration=[] if terms is None else [_of(Terms, terms)],
        registered=[
            _of(SelfRegistered, row)
            for row, account in accounts_queries.registered(session, contest.id)
            if account.team_id in team_ids and account.id not in in_roles
        ],
        roles=[
            RoleOf.model_construct(account_id=row.id, username=row.username, role=cast(Granted, in_roles[row.id]))
            for row in accounts_queries.accounts(session)
            if row.id in in_roles
        ],
        kept_teams=[
            KeptTeam(team_id=team_id)
            for team_id in sorted(teams_queries.of_contests(session, [contest.id]))
            if team_id in team_ids
        ],
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


def check(own: Own, submissions: Mapping[str, Submitted], faults: faults.FaultList) -> None:
    """Note second objects of a key, and chosen submissions that are another team's or problem's."""
    for name, properties in KEYS.items():
        keys = set()
        for at, body in enumerate(getattr(own, name)):
            key = tuple(getattr(body, each) for each in properties)
            if key in keys:
                again = Message(N_("a second one of %(names)s"), names=", ".join(key) or name)
                faults.add(FILE, f"{name}[{at}]", Message(N_("one of a kind")), again)
            keys.add(key)
    for at, body in enumerate(own.chosen):
        sent = submissions.get(body.submission_id)
        if sent is None or (sent.team_id, sent.problem_id) != (body.team_id, body.problem_id):
            expected = Message(N_("one of the team's to the problem"))
            faults.add(FILE, f"chosen[{at}].submission_id", expected, repr(body.submission_id)[:80])


def keep(
    session: Session,
    contest: tables.ContestRow,
    own: Own,
    submissions: Mapping[str, Submitted],
    new_teams: Collection[str],
) -> None:
    """Put it into the tables, but for the roles, which are granted last. Terms come in closed and without a code."""
    for limited in own.limits:
        row = contests_queries.entry(session, contest.id, limited.problem_id)
        assert row is not None, "it is one of the contest's"
        row.limits = limited.limits
    session.add_all(tables.ParticipationRow(contest_id=contest.id, **dict(body)) for body in own.participations)
    session.add_all(tables.InputRequestRow(contest_id=contest.id, **dict(body)) for body in own.input_requests)
    for choice in own.chosen:
        values = {**dict(choice), "submission_id": submissions[choice.submission_id].number}
        session.add(tables.ChosenSubmissionRow(contest_id=contest.id, **values))
    session.add_all(
        tables.RegistrationRow(contest_id=contest.id, is_open=False, **dict(body)) for body in own.registration
    )
    session.add_all(tables.RegisteredRow(contest_id=contest.id, **dict(body)) for body in own.registered)
    new = [each.team_id for each in own.kept_teams if each.team_id in new_teams]
    teams_queries.keep(session, contest.id, new)  # the passwords of old ones are no business of its owners
    contest.revealed = [[body.team_id, body.problem_id] for body in own.revealed]


def grant(
    session: Session, contest: tables.ContestRow, bodies: Sequence[RoleOf], granted_by: str, used_here: Collection[str]
) -> list[ImportedRole]:
    """Grant the roles of the package to the accounts here.

    `used_here` are problems that are used as they are here: whoever made the package could name somebody who would read
    their hidden data then, so that with any of them no role is granted.
    """
    made = []
    for body in bodies:
        reason = _refusal(session.get(tables.AccountRow, body.account_id), body, used_here)
        if reason is None:
            row = tables.ContestRoleRow(contest_id=contest.id, account_id=body.account_id, role=body.role)
            row.granted_by, row.granted = granted_by, clock.utc_now()
            session.add(row)
        made.append(ImportedRole(**body.model_dump(), granted=reason is None, reason=reason))
    session.flush()
    return made


def _refusal(account: tables.AccountRow | None, body: RoleOf, used_here: Collection[str]) -> str | None:
    if account is None or account.username != body.username:
        return "there is no such account here"
    if account.type == "admin":
        return "the account is an admin here, and needs no role"
    if used_here:
        return (
            f"the package does not carry {', '.join(sorted(used_here))}, whose data here owners and judges would read"
        )
    return None
