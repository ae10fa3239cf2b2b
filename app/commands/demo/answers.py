"""Answer files of the demo: made by solvers as processes, and scored here as `jurado check` does."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from app.commands.check import judge
from app.commands.demo.expected import Checked
from app.commands.solver_process import run_solver_on_files
from app.core.commands.client import Client
from app.core.commands.output import Failure
from app.packages.zips import zip_bytes

CORRUPT = b"3\n0 0 2 2\nnot a jump\n"

Answers = dict[str, bytes]
"""Answer files by the name of their case."""


def fetch_inputs(client: Client, contest: str, problem: str, folder: Path) -> list[str]:
    """Fetch a problem's inputs as any contestant would; returns the names of the cases that count now."""
    folder.mkdir()
    extract(client.request("GET", f"/api/contests/{contest}/problems/{problem}/inputs.zip").content, folder, ".in")
    cases = client.rows(f"contests/{contest}/problems/{problem}/testcases")
    return [case["name"] for case in cases if case["kind"] == "provisional"]


def fetch_references(admin: Client, problem: str, folder: Path) -> None:
    """Fetch the expected answers, which only judges may: `jurado check` needs them for partial points."""
    extract(admin.request("GET", f"/api/problems/{problem}/package.zip").content, folder, ".ans", below="/data/secret/")


def extract(archive: bytes, folder: Path, suffix: str, *, below: str = "") -> None:
    """Write the files of a zip that end with `suffix` (and lie below a folder) into `folder`, by their names alone."""
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        for name in files.namelist():
            if name.endswith(suffix) and below in name:
                (folder / name.rpartition("/")[2]).write_bytes(files.read(name))


def solve(problem: str, folder: Path, name: str, cases: Sequence[str], options: Sequence[str]) -> Answers:
    """Run a solver on the inputs of the cases; the answers are written to folder/name."""
    out = folder / name
    out.mkdir()
    run_solver_on_files(problem, [folder / f"{case}.in" for case in cases], out, options, lambda _report: None)
    return {case: (out / f"{case}.out").read_bytes() for case in cases}


def check_all(problem: str, folder: Path, answers: Mapping[str, bytes]) -> dict[str, Checked]:
    """Check answers as `jurado check` does."""
    return {case: check_one(problem, folder, case, data) for case, data in answers.items()}


def check_one(problem: str, folder: Path, case: str, data: bytes) -> Checked:
    """Check one answer; raises Failure where the checker itself fails."""
    answer = folder / f"{case}.checked"
    answer.write_bytes(data)
    outcome = judge(problem, folder / f"{case}.in", answer, folder / f"{case}.ans")
    if outcome.verdict == "judge_error":
        raise Failure(f"{problem} {case}: {outcome.message}", 1)
    if outcome.score is None:
        return Checked(False, Fraction(0), 0)
    return Checked(True, Fraction(outcome.score.multiplier or 0), int(outcome.score.raw))


def zipped(answers: Mapping[str, bytes]) -> bytes:
    """Pack answers as a contestant's zip, in a folder, as archives often are."""
    return zip_bytes({f"my answers/{case}.out": data for case, data in answers.items()})
