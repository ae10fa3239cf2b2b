"""`jurado ladder PROBLEM`: the methods side by side, in points, time and memory."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, NoReturn, cast

import typer
from pydantic import JsonValue
from rich.table import Table

from app.commands.solver_process import list_methods, on_signals
from app.core.commands import progress, registry
from app.core.commands.output import Failure, nearest, problem_folder, show, table, write_json
from app.core.faults import PackageErrors
from app.judging.service.solver_process import START_UP_SECONDS, Bounds, OnReport, SolverProcess, Summary
from app.sandbox.child import environment

if TYPE_CHECKING:
    from app.domain.scoring import ProblemPoints
    from app.packages.catalog import Climb
    from app.packages.model import Case
    from app.packages.submissions import Outcomes
    from app.packages.trials import Outcome

# As in jurado.yaml; a timer cannot wait for an infinite time either.
MOST_SECONDS = 3600
# Factor of a run's limit, and seconds on top of it, that it may take: solvers look at the clock between turns.
LATE = 1.25, 0.5
# A solver that has not answered after this many times its limit (and the start-up) is killed.
OVERRUN = 2.0
SILENT = "the solver ended without a word"
# A method's run on one case: the summary of the solver, or why there is none.
Run = Summary | str


@dataclass(frozen=True, slots=True)
class Rung:
    """One method: its points, and the outcome and the run of each case by its name."""

    method: str
    points: ProblemPoints
    outcomes: Outcomes
    runs: Mapping[str, Run]


@registry.command("ladder")
def ladder(
    problem: registry.BundledProblem,
    method: Annotated[list[str] | None, typer.Option(help="only this method (may be repeated)")] = None,
    short: Annotated[bool, typer.Option("--short", help="only the few cases of the package's short ladder")] = False,
    seconds: Annotated[
        float | None, typer.Option(help="time limit of a case instead of the package's", min=0.01, max=MOST_SECONDS)
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="runs side by side; default: one a core", min=1)] = None,
    as_json: registry.AsJson = False,
) -> None:
    """Run each method on each test case under the problem's own limits; show points, time and memory.

    Exit code 1: a method earns other points than its package says.

    Examples:
      jurado ladder comesolo --short
      jurado ladder comesolo --method greedy --method beam --json
    """
    climb = read_climb(problem, short=short)
    methods = choose_methods(climb, method or [])
    climb = replace(climb, seconds=seconds or climb.seconds)
    rungs = run_ladder(climb, methods, jobs or len(os.sched_getaffinity(0)), quiet=as_json)
    if as_json:
        write_json(as_data(climb, rungs, short=short))
    else:
        show(ladder_table(climb, rungs))
    if unexpected := [rung.method for rung in rungs if not as_expected(climb, rung)]:
        raise Failure(f"{climb.package.slug}: other points than expected: {', '.join(unexpected)}", 1)


def read_climb(problem: str, *, short: bool) -> Climb:
    """Read the problem's package and choose the cases; raises Failure where it has no ladder."""
    from app.packages.catalog import plan_climb
    from app.packages.read import read_package

    try:
        return plan_climb(read_package(problem_folder(problem)), short=short)
    except (PackageErrors, ValueError) as error:
        raise Failure(str(error)) from None


def choose_methods(climb: Climb, wanted: Sequence[str]) -> list[str]:
    """Give the methods to run, lowest rung first; raises Failure where solver and jurado.yaml name different ones."""
    known = list(list_methods(climb.package.slug)["methods"])
    for method in wanted:
        if method not in known:
            raise nearest(f"method of {climb.package.slug}", method, known)
    chosen = [method for method in known if method in wanted or not wanted]
    if missing := [method for method in chosen if method not in climb.expected]:
        raise Failure(f"{climb.package.slug}: ladder.points in jurado.yaml: expected {', '.join(missing)}, found none")
    if strange := [method for method in climb.expected if method not in known]:
        expected = f"methods of the solver ({', '.join(known)})"
        raise Failure(
            f"{climb.package.slug}: ladder.points in jurado.yaml: expected {expected}, found {', '.join(strange)}"
        )
    return chosen


def run_ladder(climb: Climb, methods: Sequence[str], jobs: int, *, quiet: bool) -> list[Rung]:
    """Run all, judge all, and give each method its points."""
    from app.packages.catalog import accepted_outcomes, ladder_points

    with (
        on_signals(leave, signal.SIGTERM),  # folders and processes are cleared away as after Ctrl-C
        tempfile.TemporaryDirectory(prefix="jurado-ladder-") as name,
        progress.progress_shown(f"{climb.package.slug} ladder", quiet=quiet) as on_report,
    ):
        folder = Path(name)
        for case in climb.cases:
            (folder / f"{case.name}.in").write_bytes(case.input.read())
        for method in methods:
            (folder / method).mkdir()
        runs = run_all(climb, methods, folder, jobs, on_report)
        judged = {
            method: {case.name: judge(climb, case, runs[method][case.name], folder / method) for case in climb.cases}
            for method in methods
        }
    points = ladder_points(climb, judged, accepted_outcomes(climb))
    return [Rung(m, made, judged[m], runs[m]) for m, made in zip(methods, points, strict=True)]


def leave(signum: int, _frame: FrameType | None) -> NoReturn:
    """End the command as a signal does."""
    raise SystemExit(128 + signum)


