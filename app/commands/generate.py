"""`jurado generate`: make a test case's input with the problem's own generator."""

from __future__ import annotations

import subprocess
import sys
from typing import Annotated

import typer

from app.commands.solver_process import last_line
from app.core.commands.names import problem_folder
from app.core.commands.options import BundledProblem
from app.core.commands.output import Failure
from app.core.commands.registry import command


@command("generate")
def generate(
    problem: BundledProblem,
    seed: Annotated[int, typer.Option(help="same seed and parameters, same bytes", min=0)],
    param: Annotated[list[str] | None, typer.Option(metavar="K=V", help="a parameter of the generator")] = None,
) -> None:
    """Write a test case's input to standard output; the generator's own README says which parameters it has.

    Examples:
      jurado generate comesolo --seed 7 --param kind=random --param n=12 > board.in
      jurado generate rollingballs --seed 42 > maze.in
    """
    for pair in param or []:
        if "=" not in pair or pair.startswith(("-", "=")):
            raise Failure(f"--param: expected NAME=VALUE, found {pair!r}")
    sys.stdout.buffer.write(generated(problem, seed, param or []))
    sys.stdout.buffer.flush()


def generated(problem: str, seed: int, params: list[str]) -> bytes:
    """Run the generator and give its output; raises Failure with its last line where it refuses."""
    program = problem_folder(problem) / "generators" / "generate.py"
    if not program.is_file():
        raise Failure(f"{problem} has no generator: expected {program}")
    done = subprocess.run(
        [sys.executable, str(program), "--seed", str(seed), *params], capture_output=True, check=False
    )
    if done.returncode != 0:
        raise Failure(f"{problem}: {last_line(done.stderr.decode(errors='replace'))}")
    return done.stdout
