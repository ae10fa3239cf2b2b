"""The words of this room: a program, what it is asked, what it decides, and its own faults.

- How a run in the sandbox ended, in words for judges.
- Bundles: the files of a package's program in one zip whose bytes depend on nothing else.
"""

import hashlib
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from app.sandbox.model import Ending, Result
from checkers.doors import Message, Score

EPOCH = (1980, 1, 1, 0, 0, 0)
VALIDATOR = "output_validator/"
INCLUDED = "include/"
SINGLE = "checker.py"


def program_files(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a package's own checker, by their paths; empty where it brings none.

    `include/` belongs to it next to an output validator: headers such as testlib.h may lie there.
    """
    if SINGLE in files:
        return {SINGLE: files[SINGLE]}
    if not any(name.startswith(VALIDATOR) for name in files):
        return {}
    return {name: files[name] for name in sorted(files) if name.startswith((VALIDATOR, INCLUDED))}


def pack(files: Mapping[str, bytes]) -> bytes:
    """Pack files into a bundle: the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, EPOCH), files[name])
    return buffer.getvalue()


def unpack(bundle: bytes) -> dict[str, bytes]:
    """The files of a bundle that `pack` made."""
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def digest(bundle: bytes) -> str:
    """The name of a bundle: its sha256 in hex."""
    return hashlib.sha256(bundle).hexdigest()


Protocol = Literal["kattis", "testlib", "omegaup", "cms", "python"]
Meaning = Literal["fraction", "percent", "absolute", "raw"]
# The `checker` of problems whose packages bring their own; no module of `checkers/` has this name.
PROGRAM = "program"
LONGEST_JUDGE_MESSAGE = 8000
LONGEST_TEAM_MESSAGE = 2000
# The key of messages in a program's own words, which no page can translate.
OF_PROGRAM = "of-program"


class ProgramFault(Exception):
    """The program failed by itself: a verdict on no one. The text is for judges."""


class NoCompiler(ProgramFault):
    """The server has no compiler for the program: no one's fault, and gone once one is installed."""


class Unread(Exception):
    """The program refuses a case's input; the text says why."""


@dataclass(frozen=True, slots=True)
class OwnLimits:
    """Limits of the package itself for its checker on one answer, as problem.yaml has them; None: the server's.

    seconds of processor time; memory and output in MiB
    """

    seconds: int | None = None
    memory: int | None = None
    output: int | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """A package's checker.

    sha256   of its bundle, which stands for the program in settings, stores and caches
    files    its files by their paths in the package: `output_validator/...`, `include/...` or `checker.py`
    points   what the numbers mean that it gives: a share of 1 or of 100, points of the case, or a raw score
    """

    sha256: str
    protocol: Protocol
    points: Meaning
    files: Mapping[str, bytes] = field(repr=False)
    limits: OwnLimits = OwnLimits()

    @property
    def place(self) -> str:
        """Its file, or its folder with `/` at the end."""
        return SINGLE if SINGLE in self.files else VALIDATOR


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
class CaseFiles:
    """One answer and its test case.

    output       the answer; None: only the input is to be read
    reference    the case's `.ans`
    most         the points of the case, None where no one knows them
    is_expected  the answer is the `.ans` itself, which not every checker takes as an answer
    """

    name: str
    input: bytes = field(repr=False)
    reference: bytes = field(repr=False)
    output: bytes | None = field(repr=False)
    args: tuple[str, ...] = ()
    most: Fraction | None = None
    is_expected: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """A checker's decision on an answer.

    score    None: the answer is rejected
    message  for the team, whatever the decision is
    judges   for judges only
    images   by name, in their order; those named `teamimage...` are for the team
    """

    score: Score | None
    message: Message
    judges: str = ""
    images: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    @property
    def words(self) -> str:
        """All that it says, for the author of a package."""
        return self.judges if self.judges and self.message == REJECTED else self.message.text


ACCEPTED = Message("accepted", "accepted")
REJECTED = Message("rejected-answer", "the checker rejects this answer")


def team_message(text: str, default: Message) -> Message:
    """A program's text as the team's message; `default` where it says nothing."""
    shown = text.strip()[:LONGEST_TEAM_MESSAGE]
    return Message(OF_PROGRAM, shown) if shown else default


def as_text(data: bytes) -> str:
    """Text that a program wrote, for people: odd bytes replaced, no control characters but new lines and tabs."""
    return plain(data.decode("utf-8", "replace"))


def plain(text: str) -> str:
    """Text without control characters but new lines and tabs, marks of direction or halves of surrogate pairs."""
    return "".join(each for each in text if each.isprintable() or each in "\n\t")


LONGEST_QUOTE = 2000
ENDINGS: Mapping[Ending, str] = {
    "cpu": "it used more processor time than it may",
    "wall": "it took more time than it may",
    "memory": "it used more memory than it may",
    "output": "it wrote more than it may",
}


def exit_code(result: Result) -> int:
    """The exit code; raises ProgramFault for a run that ended otherwise."""
    if result.ending == "exit" and result.exit_code is not None:
        return result.exit_code
    reason = ENDINGS.get(result.ending, f"it was killed by signal {result.signal}")
    raise ProgramFault(_with_errors(reason, result))


def unexpected(code: int, expected: str, result: Result) -> ProgramFault:
    """The fault of a program that exits with a code that its protocol does not know."""
    return ProgramFault(_with_errors(f"expected exit code {expected}, found {code}", result))


def _with_errors(reason: str, result: Result) -> str:
    errors = as_text(result.stderr[-LONGEST_QUOTE:]).strip()
    return f"{reason}; standard error: {errors}" if errors else reason
