"""`jurado demo`: play a contest over HTTP, and show what its steps change on the board."""

import io
import secrets
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import typer

from app.accounts.commands.accounts import new_login
from app.commands.fresh_service import fresh_service
from app.commands.solver_process import generated, run_solver_on_files
from app.core.commands import config, lookup, output, registry
from app.core.commands.client import Client
from app.core.files.temporary import DEMO_PREFIX, locked_folder
from app.packages.zips import zip_bytes
from app.submissions.commands import send, wait_for_report

CONTEST = "story"
PATH = f"contests/{CONTEST}"
TEAMS = {"ants": "The Ants", "bees": "The Bees", "cats": "The Cats"}
NEW_CASE = "121-n12-uploaded"
CORRUPT = b"3\n0 0 2 2\nnot a jump\n"
SECONDS_BETWEEN_LOOKS = 0.1
MOST_SECONDS = 120

# Answer files by the name of their case.
Answers = dict[str, bytes]


@dataclass
class Story:
    """The story so far; `cases` are the names of the cases that count, by problem, `folder` has their inputs."""

    url: str
    admin: Client
    folder: Path
    talk: Callable[[str], None]
    teams: dict[str, Client] = field(default_factory=dict)
    cases: dict[str, list[str]] = field(default_factory=dict)

    def board(self) -> output.JsonMapping:
        """Read the board as everyone sees it."""
        with Client(config.Login(self.admin.url)) as public:
            return public.get(f"{PATH}/scoreboard", cases="true")

    def standings(self) -> str:
        """Name all teams with their points, best first."""
        return ", ".join(f"{TEAMS[row['team_id']]} {row['score']['score']:.2f}" for row in self.board()["rows"])


@registry.command("demo")
def demo() -> None:
    """Play a whole contest through HTTP with a fresh service, and show what its steps change.

    An admin uploads a test case and a solver makes its answer; three teams submit and improve; a question is answered,
    a rejudging tried and undone, a frozen board opened, an award given. A new BEST lowers points, an undone
    rejudging leaves no trace, and a frozen board stands still.

    Examples:
      jurado demo
    """
    began = time.monotonic()

    def talk(text: str) -> None:
        typer.echo(f"{time.monotonic() - began:5.1f} s  {text}")

    with locked_folder(DEMO_PREFIX) as folder, fresh_service(folder) as running:
        talk(f"a fresh service answers at {running.url}")
        story = Story(running.url, Client(new_login(running.url, "admin", running.password)), folder, talk)
        try:
            play(story)
        finally:
            for client in (story.admin, *story.teams.values()):
                client.close()
    talk("the contest is over, and the service has ended")


def play(story: Story) -> None:
    """Play the story, and show the board after the first round, after the second one, and at the end."""
    begin(story)
    add_case(story)
    made = work(story)
    points = []
    for step in (first_round, second_round, finale):
        step(story, made)
        board = story.board()
        output.show(*lookup.board_table(CONTEST, board, TEAMS))
        cells = next(row["problems"] for row in board["rows"] if row["team_id"] == "ants")
        points.append(next(cell.get("score", 0.0) for cell in cells if cell["problem_id"] == "rollingballs"))
    first, second, _ = points
    story.talk(f"{TEAMS['ants']} changed nothing at rollingballs: {first:.2f} points became {second:.2f} by new BESTs")


def begin(story: Story) -> None:
    """Make the contest, its teams and their accounts, and log the teams in."""
    start = (datetime.now(UTC) - timedelta(minutes=1)).isoformat(timespec="milliseconds")
    story.admin.post("contests", {"id": CONTEST, "name": "The story", "start_time": start, "duration": "5:00:00"})
    absolute = {"kind": "absolute", "counting": "best-case"}
    relative = {"kind": "relative", "counting": "last", "carry": "best"}
    for problem, rule in (("comesolo", absolute), ("rollingballs", relative)):
        story.admin.post(f"{PATH}/problems", {"id": problem, "rule": {**rule, "max_points": 100}})
    story.admin.post("teams", [{"id": team, "name": name} for team, name in TEAMS.items()])
    story.admin.post(f"{PATH}/teams", {"team_ids": list(TEAMS)})
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
    job = story.admin.post("problems/comesolo/reference-runs", {"method": "beam", "seconds": 1.5, "seed": 1})
    ended = lookup.follow_job(story.admin, job["id"], lambda _report: None)
    if ended["state"] != "done":
        raise output.Failure(f"the reference run ended as {ended['state']}: {ended['result']}", 1)
    story.talk("the reference solver makes its expected answer")


