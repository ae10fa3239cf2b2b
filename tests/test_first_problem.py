"""The guide to one's first problem: its commands run as they stand there, and print what it shows."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from app.accounts.commands.accounts import new_login
from app.commands.fresh_service import fresh_service
from tests.builders.terminal import Running, Terminal
from tests.conftest import forked

pytestmark = pytest.mark.machine("sandbox")
GUIDE = Path(__file__).resolve().parents[1] / "docs/guides/your-first-problem.md"
BLOCK = re.compile(r"^```(console|text|python|cpp)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ODD = (
    (re.compile(r"http://127\.0\.0\.1:\d+"), "URL"),
    (re.compile(r"(JURADO_TOKEN=)\S+"), r"\1TOKEN"),
    (re.compile(r"^\d\d:\d\d:\d\d [^:]+:", re.MULTILINE), "TIME FILES:"),
)
ANYTHING = "..."
SERVED = "jurado package serve"
FEW_GRADERS = {"JURADO_GRADERS": "1"}


def blocks() -> Iterator[tuple[str, str]]:
    """The kinds and texts of the guide's blocks, in order."""
    yield from ((match[1], match[2]) for match in BLOCK.finditer(GUIDE.read_text()))


def commands(block: str) -> Iterator[tuple[str, str]]:
    """The commands of a block, each with what the guide shows that it prints."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def plain(text: str) -> list[str]:
    """The lines of a text without what is another one each time."""
    for pattern, name in ODD:
        text = pattern.sub(name, text)
    return [line.rstrip() for line in text.splitlines()]


def assert_shown(printed: str, shown: str, command: str) -> None:
    """What was printed is what the guide shows; lines after `...` are free."""
    expected, lines = plain(shown), plain(printed)
    if expected and expected[-1] == ANYTHING:
        expected.pop()
        lines = lines[: len(expected)]
    assert lines == expected, command


class Reader:
    """Someone who does what the guide says, in a folder of their own, beside a server that runs there."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.terminal = Terminal(folder)
        self.stack = stack
        self.serving: Running | None = None
        self.exported: dict[str, str] = {}

    def do(self, command: str, shown: str) -> None:
        """Type a command, and see what it prints."""
        words = shlex.split(command)
        if words[:3] == ["jurado", "package", "serve"]:
            self.serving = self.stack.enter_context(self.terminal.running(*words[1:]))
            self.serving.until("Ctrl-C ends")
            assert_shown("\n".join(self.serving.lines), shown, command)
            self.exported = dict(re.findall(r"export (JURADO_\w+)=(\S+)", "\n".join(self.serving.lines[:10])))
        elif words[0] == "export":
            name = words[1].partition("=")[0]
            self.terminal.exported[name] = self.exported[name]
        elif words[:2] == ["jurado", "login"]:
            self.stack.enter_context(self._server())
        elif words[0] == "jurado" and not {"<", ">"} & set(words):
            assert_shown(self.terminal.run(*words[1:], code=None), shown, command)
        else:
            done = subprocess.run(["sh", "-c", command], cwd=self.terminal.folder, capture_output=True, text=True)
            assert_shown(done.stdout + done.stderr, shown, command)

    def look(self, shown: str) -> None:
        """Look at what the package's server has printed since."""
        assert self.serving is not None
        lines = plain(shown)
        self.serving.until(lines[-1].removeprefix("TIME FILES: "))
        assert plain("\n".join(self.serving.lines[-len(lines) :])) == lines

    def _server(self) -> ExitStack:
        """A server to bring the problem to; the login is the admin's."""
        home = self.terminal.folder / ".server"
        home.mkdir()
        stack = ExitStack()
        running = stack.enter_context(fresh_service(home, FEW_GRADERS, forked))
        self.terminal.exported = {
            "JURADO_URL": running.url,
            "JURADO_TOKEN": new_login(running.url, "admin", running.password).token,
        }
        return stack


@pytest.mark.parametrize("until", [SERVED, pytest.param(None, id="its end", marks=pytest.mark.long)])
def test_what_the_guide_says_is_what_happens(until: str | None, tmp_path: Path) -> None:
    """Until the package is served, and by `make test-long` to the end, with two servers."""
    with ExitStack() as stack:
        reader = Reader(tmp_path, stack)
        for kind, text in blocks():
            if until is not None and text.startswith(f"$ {until}"):
                break
            if kind == "console":
                for command, shown in commands(text):
                    reader.do(command, shown)
            elif kind == "text":
                reader.look(text)
            else:
                first, _, code = text.partition("\n")
                name = first.removeprefix("# ").removeprefix("// ")
                assert code in (tmp_path / name).read_text(), f"{name} as the guide shows it"
