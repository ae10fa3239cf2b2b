"""The board as it must be, computed from the raw scores alone, in exact fractions and by no code of the service.

Only the two rules of the demo are here: absolute points for the best answer of each case so far, and relative
points for the last submission, in which a case without a file keeps the best answer before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from app.core.commands.output import JsonMapping

POINTS = 100
NEAR = 1e-9  # the service rounds what a case is worth to grains (app.domain.fixed_point), and sends floats
# Milliseconds later than any contest time.
LONG_AFTER = 10**12


class Checked(NamedTuple):
    """The checker's result for one answer file; a larger one is a better answer."""

    accepted: bool
    multiplier: Fraction
    raw: int


@dataclass(frozen=True)
class Sent:
    """One submission: its team, problem, contest time as the service wrote it, and results case by case."""

    id: str
    team: str
    problem: str
    time: str
    results: Mapping[str, Checked]


@dataclass(frozen=True)
class Rule:
    """One problem of the demo: whether its points are relative, and the cases that count, each for the same points."""

    problem: str
    relative: bool
    cases: Sequence[str]


class Counted(NamedTuple):
    """The answer that counts for a case, and when it was last improved."""

    result: Checked
    time: str


@dataclass(frozen=True)
class ExpectedCell:
    """One team at one problem; `raw` is None for a rejected answer."""

    problem_id: str
    points: Fraction
    time: str | None
    judged: int
    raw: Mapping[str, int | None]


@dataclass
class ExpectedRow:
    """One team on the board."""

    team_id: str
    problems: list[ExpectedCell] = field(default_factory=list)
    rank: int = 0

    @property
    def points(self) -> Fraction:
        """Add up the points of all problems."""
        return sum((cell.points for cell in self.problems), Fraction(0))

    @property
    def time(self) -> str | None:
        """Give the contest time of the last rise at any problem."""
        return max((cell.time for cell in self.problems if cell.time), key=milliseconds, default=None)

    @property
    def order(self) -> tuple[Fraction, int]:
        """Order rows: more points first, then an earlier last rise."""
        return -self.points, milliseconds(self.time) if self.time else LONG_AFTER


def expected_rows(rules: Sequence[Rule], teams: Sequence[str], sent: Sequence[Sent]) -> list[ExpectedRow]:
    """Compute the rows of the board, best team first."""
    rows = [ExpectedRow(team) for team in teams]
    for rule in rules:
        of_team = {team: [s for s in sent if (s.team, s.problem) == (team, rule.problem)] for team in teams}
        counted = {team: (last_counts if rule.relative else best_counts)(of_team[team]) for team in teams}
        best = best_raws(counted.values())
        for row in rows:
            row.problems.append(expected_cell(rule, counted[row.team_id], best, len(of_team[row.team_id])))
    rows.sort(key=lambda row: row.order)
    for row in rows:
        row.rank = 1 + sum(other.order < row.order for other in rows)
    return rows


def best_counts(sent: Sequence[Sent]) -> dict[str, Counted]:
    """Give the best answer of each case so far."""
    now: dict[str, Counted] = {}
    for submission in sent:
        for case, result in submission.results.items():
            if case not in now or result > now[case].result:
                now[case] = Counted(result, submission.time)
    return now


def last_counts(sent: Sequence[Sent]) -> dict[str, Counted]:
    """Give the last submission's answers; a case it has no file for keeps the best answer before it."""
    now: dict[str, Counted] = {}
    for at, submission in enumerate(sent):
        after = best_counts(sent[:at])
        for case, result in submission.results.items():
            rose = case not in now or result > now[case].result
            after[case] = Counted(result, submission.time if rose else now[case].time)
        now = after
    return now


def best_raws(everybody: Iterable[Mapping[str, Counted]]) -> dict[str, int]:
    """Give the best accepted raw score of each case, over the counted answers of all teams."""
    best: dict[str, int] = {}
    for counted in everybody:
        for case, each in counted.items():
            if each.result.accepted:
                best[case] = max(best.get(case, 0), each.result.raw)
    return best


def expected_cell(
    rule: Rule, counted: Mapping[str, Counted], best: Mapping[str, int], submissions: int
) -> ExpectedCell:
    """Compute one team's cell at one problem."""
    share = Fraction(POINTS, len(rule.cases))
    points = {case: share * multiplier(rule, each.result, best.get(case, 0)) for case, each in counted.items()}
    times = [counted[case].time for case in points if points[case] > 0]
    return ExpectedCell(
        rule.problem,
        sum(points.values(), Fraction(0)),
        max(times, key=milliseconds, default=None),
        submissions,
        {case: each.result.raw if each.result.accepted else None for case, each in counted.items()},
    )


def multiplier(rule: Rule, result: Checked, best: int) -> Fraction:
    """Give the share of a case's points that an answer earns; all of them where the best raw score is 0."""
    if not result.accepted:
        return Fraction(0)
    if rule.relative:
        return Fraction(result.raw, best) if best else Fraction(1)
    return result.multiplier


def milliseconds(reltime: str) -> int:
    """Read a contest time h:mm:ss.uuu."""
    hours, minutes, seconds = reltime.split(":")
    return (int(hours) * 60 + int(minutes)) * 60_000 + round(float(seconds) * 1000)


def differences(expected: Sequence[ExpectedRow], board: JsonMapping) -> list[str]:
    """Name every value in which the service's board (asked for with cases=true) differs from the expected one."""
    expected_order, order = [row.team_id for row in expected], [row["team_id"] for row in board["rows"]]
    if expected_order != order:
        return [f"order: expected {expected_order}, found {order}"]
    return [fault for row, shown in zip(expected, board["rows"], strict=True) for fault in row_differences(row, shown)]


def row_differences(row: ExpectedRow, shown: JsonMapping) -> list[str]:
    """Name every value in which a row of the board differs from the expected one."""
    faults = [
        *difference(f"{row.team_id}, rank", row.rank, shown["rank"]),
        *difference(f"{row.team_id}, points", row.points, shown["score"]["score"]),
        *difference(f"{row.team_id}, time", row.time, shown["score"].get("time")),
    ]
    for cell, shown_cell in zip(row.problems, shown["problems"], strict=True):
        faults += cell_differences(f"{row.team_id} {cell.problem_id}", cell, shown_cell)
    return faults


def cell_differences(where: str, cell: ExpectedCell, shown: JsonMapping) -> list[str]:
    """Name every value in which a cell of the board differs from the expected one."""
    raw = {case: answer["raw"] for case, answer in (shown.get("raw") or {}).items()}
    return [
        *difference(f"{where}, problem", cell.problem_id, shown["problem_id"]),
        *difference(f"{where}, points", cell.points, shown.get("score", 0.0)),
        *difference(f"{where}, time", cell.time, shown.get("time")),
        *difference(f"{where}, judged", cell.judged, shown["num_judged"]),
        *difference(f"{where}, pending", 0, shown["num_pending"]),
        *difference(f"{where}, raw", dict(cell.raw), raw),
    ]


def difference(where: str, expected: object, actual: object) -> list[str]:
    """Name a value that is not as expected; exact points may differ from floats in the last digits."""
    if isinstance(expected, Fraction) and isinstance(actual, int | float):
        return [] if abs(float(expected) - actual) <= NEAR else [f"{where}: expected {float(expected)}, found {actual}"]
    return [] if expected == actual else [f"{where}: expected {expected}, found {actual}"]
