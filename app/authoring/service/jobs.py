"""Jobs and what starts them: reference runs, whose progress one can watch and which one can cancel.

- Tournaments of a game's opponents, asked for as jobs.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints
from sqlalchemy.orm import Session

from app.accounts.service.grants import OWNER
from app.accounts.service.viewer import Viewer
from app.authoring.service.reference_runs import ReferenceRunRequest, queue_run
from app.core.bodies import Body, Line
from app.core.clics import example, format_time
from app.core.db.database import after_commit
from app.core.errors import BadRequest, Conflict, Forbidden, NotFound, message_of
from app.core.json_documents import TournamentParams, VerificationParams
from app.core.messages import N_, Message, did_you_mean
from app.core.service import Service
from app.judging.service.verification import TOURNAMENT
from app.packages.settings import GAME
from app.problems.queries import pins, problems
from app.problems.queries.pins import VERIFICATION
from app.problems.queries.problems import existing
from app.tables import JobRow, ProblemRow
from checkers.doors import Rejected
from games.catalog import games
from games.checker import read_instance
from games.doors import begin
from games.tournament import games_of

MOST_LISTED = 200
# A time as rows have it, shown as text.
Moment = Annotated[str, BeforeValidator(format_time, json_schema_input_type=str)]


class Job(BaseModel):
    """Long work: `progress` 0..1, the end of its log, and its result once it has ended."""

    id: str
    kind: str
    state: str
    params: dict[str, object]
    progress: float
    log: str
    result: dict[str, object] | None
    attempt: int
    created: Moment
    started: Moment | None
    ended: Moment | None


def start_run(session: Session, service: Service, viewer: Viewer, problem_id: str, asked: ReferenceRunRequest) -> Job:
    """Queue a reference run, which starts after the commit; raises BadRequest or NotFound."""
    job = queue_run(session, existing(session, problem_id), asked, viewer.account_id)
    after_commit(session, lambda: service.jobs.wake(job.id))
    return view(job)


def queue_verification(session: Session, problem_id: str, package_sha256: str, account_id: str | None) -> str:
    """Queue the verification of a problem's package; returns the job's id."""
    params: VerificationParams = {"problem_id": problem_id, "package_sha256": package_sha256}
    return pins.add(session, VERIFICATION, params, account_id).id


def start_verification(session: Session, service: Service, viewer: Viewer, problem_id: str) -> Job:
    """Queue the verification of a problem's package as it is stored; raises NotFound."""
    row = existing(session, problem_id)
    job_id = queue_verification(session, problem_id, row.package_sha256, viewer.account_id)
    after_commit(session, lambda: service.jobs.wake(job_id))
    return one(session, viewer, job_id)


def verification(session: Session, viewer: Viewer, problem_id: str) -> Job:
    """The latest verification of a problem's package; raises NotFound where there is none."""
    existing(session, problem_id)
    for row in pins.jobs(session, VERIFICATION):
        if row.params["problem_id"] == problem_id and viewer.reads_problem(problem_id):
            return view(row)
    raise NotFound(N_("the package of problem %(problem)r has not been verified"), problem=problem_id)


def newest(session: Session, viewer: Viewer) -> list[Job]:
    """The latest jobs that the viewer may see, newest first; of the last 200."""
    return [
        view(row) for row in pins.jobs(session, limit=MOST_LISTED) if viewer.reads_problem(row.params["problem_id"])
    ]


def one(session: Session, viewer: Viewer, job_id: str) -> Job:
    """A job; raises NotFound."""
    return view(_job_row(session, viewer, job_id))


def cancel(service: Service, viewer: Viewer, job_id: str) -> None:
    """Kill everything the job runs; what it has finished stays.

    Raises Conflict where it has ended, NotFound, or Forbidden for whoever does not own its problem.
    """
    with service.database.read() as session:
        problem_id = _job_row(session, viewer, job_id).params["problem_id"]
    if not (viewer.is_admin or viewer.grants.problems.get(problem_id) == OWNER):
        raise Forbidden(N_("only an owner of the problem or an admin may do this"))
    if not service.jobs.cancel(job_id):
        raise Conflict(N_("job %(job)s has ended already"), job=job_id)


def view(row: JobRow) -> Job:
    """A job as it is shown."""
    return Job.model_validate(row, from_attributes=True)


def _job_row(session: Session, viewer: Viewer, job_id: str) -> JobRow:
    """A job that the viewer may see; raises NotFound."""
    row = pins.get(session, job_id)
    if row is None or not viewer.reads_problem(row.params["problem_id"]):
        raise NotFound(N_("no job %(job)r"), job=job_id)
    return row


