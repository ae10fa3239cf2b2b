"""`jurado bench`: measure, with the programs of bench/."""

from __future__ import annotations

import subprocess
from typing import Annotated

import typer

from app.commands.solver_process import ROOT, environment, module_command
from app.core.commands.output import Failure
from app.core.commands.registry import command


@command("bench")
def bench(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="none: list them; all: run all")
    ] = None,
) -> None:
    """Measure parts of Jurado on this machine, each against something known, and print tables.

    Examples:
      jurado bench
      jurado bench tokens
    """
    if not (ROOT / "bench" / "__main__.py").is_file():
        raise Failure(f"expected the folder bench beside the program, found none in {ROOT}")
    arguments = names or ["--list"]
    done = subprocess.run(module_command("bench", *arguments), cwd=ROOT, env=environment(), check=False)
    raise typer.Exit(done.returncode)
