"""What the board must be, worked out from the raw scores alone, in exact fractions and by no code of the service.

Only the two rules of the demo are known here: absolute points for the best answer of each case so far, and relative
points for the last submission, in which a case without a file keeps the best answer before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

POINTS = 100
NEAR = 1e-9  # the service adds in fixed point, whose sums may differ from exact fractions in the last digits


class Found(NamedTuple):
    """What the checker finds in one answer file; the order is that of better answers."""

    accepted: bool
    multiplier: Fraction
    raw: int


@dataclass(frozen=True)
class Sent:
    """One submission: who, for what, when (contest time as the service wrote it), and what is in it, case by case."""

    id: str
    team: str
    problem: str
    time: str
    found: Mapping[str, Found]


@dataclass(frozen=True)
class Rule:
    """One problem of the demo: whether its points are relative, and the cases that count, each for the same points."""

    problem: str
    relative: bool
    cases: Sequence[str]


class Counted(NamedTuple):
    """The answer that counts for a case, and when it was last improved."""

    found: Found
    time: str


def expected_rows(rules: Sequence[Rule], teams: Sequence[str], sent: Sequence[Sent]) -> list[dict[str, Any]]:
    """Compute the rows of the board, best team first."""
    rows: list[dict[str, Any]] = [{"team_id": team, "problems": []} for team in teams]
    for rule in rules:
        mine = {team: [s for s in sent if (s.team, s.problem) == (team, rule.problem)] for team in teams}
        counted = {team: (last_counts if rule.relative else best_counts)(mine[team]) for team in teams}
        best = best_raws(counted.values())
        for row in rows:
            team = row["team_id"]
            row["problems"].append(cell(rule, counted[team], best, len(mine[team])))
    for row in rows:
        row["points"] = sum((each["points"] for each in row["problems"]), Fraction(0))
        row["time"] = max((each["time"] for each in row["problems"] if each["time"]), key=milliseconds, default=None)
    rows.sort(key=snapshot)
    for row in rows:
        row["rank"] = 1 + sum(snapshot(other) < snapshot(row) for other in rows)
    return rows


def best_counts(sent: Sequence[Sent]) -> dict[str, Counted]:
    """The best answer of each case so far."""
    now: dict[str, Counted] = {}
    for submission in sent:
        for case, found in submission.found.items():
            if case not in now or found > now[case].found:
                now[case] = Counted(found, submission.time)
    return now


def last_counts(sent: Sequence[Sent]) -> dict[str, Counted]:
    """The last submission; a case it has no file for keeps the best answer before it."""
    now: dict[str, Counted] = {}
    for at, submission in enumerate(sent):
        after = best_counts(sent[:at])
        for case, found in submission.found.items():
            rose = case not in now or found > now[case].found
            after[case] = Counted(found, submission.time if rose else now[case].time)
        now = after
    return now


def best_raws(everybody: Any) -> dict[str, int]:
    """The best accepted raw score of each case, over the counted answers of all teams."""
    best: dict[str, int] = {}
    for counted in everybody:
        for case, each in counted.items():
            if each.found.accepted:
                best[case] = max(best.get(case, 0), each.found.raw)
    return best


def cell(rule: Rule, counted: Mapping[str, Counted], best: Mapping[str, int], judged: int) -> dict[str, Any]:
    """One team at one problem."""
    share = Fraction(POINTS, len(rule.cases))
    points = {}
    for case, each in counted.items():
        if not each.found.accepted:
            points[case] = Fraction(0)
        elif rule.relative:
            points[case] = share * Fraction(each.found.raw, best[case]) if best[case] else share
        else:
            points[case] = share * each.found.multiplier
    times = [counted[case].time for case in points if points[case] > 0]
    return {
        "problem_id": rule.problem,
        "points": sum(points.values(), Fraction(0)),
        "time": max(times, key=milliseconds, default=None),
        "judged": judged,
        "raw": {case: each.found.raw if each.found.accepted else None for case, each in counted.items()},
    }


def snapshot(row: Mapping[str, Any]) -> tuple[Fraction, int]:
    """What rows are ordered by: more points, then an earlier last rise."""
    return -row["points"], milliseconds(row["time"]) if row["time"] else 10**12


def milliseconds(reltime: str) -> int:
    """A contest time h:mm:ss.uuu as a number."""
    hours, minutes, seconds = reltime.split(":")
    return (int(hours) * 60 + int(minutes)) * 60_000 + round(float(seconds) * 1000)


def differences(expected: Sequence[Mapping[str, Any]], board: Mapping[str, Any]) -> list[str]:
    """Name everything in which the service's board (asked with cases=true) is not the expected one."""
    found = {row["team_id"]: row for row in board["rows"]}
    if [row["team_id"] for row in expected] != [row["team_id"] for row in board["rows"]]:
        return [f"order: expected {[r['team_id'] for r in expected]}, found {[r['team_id'] for r in board['rows']]}"]
    said: list[str] = []
    for row in expected:
        there = found[row["team_id"]]
        compare(said, row["team_id"], "rank", row["rank"], there["rank"])
        compare(said, row["team_id"], "points", row["points"], there["score"]["score"])
        compare(said, row["team_id"], "time", row["time"], there["score"]["time"])
        for mine, theirs in zip(row["problems"], there["problems"], strict=True):
            where = f"{row['team_id']} {mine['problem_id']}"
            compare(said, where, "problem", mine["problem_id"], theirs["problem_id"])
            compare(said, where, "points", mine["points"], theirs["score"])
            compare(said, where, "time", mine["time"], theirs.get("time"))
            compare(said, where, "judged", mine["judged"], theirs["num_judged"])
            compare(said, where, "pending", 0, theirs["num_pending"])
            compare(said, where, "raw", mine["raw"], {case: each["raw"] for case, each in theirs["raw"].items()})
    return said


def compare(said: list[str], where: str, what: str, expected: Any, found: Any) -> None:
    """Note one value that is not as expected."""
    same = abs(float(expected) - found) <= NEAR if isinstance(expected, Fraction) else expected == found
    if not same:
        shown = float(expected) if isinstance(expected, Fraction) else expected
        said.append(f"{where}, {what}: expected {shown}, found {found}")
