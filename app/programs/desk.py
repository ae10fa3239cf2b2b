"""The place where programs are asked: prepared once, in the sandbox, bounded by the limits of one answer.

- A conversation with a checker in Python, loaded for the cases of one submission and no longer (guarantee 4).
- Images that checkers leave as feedback: those that are kept, and for judges a remark on each other one.
"""

import os
import re
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from signal import SIGKILL

from app.core.images import measure
from app.programs import model, places, points, protocols, runner, tools
from app.sandbox.model import Command, Limits, Mount, Result, SandboxFault, python
from app.sandbox.sandbox import Running, Sandbox
from checkers import doors

NAME = re.compile(r"(?:team|judge)image(?:-[A-Za-z0-9_-]{1,60})?\.(png|jpg|jpeg|svg)")
LONGEST_NAME = 100
# Pixels of an image in points: a few bytes that name more would fill the memory of whoever looks at them.
MOST_PIXELS = 2**26
DRAWN = "image/svg+xml"
TYPES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "svg": DRAWN}


def image_names(names: Iterable[str]) -> list[str]:
    """The names of images among those of feedback files, in the order in which they are shown."""
    return sorted(name for name in names if name.startswith(runner.IMAGE_NAMES))


def with_images(decision: model.Decision, files: Mapping[str, bytes], most: int) -> model.Decision:
    """A decision with the images among the files of feedback, of at most so many bytes in all.

    Judges read why one is not kept. A file that is larger than LARGEST_IMAGE may end there, with a byte too many.
    """
    images: dict[str, bytes] = {}
    remarks = []
    for name in image_names(files):
        fault = _image_fault(name, files[name], len(images))
        if not fault and sum(map(len, images.values())) + len(files[name]) > most:
            fault = f"expected at most {most} bytes of images of an answer, found more"
        if fault:
            remarks.append(f"{model.plain(name)[:LONGEST_NAME]} is not kept: {fault}")
        else:
            images[name] = files[name]
    judges = "\n".join(filter(None, (*remarks, decision.judges)))[: model.LONGEST_JUDGE_MESSAGE]
    return replace(decision, judges=judges, images=images)


def _image_fault(name: str, data: bytes, count: int) -> str:
    match = NAME.fullmatch(name)
    if match is None:
        return "expected teamimage or judgeimage, perhaps -ID, and .png, .jpg, .jpeg or .svg"
    if count == runner.MOST_IMAGES:
        return f"expected at most {runner.MOST_IMAGES} images of an answer, found more"
    if len(data) > runner.LARGEST_IMAGE:
        return f"expected at most {runner.LARGEST_IMAGE} bytes, found more"
    expected, image = TYPES[match[1]], measure(data)
    if image is None or image.mime != expected:
        return f"expected {expected}, found {'something else' if image is None else image.mime}"
    if image.mime != DRAWN and image.width * image.height > MOST_PIXELS:
        return f"expected at most {MOST_PIXELS} pixels, found {image.width} x {image.height}"
    return ""


PROCESSES = 32
MIB = 2**20
MOST_WRITTEN = 8 * MIB
# Bytes that a checker may write, without a word of its package and at most.
MOST_OUTPUT = 64 * MIB
MOST_SECONDS = 60.0
WANTED = re.compile(r"ModuleNotFoundError: No module named '([^'\n]{1,200})'")
# Bytes read of one file of feedback that is no image.
MOST_FEEDBACK = 64 * 1024
# Bytes of images of one answer, without a word of the server.
IMAGE_BYTES = 2 * 2**20
# Seconds of a checker in Python for all cases of a submission; each reply has its own limit.
LONGEST_LIFE = 7200.0
MOST_REPLY = 256 * 1024
CHUNK = 2**20
MOMENT = 1e-6
HOME = "/jurado"
RUNNER = f"{HOME}/runner.py"
RUNNER_MOUNTS = (
    Mount(Path(runner.__file__), RUNNER),
    Mount(Path(doors.__file__), f"{HOME}/checkers/doors.py"),
)


# A protocol that starts the program for each case: its command for a case, and what a run of it means.
Adapter = tuple[
    Callable[[tuple[str, ...], model.CaseFiles], places.Asked],
    Callable[[places.Run, model.CaseFiles, model.Meaning], model.Decision],
]
ADAPTERS: Mapping[str, Adapter] = {
    "kattis": (protocols.asked_kattis, protocols.decision_kattis),
    "testlib": (protocols.asked_testlib, protocols.decision_testlib),
    "omegaup": (protocols.asked_omegaup, protocols.decision_omegaup),
    "cms": (protocols.asked_cms, protocols.decision_cms),
}
# Asks about one case; None: the program has nothing to say. Raises ProgramFault, or Unread for a refused input.
Ask = Callable[[model.CaseFiles], model.Decision | None]


