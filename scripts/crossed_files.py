"""List the files of `app` that one submission crosses on its way: upload, grade, show. `make crossed`

A service runs in this process on a fresh home; every function that is called is noted with its file. What runs once for
the process (imports, the first board) is done before, with a submission of its own. Graders are other processes: what
they do (`app/judging/service/grader.py` and `grade.py` with the problem's checker) is not counted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import threading
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import httpx

from app.core.service import Service
from app.core.settings import Settings
from app.main import create_app
from app.packages.catalog import bundled
from app.problems.queries import testcases

PASSWORD = "a long enough pass phrase"
CASE = "101-n05-p70.out"
GRADING_SECONDS = 5.0
"""Enough for a verdict; nothing may be asked in the meantime, as that would cross files too."""
BOARD = "/api/contests/practice/scoreboard"
APP = f"{ROOT / 'app'}{os.sep}"
AMONG_ALL = frozenset({f"core/{name}.py" for name in ("metrics", "logs", "service", "settings")})
"""What every request touches, whatever it asks for."""


class Crossings:
    """The files entered, in order and without immediate repetition."""

    def __init__(self) -> None:
        self.files: list[str] = []

    def note(self, frame: FrameType, event: str, _argument: object) -> None:
        """Note a call of a function of `app`."""
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(APP) or frame.f_code.co_name.startswith("<"):
            return
        file = name.removeprefix(APP)
        if file not in AMONG_ALL and (not self.files or self.files[-1] != file):
            self.files.append(file)

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note what all threads of the process call in the meantime."""
        threading.setprofile(self.note)
        sys.setprofile(self.note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


async def main() -> int:
    """Send one submission with notes on, and print the files of each part of its way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="jurado-crossed-") as folder:
        problems = Path(folder) / "problems"
        problems.mkdir()
        (problems / "comesolo").symlink_to(bundled()["comesolo"])
        os.environ["JURADO_PROBLEMS"] = str(problems)
        ways = await crossed(Path(folder))
    if options.json:
        print(json.dumps(ways, indent=1))
        return 0
    distinct = sorted({file for files in ways.values() for file in files})
    for part, files in ways.items():
        print(f"{part}: {len(set(files))} files, {len(files)} crossings")
        for file in dict.fromkeys(files):
            print(f"    {file}  x{files.count(file)}")
    print(f"together {len(distinct)} distinct files")
    return 0


async def crossed(folder: Path) -> dict[str, list[str]]:
    """The files of upload, grade and show, each in order."""
    crossings = Crossings()
    with crossings.noted():  # also in every thread that is started in the meantime
        app = create_app(Settings(home=folder / "home", admin_password=PASSWORD, database_url="", files_url=""))
        transport = httpx.ASGITransport(app=app)
        client = httpx.AsyncClient(transport=transport, base_url="http://x")
        async with app.router.lifespan_context(app), client:
            client.auth = httpx.BasicAuth("admin", PASSWORD)
            await client.post("/api/teams", json={"id": "ants", "name": "Ants"})
            await _send(client)
            await _judged(client)
            await _expected_answers_scored(app.state.service)
            await client.get(BOARD)
            return {
                "upload": await _noted(crossings, _send(client)),
                "grade": await _noted(crossings, asyncio.sleep(GRADING_SECONDS)),
                "show": await _noted(crossings, client.get(BOARD)),
            }


async def _noted(crossings: Crossings, doing: Awaitable[object]) -> list[str]:
    crossings.files.clear()
    await doing
    return list(crossings.files)


async def _send(client: httpx.AsyncClient) -> None:
    form = {"problem_id": "comesolo", "team_id": "ants"}
    reply = await client.post("/api/contests/practice/submissions", data=form, files={"files": (CASE, b"0\n")})
    reply.raise_for_status()


async def _judged(client: httpx.AsyncClient) -> None:
    """Wait for the verdict."""
    for _ in range(2000):
        await asyncio.sleep(0.05)
        rows = (await client.get("/api/contests/practice/judgements")).json()
        if rows and all(row["judgement_type_id"] for row in rows):
            return
    raise RuntimeError("the submission is not judged")


async def _expected_answers_scored(service: Service) -> None:
    """Wait for what graders do after a start, which would count as a part of the submission's way."""
    while True:
        with service.database.read() as session:
            if not testcases.without_score(session):
                return
        await asyncio.sleep(0.05)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
