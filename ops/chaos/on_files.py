"""Stored files are damaged while teams submit, and repaired."""

from __future__ import annotations

import hashlib
from pathlib import Path

import httpx

from app.packages.catalog import bundled
from bench.stage import CONTEST
from ops.chaos.audit import audit
from ops.chaos.load import Load, under_load, wait_for
from ops.chaos.model import scenario
from ops.chaos.stage import PROBLEMS, Server, Stage, wait_until


@scenario()
def flipped_bit(setting: Stage) -> str:
    """a bit of an answer and of every input flips: what needs them waits, fsck names and repairs them, all is judged"""
    server, load = setting.serve(), Load(setting.size.submissions, large=0.3)
    folder = setting.folder / "backup"
    damaged: set[str] = set()

    def damage() -> None:
        wait_for(load, 1 / 2)
        setting.jurado("backup", folder).result()
        damaged.update(name for name in _inputs() if setting.files.path(name).exists())
        for sha256 in damaged:
            _flip(setting.files.path(sha256))
        server.kill()  # graders keep the inputs that they have read
        server.start()
        setting.recoveries.append(load.recovered())
        with setting.client(server) as admin:
            wait_until(lambda: bool(_waiting(admin) & damaged), "no damaged file is named to the admin")
        report = setting.jurado("fsck").result(1)
        assert "damaged" in report, report
        setting.jurado("fsck", "--repair", "--from", folder).result()

    under_load(load, setting, server.url, damage)
    audit(setting, server, load)
    answer = next(data for sent in load.sent for data in sent.answers.values() if len(data) > 2**16)
    _judge_a_damaged_answer(setting, server, answer)
    audit(setting, server, load)
    return f"{len(damaged)} inputs and an answer were damaged and mended; no judge error, nothing judged otherwise"


def _judge_a_damaged_answer(setting: Stage, server: Server, answer: bytes) -> None:
    """All is judged again while a stored answer is damaged; the rejudging ends when the answer is sent again."""
    sha256 = hashlib.sha256(answer).hexdigest()
    _flip(setting.files.path(sha256))
    with setting.client(server) as admin:
        path = f"contests/{CONTEST}/rejudgings"
        made = admin.post(path, json={"reason": "a damaged file"}).raise_for_status().json()
        wait_until(lambda: sha256 in _waiting(admin), "the damaged answer is not named to the admin")
        assert admin.get(made["href"]).json()["state"] == "judging"
        setting.files.keep(answer)  # as a client does who sends it again
        wait_until(lambda: admin.get(made["href"]).json()["state"] != "judging", "the rejudging does not end")
        difference = admin.get(f"{made['href']}/difference").json()
        assert not difference["submissions"], f"judged otherwise: {difference['submissions'][:1]}"
        admin.post(f"{made['href']}/cancel").raise_for_status()


def _inputs() -> set[str]:
    """The names that inputs of all problems have as stored files; some lie elsewhere."""
    paths = (path for slug in PROBLEMS for path in (bundled()[slug] / "data").rglob("*.in"))
    return {hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def _waiting(admin: httpx.Client) -> set[str]:
    """The damaged files that are named to the admin."""
    return {fault["sha256"] for fault in admin.get("stored-files").raise_for_status().json()["faults"]}


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    with path.open("r+b") as file:
        file.write(data)
