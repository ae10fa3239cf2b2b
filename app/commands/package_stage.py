"""The throw-away server of one package: its contest, its team, and the way in which the package comes in again.

- What `jurado package serve` prints of each change: faults by file and line, and how many are judged otherwise.
- The changes of a package's files as they come.
"""

import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import typer
from watchfiles import watch

from app.accounts.commands.accounts import new_login
from app.core.commands import output, progress, registry
from app.core.commands.client import Client
from app.core.faults import PackageError, PackageErrors, of_severity
from app.judging.commands import applied, follow
from app.packages import arrivals, model, tools, trials, verify, zips

CONTEST = "practice"
TEAM = "you"
LONGEST_ID = 36
NO_ID = re.compile(r"[^a-z0-9]+")


@dataclass
class Stage:
    """The server as its admin sees it; `bring_in` is called whenever the package may have changed.

    examples   whether example submissions are submitted
    team_token, admin_token   for the commands of contestants and judges
    is_served  whether a state of the package is in the contest
    sent       the paths of the example submissions that have been submitted
    """

    folder: Path
    admin: Client
    examples: bool
    team_token: str
    admin_token: str
    slug: str
    is_served: bool = False
    sent: set[str] = field(default_factory=set)

    def bring_in(self) -> None:
        """Read the package, bring it to the server, and print what came of it."""
        done = ""
        faults: Sequence[PackageError] = ()
        try:
            arrival = arrivals.read_place(self.folder)
            workshop = tools.local_workshop()
            examined = verify.examine(arrival.package, trials.LocalDesk(), workshop=workshop, broken=arrival.broken)
            faults = examined.faults
            done = "" if of_severity(faults, "error") else self._upload(arrival.package)
        except PackageErrors as errors:
            faults = errors.errors
        except (OSError, output.Failure) as error:  # a file that goes away while it is read: the next change says more
            output.say(str(error))
        lines = progress.fault_lines(self.folder, [each.as_data() for each in faults if each.severity != "note"])
        for line in lines:
            output.say(line)
        count = sum(": error: " in line for line in lines)
        goes_on = "its last valid state is served" if self.is_served else "it is imported once that is fixed"
        result = done or f"{progress.counted(count, 'error') if count else 'not brought in'}; {goes_on}"
        typer.echo(output.harmless(f"{datetime.now().astimezone():%H:%M:%S} {self.folder}: {result}"))

    def _upload(self, package: model.Package) -> str:
        """Let the package count: at once, or by applying the rejudging as which it waits. Say what it did."""
        self.slug, data = package.slug, model.write_archive(package)
        headers = {"Content-Type": "application/zip"}
        body = self.admin.post("problems", content=data, params={"id": self.slug}, headers=headers)
        done = "brought in"
        if registry.is_waiting(body):  # what the new checker fails on becomes a judge error, for all to see
            follow(self.admin, body, quiet=True)
            counts = self.admin.get(f"{body['href']}/difference")["counts"]
            applied(self.admin, body["href"], {"judge_errors": True}, wait=True, quiet=True)
            changed, total = counts["submissions_changed"], counts["submissions"]
            done = f"brought in; {changed} of {total} submissions judged otherwise"
        elif not self.is_served:
            self.admin.post(f"contests/{CONTEST}/problems", {"id": self.slug})
            self.is_served = True
        for example in package.submissions if self.examples else ():
            if example.path not in self.sent:
                self._submit(example)
        return done

    def _submit(self, example: model.Submission) -> None:
        """Submit an example submission as a team of its own."""
        self.sent.add(example.path)
        team = f"{len(self.sent)}-{NO_ID.sub('-', example.path.lower())}"[:LONGEST_ID].strip("-")
        self.admin.post("teams", [{"id": team, "name": example.path, "label": team}])
        answers = {file.path.removeprefix("submissions/"): file.read() for file in example.answers}
        files = {"files": ("answers.zip", zips.zip_bytes(answers))}
        fields = {"problem_id": self.slug, "team_id": team}
        self.admin.post(f"contests/{CONTEST}/submissions", files=files, data=fields)


def set_up(folder: Path, admin: Client, admin_token: str, *, examples: bool) -> Stage:
    """Make a fresh server ready: one contest, and one team with its account and token."""
    admin.delete("contests/demo")
    admin.post("teams", [{"id": TEAM, "name": "You", "label": TEAM}])
    password = secrets.token_urlsafe(16)
    admin.post("accounts", [{"username": TEAM, "password": password, "type": "team", "team_id": TEAM}])
    team = new_login(admin.url, TEAM, password)
    return Stage(folder, admin, examples, team.token, admin_token, slug=folder.resolve().name)


# Milliseconds without a change after which a change is taken for whole: editors write a file in several steps.
SETTLED = 150
LONGEST_WAIT = 2000
# Milliseconds between two looks at whether the server still lives, and before the first one.
LOOKS = 250


def changes_of(folder: Path) -> Iterator[bool]:
    """Yield whether files below the folder have changed, again and again.

    The watch has begun once the first of them comes: each later change is in one. Raises Failure where the folder goes.
    """
    try:
        for changes in watch(folder, debounce=LONGEST_WAIT, step=SETTLED, rust_timeout=LOOKS, yield_on_timeout=True):
            if not folder.is_dir():
                raise output.Failure(f"{folder}: the folder is gone", 1)
            yield bool(changes)
    except OSError as error:
        raise output.Failure(f"{folder}: its files cannot be watched: {error}", 1) from None
