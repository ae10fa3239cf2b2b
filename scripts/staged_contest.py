"""Stages a contest on a service: teams whose answers are those of the packages' methods, some left out or wrong.

Everything goes over HTTP, as an admin would do it, and is judged by the service's own graders: pictures and looks show
what people see. The same seed gives the same teams and answers.
"""

from __future__ import annotations

import base64
import io
import random
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parent.parent
CONTEST = "autumn"
PASSWORD = "plum-valley-road-17"
USER = "team07"
"""The account that pages are looked at as, one of the team Loose Ends; its password is PASSWORD."""
ELAPSED = timedelta(hours=4, minutes=19)
FREEZE_MINUTE = 240
COMPLETE = 0.7
"""Teams of a greater skill leave no case out."""
PROBLEMS = ("comesolo", "rollingballs", "lazypiglets", "lasttreat", "optimiza", "netgame")
SKILLS: Mapping[str, Sequence[str]] = {
    "comesolo": ("partial/greedy", "partial/dfs", "partial/best_first", "accepted/reference"),
    "rollingballs": ("partial/greedy", "partial/beam-local", "accepted/reference"),
    "lazypiglets": ("partial/bfs", "partial/bfs_sorted", "partial/bidirectional", "accepted/reference"),
    "lasttreat": ("partial/tree", "partial/memo", "partial/sieve", "partial/period", "accepted/reference"),
    "optimiza": ("partial/greedy_x", "partial/greedy_y", "accepted/reference"),
    "netgame": ("partial/figures", "partial/ropes", "accepted/reference"),
}
"""Submissions of each package, from the weakest to the best."""
NAMES = (
    "Copper Foxes", "Wide Margins", "こまどり", "Old Harbour", "Seven Bridges", "Paper Kites", "Loose Ends",
    "Tri smreky", "Ёлки и палки", "Greedy Badgers", "Half Open", "North Gate", "Quiet Otters",
    "Even Odds", "Slow Comets", "Tidy Stacks",
    "The Committee for the Orderly Removal of Superfluous Things", "Deep Well", "Cuatro Vientos",
    "Thin Ice", "Off By Two", "Red Lanterns", "Plain Sailing", "Empty Set",
)  # fmt: skip
GROUPS = ("school", "university", "guest")


def stage(url: str, password: str, seed: int = 7) -> None:
    """Make the contest, its teams and their submissions, and wait until all of them are judged."""
    with httpx.Client(base_url=f"{url}/api", auth=("admin", password), timeout=120) as admin:
        start = make_contest(admin)
        draws = random.Random(seed)
        for at, team in enumerate(make_teams(admin)):
            send_all(admin, draws, team, 1 - at / len(NAMES), start)
        speak(admin)
        wait_until_judged(admin)


def post(client: httpx.Client, path: str, body: object) -> httpx.Response:
    """Send a document; raises where it is refused."""
    reply = client.post(path, json=body)
    if reply.is_error:
        raise SystemExit(f"{path}: {reply.status_code} {reply.text[:500]}")
    return reply


def make_contest(admin: httpx.Client) -> datetime:
    """Make the contest, which is frozen by now; returns its start."""
    start = datetime.now(UTC).replace(microsecond=0) - ELAPSED
    body = {"id": CONTEST, "name": "Autumn Open", "start_time": moment(start), "duration": "5:00:00"}
    post(admin, "/contests", {**body, "scoreboard_freeze_duration": "1:00:00"})
    for problem in PROBLEMS:
        post(admin, f"/contests/{CONTEST}/problems", {"id": problem})
    return start


def make_teams(admin: httpx.Client) -> list[str]:
    """Bring in a class list of one account a team; returns the ids of the teams."""
    rows = [
        {"name": name, "team": name, "username": username(at), "password": PASSWORD, "group": GROUPS[at % len(GROUPS)]}
        for at, name in enumerate(NAMES)
    ]
    made = post(admin, f"/people?contest_id={CONTEST}", rows).json()
    return [person["team_id"] for person in made["people"]]


def username(at: int) -> str:
    """The username of the team at a place of NAMES."""
    return f"team{at + 1:02}"


