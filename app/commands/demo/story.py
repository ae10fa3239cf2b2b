"""The demo's story, step by step, each through HTTP: the work of an admin and of three teams.

- Answer files of the demo: made by solvers as processes.
- A service of the demo's own: a fresh home, a free port, a real process that ends with the demo, kill -9 included.
"""

from __future__ import annotations

import io
import os
import secrets
import subprocess
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.accounts.commands.accounts import new_login
from app.commands.solver_process import generated, run_solver_on_files
from app.core.commands.client import Client
from app.core.commands.lookup import follow_job
from app.core.commands.modules import environment, module_command
from app.core.commands.output import Failure, JsonMapping
from app.packages.zips import zip_bytes
from app.programs.solving import SolverReport
from app.sandbox.model import AS_ROOT
from app.submissions.commands import send, wait_for_report

CORRUPT = b"3\n0 0 2 2\nnot a jump\n"

# Answer files by the name of their case.
Answers = dict[str, bytes]


def fetch_inputs(client: Client, contest: str, problem: str, folder: Path) -> list[str]:
    """Fetch a problem's inputs as any contestant would; returns the names of the cases that count now."""
    folder.mkdir()
    extract(client.request("GET", f"/api/contests/{contest}/problems/{problem}/inputs.zip").content, folder, ".in")
    cases = client.rows(f"contests/{contest}/problems/{problem}/testcases")
    return [case["name"] for case in cases if case["kind"] == "provisional"]


def extract(archive: bytes, folder: Path, suffix: str) -> None:
    """Write the files of a zip that end with `suffix` into `folder`, by their names alone."""
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        for name in files.namelist():
            if name.endswith(suffix):
                (folder / name.rpartition("/")[2]).write_bytes(files.read(name))


def solve(problem: str, folder: Path, name: str, cases: Sequence[str], options: Sequence[str]) -> Answers:
    """Run a solver on the inputs of the cases; the answers are written to folder/name."""
    out = folder / name
    out.mkdir()
    run_solver_on_files(problem, [folder / f"{case}.in" for case in cases], out, options, lambda _report: None)
    return {case: (out / f"{case}.out").read_bytes() for case in cases}


def zipped(answers: Mapping[str, bytes]) -> bytes:
    """Pack answers as a contestant's zip, in a folder, as archives often are."""
    return zip_bytes({f"my answers/{case}.out": data for case, data in answers.items()})


CONTEST = "story"
TEAMS = {"ants": "The Ants", "bees": "The Bees", "cats": "The Cats"}
NEW_CASE = "121-n12-uploaded"

AT_ONCE = 2

Talk = Callable[[str], None]
# Answer files by the name of their maker.
Work = dict[str, Answers]


@dataclass
class Story:
    """The story so far. `folder` holds the inputs, a folder for each problem."""

    url: str
    admin: Client
    folder: Path
    talk: Talk
    teams: dict[str, Client] = field(default_factory=dict)
    # The names of the cases that count now, by problem.
    cases: dict[str, list[str]] = field(default_factory=dict)

    def board(self) -> JsonMapping:
        """Read the board as everybody sees it."""
        with Client(self.admin.as_nobody()) as public:
            return public.get(f"contests/{CONTEST}/scoreboard", cases="true")

    def close(self) -> None:
        """Close the connections."""
        for client in (self.admin, *self.teams.values()):
            client.close()


def begin(story: Story) -> None:
    """Make the contest, its teams and their accounts, and log the teams in."""
    start = (datetime.now(UTC) - timedelta(minutes=1)).isoformat(timespec="milliseconds")
    story.admin.post("contests", {"id": CONTEST, "name": "The story", "start_time": start, "duration": "5:00:00"})
    absolute = {"kind": "absolute", "counting": "best-case"}
    relative = {"kind": "relative", "counting": "last", "carry": "best"}
    for problem, rule in (("comesolo", absolute), ("rollingballs", relative)):
        story.admin.post(f"contests/{CONTEST}/problems", {"id": problem, "rule": {**rule, "max_points": 100}})
    story.admin.post("teams", [{"id": team, "name": name} for team, name in TEAMS.items()])
    story.admin.post(f"contests/{CONTEST}/teams", {"team_ids": list(TEAMS)})
    passwords = {team: secrets.token_urlsafe(9) for team in TEAMS}
    accounts = [{"username": t, "password": word, "type": "team", "team_id": t} for t, word in passwords.items()]
    story.admin.post("accounts", accounts)
    story.teams = {team: Client(new_login(story.url, team, word)) for team, word in passwords.items()}
    story.talk("the admin makes a contest: comesolo (absolute), rollingballs (relative), and three teams")


def add_case(story: Story) -> None:
    """Upload a test case's input, and have the reference solver make its expected answer."""
    board = generated("comesolo", 2026, ["kind=random", "n=12", "density=60"])
    files = {"input": (f"{NEW_CASE}.in", board)}
    stored = story.admin.put(f"problems/comesolo/testcases/secret/{NEW_CASE}", files=files)
    story.talk(f"the admin uploads the test case {NEW_CASE}: {stored['size']} bytes, no expected answer yet")
    options = {"method": "beam", "seconds": 1.5, "seed": 1}
    job = story.admin.post("problems/comesolo/reference-runs", options)
    lines = set()

    def on_progress(report: SolverReport) -> None:
        line = f"  reference run: {report['fraction']:.0%} {report['note']}"
        if report["note"] and line not in lines:
            story.talk(line)
        lines.add(line)

    ended = follow_job(story.admin, job["id"], on_progress)
    if ended["state"] != "done":
        raise Failure(f"the reference run ended as {ended['state']}: {ended['result']}", 1)


