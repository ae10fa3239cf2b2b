"""Run a package's input validators: stand-alone Python programs, each input a process of its own, bounded.

Exit code 42 accepts, 43 rejects with a line on standard error; everything else is the validator's own fault.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import ceil
from pathlib import Path

VALID, INVALID = 42, 43
SECONDS = 20.0
MEMORY = 1 << 30
LONGEST_SAYING = 4096
FOLDER = "input_validators/"
BOUNDED = """\
import resource, runpy, sys
memory, seconds = int(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
sys.argv = sys.argv[3:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@dataclass(frozen=True, slots=True)
class Opinion:
    """The verdict of a validator on an input: `accepted`, or the line it printed; `fault` where it failed."""

    validator: str
    accepted: bool
    text: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """An input to be validated; `arguments` by validator name, `*` for all of them."""

    path: str
    data: bytes
    arguments: Mapping[str, tuple[str, ...]]


class Validators:
    """The validators of one package, laid out in a folder of their own for as long as the `with` block lasts."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = {name.removeprefix(FOLDER): name for name in files if name.startswith(FOLDER)}
        self._source = files
        self._folder = tempfile.TemporaryDirectory(prefix="jurado-validators-")
        self.programs = sorted(self._programs())
        self.unknown = sorted(set(self._tops()) - set(self.programs))

    def __enter__(self) -> Validators:
        for name, path in self._files.items():
            target = Path(self._folder.name) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(self._source[path])
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def ask(self, questions: Iterable[Question]) -> dict[str, list[Opinion]]:
        """Let every validator look at every input, two at a time; opinions by the input's path."""
        asked = list(questions)
        with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
            return dict(zip((q.path for q in asked), pool.map(self._look, asked), strict=True))

    def _tops(self) -> list[str]:
        return [name.partition("/")[0] for name in self._files]

    def _programs(self) -> list[str]:
        single = [name for name in self._files if "/" not in name and name.endswith(".py")]
        return single + [name.removesuffix("/__main__.py") for name in self._files if name.endswith("/__main__.py")]

    def _look(self, question: Question) -> list[Opinion]:
        return [self._run(program, question) for program in self.programs]

    def _run(self, program: str, question: Question) -> Opinion:
        arguments = question.arguments.get(program.removesuffix(".py"), question.arguments.get("*", ()))
        command = [sys.executable, "-I", "-c", BOUNDED, str(MEMORY), str(ceil(SECONDS))]
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output:
            given.write(question.data)
            given.seek(0)
            process = subprocess.Popen(
                [*command, str(Path(self._folder.name) / program), *arguments],
                stdin=given,
                stdout=subprocess.DEVNULL,
                stderr=output,
                cwd=self._folder.name,
                env={},
                start_new_session=True,
            )
            code = _wait(process)
            output.seek(0)
            text = output.read(LONGEST_SAYING).decode("utf-8", "replace").strip()
        return _opinion(program, code, text)


def _wait(process: subprocess.Popen[bytes]) -> int | None:
    """Wait for the exit code; None if the process was too slow and its whole session was killed."""
    try:
        return process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def _opinion(program: str, code: int | None, text: str) -> Opinion:
    if code == VALID:
        return Opinion(program, True, text)
    if code == INVALID:
        return Opinion(program, False, text)
    ended = (
        f"it ran longer than {SECONDS:.0f} s" if code is None else f"exit code {code}: {text[-300:] or 'no message'}"
    )
    return Opinion(program, False, text, f"{program}: expected exit code {VALID} or {INVALID}, found {ended}")
