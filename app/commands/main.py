"""The command line `jurado`: its commands with their help, and the way they end."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from app.accounts.commands import access, accounts, audit, people, registering, registration
from app.archive.commands import backup, move
from app.authoring.commands import jobs, package_import, problems, testcase_commands
from app.commands import check, contest_commands, generate, package, solve
from app.commands.demo.command import demo
from app.commands.ladder.command import ladder
from app.contests.commands import taking_part
from app.core.commands.faults import wrapped
from app.core.commands.output import Failure, console, examples, say
from app.daily.commands.daily import daily
from app.games.commands.listing import games
from app.games.commands.play import play
from app.games.commands.replaying import replay_game
from app.games.commands.tournament import tournament
from app.judging.commands import rejudgings
from app.messages.commands import admin_clarifications as jury
from app.messages.commands import clarifications
from app.operations.commands import bench, status, worker
from app.operations.commands import commands as service
from app.problems.commands import contestant_problems as contest_problems
from app.problems.commands import statement
from app.scoreboard.commands import awards as given_awards
from app.scoreboard.commands import history, scoreboard
from app.scoreboard.commands import shown_awards as awards
from app.similarity.commands import similarity
from app.submissions.commands import submit, watch
from app.teams.commands import directory, teams


class Commands(TyperGroup):
    """Ends every command with one clear line and an exit code where it cannot go on, never with a traceback."""

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
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def jurado(
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=show_version, help="Show the version and exit.")
    ] = False,
) -> None:
    """Jurado judges answer files: a grading service, its clients, and the solvers and checkers behind it."""


LOCAL = "Here, without a server"
SERVICE = "The service"
CLIENT = "Talking to a server"

app.command(
    rich_help_panel=LOCAL,
    epilog=examples(
        "jurado solve comesolo < board.in > board.out",
        "jurado solve rollingballs --method greedy --seconds 2 --seed 7 < maze.in > maze.out",
        "jurado solve comesolo --seconds 5 --out answers/ boards/",
    ),
)(solve.solve)
app.command(
    rich_help_panel=LOCAL,
    epilog=examples(
        "jurado check comesolo board.in board.out",
        "jurado check comesolo board.in board.out --reference board.ans --json",
        "jurado check tokens case.in mine.out --reference case.ans",
        "jurado check mine.game",
    ),
)(check.check)
app.command(
    rich_help_panel=LOCAL,
    epilog=examples(
        "jurado generate comesolo --seed 7 --param kind=random --param n=12 > board.in",
        "jurado generate rollingballs --seed 42 > maze.in",
    ),
)(generate.generate)
app.command(rich_help_panel=LOCAL, epilog=examples("jurado methods comesolo", "jurado methods comesolo --json"))(
    solve.methods
)
app.command(
    rich_help_panel=LOCAL,
    epilog=examples("jurado ladder comesolo --short", "jurado ladder comesolo --method greedy --method beam --json"),
)(ladder)
app.command(
    rich_help_panel=LOCAL,
    epilog=examples(
        "jurado daily",
        "jurado daily --kind optimiza --size medium --svg > board.svg",
        "jurado daily --date 2026-12-24 --json",
    ),
)(daily)
app.command(
    rich_help_panel=LOCAL,
    epilog=examples(
        "jurado play lasttreat --opponent adversarial --position '2 5 2'",
        "jurado play netgame --position net.in --both",
        "jurado play lasttreat --with './mine' --opponent adversarial --games 100",
    ),
)(play)
app.command(
    rich_help_panel=LOCAL,
    epilog=examples(
        "jurado tournament lasttreat --program mine=./mine --opponent optimal --opponent greedy --rounds 10",
        "jurado tournament netgame --opponent optimal --opponent random --json",
        "jurado tournament lasttreatduel --server --opponent optimal --opponent random --rounds 5",
    ),
)(tournament)
app.command(
    "replay",
    rich_help_panel=LOCAL,
    epilog=examples("jurado replay evening.game", "jurado replay evening.game --move 3 --json"),
)(replay_game)
package.program.command(
    "import",
    epilog=examples("jurado package import problems/comesolo", "jurado package import omegaup.zip --to problems"),
)(package_import.import_package)
app.add_typer(package.program, name="package", rich_help_panel=LOCAL)
app.command(rich_help_panel=LOCAL, epilog=examples("jurado bench", "jurado bench tokens"))(bench.bench)
app.command(
    rich_help_panel=SERVICE,
    epilog=examples(
        "jurado serve", "jurado serve --port 0 --home /tmp/trial", "JURADO_ADMIN_PASSWORD=... jurado serve"
    ),
)(service.serve)
app.command(
    rich_help_panel=SERVICE,
    epilog=examples(
        "jurado worker",
        "JURADO_BROKER_URL=amqp://... JURADO_DATABASE_URL=... jurado worker --graders 4",
        "JURADO_METRICS_TOKEN=... jurado worker --metrics-port 9100",
    ),
)(worker.worker)
app.command(rich_help_panel=SERVICE, epilog=examples("jurado demo", "jurado demo --json"))(demo)
app.command(rich_help_panel=SERVICE, epilog=examples("jurado init", "jurado init --home /srv/jurado --json"))(
    service.init
)
app.command(
    rich_help_panel=SERVICE, epilog=examples("jurado backup /backup/jurado", "jurado backup /backup/jurado --json")
)(backup.backup)
app.command(
    rich_help_panel=SERVICE,
    epilog=examples(
        "jurado restore /backup/jurado --home /srv/jurado", "jurado restore /backup/jurado --home /srv/jurado --replace"
    ),
)(backup.restore)
app.command(
    rich_help_panel=SERVICE,
    epilog=examples("jurado fsck", "jurado fsck --mend --from /backup/jurado", "jurado fsck --mend --grace 1 --json"),
)(backup.fsck)
app.command(
    rich_help_panel=SERVICE,
    epilog=examples(
        "jurado move postgresql://jurado:SECRET@127.0.0.1/jurado --home /srv/jurado",
        "JURADO_DATABASE_URL=postgresql://127.0.0.1/jurado jurado move sqlite:////srv/jurado/jurado.db",
    ),
)(move.move)
app.command(
    rich_help_panel=SERVICE,
    epilog=examples(
        "jurado status",
        "jurado status --watch 2",
        "jurado status --url http://127.0.0.1:8000 --json",
        "jurado status --fsck --from /backup/jurado",
    ),
)(status.status)
app.command(
    rich_help_panel=CLIENT,
    epilog=examples(
        "jurado login http://127.0.0.1:8000 admin", "jurado login http://127.0.0.1:8000 admin --password-stdin < secret"
    ),
)(access.login)
app.command(rich_help_panel=CLIENT, epilog=examples("jurado logout"))(access.logout)
app.command(
    rich_help_panel=CLIENT,
    epilog=examples("jurado passwd", "jurado passwd --password-stdin < old-and-new.txt"),
)(access.passwd)
app.command(
    rich_help_panel=CLIENT,
    epilog=examples("jurado tokens", "jurado tokens --revoke 0f3ac2b1d4e5f607", "jurado tokens --revoke-others"),
)(access.tokens)
app.command(
    rich_help_panel=CLIENT,
    epilog=examples(
        "jurado register https://jurado.example finals --code k7fmq-2xwrt --name 'Ana Pérez' --email ana@example.org"
    ),
)(registering.register)
app.command(
    rich_help_panel=CLIENT,
    epilog=examples("jurado reset-password https://jurado.example ana --code k7fmq-2xwrt-hn9bd"),
)(registering.reset_password)
app.command(
    rich_help_panel=CLIENT, epilog=examples("jurado problems practice", "jurado problems practice --inputs inputs/")
)(contest_problems.problems)
app.command(
    rich_help_panel=CLIENT,
    epilog=examples("jurado statement comesolo", "jurado statement A --contest finals --lang es --raw"),
)(statement.statement)
app.command(
    rich_help_panel=CLIENT,
    epilog=examples(
        "jurado submit practice comesolo answers/ --wait",
        "jurado submit practice comesolo 101-n05-p70.out 103-n10-p50.out",
        "jurado submit practice comesolo answers.zip --comment 'wider beam' --json",
    ),
)(submit.submit)
app.command(
    rich_help_panel=CLIENT,
    epilog=examples(
        "jurado watch 17",
        "jurado watch 17 --contest practice --json",
        "jurado watch --live --contest practice",
    ),
)(watch.watch)
app.command(
    rich_help_panel=CLIENT,
    epilog=examples(
        "jurado scoreboard practice",
        "jurado scoreboard practice --live",
        "jurado scoreboard practice --cases --json",
        "jurado scoreboard practice --csv board.csv",
    ),
)(scoreboard.scoreboard)
app.command(
    rich_help_panel=CLIENT,
    epilog=examples(
        "jurado clarify practice 'May balls stay where they are?' --problem rollingballs",
        "jurado clarify practice 'And in the first row?' --reply-to 7",
        "jurado clarify practice - < question.txt",
    ),
)(clarifications.clarify)
app.command(
    rich_help_panel=CLIENT,
    epilog=examples("jurado clarifications practice", "jurado clarifications practice --live"),
)(clarifications.clarifications)
app.command(
    rich_help_panel=CLIENT,
    epilog=examples("jurado games games", "jurado games finals --state playing --problem C --json"),
)(games)
app.command(rich_help_panel=CLIENT, epilog=examples("jurado history practice", "jurado history finals --team ants"))(
    history.history
)
app.command(
    rich_help_panel=CLIENT,
    epilog=examples("jurado begin finals --virtual", "jurado begin finals --personal", "jurado begin finals"),
)(taking_part.begin)
app.command(
    rich_help_panel=CLIENT,
    epilog=examples(
        "jurado final-inputs finals comesolo --inputs inputs/", "jurado final-inputs finals comesolo --show"
    ),
)(taking_part.final_inputs)
app.command(
    rich_help_panel=CLIENT,
    epilog=examples("jurado choose finals comesolo 17", "jurado choose finals comesolo --none"),
)(taking_part.choose)
app.command(rich_help_panel=CLIENT, epilog=examples("jurado quota finals", "jurado quota finals comesolo --json"))(
    taking_part.quota
)
app.command(rich_help_panel=CLIENT, epilog=examples("jurado awards finals", "jurado awards finals --json"))(
    awards.awards
)
administration = typer.Typer(
    no_args_is_help=True, help="Look after a server: accounts, teams, contests, problems, jobs."
)
groups = {
    "people": people.people,
    "user": accounts.user,
    "team": teams.team,
    "group": directory.group,
    "organization": directory.organization,
    "person": directory.person,
    "registration": registration.registration,
    "contest": contest_commands.contest,
    "problem": problems.problem,
    "testcase": testcase_commands.testcase,
    "reference": problems.reference,
    "job": jobs.job,
    "award": given_awards.award,
}
for name, group in groups.items():
    administration.add_typer(group, name=name)
administration.command(
    "audit",
    epilog=examples(
        "jurado admin audit --contest finals --since 2026-11-22T09:00:00+01:00",
        "jurado admin audit --actor ana --operation apply_rejudging",
        "jurado admin audit --limit 0 --format ndjson > audit.ndjson",
    ),
)(audit.show_audit)
administration.command(
    epilog=examples(
        "jurado admin announce finals 'Lunch is served'",
        "jurado admin announce finals 'Please call the jury' --team ants --team bees",
        "jurado admin announce finals 'The third line is n, not m' --problem B",
    )
)(jury.announce)
administration.command(
    epilog=examples("jurado admin answer finals 7 'Yes'", "jurado admin answer finals 7 'No, never' --to-all")
)(jury.answer)
administration.command(
    epilog=examples(
        "jurado admin similarity finals",
        "jurado admin similarity finals --problem comesolo --min 0.5 --json",
        "jurado admin similarity finals --between ants bees",
    )
)(similarity.similarity)
administration.command(
    "rejudge",
    epilog=examples(
        "jurado admin rejudge finals --reason 'the checker took spaces' --problem comesolo --wait",
        "jurado admin rejudge finals --reason 'a broken file system' --submission 17 --submission 18 --apply",
    ),
)(rejudgings.rejudge)
administration.command(
    "rejudgings", epilog=examples("jurado admin rejudgings finals", "jurado admin rejudgings finals --json")
)(rejudgings.list_rejudgings)
administration.add_typer(rejudgings.rejudging, name="rejudging")
app.add_typer(administration, name="admin", rich_help_panel=CLIENT)


def main() -> None:
    """Run `jurado`."""
    app()
