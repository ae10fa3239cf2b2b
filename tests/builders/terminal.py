"""A terminal in a folder of its own: real processes of `jurado`, one after another or next to each other."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from app.sandbox.child import environment, module_command
from app.sandbox.model import AS_ROOT
from tests.conftest import forked
from tests.forks import Forked

SECONDS_TO_END = 60


@dataclass
class Terminal:
    """Runs `jurado` in `folder`, with the variables that were exported; no one's own login or settings are seen."""

    folder: Path
    exported: dict[str, str] = field(default_factory=dict)

    def run(self, *words: object, code: int | None = 0) -> str:
        """A command that has to end with this exit code, None: any; returns all that it prints, on both streams."""
        with (self.folder / ".printed").open("w+b") as printed:
            process = forked(
                self._command(words), env=self._environment(), cwd=self.folder, stdout=printed, stderr=printed
            )
            ended = process.wait(SECONDS_TO_END)
            printed.seek(0)
            text = printed.read().decode()
        assert code in (None, ended), f"jurado {' '.join(map(str, words))} ended with {ended}:\n{text}"
        return text

    @contextmanager
    def running(self, *words: object) -> Iterator[Running]:
        """A command that continues; it has to end by Ctrl-C with the `code` of what is yielded."""
        process = forked(
            self._command(words),
            env=self._environment(),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        running = Running(process)
        try:
            yield running
            process.send_signal(signal.SIGINT)
            code = process.wait(SECONDS_TO_END)
            running.lines += [line.rstrip("\n") for line in process.stdout or ()]
            assert code == running.code, "\n".join(running.lines)
        finally:
            process.terminate()  # a command that is killed leaves what it has started
            with suppress(subprocess.TimeoutExpired):
                process.wait(SECONDS_TO_END)
            process.give_up()
            if process.stdout is not None:
                process.stdout.close()

    def _command(self, words: tuple[object, ...]) -> list[str]:
        return module_command("app.commands", *map(str, words))

    def _environment(self) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if not name.startswith("JURADO_") or name == AS_ROOT}
        temporary = self.folder / ".tmp"
        temporary.mkdir(exist_ok=True)
        home = {"HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder / ".config"), "TMPDIR": str(temporary)}
        python = {name: value for name, value in environment().items() if name.startswith("PYTHON")}
        return own | python | home | self.exported


@dataclass
class Running:
    """A command that continues, what it has printed so far, and the exit code that it has to end with."""

    process: Forked
    lines: list[str] = field(default_factory=list)
    code: int = 0

    def until(self, words: str) -> str:
        """Read until a line with these words; returns that line. A command that prints none for too long is ended."""
        assert self.process.stdout is not None
        patience = threading.Timer(SECONDS_TO_END, self.process.terminate)
        patience.start()
        try:
            for line in self.process.stdout:
                self.lines.append(line.rstrip("\n"))
                if words in line:
                    return self.lines[-1]
        finally:
            patience.cancel()
        raise AssertionError(f"no line with {words!r} among\n" + "\n".join(self.lines))
