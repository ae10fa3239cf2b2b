"""Programs of a package beside its checker, run in the sandbox: validators of inputs, generators and solvers.

Input validators tell whether they take an input, by the conventions of the judge they were written for:

kattis    the input on standard input; exit code 42 accepts, 43 and most others refuse
testlib   the input on standard input; exit code 0 accepts, others refuse
cms       the input's path as the first argument; exit code 0 accepts, others refuse

Solvers read an input on standard input and write an answer to standard output within their time.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.programs import model, places
from app.sandbox.model import Command, Limits, Mount, Result
from app.sandbox.sandbox import Sandbox


def tool_at(files: Mapping[str, bytes], place: str) -> model.Tool:
    """The program at a place of a package."""
    own = {
        name: files[name]
        for name in sorted(files)
        if name == place or name.startswith((f"{place.rstrip('/')}/", model.INCLUDED))
    }
    return model.Tool(model.digest(model.pack(own)), place, own)


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

    def prepare(self, tool: model.Tool) -> None:
        """Compile a program where its language wants that; raises ProgramFault."""
        places.prepared(tool, self._cache, self.sandbox.run)

    def command(
        self,
        tool: model.Tool,
        args: Sequence[str],
        limits: Limits,
        *,
        stdin: bytes | None = None,
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
        return Command((*runnable.argv, *args), tuple(mounts), stdin, dict(environment or {}), limits=limits)


ValidatorProtocol = Literal["kattis", "testlib", "cms"]
VALID = 42
LONGEST_TEXT = 4096


def validate(
    desk: ToolDesk, tool: model.Tool, protocol: ValidatorProtocol, data: bytes, args: Sequence[str], limits: Limits
) -> Opinion:
    """Ask a validator about an input."""
    try:
        if protocol == "cms":
            with tempfile.TemporaryDirectory(prefix="jurado-input-") as folder:
                path = Path(folder) / "input"
                path.write_bytes(data)
                result = desk.sandbox.run(desk.command(tool, (places.INPUT, *args), limits, reads={places.INPUT: path}))
        else:
            result = desk.sandbox.run(desk.command(tool, args, limits, stdin=data))
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


class Solving:
    """One run of a solver. `kill` may be called from any thread at any time, also before the start."""

    def __init__(self) -> None:
        self._kill: Callable[[], None] | None = None
        self._killed = ""

    def kill(self, why: str = "it was cancelled") -> None:
        """End the run and all its processes; the first reason is the one that counts."""
        self._killed = self._killed or why
        if self._kill is not None:
            self._kill()

    def run(self, desk: ToolDesk, tool: model.Tool, data: bytes, limits: Limits, options: Mapping[str, str]) -> Result:
        """Solve an input; `options` are its environment. Raises ProgramFault where standard output has no answer."""
        result = desk.sandbox.run(desk.command(tool, (), limits, stdin=data, environment=options), self._begun)
        if self._killed:
            raise model.ProgramFault(self._killed)
        if (code := model.exit_code(result)) != 0:
            raise model.unexpected(code, "0", result)
        if not result.stdout:
            raise model.ProgramFault("expected an answer on standard output, found nothing")
        return result

    def _begun(self, kill: Callable[[], None]) -> None:
        self._kill = kill
        if self._killed:  # whoever kills notes it first: so it is seen here, or `kill` there
            kill()