LONGEST_POSITION = 10_000
MOST_GAMES = 20_000
MOST_ROUNDS = 1000
Position = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_POSITION)]


@example({"opponents": ["optimal", "adversarial", "random"], "positions": ["7 9 4\n"], "rounds": 10, "seed": 1})
class TournamentRequest(Body):
    """Who plays, from where, and how often: each pair plays each position from both sides in every round."""

    opponents: list[Line] | None = Field(None, min_length=2, max_length=20, description="left out: all of the game")
    testcases: list[Line] | None = Field(None, min_length=1, max_length=1000, description="positions of these")
    positions: list[Position] | None = Field(None, min_length=1, max_length=1000, description="or these, as text")
    rounds: int = Field(1, ge=1, le=MOST_ROUNDS)
    seed: int = Field(1, ge=0, lt=2**62, description="of the first round; each one has the next")


def start_tournament(
    session: Session, service: Service, viewer: Viewer, problem_id: str, asked: TournamentRequest
) -> Job:
    """Queue a tournament, which starts after the commit; raises BadRequest or NotFound.

    Without positions it begins at the test cases of a problem that is played, else at the game's sample.
    """
    problem = existing(session, problem_id)
    slug = _game_of(problem)
    players = _players(slug, asked.opponents)
    positions = _positions(session, service, problem, slug, asked)
    count = games_of(len(players), len(positions), asked.rounds)
    if count > MOST_GAMES:
        raise BadRequest(
            N_("expected at most %(most)s games, found %(found)s"), where="rounds", most=MOST_GAMES, found=count
        )
    params: TournamentParams = {
        "problem_id": problem.id,
        "game": slug,
        "players": players,
        "positions": positions,
        "rounds": asked.rounds,
        "seed": asked.seed,
    }
    job = pins.add(session, TOURNAMENT, params, viewer.account_id)
    after_commit(session, lambda: service.jobs.wake(job.id))
    return view(job)


def _game_of(problem: ProblemRow) -> str:
    own = problem.settings.get("game")
    name = problem.settings["checker"] if own is None else own["name"]
    if name not in games():
        raise BadRequest(
            N_("expected one that can be played, found %(found)r, which has no game"), where="problem", found=problem.id
        )
    return name


def _players(slug: str, asked: list[str] | None) -> list[str]:
    known = games()[slug].opponents
    names = list(known) if asked is None else asked
    for name in names:
        if name not in known:
            expected = ", ".join(known)
            raise BadRequest(
                did_you_mean(
                    Message(N_("expected some of %(names)s, found %(found)r"), names=expected, found=name),
                    name,
                    known,
                ),
                where="opponents",
            )
    if len(set(names)) < len(names):
        raise BadRequest(N_("expected each once, found %(found)s"), where="opponents", found=", ".join(names))
    return names


def _positions(
    session: Session, service: Service, problem: ProblemRow, slug: str, asked: TournamentRequest
) -> list[str]:
    """The positions asked for, each once, as the game writes them; raises BadRequest."""
    if asked.testcases is not None and asked.positions is not None:
        raise BadRequest(N_("expected either testcases or positions, found both"), where="body")
    is_played = problem.settings["checker"] == GAME
    if asked.positions is not None:
        texts = [(f"positions.{at}", text) for at, text in enumerate(asked.positions)]
    elif asked.testcases is None and not is_played:
        texts = [("sample", games()[slug].sample)]
    else:
        texts = _of_cases(session, service, problem.id, asked.testcases, is_played=is_played)
    return list(dict.fromkeys(_begun(slug, where, text) for where, text in texts))


def _of_cases(
    session: Session, service: Service, problem_id: str, names: list[str] | None, *, is_played: bool
) -> list[tuple[str, str]]:
    rows = {row.name: row for row in problems.test_cases(session, problem_id)}
    texts = []
    for name in rows if names is None else names:
        if name not in rows:
            raise BadRequest(
                did_you_mean(
                    Message(N_("expected test cases of %(problem)s, found %(found)r"), problem=problem_id, found=name),
                    name,
                    rows,
                ),
                where="testcases",
            )
        data = service.files.load(rows[name].input_sha256)
        try:
            texts.append((f"testcase {name}", read_instance(data).instance if is_played else data.decode()))
        except (Rejected, UnicodeDecodeError) as error:
            raise BadRequest(
                N_("testcase %(name)s: expected a position, found %(found)s"), name=name, found=error
            ) from None
    return texts


def _begun(slug: str, where: str, text: str) -> str:
    rules = games()[slug]
    try:
        return rules.to_text(begin(rules, text))
    except Rejected as error:
        raise BadRequest(message_of(error), where=where) from None
