"""Counted games of a contest in its package, also those in play: each with its transcript, which an import replays."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.core.bodies import Body
from app.core.clics import Id, Time
from app.core.faults import FaultList
from app.core.messages import N_, Message
from app.games import queries as games_queries
from app.games.service.referee import seat
from app.games.service.showing import transcript
from app.problems.queries import problems
from app.tables import AccountRow, GameMoveRow, GameRow
from checkers.doors import Rejected
from games.transcript import read, replay

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
