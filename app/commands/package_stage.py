"""The throw-away server of one package: its contest, its team, and the way in which the package comes in anew.

- What `jurado package serve` prints of each change: faults by file and line, and how many are judged otherwise.
- The changes of a package's files as they come.
"""

import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path

import httpx
import typer
from watchfiles import watch

from app.accounts.commands.accounts import new_login
from app.core.commands import output, progress, registry
from app.core.commands.client import Client, Reply, refusal
from app.core.faults import PackageErrors, PackageFault, of_severity
from app.judging.commands import applied, follow
from app.packages import arrivals, model, tools, trials, verify, zips

CONTEST = "practice"
TEAM = "you"
LONGEST_ID = 36
NO_ID = re.compile(r"[^a-z0-9]+")
REFUSED = (400, 413, 503)


@dataclass
class Stage:
    """The server as its admin sees it; `bring_in` is called whenever the package may have changed.

    examples   whether example submissions are submitted
    team_token, admin_token   for the commands of contestants and judges
    is_served  whether a state of the package is in the contest
    teams      ids of the teams of example submissions, by their paths
    """

    folder: Path
    admin: Client
    examples: bool
    team_token: str
    admin_token: str
    slug: str = ""
    is_served: bool = False
    _seen: str = ""
    teams: dict[str, str] = field(default_factory=dict)
    _sent: dict[str, str] = field(default_factory=dict)

    def bring_in(self) -> None:
        """Read the package, bring it to the server, and print what came of it; nothing where it is as the last time."""
        try:
            data = model.write_archive(arrivals.read_place(self.folder).package)
            arrival = arrivals.read_arrival(data, None, None)  # a snapshot: files may go on changing
        except PackageErrors as errors:
            if self._is_new(str(errors)):
                self._report([error.as_data() for error in errors.errors])
            return
        except OSError as error:  # a file that goes away while it is read: the next change says more
            if self._is_new(str(error)):
                self._report([], refused=f"{error.filename}: {error.strerror}")
            return
        if not self._is_new(sha256(data).hexdigest()):
            return
        package = arrival.package
        faults = verify.examine(
            package, trials.LocalDesk(), workshop=tools.local_workshop(), broken=arrival.broken
        ).faults
        listed = [fault.as_data() for fault in faults if fault.severity != "note"]
        if of_severity(faults, "error"):
            self._report(listed)
            return
        self.slug = package.slug
        reply = self.admin.request(
            "POST",
            "/api/problems",
            params={"id": self.slug},
            content=data,
            headers={"Content-Type": "application/zip"},
            accept=REFUSED,
        )
        if not reply.is_success:
            faults_there = reply.json(object_hook=Reply).get("errors") or []
            self._report(faults_there, refused="" if faults_there else refusal(reply))
            return
        done = self._settle(reply)
        if self.examples:
            self._submit_examples(package)
        self._report(listed, done)

    def _is_new(self, state: str) -> bool:
        before, self._seen = self._seen, state
        return state != before

    def _report(self, faults: Sequence[PackageFault], done: str = "", refused: str = "") -> None:
        """Print faults, and what was done; without such why the server took nothing."""
        lines = progress.fault_lines(self.folder, faults)
        for line in [*lines, *filter(None, [refused])]:
            output.say(line)
        errors = sum(": error: " in line for line in lines)
        goes_on = "its last good state goes on" if self.is_served else "it comes in once that is mended"
        result = done or f"{progress.counted(errors, 'error') if errors else 'not brought in'}; {goes_on}"
        typer.echo(output.harmless(f"{datetime.now().astimezone():%H:%M:%S} {self.folder}: {result}"))

    def _settle(self, reply: httpx.Response) -> str:
        """Let the change count: at once, or by applying the rejudging as which it waits. Say what it did."""
        body = self.admin.body(reply)
        if registry.is_waiting(body):  # what the new checker fails on becomes a judge error, for all to see
            follow(self.admin, body, quiet=True)
            counts = self.admin.get(f"{body['href']}/difference")["counts"]
            applied(self.admin, body["href"], {"judge_errors": True}, wait=True, quiet=True)
            changed, total = counts["submissions_changed"], counts["submissions"]
            return f"brought in; {changed} of {total} submissions judged otherwise"
        if not self.is_served:
            self.admin.post(f"contests/{CONTEST}/problems", {"id": self.slug})
            self.is_served = True
        return "brought in"

    def _submit_examples(self, package: model.Package) -> None:
        """Submit the example submissions that are new or have changed, each as a team of its own."""
        for example in package.submissions:
            data = _packed(example)
            digest = sha256(data).hexdigest()
            if self._sent.get(example.path) == digest:
                continue
            fields = {"problem_id": self.slug, "team_id": self._team_of(example.path)}
            files = {"files": ("answers.zip", data)}
            self.admin.post(f"contests/{CONTEST}/submissions", files=files, data=fields)
            self._sent[example.path] = digest

    def _team_of(self, path: str) -> str:
        """The team of an example submission, made when it is first needed."""
        if path not in self.teams:
            team = f"{len(self.teams) + 1}-{NO_ID.sub('-', path.lower())}"[:LONGEST_ID].strip("-")
            self.admin.post("teams", [{"id": team, "name": path, "label": team}])
            self.teams[path] = team
        return self.teams[path]


def set_up(folder: Path, admin: Client, admin_token: str, *, examples: bool) -> Stage:
    """Make a fresh server ready: one contest, and one team with its account and token."""
    admin.delete("contests/demo")
    admin.post("teams", [{"id": TEAM, "name": "You", "label": TEAM}])
    password = secrets.token_urlsafe(16)
    admin.post("accounts", [{"username": TEAM, "password": password, "type": "team", "team_id": TEAM}])
    team = new_login(admin.url, TEAM, password)
    return Stage(folder, admin, examples, team.token, admin_token, slug=folder.resolve().name)


def _packed(example: model.Submission) -> bytes:
    return zips.zip_bytes({file.path.removeprefix("submissions/"): file.read() for file in example.answers})


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