class Conversation:
    """Asks one process about the cases of a submission, each reply within `seconds`; the first question starts it.

    A process that failed in any way is killed, and the next question starts another one.
    """

    def __init__(self, sandbox: Sandbox, command: Command, seconds: float, points: model.Meaning) -> None:
        self._sandbox, self._command = sandbox, command
        self._seconds, self._points = seconds, points
        self._asked: tuple[socket.socket, Running] | None = None

    def close(self) -> None:
        """Kill the process."""
        if self._asked is not None:
            with suppress(SandboxFault):  # it was killed from outside before
                self._end()

    def ask(self, case: model.CaseFiles) -> model.Decision | None:
        """The checker's decision; None where it has nothing to say. Raises ProgramFault, or Unread."""
        token, data = protocols.request(case)
        connection = self._begun()
        until = time.monotonic() + self._seconds
        try:
            connection.settimeout(self._seconds)
            connection.sendall(data)
            size = int.from_bytes(_exactly(connection, runner.LENGTH_BYTES, until), "big")
            if size > MOST_REPLY:
                raise model.ProgramFault(f"expected a reply of at most {MOST_REPLY} bytes, found one of {size}")
            reply = protocols.reply_of(_exactly(connection, size, until), token)
            images = {name: _exactly(connection, length, until) for name, length in reply.images.items()}
        except TimeoutError:
            raise _fault_of(replace(self._end(), ending="wall")) from None
        except (EOFError, ConnectionError):
            raise _fault_of(self._end(ended=True)) from None
        except model.ProgramFault:
            self._end()
            raise
        decided = protocols.decision_python(reply, case, self._points)
        return None if decided is None else replace(decided, images=images)

    def _begun(self) -> socket.socket:
        if self._asked is None:
            ours, theirs = socket.socketpair()
            with theirs:
                self._asked = ours, self._sandbox.start(self._command, theirs)
        return self._asked[0]

    def _end(self, *, ended: bool = False) -> Result:
        """Kill the process and say how it ended; `ended`: it has hung up, and may be about to."""
        assert self._asked is not None, "it has been asked"
        (connection, running), self._asked = self._asked, None
        connection.close()
        return running.kill(ended=ended)


def _fault_of(result: Result) -> model.ProgramFault:
    """The fault of a checker that ended, or was ended by a limit, before its reply."""
    if result.ending == "signal" and result.signal in (None, SIGKILL):
        return model.ProgramFault("it ended before its reply")
    try:
        code = model.exit_code(result)
    except model.ProgramFault as fault:
        return fault
    return model.unexpected(code, "none before its reply", result)


def _exactly(connection: socket.socket, size: int, until: float) -> bytes:
    """Receive exactly so many bytes; raises EOFError at the end, and TimeoutError at the moment `until`."""
    data = bytearray()
    while len(data) < size:
        connection.settimeout(max(MOMENT, until - time.monotonic()))
        more = connection.recv(min(size - len(data), CHUNK))
        if not more:
            raise EOFError
        data += more
    return bytes(data)


@dataclass(frozen=True, slots=True)
class Opinion:
    """What came of asking about a case: a decision, no decision, a refused input, or the program's own fault."""

    decision: model.Decision | None = None
    unread: str = ""
    fault: str = ""