def get_ready(story: Story) -> None:
    """A team fetches the inputs over HTTP."""
    for problem in ("comesolo", "rollingballs"):
        story.cases[problem] = fetch_inputs(story.teams["ants"], CONTEST, problem, story.folder / problem)
        story.talk(f"the teams fetch {len(story.cases[problem])} inputs of {problem}")


def work(story: Story) -> Work:
    """Run the teams' solvers, two at a time."""
    comesolo, rolling = story.cases["comesolo"], story.cases["rollingballs"]
    wanted = {
        "greedy": ("comesolo", comesolo, ("--method", "greedy", "--steps", "1", "--seed", "5")),
        "best-first": ("comesolo", comesolo, ("--method", "best-first", "--steps", "2000")),
        "beam": ("comesolo", [NEW_CASE, comesolo[2]], ("--method", "beam", "--seconds", "0.5")),
        "rough": ("rollingballs", rolling, ("--method", "greedy", "--steps", "3")),
        "careful": ("rollingballs", rolling, ("--method", "beam-local", "--seconds", "0.4")),
    }
    with ThreadPoolExecutor(AT_ONCE) as threads:
        running = {
            name: threads.submit(solve, problem, story.folder / problem, name, cases, options)
            for name, (problem, cases, options) in wanted.items()
        }
        made = {name: each.result() for name, each in running.items()}
    story.talk(f"the teams' solvers make {sum(map(len, made.values()))} answer files")
    return made


def first_round(story: Story, made: Work) -> None:
    """Three teams submit: greedy answers, best-first answers with a corrupt file among them, and a single file."""
    damaged = story.cases["comesolo"][2]
    submit(story, "ants", "comesolo", made["greedy"], "a zip of greedy answers")
    files = {**made["best-first"], damaged: CORRUPT}
    submit(story, "bees", "comesolo", files, f"a zip of best-first answers, that of {damaged} corrupt")
    submit(story, "cats", "comesolo", {NEW_CASE: made["beam"][NEW_CASE]}, "a single file")
    submit(story, "ants", "rollingballs", made["rough"], "a zip of greedy answers, BEST everywhere so far")
    first = story.cases["rollingballs"][0]
    submit(story, "bees", "rollingballs", {first: b"0\n"}, "a single file without any rolls")


def second_round(story: Story, made: Work) -> None:
    """One team improves one case; another sets new BESTs, which lowers the points of the first answers."""
    damaged = story.cases["comesolo"][2]
    submit(story, "bees", "comesolo", {damaged: made["beam"][damaged]}, f"a better answer of the one case {damaged}")
    submit(story, "cats", "rollingballs", made["careful"], "a zip of beam-local answers with new BESTs")
    second = story.cases["rollingballs"][1]
    submit(story, "bees", "rollingballs", {second: made["careful"][second]}, "one more file; the other is carried over")


def submit(story: Story, team: str, problem: str, files: Answers, what: str) -> None:
    """Submit as a team (a zip, or a single file), and wait for the verdict."""
    client = story.teams[team]
    case = next(iter(files))
    name, data = (f"{case}.out", files[case]) if len(files) == 1 else ("answers.zip", zipped(files))
    stored = send(client, CONTEST, problem, name, data)
    report = wait_for_report(client, CONTEST, stored["id"])
    verdict = report["judgement"]["judgement_type_id"]
    story.talk(f"{TEAMS[team]} submit {what} ({problem}): {verdict}, {report['points']:.2f} points")


SECONDS_TO_STOP = 15


@dataclass(frozen=True)
class Running:
    """A service that answers at `url`, and the password of its account admin."""

    url: str
    password: str


@contextmanager
def fresh_service(
    home: Path,
    settings: Mapping[str, str] | None = None,
    start: Callable[..., subprocess.Popen[str]] = subprocess.Popen,
    port: int = 0,
) -> Iterator[Running]:
    """Start `jurado serve` in an empty home; stop it on the way out. Its log is home/server.log.

    `settings` are further variables of its environment. `start` starts a process by the options of Popen. `port` is one
    of this machine's, 0 a free one.
    """
    password = secrets.token_urlsafe(16)
    # The demo ignores the settings of the person who runs it; jurado.toml too, as it is looked for in the home.
    # Whether programs of packages may run as root is about the person's machine.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("JURADO_") or name == AS_ROOT}
    python = {name: value for name, value in environment().items() if name.startswith("PYTHON")}
    with (home / "server.log").open("w") as log:
        process = start(
            module_command(
                "app.commands.demo.with_parent",
                "serve",
                "--host",
                "127.0.0.1",
                "--port",
                str(port),
                "--home",
                str(home / "var"),
            ),
            cwd=home,
            env=clean | python | dict(settings or {}) | {"JURADO_ADMIN_PASSWORD": password},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )
        try:
            yield Running(wait_for_address(process, home), password)
        finally:
            stop(process)


def wait_for_address(process: subprocess.Popen[str], home: Path) -> str:
    """Read the line with the address; raises Failure with the end of the log if there is none."""
    assert process.stdout is not None
    words = process.stdout.readline().split()
    if words[:2] != ["Jurado", "serves"]:
        tail = "\n".join((home / "server.log").read_text().splitlines()[-5:])
        raise Failure(f"the service did not start:\n{tail}", 1)
    return words[2]


def stop(process: subprocess.Popen[str]) -> None:
    """Ask the service to stop, and end it if it does not."""
    process.terminate()
    try:
        process.wait(SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
