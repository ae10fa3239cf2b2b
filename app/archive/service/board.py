"""The board in a contest package: written at the export, and held against the one that an import makes.

Compared is the board as an admin sees it at the moment of the export: ranks, totals, times, each problem's points and
judged and pending submissions, each case's raw score. Absent for a reason, and therefore no difference:

- teams of this server that are on the board because the contest is open to all;
- verdicts of submissions that were not judged at the export: they are judged here, but compared as they were;
- raw scores of cases that are none of the problem's any more;
- when anything was judged, and the version of the board, which are of one server.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.archive.service.package_files import Contents
from app.core import clics, clock
from app.core.faults import FaultList
from app.problems.queries.scoring_input import ScoredContest, scored_contest
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.queries.kept_boards import make_snapshot
from app.scoreboard.service import row_renderer
from app.submissions.queries import attempts

FILE = "scoreboard.json"
# Raw scores a written board has at most: with more it would be larger than a document that is taken.
MOST_RAWS = 250_000
CASE = ", test case "


class PackageDifference(BaseModel):
    """A field that is not the same: what the package has, and what was found here."""

    where: str
    expected: str
    found: str


class ImportedBoard(BaseModel):
    """The board here held against the one in the package, at the moment of the export.

    `other_teams` of this server take part as the contest is open to all; `unjudged` submissions were not judged at the
    export: the comparison leaves both out.
    """

    equal: bool
    rows: int
    raw_scores: int
    other_teams: int
    unjudged: int
    differences: list[PackageDifference]
    more_differences: int = 0


def document(snapshot: ContestSnapshot) -> dict[str, object]:
    """The board as a package has it: the rows of GET scoreboard, with raw scores unless there are too many."""
    rows = _rows(snapshot)
    count = sum(len(cell["raw"]) for row in rows for cell in row["problems"])
    if count > MOST_RAWS:
        for row in rows:
            for cell in row["problems"]:
                del cell["raw"]
    return {**row_renderer.head_of(snapshot), "rows": rows}


def _rows(snapshot: ContestSnapshot) -> list[row_renderer.BoardRow]:
    arrays = snapshot.main
    cases = {problem.id: {case.name for case in problem.cases} for problem in snapshot.view.problems}
    rows = [row_renderer.row_document(arrays.row(at), cases=True) for at in range(len(arrays.teams))]
    for row in rows:
        for cell in row["problems"]:
            cell["raw"] = {case: raw for case, raw in cell["raw"].items() if case in cases[cell["problem_id"]]}
    return rows


def compare(
    session: Session, contest_id: str, contents: Contents, numbers: Mapping[str, int]
) -> tuple[ImportedBoard, FaultList]:
    """Make the board of an imported contest as it was at the export, and hold it against the package's.

    Also returns every place in which they differ.
    `numbers` are the rows' ids of the submissions that were brought in, by the ids they are shown under.
    """
    assert contents.board is not None, "there is a board to compare with"
    contest = scored_contest(session, contest_id)
    assert contest is not None, "it has just been brought in"
    known = {str(each["id"]) for each in contents.objects["teams"]}
    others = [team for team in contest.teams if team.id not in known]
    reads = attempts.attempts(session, contest_id)
    unjudged = {numbers[each] for each in contents.judging.unjudged if each in numbers} if contents.judging else set()
    at_export = make_snapshot(
        _only(contest, known),
        [
            replace(read, attempt=replace(read.attempt, scores=None)) if read.attempt.id in unjudged else read
            for read in reads
        ],
        _moment(contents),
        public=False,
    )
    faults = FaultList()
    mine: list[row_renderer.BoardRow] = json.loads(json.dumps(_rows(at_export)))
    for place, expected, actual in _row_differences(contents.board.rows, mine):
        faults.add(FILE, place, expected, actual)
    compared = ImportedBoard(
        equal=not faults,
        rows=len(contents.board.rows),
        raw_scores=sum(CASE in place for row in contents.board.rows for place, _ in _facts(row)),
        other_teams=len(others),
        unjudged=len(unjudged),
        differences=[
            PackageDifference(where=str(each["where"]), expected=str(each["expected"]), found=str(each["found"]))
            for each in faults.first
        ],
        more_differences=faults.more,
    )
    return compared, faults


def _only(contest: ScoredContest, team_ids: set[str]) -> ScoredContest:
    """The contest among these teams: others dilute ranks, and take part here only because it is open to all."""
    teams = [team for team in contest.teams if team.id in team_ids]
    return replace(contest, teams=teams, on_board=contest.on_board & team_ids)


def _moment(contents: Contents) -> datetime:
    """The moment at which the board was written; packages of other systems only have that of its last change."""
    if contents.judging is not None:
        return contents.judging.time
    try:
        return clics.parse_time(str(contents.board and contents.board.time))
    except ValueError:
        return clock.utc_now()


def _row_differences(
    expected: Sequence[Mapping[str, object]], actual: Sequence[row_renderer.BoardRow]
) -> Iterator[tuple[str, str, str]]:
    """Place by place, in the order of the package's board; raw scores only where the package has some."""
    has_raws = any(CASE in place for row in expected for place, _ in _facts(row))
    mine = {row["team_id"]: row for row in actual}
    for at, row in enumerate(expected):
        team = str(row.get("team_id"))
        place, own = f"rows[{at}], team {team[:36]}", mine.pop(team, None)
        if own is None:
            yield place, "a row", "none"
            continue
        theirs, ours = dict(_facts(row)), dict(_facts(own))
        for name in dict.fromkeys([*theirs, *ours]):
            if theirs.get(name) != ours.get(name) and (has_raws or CASE not in name):
                yield f"{place}{name}", _shown(theirs.get(name)), _shown(ours.get(name))
    for team in mine:
        yield f"team {team}", "no row", "one"


def _facts(row: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """What is compared of a row, by its place in it."""
    score, cells = row.get("score"), row.get("problems")
    score = score if isinstance(score, dict) else {}
    yield from {": rank": row.get("rank"), ": score": score.get("score"), ": time": score.get("time")}.items()
    for cell in cells if isinstance(cells, list) else ():
        if isinstance(cell, dict):
            place, raws = f", problem {str(cell.get('problem_id'))[:36]}", cell.get("raw")
            yield from ((f"{place}: {name}", cell.get(name)) for name in ("score", "num_judged", "num_pending", "time"))
            yield from ((f"{place}{CASE}{case}", raw) for case, raw in (raws if isinstance(raws, dict) else {}).items())


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {each}" for name, each in value.items())[:120]
    return "none" if value is None else str(value)[:80]
