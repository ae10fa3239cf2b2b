"""Test cases as a contest shows them: the list, an input, and all inputs in a zip."""

import hashlib
import json
from pathlib import Path

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests import queries as contests_queries
from app.contests.service.visibility import the_problem
from app.core import clics, clock
from app.core.messages import N_, Message, NotFound, did_you_mean
from app.core.service import Service
from app.domain import scoring
from app.domain.contests import CaseKind, ScoredProblem
from app.packages import zips
from app.problems.queries import pins
from app.problems.queries.packing import stored_package
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.tables import TestCaseRow

# The programs of a package that make inputs, check answers and draw them; never solutions, test data or submissions.
TOOLS = ("generators/", "output_validator/", "input_visualizer/", "output_visualizer/", "checker.py", "board.js")


class TestCase(BaseModel):
    """A test case as a contest shows it; `best_raw` is the best counted raw score, if any."""

    __test__ = False

    name: str
    group: str
    kind: str
    ordinal: int
    size: int
    sha256: str
    max_points: float
    best_raw: int | float | None = None
    href: str


def list_cases(viewer: Viewer, snapshot: ContestSnapshot, session: Session, problem_id: str) -> list[TestCase]:
    """The test cases of a problem that the viewer may read, in order; raises NotFound for a problem it does not see."""
    problem = the_problem(snapshot, problem_id)
    shown = _shown_cases(viewer, snapshot, session, problem)
    return [_view(viewer, snapshot, problem, row, kind) for row, kind in shown]


def case_input(viewer: Viewer, snapshot: ContestSnapshot, session: Session, problem_id: str, name: str) -> TestCaseRow:
    """The row of a test case whose input the viewer may read; raises NotFound."""
    problem = the_problem(snapshot, problem_id)
    rows = {row.name: row for row, _ in _shown_cases(viewer, snapshot, session, problem)}
    row = rows.get(name)
    if row is None:
        raise NotFound(
            did_you_mean(
                Message(N_("problem %(problem)r has no test case %(case)r"), problem=problem_id, case=name), name, rows
            )
        )
    return row


def inputs_zip(service: Service, viewer: Viewer, snapshot: ContestSnapshot, session: Session, problem_id: str) -> Path:
    """The zip of every input the viewer may read, as NAME.in, made once for each set of them.

    Where the contest shares them, with the programs of the problem's package in the folder `tools`.
    """
    problem = the_problem(snapshot, problem_id)
    shown = _shown_cases(viewer, snapshot, session, problem)
    digests = {f"{row.name}.in": row.input_sha256 for row, _ in shown}
    shares = snapshot.contest.settings.share_tools
    package = pins.row(session, snapshot.contest.id, problem_id).package_sha256 if shares else None
    key = hashlib.sha256(json.dumps([digests, package], sort_keys=True).encode()).hexdigest()[:32]
    path = service.settings.home / "cache" / f"inputs-{problem_id}-{key}.zip"
    tools = {} if package is None or path.exists() else _tools(service, problem_id, package)
    return zips.kept_zip(
        path, [*digests, *tools], lambda name: tools[name] if name in tools else service.files.load(digests[name])
    )


def _tools(service: Service, problem_id: str, sha256: str) -> dict[str, bytes]:
    """The programs of a package that contestants may have."""
    with stored_package(service.files, problem_id, sha256) as package:
        return {f"tools/{name}": package.files[name] for name in package.files if name.startswith(TOOLS)}


def _shown_cases(
    viewer: Viewer, snapshot: ContestSnapshot, session: Session, problem: ScoredProblem
) -> list[tuple[TestCaseRow, CaseKind]]:
    """Samples and provisional cases for everyone, those without an expected answer for judges; each with its kind.

    Final ones for those who may have their inputs: the contest's snapshot knows of none where no one may.
    """
    kinds = {group.name: group.kind for group in problem.groups}
    rows = pins.cases(session, snapshot.contest.id, problem.id)
    cases = [(row, kinds.get(row.group_name, CaseKind.FINAL)) for row in rows]
    if viewer.sees_all:
        return cases
    final = _finals_shown(viewer, snapshot, session, problem)
    open_ = [(row, kind) for row, kind in cases if row.answer_sha256 is not None]
    return [(row, kind) for row, kind in open_ if final or kind is not CaseKind.FINAL]


def _finals_shown(viewer: Viewer, snapshot: ContestSnapshot, session: Session, problem: ScoredProblem) -> bool:
    """Whether the viewer may have the final inputs of a problem."""
    contest = snapshot.contest
    asked = None
    if viewer.team_id is not None and contest.finals.window is not None:
        asked = contests_queries.asked(session, contest.id, viewer.team_id, problem.id)
    return contest.finals.shown(contest.clock, clock.utc_now(), asked)


def _view(
    viewer: Viewer, snapshot: ContestSnapshot, problem: ScoredProblem, row: TestCaseRow, kind: CaseKind
) -> TestCase:
    """A test case as the viewer may see it."""
    counts = kind in problem.counting(snapshot.phase)
    scale = float(scoring.weights(problem, snapshot.phase).scale)
    shows_best = viewer.sees_all or snapshot.contest.settings.show_best
    best = snapshot.bests(problem).best
    view = TestCase(
        name=row.name,
        group=row.group_name,
        kind=kind.value,
        ordinal=row.ordinal,
        size=row.input_size,
        sha256=row.input_sha256,
        max_points=row.points_num / row.points_den * scale if counts else 0.0,
        href=f"contests/{snapshot.contest.id}/problems/{row.problem_id}/testcases/{row.name}/input",
    )
    if shows_best:
        view.best_raw = clics.number(best.get(row.name))
    return view