class ProgramDesk:
    """Asks programs in a sandbox; what is compiled is kept below `cache`. May be used from any thread."""

    def __init__(
        self,
        sandbox: Sandbox,
        cache: Path,
        memory: int,
        image_bytes: int = IMAGE_BYTES,
        *,
        most_seconds: float = MOST_SECONDS,
        modules: points.Modules = points.NO_MODULES,
    ) -> None:
        self._sandbox = sandbox
        self._cache = cache
        self._memory = memory
        self._image_bytes = image_bytes
        self._most_seconds = most_seconds
        self._modules = modules

    def tools(self) -> tools.ToolDesk:
        """The desk of other programs than checkers, in the same sandbox."""
        return tools.ToolDesk(self._sandbox, self._cache)

    @contextmanager
    def opened(self, program: model.Program, seconds: float) -> Iterator[Ask]:
        """Prepare a program for the cases of one submission, each within `seconds`; raises ProgramFault."""
        limits = self._limits(program.limits, seconds)
        runnable = places.prepared(program, self._cache, self._sandbox.run)
        if program.protocol == "python":
            command = self._loading(program, runnable, limits)
            with closing(Conversation(self._sandbox, command, limits.wall_seconds, program.points)) as conversation:
                yield lambda case: self._explained(lambda: self._with_images(conversation.ask(case)))
        else:
            adapter = ADAPTERS[program.protocol]
            yield lambda case: self._explained(lambda: self._ask(adapter, runnable, case, program.points, limits))

    def ask_all(self, program: model.Program, cases: Sequence[model.CaseFiles], seconds: float) -> list[Opinion]:
        """Ask about every case, in order; never raises for what the program does."""
        opinions: list[Opinion] = []
        try:
            with self.opened(program, seconds) as ask:
                opinions.extend(_opinion(ask, case) for case in cases)
        except model.ProgramFault as fault:
            return [Opinion(fault=str(fault))] * len(cases)
        return opinions

    def _ask(
        self, adapter: Adapter, runnable: places.Runnable, case: model.CaseFiles, points: model.Meaning, limits: Limits
    ) -> model.Decision | None:
        if case.output is None:
            return None
        command, decision = adapter
        asked = command(runnable.argv, case)
        with tempfile.TemporaryDirectory(prefix="jurado-program-") as name:
            folder = Path(name)
            paths = _write(folder, case)
            feedback = folder / "feedback"
            feedback.mkdir()
            mounts = [
                *runnable.mounts,
                *(Mount(path, target) for target, path in paths.items()),
                *(Mount(paths[target], link) for link, target in asked.links),
            ]
            if asked.leaves_feedback:
                mounts.append(Mount(feedback, places.FEEDBACK, writable=True))
            stdin = None if asked.stdin is None else paths[asked.stdin]
            mounts += self._modules.mounts if runnable.is_python else ()
            environment = self._modules.environment if runnable.is_python else {}
            result = self._sandbox.run(Command(asked.argv, tuple(mounts), stdin, environment, limits=limits))
            files = _read(feedback)
            return self._with_images(replace(decision(places.Run(result, files), case, points), images=files))

    def _limits(self, own: model.OwnLimits, seconds: float) -> Limits:
        """The limits of one answer: the package's where it has some; raises ProgramFault for what is too much here."""
        for name, value, most, unit in (
            ("validation_time", own.seconds, self._most_seconds, "s"),
            ("validation_memory", own.memory, self._memory / MIB, "MiB"),
            ("validation_output", own.output, MOST_OUTPUT / MIB, "MiB"),
        ):
            if value is not None and value > most:
                raise model.ProgramFault(
                    f"problem.yaml limits.{name}: expected at most {most:g} {unit} on this server, found {value}"
                )
        seconds = own.seconds or seconds
        return Limits(
            cpu_seconds=seconds,
            wall_seconds=2 * seconds,
            memory=self._memory if own.memory is None else own.memory * MIB,
            processes=PROCESSES,
            output=MOST_WRITTEN if own.output is None else own.output * MIB,
        )

    def _loading(self, program: model.Program, runnable: places.Runnable, limits: Limits) -> Command:
        """The command of a process that loads a checker in Python and answers on its standard input."""
        return Command(
            (python(), "-s", "-B", RUNNER, f"{places.PROGRAM_FOLDER}/{places.entry(program.files)}"),
            mounts=(*RUNNER_MOUNTS, *self._modules.mounts, *runnable.mounts),
            environment=self._modules.environment,
            limits=replace(limits, cpu_seconds=LONGEST_LIFE, wall_seconds=LONGEST_LIFE),
        )

    def _explained(self, ask: Callable[[], model.Decision | None]) -> model.Decision | None:
        """Ask, and say beside a fault for want of a module which modules there are."""
        try:
            return ask()
        except model.ProgramFault as fault:
            if (match := WANTED.search(str(fault))) is None:
                raise
            given = ", ".join(("the standard library", *self._modules.names))
            raise model.ProgramFault(
                f"it imports {match[1]}; checkers get {given} on this server (setting JURADO_CHECKER_MODULES)\n{fault}"
            ) from None

    def _with_images(self, decision: model.Decision | None) -> model.Decision | None:
        return None if decision is None else with_images(decision, decision.images, self._image_bytes)


def _opinion(ask: Ask, case: model.CaseFiles) -> Opinion:
    try:
        return Opinion(ask(case))
    except model.Unread as refused:
        return Opinion(unread=str(refused))
    except model.ProgramFault as fault:
        return Opinion(fault=str(fault))


def _write(folder: Path, case: model.CaseFiles) -> dict[str, Path]:
    """Write a case's files, by their places in the sandbox."""
    paths = {}
    for target, data in (
        (places.INPUT, case.input),
        (places.ANSWER, case.reference),
        (places.OUTPUT, case.output or b""),
    ):
        path = folder / target.removeprefix(f"{places.CASE_FOLDER}/")
        path.write_bytes(data)
        paths[target] = path
    return paths


def _read(folder: Path) -> dict[str, bytes]:
    """The beginnings of the plain files that a program left, by name; of images all that is kept, and a byte more."""
    with os.scandir(folder) as entries:
        names = [each.name for each in entries if each.is_file(follow_symlinks=False)]
    sizes = dict.fromkeys(names, MOST_FEEDBACK) | dict.fromkeys(
        image_names(names)[: runner.MOST_IMAGES + 1], runner.LARGEST_IMAGE + 1
    )
    files = {}
    for name, size in sizes.items():
        with (folder / name).open("rb") as file:
            files[name] = file.read(size)
    return files
