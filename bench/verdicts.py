"""From upload to verdict: a zip with answers for all 20 cases of comesolo, one at a time, through a warm service."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from app.packages.catalog import bundled
from app.packages.zips import zip_bytes
from bench.load import upload_and_wait
from bench.stage import CONTEST, prepare, serving

WARM_UP = 20
MEASURED = 200
TEAMS = 20
GOAL_MS = 30.0


def main() -> int:
    """Print acknowledgement and verdict in ms; 1 if the median verdict comes later than the goal."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        tokens = prepare(home, teams=TEAMS)
        with serving(home) as url:
            times = asyncio.run(measure(url, tokens))
    print(f"{'':24}{'median ms':>10}{'p95 ms':>8}")
    for name, at in (("acknowledged (durable)", 0), ("score seen by GET", 1)):
        values = [pair[at] * 1000 for pair in times]
        print(f"{name:24}{statistics.median(values):10.1f}{statistics.quantiles(values, n=20)[-1]:8.1f}")
    return 0 if statistics.median(pair[1] for pair in times) * 1000 < GOAL_MS else 1


async def measure(url: str, tokens: list[str]) -> list[tuple[float, float]]:
    """Upload for one team after the other; returns the seconds from each upload to its acknowledgement and verdict."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    path = f"/api/contests/{CONTEST}"
    data = all_answers()
    times = []
    for at in range(WARM_UP + MEASURED):
        times.append(await upload_and_wait(reader, writer, path, tokens[at % len(tokens)], data))
    writer.close()
    return times[WARM_UP:]


def all_answers() -> bytes:
    """Zip the reference's answers."""
    folder = bundled()["comesolo"] / "submissions/accepted/reference"
    return zip_bytes({path.name: path.read_bytes() for path in folder.rglob("*.out")})
