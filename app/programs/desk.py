"""The place where programs are asked: prepared once, in the sandbox, bounded by the limits of one answer.

- Images that checkers leave as feedback: those that are kept, and for judges a remark on each other one.
"""

import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.core.images import measure
from app.programs import model, places, points, protocols, runner, tools
from app.sandbox.model import Command, Limits, Mount
from app.sandbox.sandbox import Sandbox
from checkers import doors

NAME = re.compile(r"(?:team|judge)image(?:-[A-Za-z0-9_-]{1,60})?\.(png|jpg|jpeg|svg)")
LONGEST_NAME = 100
IMAGE_NAMES = ("teamimage", "judgeimage")
MOST_IMAGES = 8
# Bytes; a larger image is read to one byte more, which tells that it is too large.
LARGEST_IMAGE = 2**20
# Pixels of an image in points: a few bytes that name more would fill the memory of whoever looks at them.
MOST_PIXELS = 2**26
DRAWN = "image/svg+xml"
TYPES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "svg": DRAWN}


def image_names(names: Iterable[str]) -> list[str]:
    """The names of images among those of feedback files, in the order in which they are shown."""
    return sorted(name for name in names if name.startswith(IMAGE_NAMES))


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
    if count == MOST_IMAGES:
        return f"expected at most {MOST_IMAGES} images of an answer, found more"
    if len(data) > LARGEST_IMAGE:
        return f"expected at most {LARGEST_IMAGE} bytes, found more"
    expected, image = TYPES[match[1]], measure(data)
    if image is None or image.mime != expected:
        return f"expected {expected}, found {'something else' if image is None else image.mime}"
    if image.mime != DRAWN and image.width * image.height > MOST_PIXELS:
        return f"expected at most {MOST_PIXELS} pixels, found {image.width} x {image.height}"
    return ""


MIB = 2**20
MOST_WRITTEN = 8 * MIB
# Bytes that a checker may write, without a word of its package and at most.
MOST_OUTPUT = 64 * MIB
MOST_SECONDS = 60.0
WANTED = re.compile(r"ModuleNotFoundError: No module named '([^'\n]{1,200})'")
# Bytes of images of one answer, without a word of the server.
IMAGE_BYTES = 2 * 2**20
HOME = "/jurado"
RUNNER = f"{HOME}/runner.py"
RUNNER_MOUNTS = (
    Mount(Path(runner.__file__), RUNNER),
    Mount(Path(doors.__file__), f"{HOME}/checkers/doors.py"),
)


# A protocol: the command for a case, and what a run of it means. Programs are started for each case (guarantee 4).
Adapter = tuple[
    Callable[[tuple[str, ...], model.CaseFiles], places.Asked],
    Callable[[places.Run, model.CaseFiles, model.Meaning], model.Decision | None],
]
ADAPTERS: Mapping[str, Adapter] = {
    "kattis": (protocols.asked_kattis, protocols.decision_kattis),
    "testlib": (protocols.asked_testlib, protocols.decision_testlib),
    "omegaup": (protocols.asked_omegaup, protocols.decision_omegaup),
    "cms": (protocols.asked_cms, protocols.decision_cms),
    "python": (protocols.asked_python, protocols.decision_python),
}
# Asks about one case; None: the program has nothing to say. Raises ProgramFault, or Unread for a refused input.
Ask = Callable[[model.CaseFiles], model.Decision | None]


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

    def asking(self, program: model.Program, seconds: float) -> Ask:
        """Prepare a program to be asked about cases, each within `seconds`; raises ProgramFault."""
        limits = self._limits(program.limits, seconds)
        runnable = places.prepared(program, self._cache, self._sandbox.run)
        if program.protocol == "python":
            argv = (*runnable.argv[:-1], RUNNER, runnable.argv[-1])
            runnable = replace(runnable, argv=argv, mounts=(*RUNNER_MOUNTS, *runnable.mounts))

        def ask(case: model.CaseFiles) -> model.Decision | None:
            try:
                return self._ask(program, runnable, case, limits)
            except model.ProgramFault as fault:
                raise self._explained(fault) from None

        return ask

    def ask_all(self, program: model.Program, cases: Sequence[model.CaseFiles], seconds: float) -> list[Opinion]:
        """Ask about every case, in order; never raises for what the program does."""
        try:
            ask = self.asking(program, seconds)
        except model.ProgramFault as fault:
            return [Opinion(fault=str(fault))] * len(cases)
        return [_opinion(ask, case) for case in cases]

    def _ask(
        self, program: model.Program, runnable: places.Runnable, case: model.CaseFiles, limits: Limits
    ) -> model.Decision | None:
        if case.output is None and program.protocol != "python":
            return None
        command, decision = ADAPTERS[program.protocol]
        asked = command(runnable.argv, case)
        with tempfile.TemporaryDirectory(prefix="jurado-program-") as name:
            given, feedback = Path(name) / "case", Path(name) / "feedback"
            feedback.mkdir()
            _write(given, case)
            mounts = [*runnable.mounts, Mount(given, places.CASE_FOLDER)]
            mounts += [Mount(given / file, link) for link, file in asked.links]
            if asked.leaves is not None:
                mounts.append(Mount(feedback, asked.leaves, writable=True))
            stdin = case.output if asked.reads_output else None
            mounts += self._modules.mounts if runnable.is_python else ()
            environment = self._modules.environment if runnable.is_python else {}
            result = self._sandbox.run(Command(asked.argv, tuple(mounts), stdin, environment, limits=limits))
            files = _read(feedback)
            decided = decision(places.Run(result, files), case, program.points)
            return None if decided is None else with_images(decided, files, self._image_bytes)

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
        memory = self._memory if own.memory is None else own.memory * MIB
        return Limits.of(own.seconds or seconds, memory, MOST_WRITTEN if own.output is None else own.output * MIB)

    def _explained(self, fault: model.ProgramFault) -> model.ProgramFault:
        """A fault for want of a module, with the modules that there are."""
        if (match := WANTED.search(str(fault))) is None:
            return fault
        given = ", ".join(("the standard library", *self._modules.names))
        return model.ProgramFault(
            f"it imports {match[1]}; checkers get {given} on this server (setting JURADO_CHECKER_MODULES)\n{fault}"
        )


def _opinion(ask: Ask, case: model.CaseFiles) -> Opinion:
    try:
        return Opinion(ask(case))
    except model.Unread as refused:
        return Opinion(unread=str(refused))
    except model.ProgramFault as fault:
        return Opinion(fault=str(fault))


def _write(folder: Path, case: model.CaseFiles) -> None:
    """Write a case's files by the names that they have in the sandbox."""
    folder.mkdir()
    (folder / "input").write_bytes(case.input)
    (folder / "answer").write_bytes(case.reference)
    (folder / "output").write_bytes(case.output or b"")


def _read(folder: Path) -> dict[str, bytes]:
    """The beginnings of the files that a program left, by name; their sum is within its limit of output."""
    files = {}
    for path in folder.iterdir():
        with path.open("rb") as file:
            files[path.name] = file.read(LARGEST_IMAGE + 1)
    return files
