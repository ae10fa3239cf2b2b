"""Points over time: a replay of the contest from its raw scores, at some moments.

- Awards that follow from a board: the winner, medals, ranks, the winners of groups, the first to solve a problem.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from typing import Literal

from app.domain.board import Board, Row
from app.domain.contests import PROVISIONAL, CaseKind, Freeze, Kind, ScoredProblem, Team
from app.domain.counting import Attempt, Cells, Place, by_place, submission_answers
from app.domain.scoring import Bests, problem_points


@dataclass(frozen=True, slots=True)
class Past:
    """A team's points and rank from a contest time on, until its next entry."""

    time: timedelta
    points: float
    rank: int


def history(
    board_of: Callable[[Cells, Collection[Place]], Board],
    attempts: Sequence[Attempt],
    steps: int,
    among: Collection[str] | None = None,
) -> dict[str, list[Past]]:
    """Each visible team's points and ranks at about `steps` moments at most, on the boards of more and more attempts.

    `board_of` gives the board of attempts, of which those at some places are new. Each moment has the board of all
    submissions until then, with today's verdicts; the last are those of the board.
    With `among` the result has these teams only, ranked among themselves; the others still take part in BEST.
    """
    cells: dict[Place, list[Attempt]] = {}
    by_team: dict[str, list[Past]] = {
        team.id: [] for team in board_of(cells, ()).teams if among is None or team.id in among
    }
    for time, some in _moments(sorted(attempts, key=lambda a: (a.time, a.id)), steps):
        for attempt in some:
            cells.setdefault(attempt.place, []).append(attempt)
        board = board_of(cells, {attempt.place for attempt in some})
        if among is not None:
            board = board.among(lambda team: team.id in among)
        _note(by_team, time, board)
    return by_team


def shown(attempts: Iterable[Attempt], freeze: Freeze) -> list[Attempt]:
    """The attempts that a freeze does not hide."""
    return [each for each in attempts if not freeze.hides(each.team_id, each.problem_id, each.time)]


def _note(by_team: dict[str, list[Past]], time: timedelta, board: Board) -> None:
    order, ranks, totals = board.order.tolist(), board.ranks.tolist(), board.totals.tolist()
    for team, rank in zip(order, ranks, strict=True):
        past = by_team[board.teams[team].id]
        if not past or (past[-1].points, past[-1].rank) != (totals[team], rank):
            past.append(Past(time, totals[team], rank))


def _moments(attempts: Sequence[Attempt], steps: int) -> Iterator[tuple[timedelta, Sequence[Attempt]]]:
    """Attempts in order, in portions; attempts of equal time stay together."""
    size = max(1, -(-len(attempts) // steps))
    start = 0
    while start < len(attempts):
        end = min(start + size, len(attempts))
        time = attempts[end - 1].time
        while end < len(attempts) and attempts[end].time == time:
            end += 1
        yield time, attempts[start:end]
        start = end


MEDALS: tuple[Literal["gold", "silver", "bronze"], ...] = ("gold", "silver", "bronze")


@dataclass(frozen=True, slots=True)
class Award:
    """An award, and the teams it goes to, in order of rank."""

    id: str
    citation: str
    team_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prizes:
    """The awards beside `winner`: the number of each medal, and an award for each of the first `ranks`."""

    medals: Mapping[str, int]
    ranks: int = 0


def awards(
    board: Board,
    whole: Board,
    prizes: Prizes,
    groups: Mapping[str, str],
    problems: Mapping[str, str],
    first: Mapping[str, Sequence[str]],
) -> list[Award]:
    """All awards of a contest; a team without points gets none.

    board     the main board: those who can win, and get medals
    whole     the board of all teams, where the winners of groups are found
    groups    the names of the groups by id
    problems  the labels of the problems by id
    first     the first teams to solve each solvable problem, by its id
    """
    rows = [row for row in board.rows if row.points > 0]
    given = [Award("winner", "Contest winner", _between(rows, 1, 1))]
    before = 0
    for medal in MEDALS:
        if count := prizes.medals.get(medal, 0):
            citation = f"{medal.capitalize()} medal winner"
            given.append(Award(f"{medal}-medal", citation, _between(rows, before + 1, before + count)))
            before += count
    given += [Award(f"rank-{rank}", f"Rank {rank}", _between(rows, rank, rank)) for rank in range(1, prizes.ranks + 1)]
    everybody = [row for row in whole.rows if row.points > 0]
    for group, name in groups.items():
        given.append(Award(award_id("group-winner", group), f"Winner(s) of group {name}", _best_of(everybody, group)))
    for problem, teams in first.items():
        citation = f"First to solve problem {problems[problem]}"
        given.append(Award(award_id("first-to-solve", problem), citation, tuple(teams)))
    return given


def award_id(kind: str, of: str) -> str:
    """Make an award's id of at most 36 characters; a long name keeps only its end."""
    room = 36 - len(kind) - 1
    return f"{kind}-{of if len(of) <= room else of[-room:].lstrip('.-')}"


def _between(rows: Iterable[Row], first: int, last: int) -> tuple[str, ...]:
    return tuple(row.team.id for row in rows if first <= row.rank <= last)


def _best_of(rows: Sequence[Row], group: str) -> tuple[str, ...]:
    mine = [row for row in rows if group in row.team.group_ids]
    return tuple(row.team.id for row in mine if row.rank == mine[0].rank)


def first_to_solve(
    problems: Sequence[ScoredProblem],
    teams: Sequence[Team],
    attempts: Iterable[Attempt],
    bests: Mapping[str, Bests],
    freeze: Freeze,
    phase: frozenset[CaseKind] = PROVISIONAL,
) -> dict[str, tuple[str, ...]]:
    """The first teams with all points of each problem whose points are independent of other teams.

    The tuple is empty if there is none, and while an earlier submission is unjudged.
    """
    tries = by_place(shown(attempts, freeze))
    winners: dict[str, tuple[str, ...]] = {}
    for problem in problems:
        if problem.rule.kind is not Kind.ABSOLUTE:
            continue
        mine = {team.id: tries.get((team.id, problem.id), []) for team in teams if team.counts}
        times = {team: _solved(problem, of, bests[problem.id], phase) for team, of in mine.items()}
        solved = [time for time in times.values() if time is not None]
        waiting = [a.time for of in mine.values() for a in of if a.scores is None]
        if not solved or any(time < min(solved) for time in waiting):
            winners[problem.id] = ()
        else:
            winners[problem.id] = tuple(sorted(team for team, time in times.items() if time == min(solved)))
    return winners


def _solved(
    problem: ScoredProblem, tries: Sequence[Attempt], bests: Bests, phase: frozenset[CaseKind]
) -> timedelta | None:
    """The time at which a team first had all points of a problem."""
    times = {attempt.id: attempt.time for attempt in tries}
    for attempt, answers in submission_answers(tries, problem.rule):
        points = problem_points(problem, answers, bests, phase).points
        if problem.rule.max_points > 0 and Fraction(points) >= problem.rule.max_points * Fraction(999_999, 1_000_000):
            return times[attempt.id]
    return None
