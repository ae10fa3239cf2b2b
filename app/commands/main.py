"""The command line `jurado`: its commands with their help, and the way they end."""

import os
import sys
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from app.accounts.commands import accounts, roles
from app.archive.commands import backup, contest_packages
from app.authoring.commands import package_import, problems, test_data
from app.commands import check, demo, ladder, package, package_new, package_serve, solver_process
from app.contests.commands import contest_settings, contests
from app.core.commands.output import Failure, console, say
from app.core.commands.progress import wrapped
from app.core.commands.registry import build
from app.games.commands import play, tournament
from app.judging import commands as rejudgings
from app.operations.commands import status_screen, worker
from app.problems import commands as problems_commands
from app.scoreboard import commands as scoreboard
from app.submissions import commands as submissions_commands
from app.teams import commands as teams_commands

# The parts of `jurado --help`, each with its commands.
PANELS = {
    "Here, without a server": "solve check generate methods ladder play tournament bench package",
    "The service": "serve worker demo init backup restore fsck status",
    "Talking to a server": "login logout passwd problems statement submit submissions watch scoreboard api admin",
}
GROUPS = {
    "package": "Verify, pack and begin problem packages.",
    "admin": "Look after a server: accounts, teams, contests, problems, jobs.",
    "admin people": "Class lists: accounts with their teams in one step.",
    "admin user": "Accounts: who may log in.",
    "admin team": "Teams.",
    "admin group": "Groups of a contest.",
    "admin organization": "Organizations of a contest.",
    "admin person": "Persons of a contest.",
    "admin contest": "Contests and what is in them.",
    "admin problem": "Problems and their packages.",
    "admin testcase": "Test cases of problems.",
    "admin reference": "Expected answers, made by the reference solver.",
    "admin job": "Long work on the server.",
    "admin rejudging": "One rejudging: what it changes, and whether it counts.",
}


class Commands(TyperGroup):
    """Ends every command with one clear line and an exit code where it cannot continue, never with a traceback."""

    # Any: typer does not export the Context of its own copy of click.
    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except Failure as error:
            say(wrapped(f"jurado: {error}", console(err=True).width if sys.stderr.isatty() else None))
            raise typer.Exit(error.code) from None
        except BrokenPipeError:
            # The reader has gone (`jurado ... | head`): not an error, but Python would complain at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None


def show_version(asked: bool) -> None:
    """Print the version, if it was asked for."""
    if asked:
        typer.echo(f"jurado {version('jurado')}")
        raise typer.Exit


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def jurado(
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=show_version, help="Show the version and exit.")
    ] = False,
) -> None:
    """Jurado judges answer files: a grading service, its clients, and the solvers and checkers behind it."""


build(app, GROUPS, {panel: names.split() for panel, names in PANELS.items()})


def main() -> None:
    """Run `jurado`."""
    app()