def work(story: Story) -> dict[str, Answers]:
    """Fetch the inputs as a team, and run the teams' solvers; returns answers by the name of their maker."""
    for problem in ("comesolo", "rollingballs"):
        folder = story.folder / problem
        folder.mkdir()
        archive = story.teams["ants"].request("GET", f"/api/{PATH}/problems/{problem}/inputs.zip").content
        with zipfile.ZipFile(io.BytesIO(archive)) as files:
            for name in files.namelist():
                (folder / name.rpartition("/")[2]).write_bytes(files.read(name))
        cases = story.teams["ants"].rows(f"{PATH}/problems/{problem}/testcases")
        story.cases[problem] = [case["name"] for case in cases if case["kind"] == "provisional"]
    comesolo, rolling = story.cases["comesolo"], story.cases["rollingballs"]
    made = {
        "greedy": solve(story, "comesolo", comesolo, "--method", "greedy", "--steps", "1", "--seed", "5"),
        "beam": solve(story, "comesolo", [NEW_CASE, *comesolo[:5]], "--method", "beam", "--seconds", "0.3"),
        "rough": solve(story, "rollingballs", rolling, "--method", "greedy", "--steps", "3"),
        "careful": solve(story, "rollingballs", rolling, "--method", "beam-local", "--seconds", "0.4"),
    }
    story.talk(f"the teams' solvers make {sum(map(len, made.values()))} answer files")
    return made


def solve(story: Story, problem: str, cases: Sequence[str], *options: str) -> Answers:
    """Run a solver on the inputs of these cases."""
    folder = story.folder / problem
    out = folder / "-".join(options)
    out.mkdir()
    run_solver_on_files(problem, [folder / f"{case}.in" for case in cases], out, options, lambda _report: None)
    return {case: (out / f"{case}.out").read_bytes() for case in cases}


def first_round(story: Story, made: Mapping[str, Answers]) -> None:
    """Three teams submit: greedy answers, beam answers with a corrupt file among them, and a single file."""
    damaged, first = story.cases["comesolo"][2], story.cases["rollingballs"][0]
    submit(story, "ants", "comesolo", made["greedy"], "a zip of greedy answers")
    files = {**made["beam"], damaged: CORRUPT}
    submit(story, "bees", "comesolo", files, f"a zip of beam answers, that of {damaged} corrupt")
    submit(story, "cats", "comesolo", {NEW_CASE: made["beam"][NEW_CASE]}, "a single file")
    submit(story, "ants", "rollingballs", made["rough"], "a zip of greedy answers, BEST everywhere so far")
    submit(story, "bees", "rollingballs", {first: b"0\n"}, "a single file without any rolls")


def second_round(story: Story, made: Mapping[str, Answers]) -> None:
    """One team improves one case; another sets new BESTs, which lowers the points of the first answers."""
    damaged, second = story.cases["comesolo"][2], story.cases["rollingballs"][1]
    submit(story, "bees", "comesolo", {damaged: made["beam"][damaged]}, f"a better answer of the one case {damaged}")
    submit(story, "cats", "rollingballs", made["careful"], "a zip of beam-local answers with new BESTs")
    submit(story, "bees", "rollingballs", {second: made["careful"][second]}, "one more file; the other is carried over")


def submit(story: Story, team: str, problem: str, files: Answers, what: str) -> None:
    """Submit as a team (a zip in which answers are in a folder, or a single file), and wait for the verdict."""
    client = story.teams[team]
    packed = {f"my answers/{case}.out": data for case, data in files.items()}
    case = next(iter(files))
    name, data = (f"{case}.out", files[case]) if len(files) == 1 else ("answers.zip", zip_bytes(packed))
    report = wait_for_report(client, CONTEST, send(client, CONTEST, problem, name, data)["id"])
    verdict = report["judgement"]["judgement_type_id"]
    story.talk(f"{TEAMS[team]} submit {what} ({problem}): {verdict}, {report['points']:.2f} points")


