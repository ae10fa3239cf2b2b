"""The wheel, built and installed into an empty environment without kernels, serves all that a checkout does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

PROJECT = Path(__file__).resolve().parents[1]
MOST_MEBIBYTES = 250
PASSWORD = "correct-horse-battery-staple"
ANSWERS = PROJECT / "problems/comesolo/submissions/accepted"


def uv(*words: object, cwd: Path) -> str:
    """Run uv, which `make setup` has found or installed."""
    program = shutil.which("uv", path=f"{PROJECT / '.tools/uv/bin'}:{os.environ['PATH']}")
    assert program is not None, "make setup installs uv"
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    done = subprocess.run([program, *map(str, words)], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment with the wheel and what it requires."""
    folder = tmp_path_factory.mktemp("wheel")
    uv("build", "--quiet", "--wheel", "--out-dir", folder, cwd=PROJECT)
    (wheel,) = folder.glob("*.whl")
    uv("venv", "--quiet", "--python", sys.executable, "environment", cwd=folder)
    python = folder / "environment/bin/python"
    uv("pip", "install", "--quiet", "--compile-bytecode", "--python", python, wheel, cwd=folder)
    return python.parent


@contextmanager
def served(programs: Path, folder: Path, *words: str) -> Iterator[tuple[str, Path]]:
    """A server in an empty folder; yields its address and the file of its log."""
    environment = {"PATH": os.environ["PATH"], "JURADO_ADMIN_PASSWORD": PASSWORD, "HOME": str(folder)}
    log = folder / "log"
    command = [programs / "jurado", "serve", "--port", "0", *words]
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("Jurado serves http"), log.read_text()
            yield line.split()[2], log
        finally:
            process.terminate()
            process.wait(60)


def test_an_installed_wheel_serves_problems_pages_and_guides_and_judges_without_kernels(
    programs: Path, tmp_path: Path
) -> None:
    with served(programs, tmp_path) as (address, log), httpx.Client(base_url=address, timeout=60) as client:
        assert client.get("/").status_code == 200
        assert "Taking part" in client.get("/guides").text
        client.auth = ("admin", PASSWORD)
        problems = {each["id"] for each in client.get("/api/problems").json()}
        assert problems >= {"comesolo", "lasttreat", "lazypiglets", "netgame", "optimiza", "rollingballs"}
        answer = next(ANSWERS.rglob("*.out"))
        contest = "practice"
        made = client.post("/api/teams", json={"id": "ants", "name": "The Ants"})
        assert made.status_code == 201, made.text
        data = {"problem_id": "comesolo", "team_id": "ants"}
        sent = client.post(
            f"/api/contests/{contest}/submissions", data=data, files={"files": (answer.name, answer.read_bytes())}
        )
        assert sent.status_code == 201, sent.text
        judgements = f"/api/contests/{contest}/judgements?submission_id={sent.json()['id']}"
        until = time.monotonic() + 120
        while not (found := client.get(judgements).json()) or found[0].get("end_time") is None:
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.2)
        assert found[0]["judgement_type_id"] in {"AC", "PC"}
        (row,) = client.get(f"/api/contests/{contest}/scoreboard").json()["rows"]
        assert row["score"]["score"] > 0
    assert log.read_text().count("checkers run as slow Python") == 1


def test_the_environment_of_the_wheel_is_small(programs: Path) -> None:
    size = sum(path.stat().st_blocks * 512 for path in programs.parent.rglob("*") if not path.is_symlink())
    assert size < MOST_MEBIBYTES * 2**20


def test_a_missing_extra_is_named_with_the_command_that_installs_it(programs: Path, tmp_path: Path) -> None:
    url = "postgresql://jurado@127.0.0.1/none"
    environment = {"PATH": os.environ["PATH"], "JURADO_DATABASE_URL": url}
    done = subprocess.run(
        [programs / "jurado", "serve", "--port", "0"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "pip install 'jurado[postgres]'" in done.stderr
