"""Who may do what: requests of other sites, guessed passwords, revoked secrets, admins in packages, leaks."""

from __future__ import annotations

import os
import socket
import stat
import time
from contextlib import suppress

import httpx
import psutil

from ops.attacks.model import Cost, attack
from ops.attacks.raw import connect, head
from ops.attacks.stage import ANSWER, CONTEST, PASSWORD, Stage

EVIL = "http://evil.example"
NEW_PASSWORD = "another long enough phrase"
MOST_STEPS = 100_000
"""Ids that count are less far apart than this; opaque ones as good as never."""


@attack("requests of another site's page carried out, of 4", "done", in_suite=True)
def cross_site_requests(stage: Stage) -> Cost:
    """A page on another host posts forms with the admin's remembered Basic credentials."""
    requests = [
        ("POST", "account/tokens", {"content": b'{"label": "evil"}', "headers": {"Content-Type": "text/plain"}}),
        ("POST", f"contests/{CONTEST}/pause", {}),
        ("DELETE", "account/tokens", {}),
        ("POST", f"contests/{CONTEST}/submissions", {
            "data": {"problem_id": "comesolo", "team_id": "team0"}, "files": {"files": ("101-n05-p70.out", ANSWER)},
        }),
    ]  # fmt: skip
    done = 0
    for method, path, more in requests:
        given = dict(more)
        headers = {"Origin": EVIL, **given.pop("headers", {})}
        done += stage.admin.request(method, path, headers=headers, **given).is_success
    return Cost(done, [f"{done} carried out"] if done else [])


@attack("right passwords refused, of 19", "refused")
def lock_out(stage: Stage) -> Cost:
    """Someone at the same address guesses a team's password again and again."""
    refused = 0
    with httpx.Client(base_url=f"{stage.url}/api", timeout=60) as stranger:
        for _ in range(15):
            stranger.get("account", auth=(stage.teams[0][0], "a wrong guess of it"))
        for _ in range(19):
            reply = stranger.get("account", auth=stage.teams[0])
            refused += not reply.is_success
            if reply.is_success:
                break
            time.sleep(0.2)
    return Cost(refused, [f"{refused} of 19"] if refused else [])


@attack("of judge and staff, kept out", "accounts")
def invented_names(stage: Stage) -> Cost:
    """Someone at the same address logs in with 210 invented names."""
    with httpx.Client(base_url=f"{stage.url}/api", timeout=60) as stranger:
        for at in range(210):
            stranger.get("account", auth=(f"nobody{at}", "some password"))
        refused = sum(not stranger.get("account", auth=(name, PASSWORD)).is_success for name in ("judge", "staff"))
    return Cost(refused, [f"{refused} kept out"] if refused else [])


@attack("secrets that still work after a password change, of 3", "work", in_suite=True)
def revoked_secrets(stage: Stage) -> Cost:
    """An admin gives a team whose password has been stolen another one."""
    with stage.client(3) as team:
        token = team.post("account/tokens", json={"label": "stolen"}).json()["token"]
        stream = connect(stage)
        stream.sendall(head("GET", f"/api/contests/{CONTEST}/event-feed", stage, f"Authorization: Bearer {token}"))
        stream.recv(1)
        stage.admin.patch("accounts/team3", json={"password": NEW_PASSWORD}).raise_for_status()
        works = [team.get("account").is_success]
    bearer = {"Authorization": f"Bearer {token}"}
    works.append(httpx.get(f"{stage.url}/api/account", headers=bearer).is_success)
    works.append(not _ends(stream))
    stream.close()
    names = [name for name, it in zip(("password", "token", "stream"), works, strict=True) if it]
    return Cost(sum(works), [f"the old {name} works" for name in names])


def _ends(stream: socket.socket) -> bool:
    """Does the server close the stream within a few seconds?"""
    until = time.monotonic() + 5
    try:
        while time.monotonic() < until:
            if not stream.recv(2**20):
                return True
    except TimeoutError:
        return False
    except OSError:
        return True
    return False


@attack("protections that a grader lacks, of 4", "missing", in_suite=True)
def graders_of_the_server(stage: Stage) -> Cost:
    """A checker that has been taken over looks around in its process."""
    faults = set()
    _wait_until_warm(stage)
    graders = [each for each in stage.tree() if any("app.judging.service.grader" in word for word in each.cmdline())]
    for grader in graders:
        status = dict(line.split(":", 1) for line in _read(f"/proc/{grader.pid}/status").splitlines() if ":" in line)
        if "JURADO_ADMIN_PASSWORD" in _read(f"/proc/{grader.pid}/environ"):
            faults.add("the admin's password in the environment")
        if status["NoNewPrivs"].strip() != "1":
            faults.add("may gain privileges")
        if status["Seccomp"].strip() == "0":
            faults.add("no filter of system calls")
        if resource_limit(grader, psutil.RLIMIT_FSIZE) != 0:
            faults.add("may write files")
    if not graders:
        faults.add("no grader to look at")
    return Cost(len(faults), sorted(faults))


