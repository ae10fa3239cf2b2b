"""Starting games: who may play what, from which position, and whether it counts."""

import secrets
from dataclasses import dataclass
from math import ceil

from anyio.to_thread import run_sync

from app.accounts.service.viewer import Viewer
from app.contests import queries as contests_queries
from app.contests.schemas import Limits
from app.contests.service import capabilities, visibility
from app.core import clock, load
from app.core.messages import N_, BadRequest, Forbidden, Message, NotFound, TooManyRequests, did_you_mean, message_of
from app.core.service import Service
from app.domain.documents import GameDocument
from app.games import queries as games_queries
from app.games.service.referee import Table, paced, reply
from app.games.service.showing import MOST_SEED, StartBody
from app.problems.queries import pins
from app.problems.service.shown_cases import case_input
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries.usage import LimitReached
from app.submissions.service.admission import Admitted, admit
from app.submissions.service.submission_form import SubmissionForm
from app.submissions.service.submit import refuse_full
from app.tables import GameRow, ProblemRow
from checkers.doors import Rejected
from games.catalog import games
from games.checker import Start, read_instance
from games.doors import begin, instance_of

OPTIMAL = "optimal"
# Counted games that a team may have open at once, where the contest says nothing else.
MOST_OPEN = 10

# The share of all games that practice may take: however many practise, teams begin games that count.
SHARE_OF_PRACTICE = 0.75


@dataclass(frozen=True, slots=True)
class Chosen:
    """The start of a game; `case` is the row and the name of the test case that it is of, if it is of one.

    counts  whether the problem's own games count: it is a problem that is played
    limits  those of the contest's problem; `move_ms` and `game_ms` are the contestant's times, the problem's own if
            the contest sets none
    """

    start: Start
    case: tuple[int, str] | None
    counts: bool
    limits: Limits
    move_ms: int | None
    game_ms: int | None


async def start(
    service: Service,
    viewer: Viewer,
    address: str,
    contest_id: str,
    problem_id: str,
    body: StartBody,
) -> Table:
    """Start a game; raises the refusal of who asks, of the position, or of the limits."""
    snapshot = await visibility.snapshot_for(service.boards, viewer, contest_id)
    if snapshot is None:
        raise contests_queries.NoContest(contest_id)
    problem_id = visibility.the_problem(snapshot, capabilities.problem_called(snapshot, problem_id)).id
    chosen = await run_sync(_choose, service, viewer, snapshot, problem_id, body)
    counted = viewer.team_id is not None and chosen.case is not None and chosen.counts and not body.practice
    admitted = await admit(service, viewer, snapshot.contest.id, SubmissionForm(problem_id, [])) if counted else None
    if admitted is not None:
        _check_counted(body, chosen)
        _check_taken(chosen, admitted)
        await run_sync(refuse_full, service, admitted)
    table = _table(viewer, address, (snapshot.contest.id, problem_id), body, chosen, admitted)
    # The opponent may have the first move.
    table = await reply(table, table.game.started)
    table = paced(table, None if admitted is None else admitted.entrant.clock)
    settings = service.settings
    if admitted is None:
        of_all = int(settings.most_games * SHARE_OF_PRACTICE)
        new = games_queries.NewGame(table.game, table.moves, settings.most_games_of_one, of_all)
    else:
        own = chosen.limits.open_games or MOST_OPEN
        new = games_queries.NewGame(table.game, table.moves, own, settings.most_games, admitted.limits)
    if (refused := await run_sync(_store, service, new)) is not None:
        wait = None if refused.again is None else ceil((refused.again - table.game.started).total_seconds())
        raise TooManyRequests(refused.message, wait)
    return table


def _store(service: Service, new: games_queries.NewGame) -> LimitReached | None:
    with service.database.transaction() as connection:
        return games_queries.start(connection, new)


def _choose(service: Service, viewer: Viewer, snapshot: ContestSnapshot, problem_id: str, body: StartBody) -> Chosen:
    """Choose the position and the opponent; raises BadRequest or NotFound."""
    if (body.testcase is None) == (body.parameters is None):
        raise BadRequest(N_("expected either testcase or parameters"), where="body")
    with service.database.read() as session:
        entry = contests_queries.entry(session, snapshot.contest.id, problem_id)
        contest = contests_queries.get(session, snapshot.contest.id)
        if entry is None or contest is None:
            raise NotFound(
                N_("no problem %(problem)r in contest %(contest)r"), problem=problem_id, contest=snapshot.contest.id
            )
        name, own = game_of(pins.row(session, snapshot.contest.id, problem_id))
        limits = entry.limits.over(contest.settings.limits)
        move_ms = _ms(limits.move_seconds or (own and own["move_seconds"]))
        game_ms = _ms(limits.game_seconds or (own and own["game_seconds"]))
        row = None
        if body.testcase is not None:
            row = case_input(viewer, snapshot, session, problem_id, body.testcase)
    if row is None:
        start_ = Start(name, body.opponent or _usual(name), None, _instance(name, body))
        return Chosen(start_, None, False, limits, move_ms, game_ms)
    start_ = _start_of_case(name, service.files.load(row.input_sha256), is_game=own is not None)
    return Chosen(start_, (row.id, row.name), own is not None, limits, move_ms, game_ms)