def finale(story: Story, made: Mapping[str, Answers]) -> None:
    """A question is answered, a rejudging tried and undone, a frozen board opened, the results made final."""
    ask_and_answer(story)
    try_and_undo(story)
    freeze_and_open(story, made)
    story.admin.patch(PATH, {"id": CONTEST, "finalized": True})
    awards = {award["id"]: award for award in story.admin.rows(f"{PATH}/awards")}
    winners = ", ".join(TEAMS[team] for team in awards["winner"]["team_ids"])
    story.talk(f"the results are final; {awards['winner']['citation']}: {winners}")


def ask_and_answer(story: Story) -> None:
    """A team asks, and the jury answers that team alone."""
    question = {"text": "May a piece jump over two?", "problem_id": "comesolo"}
    asked = story.teams["ants"].post(f"{PATH}/clarifications", question)
    reply = {"text": "No, over one.", "reply_to_id": asked["id"], "to_team_ids": ["ants"], "problem_id": "comesolo"}
    answered = story.admin.post(f"{PATH}/clarifications", reply)
    story.talk(f"{TEAMS['ants']} ask the jury: {asked['text']} The jury answers: {answered['text']}")


def try_and_undo(story: Story) -> None:
    """The admin looks at what half the points for comesolo would change, applies it, and undoes it."""
    rule = {"kind": "absolute", "counting": "best-case", "max_points": 50}
    path = story.admin.patch(f"{PATH}/problems/comesolo", {"rule": rule})["href"]
    wait_for(lambda: story.admin.get(path)["state"] == "ready", "the rejudging to be ready")
    counts = story.admin.get(f"{path}/difference")["counts"]
    story.talk(f"a rejudging would halve the points of comesolo: {counts['teams_changed']} teams change")
    story.talk(f"before:  {story.standings()}")
    for action, done in (("apply", "applied"), ("undo", "undone")):
        story.admin.post(f"{path}/{action}")
        story.talk(f"{done + ':':8} {story.standings()}")


def freeze_and_open(story: Story, made: Mapping[str, Answers]) -> None:
    """The board freezes, teams continue behind it, the contest ends, and the board is opened from the bottom."""
    start = datetime.fromisoformat(str(story.admin.get(PATH)["start_time"]))
    story.admin.patch(
        PATH, {"scoreboard_freeze_duration": lookup.reltime(timedelta(hours=5) - (datetime.now(UTC) - start))}
    )
    story.talk(f"the board freezes: {story.standings()}")
    submit(story, "cats", "comesolo", made["beam"], "behind the frozen board a zip of beam answers")
    story.talk(f"the frozen board shows {story.standings()}")
    for seconds in range(1, MOST_SECONDS):  # an end that is over before the server hears of it is refused
        duration = {"duration": lookup.reltime(datetime.now(UTC) - start + timedelta(seconds=seconds))}
        if story.admin.request("PATCH", f"/api/{PATH}", json=duration, accept=(403,)).is_success:
            break
    wait_for(lambda: story.admin.get(f"{PATH}/state")["ended"] is not None, "the end of the contest")
    story.talk("the contest is over; the board is opened from the bottom up")
    while (opened := story.admin.post(f"{PATH}/reveal", {"step": "row"}))["opened"]:
        story.talk(f"opened: {TEAMS[opened['opened'][0]['team_id']]}")
        if opened["thawed"]:
            break
    story.talk(f"the open board: {story.standings()}")


def wait_for(done: Callable[[], bool], what: str) -> None:
    """Look again and again; raises Failure if it takes too long."""
    until = time.monotonic() + MOST_SECONDS
    while not done():
        if time.monotonic() > until:
            raise output.Failure(f"expected {what} within {MOST_SECONDS} s", 1)
        time.sleep(SECONDS_BETWEEN_LOOKS)
