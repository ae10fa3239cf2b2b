"""Messages between the server and its grader processes, over a private pipe, as msgpack.

Both ends know the types: what is not one of them, has another field or passes a bound is no message. A grader runs what
contestants may have taken over, so the server believes nothing of it but scores of the answers that it asked about.
"""

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from app.domain.counting import CaseVerdict, Exact
from app.domain.documents import CaseAnswer, FoundScore, MessageDocument, ProgramDocument

MOST_REPLY = 8 * 2**20
MOST_REQUEST = 2**31
# Grading time after which a submission gives way to another team, once its current case is done.
SLICE_SECONDS = 0.5

Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
# An exact number, two integers in hex of 64 bits at most, as the rows hold them.
Ratio = Annotated[str, Meta(pattern="^[0-9a-f]{1,16}/[0-9a-f]{1,16}$")]


class Grade(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Check these answers with a module of `checkers/`; inputs and expected answers are asked for with Need.

    There is a reply for each answer as soon as it is checked, so that the time limit is that of one answer. The check
    stops after the answer with which it has taken `slice_seconds`: another team may have its turn between two answers.
    With `program` it is the sandbox that is asked, and no grader process.
    """

    checker: str
    answers: Sequence[CaseAnswer]
    program: ProgramDocument | None = None
    slice_seconds: float = SLICE_SECONDS


class Validate(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Check a test case's input, and next to it an answer, or an expected answer as it would be stored (`expected`).

    `program` is the package's own checker, in `bundle` where that is not stored yet; it is told the name and the points
    of the case.
    """

    checker: str
    input: bytes
    checker_args: Sequence[str] = ()
    answer: bytes | None = None
    reference: bytes | None = None
    expected: bytes | None = None
    program: ProgramDocument | None = None
    bundle: bytes | None = None
    case_name: str = ""
    points: tuple[int, int] | None = None


class Warm(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Load these checkers and their compiled kernels, each with one case: the sha256 of its input and of its answer."""

    cases: Sequence[tuple[str, str, str]]


class Given(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """The reply to Need: the open file comes with the message, unless `missing` says why there is none."""

    missing: str = ""


class WireScore(Struct, frozen=True, forbid_unknown_fields=True):
    """A FoundScore on the pipe; `message` is a MessageDocument as JSON, as its numbers may pass 64 bits."""

    test_case_id: int
    verdict: CaseVerdict
    raw: Ratio | None
    max_raw: Ratio | None
    multiplier: Ratio | None
    message: Annotated[str, Meta(max_length=100_000)]
    run_time_ms: Annotated[int, Meta(ge=0, le=2**31 - 1)]


class Graded(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """The score of the next answer of a Grade; `is_last`: the slice is over, and no further answer is checked."""

    wire: WireScore
    is_last: bool = False

    @property
    def score(self) -> FoundScore:
        """The score; raises ValueError for what is none."""
        return _score(self.wire)


class Warmed(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """They are loaded, but for what `error` tells; `protections` says of each what it lacks, empty where it is on."""

    protections: dict[str, str]
    error: str = ""


class Fault(Struct, frozen=True, forbid_unknown_fields=True):
    """A fault of one file of a test case; `message` is a MessageDocument as JSON."""

    file: Annotated[str, Meta(max_length=20)]
    message: Annotated[str, Meta(max_length=100_000)]


class FaultDocument(MessageDocument):
    """A fault as others read it: the file, and what is wrong with it."""

    file: str


class Validated(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """The faults found (none: it is valid), and the score of the answer if one was given."""

    wire_faults: list[Fault]
    wire: WireScore | None = None

    @property
    def faults(self) -> list[FaultDocument]:
        """Each fault as a document: file, key, text, args."""
        return [{"file": fault.file, **_messages.decode(fault.message)} for fault in self.wire_faults]

    @property
    def score(self) -> FoundScore | None:
        """The score of the answer, if one was given."""
        return None if self.wire is None else _score(self.wire)


class Need(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """The grader asks for a file of the request it works on."""

    sha256: Sha256


class Failed(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """The check came to no end, with what is known of it for the judges' eyes.

    `blame`: the checker failed on this answer; otherwise the process died of something else, or was never there.
    """

    error: str
    blame: bool = True


class Unreadable(Failed, frozen=True, tag=True, forbid_unknown_fields=True):
    """A stored file could not be read: no one's fault that a verdict could tell of."""

    sha256: str = ""


class Held(Failed, frozen=True, tag=True, forbid_unknown_fields=True):
    """The sandbox could not be had, or failed by itself: no one's fault, and what needs it waits."""


Request = Grade | Validate | Warm | Given
Reply = Graded | Validated | Warmed | Failed | Unreadable | Need

_encode = msgspec.msgpack.Encoder().encode
_requests = msgspec.msgpack.Decoder(Request)
_replies = msgspec.msgpack.Decoder(Reply)
_messages = msgspec.json.Decoder(MessageDocument)


def encoded(message: Request | Reply) -> bytes:
    """A message as bytes."""
    return _encode(message)


def request_of(data: bytes) -> Request:
    """The request that bytes are; raises ValueError."""
    request: Request = _requests.decode(data)
    return request


def reply_of(data: bytes) -> Reply:
    """The reply that bytes are, checked in all its parts; raises ValueError."""
    reply: Reply = _replies.decode(data)
    if isinstance(reply, Graded | Validated):
        _ = reply.score
    if isinstance(reply, Validated):
        _ = reply.faults
    return reply


def graded(score: FoundScore, *, is_last: bool = False) -> Graded:
    """The reply that carries a score."""
    return Graded(_wire(score), is_last)


def validated(faults: Sequence[tuple[str, MessageDocument]], score: FoundScore | None = None) -> Validated:
    """The reply that carries faults, each of a file, and a score."""
    sent = [Fault(file, json.dumps(message)) for file, message in faults]
    return Validated(sent, None if score is None else _wire(score))


def _wire(score: FoundScore) -> WireScore:
    return WireScore(
        score.test_case_id,
        score.verdict,
        _ratio(score.raw),
        _ratio(score.max_raw),
        _ratio(score.multiplier),
        json.dumps(score.message),
        score.run_time_ms,
    )


def _score(wire: WireScore) -> FoundScore:
    multiplier = _exact(wire.multiplier)
    if multiplier is not None and multiplier > 1:
        raise ValueError(f"multiplier: expected 0 to 1, found {multiplier}")
    if wire.verdict is CaseVerdict.ACCEPTED and wire.raw is None:
        raise ValueError("raw: expected a number with accepted, found none")
    return FoundScore(
        wire.test_case_id,
        wire.verdict,
        _exact(wire.raw),
        _exact(wire.max_raw),
        multiplier,
        _messages.decode(wire.message),
        wire.run_time_ms,
    )


def _ratio(value: Exact | None) -> str | None:
    return None if value is None else f"{int(value.numerator):x}/{int(value.denominator):x}"


def _exact(text: str | None) -> Exact | None:
    if text is None:
        return None
    numerator, _, denominator = text.partition("/")
    below = int(denominator, 16)
    if below == 0:
        raise ValueError("a ratio: expected a denominator, found 0")
    value = Fraction(int(numerator, 16), below)
    return value.numerator if value.denominator == 1 else value
