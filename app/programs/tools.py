"""Programs of a package beside its checker, run in the sandbox: validators of inputs, generators and solvers.

Input validators tell whether they take an input, by the conventions of the judge they were written for:

kattis    the input on standard input; exit code 42 accepts, 43 and most others refuse
testlib   the input on standard input; exit code 0 accepts, others refuse
cms       the input's path as the first argument; exit code 0 accepts, others refuse

Solvers read an input on standard input and write an answer. One that improves its answer may write lines of JSON to
standard error: `{"fraction": 0.5, "best": 17, "states": 9, "note": "...", "answer": "..."}`, every key optional. Where
its time is over, the last `answer` counts.
"""

import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypedDict, TypeGuard, final

from app.programs import model, places
from app.sandbox.model import Command, Limits, Mount, Result
from app.sandbox.sandbox import Sandbox

PROCESSES = 32


@dataclass(frozen=True, slots=True)
class Tool:
    """A program of a package other than its checker.

    sha256  of its bundle
    place   its file, or its folder with `/` at the end
    files   its files by their paths in the package, `include/` beside
    """

    sha256: str
    place: str
    files: Mapping[str, bytes] = field(repr=False)

    @property
    def name(self) -> str:
        """The last part of its place."""
        return self.place.rstrip("/").rpartition("/")[2]

    @property
    def called(self) -> str:
        """Its name as the package format has it: a file's without its extension."""
        return self.name if self.place.endswith("/") else self.name.rpartition(".")[0] or self.name


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of one run: seconds of processor time (twice as many on the clock), bytes of memory, bytes written."""

    seconds: float
    memory: int
    output: int

    def limits(self) -> Limits:
        """The limits as the sandbox knows them."""
        return Limits(self.seconds, 2 * self.seconds, self.memory, PROCESSES, self.output)


def tool_at(files: Mapping[str, bytes], place: str) -> Tool:
    """The program at a place of a package."""
    own = {
        name: files[name]
        for name in sorted(files)
        if name == place or name.startswith((f"{place.rstrip('/')}/", model.INCLUDED))
    }
    return Tool(model.digest(model.pack(own)), place, own)


@dataclass(frozen=True, slots=True)
class Opinion:
    """The verdict of a validator on an input: `accepted`, or the text it wrote; `fault` where it failed by itself."""

    validator: str
    accepted: bool
    text: str = ""
    fault: str = ""


class ToolDesk:
    """Runs programs of packages; what is compiled is kept below `cache`. May be used from any thread."""

    def __init__(self, sandbox: Sandbox, cache: Path) -> None:
        self.sandbox = sandbox
        self._cache = cache

    def prepare(self, tool: Tool) -> None:
        """Compile a program where its language wants that; raises ProgramFault."""
        places.prepared(tool, self._cache, self.sandbox.run)

    def command(
        self,
        tool: Tool,
        args: Sequence[str],
        bounds: Bounds,
        *,
        stdin: Path | bytes | None = None,
        reads: Mapping[str, Path] | None = None,
        leaves: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Command:
        """The command that runs a program; raises ProgramFault where it does not compile.

        `reads`: files of the host by their places inside. `leaves`: a folder that gets what it writes where it works.
        """
        runnable = places.prepared(tool, self._cache, self.sandbox.run)
        mounts = [*runnable.mounts, *(Mount(path, target) for target, path in (reads or {}).items())]
        if leaves is not None:
            mounts.append(Mount(leaves, places.WORK, writable=True))
        return Command((*runnable.argv, *args), tuple(mounts), stdin, dict(environment or {}), limits=bounds.limits())


ValidatorProtocol = Literal["kattis", "testlib", "cms"]
VALID = 42
LONGEST_TEXT = 4096


def validate(
    desk: ToolDesk, tool: Tool, protocol: ValidatorProtocol, data: bytes, args: Sequence[str], bounds: Bounds
) -> Opinion:
    """Ask a validator about an input."""
    try:
        if protocol == "cms":
            with tempfile.TemporaryDirectory(prefix="jurado-input-") as folder:
                path = Path(folder) / "input"
                path.write_bytes(data)
                result = desk.sandbox.run(desk.command(tool, (places.INPUT, *args), bounds, reads={places.INPUT: path}))
        else:
            result = desk.sandbox.run(desk.command(tool, args, bounds, stdin=data))
        return _opinion(tool.name, protocol, result)
    except model.ProgramFault as fault:
        return Opinion(tool.name, False, fault=f"{tool.name}: {fault}")


def _opinion(name: str, protocol: ValidatorProtocol, result: Result) -> Opinion:
    """The opinion that a run's exit code tells; raises ProgramFault for a run that a signal or a limit ended."""
    code = model.exit_code(result)
    text = model.as_text(result.stderr[:LONGEST_TEXT] or result.stdout[:LONGEST_TEXT]).strip()
    if protocol == "kattis" and code == 0:
        hint = "validators of testlib and CMS exit with 0: jurado.yaml, input_validators: {protocol: testlib}"
        raise model.ProgramFault(f"expected exit code {VALID} or 43, found 0 ({hint})")
    accepted = code == (VALID if protocol == "kattis" else 0)
    return Opinion(name, accepted, text if text or accepted else f"exit code {code}")


