"""Kill a loaded service with -9, again and again, and hold what is left against what was acknowledged.

    python -m tests.chaos [--submissions 500] [--kills 3]

Clients send random answers to two problems, each under an Idempotency-Key that is repeated until it is acknowledged.
Meanwhile the server and every grader are killed. In the end every acknowledged submission must be there once, judged
once, and the board must be the one that follows from what the clients sent, computed from scratch here. All of it is
judged again then, and killed again meanwhile: the rejudging must end with nothing changed, and be there once as well.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import psutil
from sqlalchemy import select

from app.domain.contests import Team
from app.domain.scoreboard import Board, scoreboard
from app.domain.scoring import Attempt, RawScore
from app.domain.verdicts import CaseVerdict
from app.packages.catalog import bundled
from app.packages.zips import zip_bytes
from app.storage.database import Database
from app.storage.scored import scored_contest
from app.storage.tables import AnswerRow, JudgementRow, RawScoreRow, SubmissionRow
from bench.stage import CONTEST, add_admin, at_home, free_port, prepare, wait_until_up
from checkers.doors import Rejected, open_checker

TEAMS = 10
CLIENTS = 8
PROBLEMS = ("comesolo", "rollingballs")
JUDGING_SECONDS = 300


@dataclass(frozen=True)
class Sent:
    """One acknowledged submission: its id, and what was sent for which case."""

    id: int
    team: str
    problem: str
    answers: dict[str, bytes]
    time: timedelta


@dataclass
class Story:
    """What happened: who has been acknowledged, how often connections broke, how often the service was killed."""

    wanted: int
    sent: list[Sent] = field(default_factory=list)
    broken: int = 0
    kills: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def acknowledged(self) -> int:
        """How many submissions have been acknowledged."""
        return len(self.sent)


class Service:
    """A real server process that can be killed with all its graders, and started again on the same port."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "app.cli", "serve", "--port", str(self.port)]
        env = {**os.environ, **at_home(self.home)}
        with (self.home / "server.log").open("ab") as log:
            process = subprocess.Popen(command, env=env, stdout=log, stderr=log)
        wait_until_up(self.url, process)
        return process

    def kill_and_restart(self) -> None:
        """kill -9 everything, graders first or last as it happens, and start anew."""
        victims = [*psutil.Process(self.process.pid).children(recursive=True), psutil.Process(self.process.pid)]
        random.shuffle(victims)
        for victim in victims:
            with contextlib.suppress(psutil.NoSuchProcess):
                victim.kill()
        self.process.wait()
        self.process = self._start()

    def stop(self) -> None:
        """An orderly end."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)


def random_answers(rng: random.Random, problem: str) -> dict[str, bytes]:
    """Some cases of a problem, each with the beginning of its reference play, and now and then a broken file."""
    answers = {}
    plays = bundled()[problem] / "submissions/accepted/reference"
    final = {path.stem for path in (bundled()[problem] / "data/secret/final").glob("*.in")}
    paths = [path for path in sorted(plays.rglob("*.out")) if path.stem not in final]
    for path in rng.sample(paths, rng.randint(1, min(5, len(paths)))):
        lines = path.read_text().split("\n")[1:-1]
        kept = lines[: rng.randint(0, len(lines))]
        broken = rng.random() < 0.1
        answers[path.stem] = "\n".join(["999999" if broken else str(len(kept)), *kept, ""]).encode()
    return answers


def client(story: Story, url: str, tokens: list[str], seed: int) -> None:
    """Send submissions until there are enough, each again and again until it is acknowledged."""
    rng = random.Random(seed)
    with httpx.Client(timeout=30) as http:
        send(story, http, url, tokens, rng)


def send(story: Story, http: httpx.Client, url: str, tokens: list[str], rng: random.Random) -> None:
    """Send one random submission after another."""
    while story.acknowledged < story.wanted:
        at, problem = rng.randrange(TEAMS), rng.choice(PROBLEMS)
        answers = random_answers(rng, problem)
        packed = zip_bytes({f"{name}.out": data for name, data in answers.items()})
        reply = deliver(story, http, url, tokens[at], problem, packed)
        hours, minutes, seconds = reply["contest_time"].split(":")
        when = timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds))
        with story.lock:
            story.sent.append(Sent(int(reply["id"]), f"team{at + 1}", problem, answers, when))


def deliver(story: Story, http: httpx.Client, url: str, token: str, problem: str, data: bytes) -> dict[str, Any]:
    """Post one submission until it is acknowledged."""
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": uuid.uuid4().hex}
    while True:
        try:
            reply = http.post(
                f"{url}/api/contests/{CONTEST}/submissions",
                headers=headers,
                data={"problem_id": problem},
                files={"files": ("answers.zip", data)},
            )
        except httpx.TransportError:
            story.broken += 1
            time.sleep(0.05)
            continue
        if reply.status_code != 201:
            raise AssertionError(f"expected 201, found {reply.status_code}: {reply.text}")
        found: dict[str, Any] = reply.json()
        return found


def run(submissions: int, kills: int) -> Story:
    """Play the story in a home of its own; raises AssertionError where anything was lost, doubled or miscounted."""
    story = Story(submissions)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        tokens = prepare(home, teams=TEAMS, problems=PROBLEMS)
        admin = add_admin(home)
        service = Service(home)
        try:
            play(story, service, tokens, kills)
            wait_until_judged(home)
            judge_again(story, service, admin)
            shown = httpx.get(f"{service.url}/api/contests/{CONTEST}/scoreboard", timeout=30).json()
        finally:
            service.stop()
        check_rows(home, story)
        check_board(home, story, shown)
    return story


def play(story: Story, service: Service, tokens: list[str], kills: int) -> None:
    """Let the clients send while the service is killed at even distances."""
    threads = [threading.Thread(target=client, args=(story, service.url, tokens, seed)) for seed in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for at in range(1, kills + 1):
        while story.acknowledged < story.wanted * at // (kills + 1) and any(t.is_alive() for t in threads):
            time.sleep(0.005)
        service.kill_and_restart()
        story.kills += 1
    for thread in threads:
        thread.join()
    assert story.acknowledged >= story.wanted, "a client gave up"


def judge_again(story: Story, service: Service, token: str) -> None:
    """Judge everything again, kill the service while it does, and apply what comes of it: that nothing changes."""
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{service.url}/api/", headers=headers, timeout=60) as admin:
        made = admin.post(f"contests/{CONTEST}/rejudgings", json={"reason": "chaos"}).raise_for_status().json()
    service.kill_and_restart()
    story.kills += 1
    with httpx.Client(base_url=f"{service.url}/api/", headers=headers, timeout=60) as admin:
        until = time.monotonic() + JUDGING_SECONDS
        while admin.get(made["href"]).json()["state"] == "judging":
            assert time.monotonic() < until, "the rejudging was not taken up"
            time.sleep(0.1)
        found = admin.get(f"{made['href']}/difference").json()
        counts = found["counts"]
        assert counts["submissions"] == story.acknowledged, f"judged again: {counts}"
        assert not found["submissions"], f"judged otherwise: {found['submissions'][:1]}"
        assert not found["teams"], f"moved: {found['teams'][:1]}"
        admin.post(f"{made['href']}/apply").raise_for_status()


def wait_until_judged(home: Path) -> None:
    """Wait until no judgement is open."""
    database = Database(f"sqlite:///{home / 'jurado.db'}")
    until = time.monotonic() + JUDGING_SECONDS
    while True:
        with database.read() as session:
            left = session.scalars(select(JudgementRow.id).where(JudgementRow.state != "done")).all()
        if not left:
            break
        assert time.monotonic() < until, f"{len(left)} judgements are still open"
        time.sleep(0.1)
    database.close()


def check_rows(home: Path, story: Story) -> None:
    """Each acknowledged submission is there once, judged once and once again, each with one score for each answer."""
    database = Database(f"sqlite:///{home / 'jurado.db'}")
    with database.read() as session:
        stored = Counter(session.scalars(select(SubmissionRow.id)))
        done = select(JudgementRow.submission_id).where(JudgementRow.state == "done")
        judged = Counter(session.scalars(done.where(JudgementRow.rejudging_id.is_(None))))
        again = Counter(session.scalars(done.where(JudgementRow.rejudging_id.is_not(None), JudgementRow.current)))
        answers = Counter(session.scalars(select(AnswerRow.submission_id)))
        scored = Counter(
            session.scalars(
                select(JudgementRow.submission_id).join(RawScoreRow, RawScoreRow.judgement_id == JudgementRow.id)
            )
        )
        errors = session.scalars(select(JudgementRow.error).where(JudgementRow.type == "JE")).all()
    database.close()
    assert not errors, f"judge errors: {errors[:1]}"
    ids = Counter(sent.id for sent in story.sent)
    assert max(ids.values()) == 1, "one submission was acknowledged under two keys"
    assert stored == ids, f"lost {ids - stored}, never acknowledged {stored - ids}"
    assert judged == ids, f"not judged {ids - judged}, judged twice {judged - ids}"
    assert again == ids, f"not judged again {ids - again}, twice {again - ids}"
    assert scored == answers + answers, "some answers were scored twice or not at all"
    assert answers == Counter({sent.id: len(sent.answers) for sent in story.sent})


def check_board(home: Path, story: Story, shown: dict[str, Any]) -> None:
    """The board shown is the one that follows from what the clients sent."""
    expected = board_from_scratch(home, story)
    rows = [(row.rank, row.team.id, row.points) for row in expected.rows]
    found = [(row["rank"], row["team_id"], row["score"]["score"]) for row in shown["rows"]]
    assert found == rows, f"expected the board {rows}, found {found}"


def board_from_scratch(home: Path, story: Story) -> Board:
    """Check every answer again, here, and compute the board."""
    attempts = [
        Attempt(
            s.id, s.team, s.problem, s.time, {case: score(s.problem, case, data) for case, data in s.answers.items()}
        )
        for s in story.sent
    ]
    database = Database(f"sqlite:///{home / 'jurado.db'}")
    with database.read() as session:
        contest = scored_contest(session, CONTEST)
    database.close()
    assert contest is not None
    teams = [Team(f"team{at}", f"Team {at}") for at in range(1, TEAMS + 1)]
    return scoreboard(contest.problems, teams, attempts)


def score(problem: str, case: str, data: bytes) -> RawScore:
    """One answer's raw score, by the checker itself."""
    checker = open_checker(problem)
    given = next((bundled()[problem] / "data").rglob(f"{case}.in"))
    instance = checker.read_instance(given.read_bytes())
    try:
        found = checker.score_answer(
            instance, checker.read_answer(data, instance), given.with_suffix(".ans").read_bytes()
        )
    except Rejected:
        return RawScore(CaseVerdict.REJECTED)
    return RawScore(CaseVerdict.ACCEPTED, found.raw, found.multiplier)


def main() -> None:
    """Read the command line, play, and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=500)
    parser.add_argument("--kills", type=int, default=3)
    options = parser.parse_args()
    began = time.perf_counter()
    story = run(options.submissions, options.kills)
    print(
        f"{story.acknowledged} submissions acknowledged, {story.kills} kills -9 of the server and its graders, "
        f"{story.broken} broken connections: 0 lost, 0 doubled, 0 judged twice; "
        f"the board equals one computed from scratch ({time.perf_counter() - began:.0f} s)"
    )


if __name__ == "__main__":
    main()
