"""The demo's story, step by step, each through HTTP: the work of an admin and of three teams."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.accounts.commands.access import new_login
from app.authoring.commands.jobs import follow_job
from app.commands.demo import answers
from app.commands.demo.answers import CORRUPT, Answers
from app.commands.demo.expected import Rule, Sent
from app.commands.generate import generated
from app.core.commands.client import Client
from app.core.commands.output import Failure, JsonMapping
from app.programs.solving import SolverReport
from app.submissions.commands.submit import send, wait_for_report

CONTEST = "story"
TEAMS = {"ants": "The Ants", "bees": "The Bees", "cats": "The Cats"}
NEW_CASE = "121-n12-uploaded"

AT_ONCE = 2

Talk = Callable[[str], None]
Work = dict[str, Answers]
"""Answer files by the name of their maker."""


@dataclass
class Story:
    """The story so far. `folder` holds the inputs, a folder for each problem."""

    url: str
    admin: Client
    folder: Path
    talk: Talk
    teams: dict[str, Client] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)

    def cases(self, problem: str) -> list[str]:
        """List the names of a problem's cases that count now."""
        return [case for rule in self.rules if rule.problem == problem for case in rule.cases]

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
    """A team fetches the inputs over HTTP; the expected answers come from the admin, to score with `jurado check`."""
    ants = story.teams["ants"]
    for problem, relative in (("comesolo", False), ("rollingballs", True)):
        folder = story.folder / problem
        cases = answers.fetch_inputs(ants, CONTEST, problem, folder)
        answers.fetch_references(story.admin, problem, folder)
        story.rules.append(Rule(problem, relative, cases))
        story.talk(f"the teams fetch {len(cases)} inputs of {problem}")


def work(story: Story) -> Work:
    """Run the teams' solvers, two at a time."""
    comesolo, rolling = story.cases("comesolo"), story.cases("rollingballs")
    wanted = {
        "greedy": ("comesolo", comesolo, ("--method", "greedy", "--steps", "1", "--seed", "5")),
        "best-first": ("comesolo", comesolo, ("--method", "best-first", "--steps", "2000")),
        "beam": ("comesolo", [NEW_CASE, comesolo[2]], ("--method", "beam", "--seconds", "0.5")),
        "rough": ("rollingballs", rolling, ("--method", "greedy", "--steps", "3")),
        "careful": ("rollingballs", rolling, ("--method", "beam-local", "--seconds", "0.4")),
    }
    with ThreadPoolExecutor(AT_ONCE) as threads:
        running = {
            name: threads.submit(answers.solve, problem, story.folder / problem, name, cases, options)
            for name, (problem, cases, options) in wanted.items()
        }
        made = {name: each.result() for name, each in running.items()}
    story.talk(f"the teams' solvers make {sum(map(len, made.values()))} answer files")
    return made


def first_round(story: Story, made: Work) -> None:
    """Three teams submit: greedy answers, best-first answers with a corrupt file among them, and a single file."""
    damaged = story.cases("comesolo")[2]
    submit(story, "ants", "comesolo", made["greedy"], "a zip of greedy answers")
    files = {**made["best-first"], damaged: CORRUPT}
    submit(story, "bees", "comesolo", files, f"a zip of best-first answers, that of {damaged} corrupt")
    submit(story, "cats", "comesolo", {NEW_CASE: made["beam"][NEW_CASE]}, "a single file")
    submit(story, "ants", "rollingballs", made["rough"], "a zip of greedy answers, BEST everywhere so far")
    first = story.cases("rollingballs")[0]
    submit(story, "bees", "rollingballs", {first: b"0\n"}, "a single file without any rolls")


def second_round(story: Story, made: Work) -> None:
    """One team improves one case; another sets new BESTs, which lowers the points of the first answers."""
    damaged = story.cases("comesolo")[2]
    submit(story, "bees", "comesolo", {damaged: made["beam"][damaged]}, f"a better answer of the one case {damaged}")
    submit(story, "cats", "rollingballs", made["careful"], "a zip of beam-local answers with new BESTs")
    second = story.cases("rollingballs")[1]
    submit(story, "bees", "rollingballs", {second: made["careful"][second]}, "one more file; the other is carried over")


def submit(story: Story, team: str, problem: str, files: Answers, what: str) -> None:
    """Submit as a team (a zip, or a single file), wait for the verdict, and note the submission with its results."""
    client = story.teams[team]
    case = next(iter(files))
    name, data = (f"{case}.out", files[case]) if len(files) == 1 else ("answers.zip", answers.zipped(files))
    stored = send(client, CONTEST, problem, name, data)
    report = wait_for_report(client, CONTEST, stored["id"])
    results = answers.check_all(problem, story.folder / problem, files)
    story.sent.append(Sent(stored["id"], team, problem, stored["contest_time"], results))
    verdict = report["judgement"]["judgement_type_id"]
    story.talk(f"{TEAMS[team]} submit {what} ({problem}): {verdict}, {report['points']:.2f} points")
