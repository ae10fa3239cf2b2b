"""Programs of a package beside its checker, run in the sandbox: validators of inputs, generators and solvers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from cachetools import LRUCache

from app.programs.model import INCLUDED, digest, pack
from app.programs.places import WORK, prepared
from app.sandbox.model import Command, Limits, Mount, Result
from app.sandbox.sandbox import Sandbox

PROCESSES = 32
# Each has at most some kilobytes of text, and nearly all have none.
MOST_OPINIONS = 20_000


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


def tool_at(files: Mapping[str, bytes], place: str, beside: Sequence[str] = ()) -> Tool:
    """The program at a place of a package; `beside` names further files that belong to it."""
    own = {
        name: files[name]
        for name in sorted(files)
        if name == place or name in beside or name.startswith((f"{place.rstrip('/')}/", INCLUDED))
    }
    return Tool(digest(pack(own)), place, own)


@dataclass(frozen=True, slots=True)
class Opinion:
    """The verdict of a validator on an input: `accepted`, or the text it wrote; `fault` where it failed by itself."""

    validator: str
    accepted: bool
    text: str = ""
    fault: str = ""


class Opinions:
    """The newest opinions of validators: the same program says the same about the same input. For any thread."""

    def __init__(self) -> None:
        self._known: LRUCache[Hashable, Opinion] = LRUCache(MOST_OPINIONS)
        self._lock = Lock()

    def get(self, key: Hashable) -> Opinion | None:
        """The opinion on a question, if it is known."""
        with self._lock:
            return self._known.get(key)

    def put(self, key: Hashable, opinion: Opinion) -> Opinion:
        """Remember an opinion, and give it back."""
        with self._lock:
            self._known[key] = opinion
        return opinion


class ToolDesk:
    """Runs programs of packages; what is compiled is kept below `cache`. May be used from any thread.

    `opinions`: what validators have said, to be asked before they are asked again.
    """

    def __init__(self, sandbox: Sandbox, cache: Path, opinions: Opinions | None = None) -> None:
        self.sandbox = sandbox
        self.opinions = opinions or Opinions()
        self._cache = cache

    def prepare(self, tool: Tool) -> None:
        """Compile a program where its language wants that; raises ProgramFault."""
        prepared(tool, self._cache, self.sandbox.run)

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
        runnable = prepared(tool, self._cache, self.sandbox.run)
        mounts = [*runnable.mounts, *(Mount(path, target) for target, path in (reads or {}).items())]
        if leaves is not None:
            mounts.append(Mount(leaves, WORK, writable=True))
        return Command((*runnable.argv, *args), tuple(mounts), stdin, dict(environment or {}), limits=bounds.limits())

    def run(self, command: Command) -> Result:
        """Run a command to its end or a limit; raises SandboxFault if it could not be started."""
        return self.sandbox.run(command)
