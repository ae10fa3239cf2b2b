"""Lists of a contest with 50,000 submissions, cold, warm for each kind of viewer, and a submission beside 40 readers.

`python -m bench.lists --submissions 5000` for another size; `--home DIR` keeps the home for the next run.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import uuid
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from app.accounts.service.viewer import digest
from app.core.db.database import Database
from app.core.settings import Settings
from app.tables import TokenRow
from bench.growth import CONTEST_PATH, Size, stage, wait_until_ready
from bench.stage import serving

LISTS = ("submissions", "judgements", "runs", "teams", "problems", "persons", "organizations", "groups")
OTHERS = ("accounts", "clarifications", "awards", "commentary", "event-feed?stream=false")
PARTS = ("submissions?team_id=team1", "judgements?judgement_type_id=AC", "runs?judgement_type_id=AC")
WARM_MS, P99_MS = 50.0, 300.0
READERS, SECONDS, A_SECOND = 40, 10.0, 5


def main() -> int:
    """Measure 50,000 submissions; 1 if a goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        return measure(Path(folder), Size(submissions=50_000))


def measure(home: Path, size: Size) -> int:
    """Print a line for each list."""
    token = stage(home, size)
    viewers = {"admin": token, "team": team_token(home), "nobody": None}
    missed = 0
    print(f"{size.submissions} submissions of {size.teams} teams; zipped, in ms; goals: warm {WARM_MS:g},")
    print(f"99 of 100 submissions beside {READERS} anonymous readers {P99_MS:g}")
    print(
        f"{'':32}{'cold':>9} s"
        + "".join(f"{name:>9}" for name in viewers)
        + f"{'MiB':>9}{'304':>7}{'p99':>9}{'replies':>9}"
    )
    with serving(home, graders="1") as url:
        wait_until_ready(url)
        timed(f"{url}{CONTEST_PATH}/scoreboard", token)
        first, second = submit(url, token), submit(url, token)
        print(f"first and second submission after the start: {first * 1000:.0f} and {second * 1000:.0f} ms", flush=True)
        for name in (*LISTS, *PARTS, *OTHERS):
            address = f"{url}{CONTEST_PATH}/{name}"
            cold, count, tag = timed(address, token)
            warm = [warmed(address, each) for each in viewers.values()]
            same = median(timed(address, token, tag)[0] for _ in range(5))
            p99, replies = beside_readers(url, address, token)
            missed += max(warm) * 1000 > WARM_MS or p99 * 1000 > P99_MS
            figures = f"{cold:9.2f} s" + "".join(f"{each * 1000:9.1f}" for each in warm)
            print(f"{name:32}{figures}{count / 2**20:9.2f}{same * 1000:7.1f}{p99 * 1000:9.0f}{replies:9}", flush=True)
    return int(missed > 0)


def warmed(address: str, token: str | None) -> float:
    """Time one request for a list that is written already, in seconds."""
    timed(address, token)
    return median(timed(address, token)[0] for _ in range(5))


def team_token(home: Path) -> str:
    """Make a token of one of the teams."""
    database, token = Database(Settings(home=home, database_url="", files_url="").database), secrets.token_urlsafe(24)
    with database.write() as session:
        now = datetime.now(UTC)
        session.add(TokenRow(digest=digest(token), account_id="team1", created=now, expires=None))
    database.close()
    return token


def timed(url: str, token: str | None = None, tag: str = "") -> tuple[float, int, str]:
    """Make one request; returns its seconds, its bytes and the ETag."""
    headers = {"Accept-Encoding": "gzip"} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(url, headers=headers | ({"If-None-Match": tag} if tag else {}))
    began = time.perf_counter()
    try:
        with urllib.request.urlopen(request, timeout=600) as reply:
            return time.perf_counter() - began, len(reply.read()), reply.headers.get("ETag", "")
    except urllib.error.HTTPError as error:
        with closing(error):
            return time.perf_counter() - began, 0, tag


def beside_readers(url: str, address: str, token: str) -> tuple[float, int]:
    """Measure the seconds within which 99 of 100 submissions are accepted beside readers, and the readers' replies."""
    until = time.monotonic() + SECONDS
    replies: list[float] = []

    def read() -> None:
        while time.monotonic() < until:
            with suppress(OSError):
                replies.append(timed(address)[0])

    threads = [threading.Thread(target=read, daemon=True) for _ in range(READERS)]
    for thread in threads:
        thread.start()
    took = []
    while (began := time.monotonic()) < until:
        took.append(submit(url, token))
        time.sleep(max(0.0, began + 1 / A_SECOND - time.monotonic()))
    for thread in threads:
        thread.join()
    took.sort()
    return took[max(0, round(0.99 * len(took)) - 1)], len(replies)


def submit(url: str, token: str) -> float:
    """Time a submission until it is accepted, in seconds."""
    edge = uuid.uuid4().hex
    parts = {"problem_id": b"comesolo", "team_id": b"team1"}
    lines = [
        f'--{edge}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode() + value + b"\r\n"
        for name, value in parts.items()
    ]
    lines.append(
        f'--{edge}\r\nContent-Disposition: form-data; name="files"; filename="101-n05-p70.out"\r\n'.encode()
        + f"\r\n0\n\r\n--{edge}--\r\n".encode()
    )
    headers = {"Content-Type": f"multipart/form-data; boundary={edge}", "Authorization": f"Bearer {token}"}
    request = urllib.request.Request(f"{url}{CONTEST_PATH}/submissions", b"".join(lines), headers)
    began = time.perf_counter()
    with urllib.request.urlopen(request, timeout=120) as reply:
        reply.read()
    return time.perf_counter() - began


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m bench.lists")
    for option, value in (("submissions", 50_000), ("teams", 500), ("cases", 2)):
        parser.add_argument(f"--{option}", type=int, default=value)
    parser.add_argument("--home", type=Path, help="made if it is not there, and kept")
    flags = parser.parse_args()
    wanted = Size(flags.submissions, flags.teams, flags.cases)
    if flags.home is not None:
        sys.exit(measure(flags.home, wanted))
    with tempfile.TemporaryDirectory() as folder_name:
        sys.exit(measure(Path(folder_name), wanted))
