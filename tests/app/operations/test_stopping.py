"""A server that is told to stop while it starts ends in order."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.stage import at_home
from tests.conftest import forked


@pytest.mark.parametrize(("when", "drain_seconds"), [("before", "0"), ("before", "1"), ("within", "1")])
def test_a_signal_that_comes_while_a_server_starts_stops_it(tmp_path: Path, when: str, drain_seconds: str) -> None:
    (tmp_path / "none").mkdir()
    few = {"graders": "1", "problems": str(tmp_path / "none"), "drain_seconds": drain_seconds}
    command = [sys.executable, "-m", "tests.builders.stopped_early", when, "serve", "--port", "0"]
    env = {**os.environ, **at_home(tmp_path / "home", **few)}
    process = forked(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    with process.stdout as output:
        text = output.read()
    assert process.wait(120) == 0, text
    assert "Jurado has stopped" in text
    assert "Traceback" not in text