def _wait_until_warm(stage: Stage) -> None:
    """Wait for the grader that judges: it is confined once it has loaded the checkers."""
    with stage.client(0) as team:
        _judged_id(team)


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def resource_limit(process: psutil.Process, which: int) -> int:
    """The soft limit of a process."""
    return int(process.rlimit(which)[0])


@attack("answers that tell too much, of 7", "leaks", in_suite=True)
def public_leaks(stage: Stage) -> Cost:
    """A stranger reads metrics, persons of contests to come and hidden groups; a team counts silent judgements."""
    faults = [f"/metrics is open to {who}" for who, auth in _without_rights(stage) if _reads_metrics(stage, auth)]
    with stage.client(0) as team:
        before = _judged_id(team)
        made = stage.admin.post(
            f"contests/{CONTEST}/rejudgings", json={"problem": "comesolo", "reason": "silent"}, timeout=120
        )
        if not made.is_success:
            faults.append(f"setup: rejudging {made.status_code} {made.text[:100]}")
        after = _judged_id(team)
        if (steps := _steps(before, after)) is not None:
            faults.append(f"judgement ids went on by {steps} in a silent rejudging")
    if "server" in httpx.get(f"{stage.url}/health/live").headers:
        faults.append("the header Server")
    return Cost(len(leaks := [*faults, *_hidden_people(stage)]), leaks)


def _without_rights(stage: Stage) -> list[tuple[str, tuple[str, str] | None]]:
    return [("everybody", None), ("teams", stage.teams[0]), ("judges", ("judge", PASSWORD))]


def _reads_metrics(stage: Stage, auth: tuple[str, str] | None) -> bool:
    return httpx.get(f"{stage.url}/metrics", auth=auth).is_success


def _steps(before: str, after: str) -> int | None:
    """How far two ids are apart, where that is so near that it counts something."""
    for base in (10, 16, 36):
        with suppress(ValueError):
            steps = int(after.lstrip("j"), base) - int(before.lstrip("j"), base)
            if abs(steps) < MOST_STEPS:
                return steps
    return None


def _hidden_people(stage: Stage) -> list[str]:
    """Keep someone of a contest that has not begun, and a hidden team in a group, and look for both."""
    soon = {"id": "soon", "name": "Soon", "start_time": "2999-01-01T00:00:00.000Z", "duration": "1:00:00"}
    stage.admin.post("contests", json=soon).raise_for_status()
    somebody = {"id": "somebody", "name": "Somebody", "role": "staff"}
    stage.admin.post("contests/soon/persons", json=somebody).raise_for_status()
    stage.admin.post(f"contests/{CONTEST}/groups", json={"id": "inner", "name": "Inner"}).raise_for_status()
    team = {"id": "inspectors", "name": "Inspectors", "hidden": True, "group_ids": ["inner"]}
    stage.admin.post("teams", json=[team]).raise_for_status()
    faults = []
    with httpx.Client(base_url=f"{stage.url}/api", timeout=60) as stranger:
        for contest_id in ("soon", CONTEST):
            if any(each["id"] == "somebody" for each in stranger.get(f"contests/{contest_id}/persons").json()):
                faults.append(f"contest {contest_id} shows a person of a contest that has not begun")
        if stranger.get(f"contests/{CONTEST}/scoreboard?group_id=inner").is_success:
            faults.append("a group of hidden teams is known by its board")
        if any(each["id"] == "inner" for each in stranger.get(f"contests/{CONTEST}/groups").json()):
            faults.append("a group of hidden teams is listed")
    return faults


def _judged_id(team: httpx.Client) -> str:
    form = {"data": {"problem_id": "comesolo"}, "files": {"files": ("101-n05-p70.out", ANSWER)}}
    submission = team.post(f"contests/{CONTEST}/submissions", **form).json()["id"]
    until = time.monotonic() + 30
    while time.monotonic() < until:
        rows = team.get(f"contests/{CONTEST}/judgements?submission_id={submission}").json()
        if rows:
            return str(rows[0]["id"])
        time.sleep(0.1)
    raise RuntimeError("a submission was not judged within 30 s")


@attack("weak passwords taken, and files that others may read", "taken")
def weak_secrets(stage: Stage) -> Cost:
    """Accounts are made with poor passwords; another user of the machine looks into the home."""
    faults = []
    for at, password in enumerate(["password123", "qwertyuiop", "1234567890", f"weakling{3}", "weakling3weakling3"]):
        body = {"username": f"weakling{at}", "password": password, "type": "staff"}
        if stage.admin.post("accounts", json=body).is_success:
            faults.append(f"password {password!r} taken")
    for path in (stage.home / "jurado.db", *list((stage.home / "files").rglob("*"))[:3]):
        if os.stat(path).st_mode & (stat.S_IRWXG | stat.S_IRWXO) & ~stat.S_IFDIR:
            faults.append(f"{path.name} is readable by others")
    return Cost(len(faults), faults)