def run_all(
    climb: Climb, methods: Sequence[str], folder: Path, jobs: int, on_report: OnReport
) -> dict[str, dict[str, Run]]:
    """Run each method on each case, `jobs` at a time; leaving it by an exception kills the processes that still run."""
    processes = {(method, case.name): SolverProcess() for method in methods for case in climb.cases}
    runs: dict[str, dict[str, Run]] = {method: {} for method in methods}
    with ThreadPoolExecutor(jobs) as pool:
        futures = {
            pool.submit(run_one, climb, method, case, folder, process): (method, case)
            for (method, case), process in processes.items()
        }
        try:
            for count, future in enumerate(as_completed(futures), start=1):
                method, case = futures[future]
                runs[method][case] = future.result()
                note = f"{method} {case}"
                on_report({"fraction": count / len(futures), "best": None, "states": 0, "note": note})
        except BaseException:
            for process in processes.values():
                process.kill()
            pool.shutdown(cancel_futures=True)
            raise
    return runs


def run_one(climb: Climb, method: str, case: str, folder: Path, process: SolverProcess) -> Run:
    """Run a method on a case in a process bounded in time and memory."""
    seed = climb.package.settings.reference.seed if climb.package.settings.reference else 1
    words = [climb.package.slug, "--method", method, "--seed", str(seed), "--seconds", str(climb.seconds)]
    words += ["--out", str(folder / method), str(folder / f"{case}.in")]
    process.start(words, environment(), bounds=Bounds(climb.memory, folder / method, [folder]))
    reason = f"killed: no answer after {OVERRUN:g} times its {climb.seconds:g} seconds"
    ended = process.listen(lambda _report: None, climb.seconds * OVERRUN + START_UP_SECONDS, reason)
    return ended.summaries[0] if ended.summaries else ended.killed or ended.complaint or SILENT


def judge(climb: Climb, case: Case, run: Run, out: Path) -> Outcome:
    """Let the checker score an answer that came in time and within the memory."""
    from app.packages.trials import Outcome, judge_here

    if isinstance(run, str) or run["unsolved"]:
        return Outcome(rejected=run if isinstance(run, str) else run["message"])
    if run["seconds"] > climb.seconds * LATE[0] + LATE[1]:
        return Outcome(rejected=f"expected an answer within {climb.seconds:g} s, found it after {run['seconds']:.1f} s")
    if run["memory"] > climb.memory:
        return Outcome(rejected=f"expected at most {climb.memory} MiB, found {run['memory']:.0f} MiB")
    return judge_here(climb.package, case, (out / f"{case.name}.out").read_bytes())


def as_expected(climb: Climb, rung: Rung) -> bool:
    """Tell whether a method earns the points that its package expects."""
    from app.packages.catalog import within

    return within(rung.points.points, climb.expected[rung.method])


def as_data(climb: Climb, rungs: Sequence[Rung], *, short: bool) -> dict[str, JsonValue]:
    """Give the ladder as JSON."""
    return {
        "problem": climb.package.slug,
        "short": short,
        "seconds": climb.seconds,
        "memory": climb.memory,
        "rungs": [rung_data(climb, rung) for rung in rungs],
    }


def rung_data(climb: Climb, rung: Rung) -> JsonValue:
    """Give one method as JSON."""
    return {
        "method": rung.method,
        "points": round(rung.points.points, 4),
        "expected": list(climb.expected[rung.method]),
        "as_expected": as_expected(climb, rung),
        "groups": {
            group.group.name: {"points": round(group.points, 4), "max": round(group.max_points, 4)}
            for group in rung.points.groups
        },
        "cases": [case_data(rung, case.name, case.group) for case in climb.cases],
    }


def case_data(rung: Rung, name: str, group: str) -> JsonValue:
    """Give one run as JSON; seconds and memory are null where the solver left no summary."""
    outcome, run = rung.outcomes[name], rung.runs[name]
    facts = cast(Mapping[str, JsonValue], {} if isinstance(run, str) else run)
    return {
        "case": name,
        "group": group,
        "accepted": outcome.score is not None,
        "multiplier": rung.points.multipliers.get(name, 0.0),
        **{fact: facts.get(fact) for fact in ("raw", "seconds", "start_up", "memory")},
        "message": outcome.rejected or outcome.failed or facts.get("message"),
    }


def ladder_table(climb: Climb, rungs: Sequence[Rung]) -> Table:
    """Draw methods by groups: points; then their sum, the points expected, the slowest and the largest run."""
    groups = [group.group.name for group in rungs[0].points.groups]
    most = [f"{group.max_points:.4g}" for group in rungs[0].points.groups]
    columns = ["method", *(f">{name.removeprefix('secret/')}" for name in groups)]
    columns += [">points", "expected", ">solved", ">slowest s", ">most MiB"]
    rows = [ladder_row(climb, rung) for rung in rungs]
    title = f"{climb.package.slug}: {len(climb.cases)} cases, each with {climb.seconds:g} s and {climb.memory} MiB"
    return table(title, columns, rows, footer=["out of", *most, "100", "", str(len(climb.cases)), "", ""])


def ladder_row(climb: Climb, rung: Rung) -> list[str]:
    """Write one line of the table."""
    least, upto = climb.expected[rung.method]
    expected = f"{least:g}" if least == upto else f"{least:g}..{upto:g}"
    solved = sum(outcome.score is not None for outcome in rung.outcomes.values())
    summaries = [run for run in rung.runs.values() if not isinstance(run, str)]
    return [
        rung.method,
        *(f"{group.points:.4g}" for group in rung.points.groups),
        f"{rung.points.points:.1f}",
        expected + ("" if as_expected(climb, rung) else " (no)"),
        str(solved),
        f"{max(run['seconds'] for run in summaries):.2f}" if summaries else "",
        f"{max(run['memory'] for run in summaries):.0f}" if summaries else "",
    ]
