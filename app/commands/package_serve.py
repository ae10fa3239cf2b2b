"""`jurado package serve`: start a throw-away server, bring the package in, say how to try it, and follow its files."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.accounts.commands.accounts import new_login
from app.commands.fresh_service import fresh_service
from app.core.commands.client import Client
from app.core.commands.output import Failure, say
from app.core.commands.registry import command
from app.core.files.temporary import SERVE_PREFIX, locked_folder

if TYPE_CHECKING:
    from app.commands.package_stage import Stage

FEW_GRADERS = {"JURADO_GRADERS": "1"}


@command("package serve")
def serve(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="the package's folder")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="port on this machine; 0: any free one")] = 0,
    examples: Annotated[
        bool, typer.Option("--examples/--no-examples", help="submit the package's example submissions, each as a team")
    ] = True,
) -> None:
    """Serve a package alone, to try it as a contestant, until Ctrl-C.

    A throw-away server has one practice contest with this problem and a team whose token is printed with the commands
    to use it. A changed file imports the package again and rejudges the submissions; while the package has
    errors they are shown, and its last valid state is served. Nothing is kept.

    Examples:
      jurado package serve tour
      jurado package serve tour --port 8100 --no-examples
    """
    from app.commands.package_stage import set_up

    if not folder.is_dir():
        raise Failure(f"{folder}: expected a package's folder, found {'a file' if folder.exists() else 'nothing'}")
    say(f"Starting a server for {folder} alone ...")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # both end it in the same way
    with suppress(KeyboardInterrupt), locked_folder(SERVE_PREFIX) as home:
        (home / "problems").mkdir()
        settings = {**FEW_GRADERS, "JURADO_PROBLEMS": str(home / "problems")}
        with fresh_service(home, settings, port=port) as running:
            login = new_login(running.url, "admin", running.password)
            with Client(login) as admin:
                serve_changes(set_up(folder, admin, login.token, examples=examples))
    say(f"Stopped serving {folder}; nothing was kept")


def serve_changes(stage: Stage) -> None:
    """Bring the package in, now and whenever a file changes; the first time say how to try it."""
    from app.commands.package_stage import changes_of

    changes = changes_of(stage.folder)
    next(changes)  # the watch begins before the package is read: no change falls between the two
    stage.bring_in()
    typer.echo(instructions(stage))
    for has_changed in changes:
        stage.admin.request("GET", "/health/live")  # raises where the server has ended
        if has_changed:
            stage.bring_in()


def instructions(stage: Stage) -> str:
    """The commands to try the package with, as a contestant and as a judge."""
    from app.commands.package_stage import CONTEST

    answers = stage.folder / "submissions/accepted"
    example = next((path for path in sorted(answers.glob("*"))), answers)
    return "\n".join(
        (
            f"Serving {stage.folder} at {stage.admin.url}; nothing is kept.",
            "",
            "In another terminal, as a contestant:",
            "",
            f"  export JURADO_URL={stage.admin.url}",
            f"  export JURADO_TOKEN={stage.team_token}",
            f"  jurado statement {stage.slug}",
            f"  jurado problems {CONTEST} --inputs inputs",
            f"  jurado submit {CONTEST} {stage.slug} {example} --wait",
            f"  jurado watch --live --contest {CONTEST}",
            f"  jurado scoreboard {CONTEST} --live",
            "",
            "As a judge, who sees everything:",
            "",
            f"  export JURADO_TOKEN={stage.admin_token}",
            "",
            "Save a file of the package, and it is brought in again. Ctrl-C ends.",
        )
    )
