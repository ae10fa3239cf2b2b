"""The guide's section on course assistants: its commands, as they stand there, run a whole contest without an admin."""

from __future__ import annotations

import re
import shlex
import shutil
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import Result

from app.accounts.commands.accounts import new_login
from app.commands.fresh_service import Running
from tests.app.conftest import Jurado

PROJECT = Path(__file__).resolve().parents[3]
GUIDE = PROJECT / "docs/guides/running-a-contest.md"
ANSWER = next(iter(sorted((PROJECT / "problems/comesolo/submissions/accepted").rglob("1*.out"))))
BLOCKS = re.findall(r"^<!-- (\w+) -->\n```sh\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
PASSWORD = "a long secret of theirs"
CLASS = "name,team\nCarla {0},Red {0}\nDora {0},Red {0}\nEva {0},\n"


class Story:
    """Types the guide's commands as the people it names, whose names no one else on the shared service has."""

    def __init__(self, jurado: Jurado, service: Running, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self._jurado, self._service, self._monkeypatch = jurado, service, monkeypatch
        self._folder = folder
        mark = uuid.uuid4().hex[:6]
        words = ("ana", "bruno", "algo4", "algo", "guest1", "guests")
        self.names = {word: f"{word}-{mark}" for word in words}
        (folder / "class.csv").write_text(CLASS.format(mark))
        for word in ("ana", "bruno", "guest1"):
            (folder / f"{word}.txt").write_text(f"{PASSWORD}\n")

    def log_in(self, who: str) -> None:
        """Continue as someone else; the admin's token is the fixture's."""
        if who != "admin":
            token = new_login(self._service.url, self.names[who], PASSWORD).token
            self._monkeypatch.setenv("JURADO_TOKEN", token)

    def type(self, command: str) -> Result:
        """Run a line of the guide in the folder of the reader, with the files that `<` and `>` name."""
        words = shlex.split(command)
        target = words.index(">") if ">" in words else None
        out = None if target is None else words[target + 1]
        words = words if target is None else words[:target]
        given = None
        if "<" in words:
            given = (self._folder / words[words.index("<") + 1]).read_text()
            words = words[: words.index("<")]
        named = ["/".join(self.names.get(part, part) for part in word.split("/")) for word in words[1:]]
        done = self._jurado(*named, stdin=given)
        assert done.exit_code == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        if out is not None:
            (self._folder / out).write_text(done.stdout)
        return done


def test_an_assistant_runs_a_contest_by_the_commands_of_the_guide(
    admin: Jurado, service: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    story = Story(admin, service, monkeypatch, tmp_path)
    assert [who for who, _ in BLOCKS] == ["admin", "ana", "bruno", "ana", "ana"]
    printed = ""
    for at, (who, block) in enumerate(BLOCKS):
        story.log_in(who)
        if at == 1:
            start = (datetime.now(UTC) - timedelta(hours=3)).isoformat(timespec="seconds")
            over = f"--duration 1:00:00 --freeze 0:10:00 --start {start} --already-over"
            story.type(f'jurado admin contest create algo4 "Week 4" {over}')
            story.type("jurado admin contest add-problem algo4 comesolo")
        if at == 3:
            story.log_in("guest1")
            shutil.copy(ANSWER, tmp_path / f"{ANSWER.stem}.out")
            story.type(f"jurado submit algo comesolo {ANSWER.stem}.out --wait")
            story.log_in(who)
        for line in block.strip().splitlines():
            printed += story.type(line).stdout
    assert "the new password of guest1" in printed
    assert len((tmp_path / "passwords.csv").read_text().splitlines()) == 4
    assert (tmp_path / "algo4.zip").stat().st_size > 0
    log = (tmp_path / "audit.json").read_text()
    assert {"create_contest", "reveal_places", "put_award", "change_contest"} <= set(
        re.findall(r"\b[a-z]+_[a-z]+\b", log)
    )
    refused = admin("admin", "contest", "set", "practice", "practice=true")
    assert (refused.exit_code, "only an owner of the contest or an admin" in refused.stderr) == (1, True)