SECONDS_BETWEEN = 0.5
ALMOST = 0.99
LONGEST_NOTE = 200
MOST_UNREAD = 2**26
MOST_STATES = 2**63
OVER_TIME = frozenset({"cpu", "wall"})


@final
class SolverReport(TypedDict):
    """The progress of a run: `fraction` 0 to 1, the best raw score so far, the states seen, a note."""

    fraction: float
    best: int | float | None
    states: int
    note: str


OnReport = Callable[[SolverReport], None]


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer that a solver made, its last report, and whether its time was over before it ended."""

    answer: bytes
    report: SolverReport
    stopped: bool
    seconds: float


class Solving:
    """One run of a solver. `kill` may be called from any thread at any time, also before the start."""

    def __init__(self, on_report: OnReport) -> None:
        self._on_report = on_report
        self._report: SolverReport = {"fraction": 0.0, "best": None, "states": 0, "note": ""}
        self._answer: bytes | None = None
        self._line = bytearray()
        self._seconds = self._shown = 0.0
        self._kill: Callable[[], None] | None = None
        self._killed = ""

    def kill(self, why: str = "it was cancelled") -> None:
        """End the run and all its processes; the first reason is the one that counts."""
        self._killed = self._killed or why
        if self._kill is not None:
            self._kill()

    def run(self, desk: ToolDesk, tool: Tool, data: bytes, bounds: Bounds, options: Mapping[str, str]) -> Answered:
        """Solve an input; `options` are its environment. Raises ProgramFault where there is no answer in the end."""
        command = desk.command(tool, (), bounds, stdin=data, environment=options)
        began = time.monotonic()
        self._seconds = bounds.seconds
        if self._killed:
            raise model.ProgramFault(self._killed)
        result = desk.sandbox.run(command, self)
        if self._killed:
            raise model.ProgramFault(self._killed)
        return self._answered(result, time.monotonic() - began)

    def begun(self, kill: Callable[[], None]) -> None:
        """Learn how to end the run."""
        self._kill = kill
        if self._killed:  # whoever kills notes it first: so it is seen here, or `kill` there
            kill()

    def wrote(self, errors: bytes) -> None:
        """Take what the solver has written to standard error: whole lines are read as reports."""
        self._line += errors
        *lines, rest = bytes(self._line[-MOST_UNREAD:]).split(b"\n")
        self._line = bytearray(rest)
        for line in lines:
            if line.startswith(b"{"):
                self._read(line)

    def passed(self, seconds: float) -> None:
        """Report the time now and then, as a solver may report nothing itself."""
        if seconds - self._shown < SECONDS_BETWEEN:
            return
        self._shown = seconds
        fraction = max(self._report["fraction"], min(ALMOST, seconds / self._seconds))
        self._on_report({**self._report, "fraction": fraction})

    def _read(self, line: bytes) -> None:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(value, dict):
            return
        if isinstance(answer := value.get("answer"), str):
            self._answer = answer.encode("utf-8", "replace")
        report = self._report
        fraction, best, states, note = (value.get(key) for key in ("fraction", "best", "states", "note"))
        self._report = {
            "fraction": min(1.0, max(0.0, fraction)) if _is_number(fraction) else report["fraction"],
            "best": best if _is_number(best) else report["best"],
            "states": states if isinstance(states, int) and abs(states) < MOST_STATES else report["states"],
            "note": model.plain(note)[:LONGEST_NOTE] if isinstance(note, str) else "",
        }
        self._on_report(self._report)

    def _answered(self, result: Result, seconds: float) -> Answered:
        if result.ending in OVER_TIME and self._answer is not None:
            return Answered(self._answer, self._report, True, seconds)
        if (code := model.exit_code(result)) != 0:
            raise model.unexpected(code, "0", result)
        answer = result.stdout or self._answer
        if answer is None:
            raise model.ProgramFault("expected an answer on standard output, found nothing")
        return Answered(answer, self._report, False, seconds)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63
