"""What Jurado alone knows of a contest, written into contest packages as `jurado.json` and read back from there.

Limits of a problem, clocks of a team's own, timers for final inputs, chosen submissions, and what is opened of a frozen
board: CLICS has no words for these, and without them the board that comes back is another one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field, ValidationError
from sqlalchemy.orm import Session

from app.services.bodies import Body
from app.services.clics import Id, Time, format_time
from app.services.contests.bodies import LimitsBody
from app.services.errors import fault
from app.services.fault_list import FaultList
from app.storage import contests, participations, submission_queries, teams
from app.storage.tables import ChosenSubmissionRow, ContestRow, InputRequestRow, ParticipationRow

FILE = "jurado.json"


class OfProblem(Body):
    """How often a team may submit to a problem."""

    problem_id: str
    limits: LimitsBody

    @property
    def key(self) -> Collection[str]:
        """What there is one of."""
        return (self.problem_id,)


class OfTeam(Body):
    """A clock of a team's own."""

    team_id: Id
    kind: Literal["virtual", "personal"]
    start_time: Time

    @property
    def key(self) -> Collection[str]:
        """What there is one of."""
        return (self.team_id,)


class Place(Body):
    """A team at a problem; of a frozen board: it is open."""

    team_id: Id
    problem_id: str = Field(max_length=255)

    @property
    def key(self) -> Collection[str]:
        """What there is one of."""
        return (self.team_id, self.problem_id)


class Request(Place):
    """A team's timer for a problem's final inputs."""

    time: Time


class Choice(Request):
    """The submission a team wants to be judged by at a problem."""

    submission_id: str


One = OfProblem | OfTeam | Place
MODELS: Mapping[str, type[One]] = {
    "limits": OfProblem,
    "participations": OfTeam,
    "input_requests": Request,
    "chosen": Choice,
    "revealed": Place,
}
OF_SUBMISSIONS = frozenset(MODELS) - {"limits"}
"""What teams have done: left out where what they submitted is."""


def document(session: Session, contest: ContestRow) -> dict[str, list[dict[str, Any]]]:
    """All of it, in no words but those of the models above; what is of teams that take part no more is left out."""
    entries = contests.entries(session, contest.id)
    there = {row.id for row in teams.taking_part(session, contest)}, {row.problem_id for row in entries}
    shown = {row.id: row.shown_id for row in submission_queries.submissions(session, contest.id)}
    clocks = sorted(participations.participations(session, contest.id).items())
    chosen = participations.chosen(session, contest.id)
    found: dict[str, list[dict[str, Any]]] = {
        "limits": [{"problem_id": row.problem_id, "limits": row.limits} for row in entries if row.limits],
        "participations": [
            {"team_id": team_id, "kind": found.kind.value, "start_time": format_time(found.start)}
            for team_id, found in clocks
        ],
        "input_requests": [_request(row) for row in participations.requests(session, contest.id)],
        "chosen": [_request(row) | {"submission_id": shown[row.submission_id]} for row in chosen],
        "revealed": [{"team_id": team_id, "problem_id": problem_id} for team_id, problem_id in contest.revealed],
    }
    return {name: [each for each in objects if _is_there(each, *there)] for name, objects in found.items()}


def _is_there(each: Mapping[str, Any], team_ids: Collection[str], problem_ids: Collection[str]) -> bool:
    team_id, problem_id = each.get("team_id"), each.get("problem_id")
    return (team_id is None or team_id in team_ids) and (problem_id is None or problem_id in problem_ids)


def _request(row: InputRequestRow | ChosenSubmissionRow) -> dict[str, Any]:
    return {"team_id": row.team_id, "problem_id": row.problem_id, "time": format_time(row.time)}


@dataclass(frozen=True, slots=True)
class Submitted:
    """A submission that has been brought in: the number of its row, and whose it is."""

    number: int
    team_id: str
    problem_id: str


@dataclass(frozen=True, slots=True)
class There:
    """What may be referred to."""

    teams: Collection[str]
    problems: Collection[str]
    submissions: Mapping[str, Submitted]


def keep(
    session: Session, contest: ContestRow, own: Mapping[str, Sequence[Any]], there: There, faults: FaultList
) -> None:
    """Put it into the tables; `faults` gets what is wrong with it."""
    for name, objects in own.items():
        kept: dict[Collection[str], One] = {}
        for at, each in enumerate(objects):
            where = f"{name}[{at}]"
            body = _read(MODELS[name], each, where, faults)
            if body is None or _refers_to_nothing(body, there, where, faults):
                continue
            if body.key in kept:
                faults.add(FILE, where, "one of a kind", f"a second one of {', '.join(body.key)}")
            kept[body.key] = body
        KEEPERS[name](session, contest, list(kept.values()), there)


def _read(model: type[One], value: object, where: str, faults: FaultList) -> One | None:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        faults.extend({"file": FILE, **fault(each, at=where)} for each in error.errors(include_url=False))
        return None


def _refers_to_nothing(body: One, there: There, where: str, faults: FaultList) -> bool:
    before = faults.count
    if not isinstance(body, OfProblem) and body.team_id not in there.teams:
        faults.add(FILE, f"{where}.team_id", "a team of the contest", repr(body.team_id))
    if not isinstance(body, OfTeam) and body.problem_id not in there.problems:
        faults.add(FILE, f"{where}.problem_id", "a problem of the contest", repr(body.problem_id)[:80])
    if isinstance(body, Choice):
        submitted = there.submissions.get(body.submission_id)
        if submitted is None or (submitted.team_id, submitted.problem_id) != (body.team_id, body.problem_id):
            faults.add(
                FILE, f"{where}.submission_id", "one of the team's to the problem", repr(body.submission_id)[:80]
            )
    return faults.count > before


def _limit(session: Session, contest: ContestRow, bodies: Sequence[Any], _there: There) -> None:
    for body in bodies:
        row = contests.entry(session, contest.id, body.problem_id)
        assert row is not None, "it is one of the contest's"
        row.limits = body.limits.document()


def _begin(session: Session, contest: ContestRow, bodies: Sequence[Any], _there: There) -> None:
    for body in bodies:
        row = ParticipationRow(contest_id=contest.id, team_id=body.team_id, kind=body.kind, start_time=body.start_time)
        session.add(row)


def _ask(session: Session, contest: ContestRow, bodies: Sequence[Any], _there: There) -> None:
    session.add_all(_placed(InputRequestRow, contest, body) for body in bodies)


def _choose(session: Session, contest: ContestRow, bodies: Sequence[Any], there: There) -> None:
    for body in bodies:
        row = _placed(ChosenSubmissionRow, contest, body)
        row.submission_id = there.submissions[body.submission_id].number
        session.add(row)


def _reveal(_session: Session, contest: ContestRow, bodies: Sequence[Any], _there: There) -> None:
    contest.revealed = [[body.team_id, body.problem_id] for body in bodies]


def _placed(table: Any, contest: ContestRow, body: Any) -> Any:
    return table(contest_id=contest.id, team_id=body.team_id, problem_id=body.problem_id, time=body.time)


KEEPERS: Mapping[str, Callable[[Session, ContestRow, Sequence[Any], There], None]] = {
    "limits": _limit,
    "participations": _begin,
    "input_requests": _ask,
    "chosen": _choose,
    "revealed": _reveal,
}
