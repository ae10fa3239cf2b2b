"""The guide's client: generated from the description without a warning, it takes part in a contest of a real server."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import httpx

from app.commands.fresh_service import Running, fresh_service
from tests.app.conftest import FEW_GRADERS
from tests.conftest import forked

ROOT = Path(__file__).resolve().parents[3]
GUIDE = (ROOT / "docs" / "guides" / "http-api.md").read_text()
SECTION = GUIDE.partition("## Generating a client\n")[2].partition("\n## ")[0]
URL = "http://127.0.0.1:8000"
SAMPLES = ROOT / "problems" / "comesolo" / "data" / "sample"


def blocks(language: str) -> list[str]:
    """The section's blocks of code in a language."""
    return re.findall(rf"```{language}\n(.*?)```", SECTION, re.DOTALL)


def ran(line: str, service: Running, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one of the guide's commands, on this service in place of the usual address."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    words = shlex.split(line.replace(URL, service.url))
    return subprocess.run(
        words, cwd=folder, env={**os.environ, "PATH": programs}, capture_output=True, text=True, timeout=120
    )


def test_the_client_of_the_guide_is_generated_without_a_warning_and_takes_part(tmp_path: Path) -> None:
    """Token, contests, problem, submission, judgement, report and board: what is printed stands in the guide."""
    install, generate = blocks("sh")[0].splitlines()
    assert install == "pip install openapi-python-client"
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    (work / "take_part.py").write_text(blocks("python")[0])
    for name in ("01-sample.out", "02-sample.out"):
        (work / name).write_bytes((SAMPLES / name).read_bytes())
    with fresh_service(home, FEW_GRADERS, forked) as service:
        admin = ("admin", service.password)
        team = [{"id": "ants", "name": "The Ants", "label": "1"}]
        account = [
            {"id": "ants", "username": "ants", "password": "a good one", "type": "team", "team_id": "ants"},
        ]
        for path, body in (("teams", team), ("accounts", account)):
            httpx.post(f"{service.url}/api/{path}", auth=admin, json=body).raise_for_status()
        described = httpx.get(f"{service.url}/openapi.json", timeout=60)  # made once, which takes the generator's 5 s
        assert described.status_code == 200
        made = ran(generate, service, work)
        assert made.returncode == 0, made.stdout + made.stderr
        assert (made.stdout + made.stderr).split() == ["Generating", "jurado_client"], made.stdout + made.stderr
        played = ran(blocks("sh")[1], service, work)
    assert played.stderr == ""
    assert played.stdout == blocks("text")[0]