def send_all(admin: httpx.Client, draws: random.Random, team: str, skill: float, start: datetime) -> None:
    """Send a team's answers, two rounds of them, the later ones better; a skill of 1 has the best methods."""
    for round_, low in ((0, 8), (1, 90)):
        for problem in PROBLEMS:
            if draws.random() > 0.55 + 0.5 * skill - 0.2 * round_:
                continue
            methods = SKILLS[problem]
            place = min(len(methods) - 1, max(0, round((skill * 0.9 + draws.uniform(-0.3, 0.2)) * (len(methods) - 1))))
            minute = draws.uniform(low, low + 80) if draws.random() < 0.85 else draws.uniform(FREEZE_MINUTE, 258)
            share = 1 if skill > COMPLETE else 0.35 + 0.6 * skill
            answers = some_answers(draws, problem, methods[max(0, place - 1 + round_)], share)
            if answers:
                send(admin, team, problem, answers, start + timedelta(minutes=minute))


def some_answers(draws: random.Random, problem: str, method: str, share: float) -> dict[str, bytes]:
    """The answers of a method to about this share of the cases; now and then one that is rejected."""
    folder = ROOT / "problems" / problem / "submissions" / method
    answers = {path.name: path.read_bytes() for path in sorted(folder.rglob("*.out")) if draws.random() < share}
    if answers and draws.random() < 0.3:
        name = draws.choice(sorted(answers))
        lines = answers[name].splitlines()
        answers[name] = b"\n".join([*lines[:-1], b"0 0 0 0" if problem == "comesolo" else b"-7"]) + b"\n"
    return answers


def send(admin: httpx.Client, team: str, problem: str, answers: Mapping[str, bytes], at: datetime) -> None:
    """Send files as a team at a moment that is past."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in answers.items():
            archive.writestr(name, data)
        archive.writestr("notes.md", "what we tried\n")
    data = base64.b64encode(packed.getvalue()).decode()
    body = {"language_id": "answers", "problem_id": problem, "team_id": team, "time": moment(at)}
    post(admin, f"/contests/{CONTEST}/submissions", {**body, "files": [{"data": data}]})


def change_a_case(admin: httpx.Client) -> None:
    """Replace a test case by another one, which waits as a rejudging, and wait until it is judged."""
    other = ROOT / "problems/optimiza/data/secret/102-n05-random"
    files = {kind: other.with_suffix(ending).read_bytes() for kind, ending in (("input", ".in"), ("answer", ".ans"))}
    reply = admin.put("/problems/optimiza/testcases/secret/101-n04-random", files=files)
    reply.raise_for_status()
    rejudging = f"/contests/{CONTEST}/rejudgings/1"
    wait_until(lambda: admin.get(rejudging).raise_for_status().json()["state"] == "ready")


def speak(admin: httpx.Client) -> None:
    """Ask a question as a team, answer it, and announce something."""
    folder = f"/contests/{CONTEST}/clarifications"
    team = httpx.BasicAuth(USER, PASSWORD)
    asked = {"text": "May a jump lead over a hole that was eaten before?", "problem_id": "comesolo"}
    question = admin.post(folder, json=asked, auth=team).raise_for_status().json()
    answer = {
        "text": "No: there has to be a piece.",
        "reply_to_id": question["id"],
        "to_team_ids": [question["from_team_id"]],
    }
    post(admin, folder, answer)
    post(admin, folder, {"text": "Lunch is served in the hall until 14:00."})
    admin.post(folder, json={"text": "How many files may a zip have?"}, auth=team).raise_for_status()


def wait_until_judged(admin: httpx.Client) -> None:
    """Wait until nothing is left to judge."""
    wait_until(lambda: all(each["judgement_type_id"] is not None for each in judgements(admin)))


def wait_until(is_done: Callable[[], bool], seconds: float = 300) -> None:
    """Wait until the graders have done what was asked of them."""
    until = time.monotonic() + seconds
    while not is_done():
        if time.monotonic() > until:
            raise SystemExit(f"the submissions were not judged within {seconds:g} seconds")
        time.sleep(0.5)


def judgements(admin: httpx.Client) -> list[dict[str, object]]:
    """All judgements, one a submission."""
    listed = admin.get(f"/contests/{CONTEST}/judgements").raise_for_status().json()
    assert isinstance(listed, list)
    return listed


def moment(time_: datetime) -> str:
    """A time as documents have it."""
    return f"{time_:%Y-%m-%dT%H:%M:%S}.{time_.microsecond // 1000:03}Z"
