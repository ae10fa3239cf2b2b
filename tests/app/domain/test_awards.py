"""Awards follow from the board, and the first to solve a problem from what was sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from app.domain.contests import OPEN, PROVISIONAL, Counting, Freeze, Kind, ScoredProblem, Team
from app.domain.counting import Attempt, submission_answers
from app.domain.history import Prizes, awards, first_to_solve
from app.domain.scoring import Bests, problem_points
from tests.builders.scoring import CASES, TEAMS, attempt, attempts, problem, rule, share
from tests.builders.slow_board import scoreboard

ABSOLUTE = problem(rule(Kind.ABSOLUTE, max_points=Fraction(90)))
RIGHT, HALF = dict.fromkeys(CASES, share(1)), dict.fromkeys(CASES, share(Fraction(1, 2)))
right_or_not = st.sampled_from([None, RIGHT, HALF, {"1": share(1)}, {"2": share(1), "3": share(1)}])


@st.composite
def sent(draw: st.DrawFn) -> list[Attempt]:
    """Attempts of which every third or so solves the problem, at few different minutes."""
    count = draw(st.integers(0, 8))
    teams = [draw(st.sampled_from(TEAMS)).id for _ in range(count)]
    return [
        attempt(at, draw(right_or_not), team=team, minute=draw(st.integers(0, 5))) for at, team in enumerate(teams, 1)
    ]


def solved_slowly(scored: ScoredProblem, tries: Sequence[Attempt], freeze: Freeze) -> tuple[str, ...]:
    """Minute by minute: who has a submission worth all points, unless someone's earlier one is not judged."""
    visible = [team.id for team in TEAMS if team.counts]
    shown = [each for each in tries if each.team_id in visible and not freeze.hides(each.team_id, "p", each.time)]
    for time in sorted({each.time for each in shown}):
        winners = []
        for team in visible:
            mine = [each for each in shown if each.team_id == team and each.time <= time]
            worths = [
                problem_points(scored, answers, Bests(scored.rule)).points
                for _, answers in submission_answers(mine, scored.rule)
            ]
            if any(points == float(scored.rule.max_points) for points in worths):
                winners.append(team)
        if winners:
            return tuple(sorted(winners))
        if any(each.scores is None and each.time == time for each in shown):
            # Its verdict may make it the first; whoever solved in the same minute is not before it.
            return ()
    return ()


@given(sent(), st.sampled_from(Counting), st.one_of(st.none(), st.integers(0, 5)))
def test_the_first_to_solve_are_those_a_look_at_every_minute_finds(
    tries: list[Attempt], counting: Counting, minute: int | None
) -> None:
    scored = problem(rule(Kind.ABSOLUTE, counting, max_points=Fraction(90)))
    freeze = OPEN if minute is None else Freeze(timedelta(minutes=minute))
    board = scoreboard([scored], TEAMS, tries, freeze=freeze)
    first = first_to_solve([scored], TEAMS, tries, board.bests, freeze)
    assert first == {"p": solved_slowly(scored, tries, freeze)}


@given(attempts(), st.sampled_from([Kind.RELATIVE, Kind.RANK]))
def test_what_depends_on_others_is_solved_by_nobody(tries: list[Attempt], kind: Kind) -> None:
    scored = problem(rule(kind, max_points=Fraction(90)))
    board = scoreboard([scored], TEAMS, tries)
    assert first_to_solve([scored], TEAMS, tries, board.bests, OPEN, PROVISIONAL) == {}


@given(sent(), st.integers(0, 3), st.integers(0, 3), st.integers(0, 5))
def test_medals_and_ranks_are_those_of_the_board_and_nobody_without_points_gets_any(
    tries: list[Attempt], gold: int, silver: int, ranks: int
) -> None:
    teams = [replace(team, group_ids=("north",) if team.id != "cats" else ()) for team in TEAMS]
    board = scoreboard([ABSOLUTE], teams, tries)
    prizes = Prizes({"gold": gold, "silver": silver}, ranks)
    given_ = {each.id: each.team_ids for each in awards(board, board, prizes, {"north": "North"}, {"p": "A"}, {})}
    rank = {row.team.id: row.rank for row in board.rows if row.points > 0}

    def between(first: int, last: int) -> tuple[str, ...]:
        return tuple(row.team.id for row in board.rows if first <= rank.get(row.team.id, 0) <= last)

    best = min((rank[team.id] for team in teams if team.group_ids and team.id in rank), default=None)
    expected = {"winner": between(1, 1)}
    expected |= {"gold-medal": between(1, gold)} if gold else {}
    expected |= {"silver-medal": between(gold + 1, gold + silver)} if silver else {}
    expected |= {f"rank-{at}": between(at, at) for at in range(1, ranks + 1)}
    north = [] if best is None else between(best, best)
    expected["group-winner-north"] = tuple(team for team in north if team != "cats")
    assert given_ == expected


def test_equal_teams_share_a_medal() -> None:
    """Two at rank 1 take both gold medals, and three if three are there: no one loses one to the alphabet."""
    tries = [attempt(at, RIGHT, team=team, minute=1) for at, team in enumerate(("ants", "bees", "cats"), 1)]
    board = scoreboard([ABSOLUTE], TEAMS, tries)
    medals = awards(board, board, Prizes({"gold": 1, "silver": 1}), {}, {}, {})
    assert [each.team_ids for each in medals] == [("ants", "bees", "cats"), ("ants", "bees", "cats"), ()]


def test_a_hidden_team_solves_nothing_first() -> None:
    hidden = next(team for team in TEAMS if not team.counts)
    tries = [attempt(1, RIGHT, team=hidden.id, minute=0), attempt(2, RIGHT, team="bees", minute=3)]
    board = scoreboard([ABSOLUTE], TEAMS, tries)
    assert first_to_solve([ABSOLUTE], TEAMS, tries, board.bests, OPEN) == {"p": ("bees",)}
    assert Team("x", "X").counts