def game_of(problem: ProblemRow) -> tuple[str, GameDocument | None]:
    """The game of a problem, and its settings if the problem itself is played; raises BadRequest if it has none."""
    own = problem.settings.get("game")
    name = problem.settings["checker"] if own is None else own["name"]
    if name not in games():
        raise BadRequest(N_("expected a problem with a game, found %(found)r"), where="problem", found=problem.id)
    return name, own


def _usual(name: str) -> str:
    """The opponent of a game where nothing names one."""
    opponents = games()[name].opponents
    return OPTIMAL if OPTIMAL in opponents else next(iter(opponents))


def _instance(name: str, body: StartBody) -> str:
    try:
        return instance_of(games()[name], body.parameters or {})
    except Rejected as rejected:
        raise BadRequest(message_of(rejected)) from None


def _start_of_case(name: str, data: bytes, *, is_game: bool) -> Start:
    """The start that a test case's input is: of a game with its opponent, otherwise the bare position."""
    try:
        return read_instance(data) if is_game else Start(name, _usual(name), None, data.decode())
    except (Rejected, UnicodeDecodeError) as error:
        raise BadRequest(
            N_("expected a position of the game %(game)s, found %(found)s"),
            where="testcase",
            game=name,
            found=error,
        ) from None


def _check_counted(body: StartBody, chosen: Chosen) -> None:
    """Refuse what no one may choose for a game that counts: the judge and the test case do."""
    choices = (("seed", body.seed, None), ("opponent", body.opponent, chosen.start.opponent), ("side", body.side, None))
    for name, value, own in choices:
        if value not in {None, own}:
            raise BadRequest(N_("expected none in a game that counts, found %(found)r"), where=name, found=value)


def _check_taken(chosen: Chosen, admitted: Admitted) -> None:
    """Refuse a game that could become no answer: of a final case out of its time, or of one that is not judged."""
    id_, name = chosen.case or (None, None)
    taken, _ = admitted.entry.open_cases(admitted.entrant, admitted.when)
    if any(case.id == id_ for case in taken):
        return
    if any(case.id == id_ for case in admitted.entry.final_cases):
        raise Forbidden(N_("the time for final cases is over, %(name)r among them"), where="testcase", name=name)
    raise Forbidden(N_("expected a case with an expected answer, found %(found)r"), where="testcase", found=name)


def _table(
    viewer: Viewer,
    address: str,
    place: tuple[str, str],
    body: StartBody,
    chosen: Chosen,
    admitted: Admitted | None,
) -> Table:
    """The table of a new game; raises BadRequest for a position or an opponent that the game does not have."""
    start_, now = chosen.start, clock.utc_now()
    rules = games()[start_.game]
    opponent = start_.opponent if body.opponent is None else body.opponent
    if opponent not in rules.opponents:
        known = ", ".join(rules.opponents)
        raise BadRequest(
            did_you_mean(
                Message(N_("expected one of %(names)s, found %(found)r"), names=known, found=opponent),
                opponent,
                rules.opponents,
            ),
            where="opponent",
        )
    try:
        position = begin(rules, start_.instance)
    except Rejected as rejected:
        raise BadRequest(message_of(rejected)) from None
    side = start_.side if body.side is None else body.side
    team_id = None if admitted is None else admitted.team_id
    game = GameRow(
        id=secrets.token_hex(12),
        contest_id=place[0],
        problem_id=place[1],
        test_case_id=None if chosen.case is None else chosen.case[0],
        case_name=None if chosen.case is None else chosen.case[1],
        team_id=team_id,
        account_id=viewer.account_id,
        owner=f"team:{team_id}" if team_id is not None else _owner(viewer, address),
        counted=admitted is not None,
        game=start_.game,
        instance=start_.instance,
        opponent=opponent,
        # Unpredictable: who knows the seed knows the opponent's moves.
        seed=secrets.randbelow(MOST_SEED) if body.seed is None else body.seed,
        side=rules.asker if side is None else side,
        started=now,
        move_ms=chosen.move_ms,
        game_ms=chosen.game_ms,
        moves=0,
        since=now,
        used_ms=0,
        deadline=now,  # `paced` sets it once the opponent has moved
    )
    return Table(game, position, ())


def _owner(viewer: Viewer, address: str) -> str:
    """Whose a practice game is, for its limits."""
    return f"address:{load.source_of(address)}" if viewer.account_id is None else f"account:{viewer.account_id}"


def _ms(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)
