"""People of a contest that CLICS has no property for, in contest packages: self-registration, roles, and kept teams.

The terms of registration come without their code. A role is granted again where the same account, by id and username,
is here before the import; the accounts themselves are not made: as CLICS shows them, an owner is an admin.

- Counted games of a contest in its package, also those in play: each with its transcript, which an import replays.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.accounts.schemas import LARGEST_TEAM, MOST, TermsProperties, Username
from app.accounts.service.grants import Granted
from app.core.bodies import Body
from app.core.clics import Id, Time
from app.core.clock import utc_now
from app.core.faults import FaultList
from app.core.messages import N_, Message
from app.games import queries as games_queries
from app.games.service.referee import seat
from app.games.service.showing import transcript
from app.problems.queries import problems
from app.tables import AccountRow, ContestRoleRow, ContestRow, GameMoveRow, GameRow, RegisteredRow, RegistrationRow
from checkers.doors import Rejected
from games.transcript import read, replay


class Terms(TermsProperties):
    """The terms of self-registration; they come in closed, as their code stays where it was handed out."""

    most: int = Field(ge=0, le=MOST)
    team_size: int = Field(ge=1, le=LARGEST_TEAM)


class SelfRegistered(Body):
    """An account whose owner registered it."""

    account_id: Id
    time: Time


class RoleOf(Body):
    """The role of an account in the contest."""

    account_id: Id
    username: Username
    role: Granted


class KeptTeam(Body):
    """A team that was made for the contest."""

    team_id: Id


class ImportedRole(BaseModel):
    """A role of the package: `granted` to the account here, or the reason why not."""

    account_id: str
    username: str
    role: Granted
    granted: bool
    reason: str | None


def terms(session: Session, contest: ContestRow) -> list[Terms]:
    """The terms of registration, if there are any."""
    row = accounts_queries.terms(session, contest.id)
    if row is None:
        return []
    return [Terms.model_construct(most=row.most, until=row.until, team_size=row.team_size, group_id=row.group_id)]


def registered(
    session: Session, contest: ContestRow, team_ids: Collection[str], in_roles: Collection[str]
) -> list[SelfRegistered]:
    """The self-registered accounts of the teams that take part."""
    return [
        SelfRegistered.model_construct(account_id=row.account_id, time=row.time)
        for row, account in accounts_queries.registered(session, contest.id)
        if account.team_id in team_ids and account.id not in in_roles
    ]


def roles(session: Session, contest: ContestRow) -> list[RoleOf]:
    """The roles in the contest."""
    in_roles = {row.account_id: row.role for row in accounts_queries.of_contest(session, contest.id)}
    return [
        RoleOf.model_construct(account_id=row.id, username=row.username, role=cast(Granted, in_roles[row.id]))
        for row in accounts_queries.accounts(session)
        if row.id in in_roles
    ]


def open_registration(
    session: Session, contest: ContestRow, terms: Sequence[Terms], registered: Sequence[SelfRegistered]
) -> None:
    """Keep the terms, closed and without a code, and who has registered: those places are taken."""
    for body in terms:
        row = RegistrationRow(contest_id=contest.id, is_open=False, **body.model_dump())
        session.add(row)
    for each in registered:
        session.add(RegisteredRow(contest_id=contest.id, account_id=each.account_id, time=each.time))


def grant(
    session: Session, contest: ContestRow, bodies: Sequence[RoleOf], granted_by: str, used_here: Collection[str]
) -> list[ImportedRole]:
    """Grant the roles of the package to the accounts here.

    `used_here` are problems that are used as they are here: whoever made the package could name somebody who would read
    their hidden data then, so that with any of them no role is granted.
    """
    made = []
    for body in bodies:
        reason = _refusal(session.get(AccountRow, body.account_id), body, used_here)
        if reason is None:
            row = ContestRoleRow(contest_id=contest.id, account_id=body.account_id, role=body.role)
            row.granted_by, row.granted = granted_by, utc_now()
            session.add(row)
        made.append(ImportedRole(**body.model_dump(), granted=reason is None, reason=reason))
    session.flush()
    return made


def _refusal(account: AccountRow | None, body: RoleOf, used_here: Collection[str]) -> str | None:
    if account is None or account.username != body.username:
        return "there is no such account here"
    if account.type == "admin":
        return "the account is an admin here, and needs no role"
    if used_here:
        return (
            f"the package does not carry {', '.join(sorted(used_here))}, whose data here owners and judges would read"
        )
    return None


LONGEST = 2 * 2**20
# Properties that a game has in its row and in packages alike.
SAME = ("started", "since", "used_ms", "move_ms", "game_ms", "ended", "ending")
CountedEnding = Literal["played", "resigned", "clock", "contest", "moves"]


class OfGame(Body):
    """A counted game; `transcript` has its start, its players and its moves, as far as it is played."""

    team_id: Id
    problem_id: str = Field(max_length=255)
    id: Id
    account_id: Id | None
    testcase: str | None
    started: Time
    since: Time
    used_ms: int = Field(ge=0)
    move_ms: int | None = Field(ge=0)
    game_ms: int | None = Field(ge=0)
    ended: Time | None
    ending: CountedEnding | None
    submission_id: str | None
    transcript: str = Field(max_length=LONGEST)


@dataclass(frozen=True, slots=True)
class Submitted:
    """A submission that has been brought in: the number of its row, and whose it is."""

    number: int
    team_id: str
    problem_id: str


def games(session: Session, contest_id: str, team_ids: Collection[str]) -> list[OfGame]:
    """The counted games of the teams that take part, those that began first before the others."""
    rows = [game for game in games_queries.of_contest(session, contest_id) if game.counted and game.team_id in team_ids]
    rows.sort(key=lambda game: (game.started, game.id))
    moves = games_queries.moves_of(session, [game.id for game in rows])
    shown = games_queries.submission_ids(session, rows)
    return [_of_game(game, moves[game.id], shown.get(game.id)) for game in rows]


def _of_game(game: GameRow, moves: Sequence[GameMoveRow], submission_id: str | None) -> OfGame:
    return OfGame.model_construct(
        team_id=game.team_id or "",
        problem_id=game.problem_id,
        id=game.id,
        account_id=game.account_id,
        testcase=game.case_name,
        submission_id=submission_id,
        transcript=transcript(seat(game, moves)),
        **{name: getattr(game, name) for name in SAME},
    )


def keep_games(
    session: Session,
    contest_id: str,
    bodies: Sequence[OfGame],
    submissions: Mapping[str, Submitted],
    file: str,
    faults: FaultList,
) -> None:
    """Put games into the tables; `faults` gets those whose transcript does not hold."""
    accounts = {row[0]: row[1] for row in session.execute(select(AccountRow.team_id, AccountRow.id))}
    own = set(session.scalars(select(AccountRow.id)))
    for body in bodies:
        try:
            played = read(body.transcript)
            outcome = replay(played)
            if outcome.fault is not None:
                raise Rejected(outcome.fault.message.text)
        except Rejected as rejected:
            faults.add(file, f"games {body.id}", Message(N_("a transcript that can be replayed")), str(rejected)[:200])
            continue
        if (body.ended is None) != (played.end is None) or (body.ended is None) != (body.ending is None):
            faults.add(
                file,
                f"games {body.id}",
                Message(N_("an end beside a transcript that has one")),
                Message(N_("only one of them")),
            )
            continue
        case = None if body.testcase is None else problems.test_case(session, body.problem_id, body.testcase)
        became = None if body.submission_id is None else submissions.get(body.submission_id)
        game_id = body.id if games_queries.get(session, body.id) is None else secrets.token_hex(12)
        row = GameRow(
            id=game_id,
            contest_id=contest_id,
            problem_id=body.problem_id,
            test_case_id=None if case is None else case.id,
            case_name=body.testcase,
            team_id=body.team_id,
            account_id=body.account_id if body.account_id in own else accounts.get(body.team_id),
            owner=f"team:{body.team_id}",
            counted=True,
            game=played.game,
            instance=played.instance,
            opponent=played.opponent or "",
            seed=played.seed,
            side=played.contestant,
            moves=len(played.moves),
            deadline=body.since,
            winner=outcome.winner,
            submission_id=None if became is None else became.number,
            **{name: getattr(body, name) for name in SAME},
        )
        session.add(row)
        session.flush()
        for number, move in enumerate(played.moves, start=1):
            session.add(GameMoveRow(game_id, number, move.side, move.text, round(move.seconds * 1000), body.since))
