"""Uploads that cost the server more than their sender: archives of nothing, long blanks, refused but kept files."""

from __future__ import annotations

import io
import os
import time
import zipfile

import httpx

from app.packages.catalog import bundled
from app.packages.zips import zip_bytes
from ops.attacks.honest import honest_people
from ops.attacks.model import Cost, attack
from ops.attacks.on_crowds import server_faults
from ops.attacks.stage import ANSWER, CONTEST, Stage, wait_until_judged

ZIPS = 330
ENTRIES = 2_000
BLANKS = 48_000
MEBIBYTE = 2**20


def zip_of_empty_files(entries: int) -> bytes:
    """A zip of empty files whose names fit no case."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for at in range(entries):
            archive.writestr(f"n{at}", b"")
    return buffer.getvalue()


@attack("growth of the database", "MiB", in_suite=True)
def zips_of_empty_files(stage: Stage) -> Cost:
    """One request carries 330 zips of 2,000 empty files each."""
    data = zip_of_empty_files(ENTRIES)
    files = [("files", (f"{at}.zip", data)) for at in range(min(ZIPS, 60 * MEBIBYTE // len(data)))]
    before = _database_bytes(stage)
    with stage.client(0) as team:
        reply = team.post(f"contests/{CONTEST}/submissions", data={"problem_id": "comesolo"}, files=files)
        faults = [] if reply.status_code in {201, 400, 413} else [f"status {reply.status_code}"]
        if reply.status_code == httpx.codes.CREATED:
            report = team.get(f"contests/{CONTEST}/submissions/{reply.json()['id']}/report")
            if len(report.content) > MEBIBYTE:
                faults.append(f"a report of {len(report.content) / MEBIBYTE:.0f} MiB")
    return Cost((_database_bytes(stage) - before) / MEBIBYTE, faults)


def _database_bytes(stage: Stage) -> int:
    return sum(path.stat().st_size for path in stage.home.glob("jurado.db*"))


@attack("longest silence of /health/live")
def package_of_blanks(stage: Stage) -> Cost:
    """A package of a few KB names its author with 48,000 blanks."""
    folder = bundled()["comesolo"]
    files = {f"blanks/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    credits = f"credits: 'A{' ' * BLANKS}B <'\n".encode()
    lines = [line for line in files["blanks/problem.yaml"].splitlines() if not line.startswith((b"credits", b"  "))]
    files["blanks/problem.yaml"] = b"\n".join([*lines, credits])
    with honest_people(stage) as felt:
        reply = stage.admin.post("problems", content=zip_bytes(files), headers={"Content-Type": "application/zip"})
    faults = [] if 200 <= reply.status_code < 500 else [f"status {reply.status_code}"]
    return Cost(max(felt.alive), faults + server_faults(felt))


@attack("bytes kept of 40 refused submissions of 1 MiB", "MiB")
def refused_but_kept(stage: Stage) -> Cost:
    """A team that may not submit sends 40 random answers of 1 MiB."""
    limits = {"max_submissions": 0}
    changed = stage.admin.patch(f"contests/{CONTEST}/problems/comesolo", json={"id": "comesolo", "limits": limits})
    faults = [] if changed.is_success else [f"setup: {changed.status_code} {changed.text[:200]}"]
    before = stage.bytes_kept()
    refused = 0
    with stage.client(1) as team:
        for _ in range(40):
            reply = team.post(
                f"contests/{CONTEST}/submissions",
                data={"problem_id": "comesolo"},
                files={"files": ("101-n05-p70.out", os.urandom(MEBIBYTE // 2) * 2)},
            )
            refused += reply.status_code == httpx.codes.TOO_MANY_REQUESTS
    if refused < 40:
        faults.append(f"only {refused} of 40 refused")
    grown = (stage.bytes_kept() - before) / MEBIBYTE
    return Cost(grown, [*faults, *([f"{grown:.0f} MiB kept"] if grown > 1 else [])])


@attack("p99 of a submission beside zips of many small files", "s")
def zips_in_the_event_loop(stage: Stage) -> Cost:
    """A team sends zips of 2,000 files that fit, again and again."""
    data = zip_of_empty_files(ENTRIES - 1)
    with honest_people(stage) as felt, stage.client(2) as team:
        until = time.monotonic() + 10
        while time.monotonic() < until:
            files = [("files", ("answers.zip", data)), ("files", ("101-n05-p70.out", ANSWER))]
            team.post(f"contests/{CONTEST}/submissions", data={"problem_id": "comesolo"}, files=files)
    wait_until_judged(stage)
    return Cost(felt.p99(felt.accepted), server_faults(felt))
