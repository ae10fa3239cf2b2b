"""Lists of a contest with 50,000 submissions, cold and warm, and a submission beside 40 readers of each.

`python -m bench.lists --submissions 5000` for another size; `--home DIR` keeps what was made for the next run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import uuid
from contextlib import closing, suppress
from pathlib import Path
from statistics import median

from bench.growth import CONTEST_PATH, Size, stage, wait_until_ready
from bench.stage import serving

LISTS = ("submissions", "judgements", "runs", "teams", "problems", "persons", "organizations", "groups")
OTHERS = ("accounts", "clarifications", "awards", "commentary")
WARM_MS, P99_MS = 50.0, 300.0
READERS, SECONDS, A_SECOND = 40, 10.0, 5


def main() -> int:
    """Measure 50,000 submissions; 1 if a goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        return measure(Path(folder), Size(submissions=50_000))


def measure(home: Path, size: Size) -> int:
    """Print a line for each list."""
    token = stage(home, size)
    missed = 0
    print(f"{size.submissions} submissions of {size.teams} teams; as an admin, zipped; goals: warm {WARM_MS:g} ms,")
    print(f"99 of 100 submissions beside {READERS} anonymous readers {P99_MS:g} ms")
    print(f"{'':16}{'cold':>9} s{'warm':>9} ms{'size':>9} MiB{'304':>7} ms{'p99':>9} ms{'replies':>9}")
    with serving(home, graders="1") as url:
        wait_until_ready(url)
        timed(f"{url}{CONTEST_PATH}/scoreboard", token)
        for name in (*LISTS, *OTHERS):
            address = f"{url}{CONTEST_PATH}/{name}"
            cold, count, tag = timed(address, token)
            warm = median(timed(address, token)[0] for _ in range(5))
            same = median(timed(address, token, tag)[0] for _ in range(5))
            p99, replies = beside_readers(url, address, token)
            missed += warm * 1000 > WARM_MS or p99 * 1000 > P99_MS
            figures = f"{cold:9.2f} s{warm * 1000:9.1f} ms{count / 2**20:9.2f} MiB{same * 1000:7.1f} ms"
            print(f"{name:16}{figures}{p99 * 1000:9.0f} ms{replies:9}", flush=True)
    return int(missed > 0)


def timed(url: str, token: str | None = None, tag: str = "") -> tuple[float, int, str]:
    """Seconds of one request, the bytes that came, and the ETag."""
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
    """Seconds in which 99 of 100 submissions beside readers are accepted, and how often these were answered."""
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
    """Seconds until a submission is accepted."""
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
