"""What the server and its grader processes say to each other, over a private pipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.storage.judgements import CaseAnswer, FoundScore


@dataclass(frozen=True, slots=True)
class Grade:
    """Check these answers with a module of `checkers/`; inputs and expected answers are read from the file store.

    There is a reply for each answer as soon as it is checked, so that the time limit is that of one answer.
    """

    checker: str
    answers: Sequence[CaseAnswer]


@dataclass(frozen=True, slots=True)
class Graded:
    """The score of the next answer of a Grade."""

    score: FoundScore


@dataclass(frozen=True, slots=True)
class Validate:
    """Check a test case's input, and beside it an answer, or an expected answer as it would be stored (`expected`)."""

    checker: str
    input: bytes
    checker_args: Sequence[str] = ()
    answer: bytes | None = None
    reference: bytes | None = None
    expected: bytes | None = None


@dataclass(frozen=True, slots=True)
class Warm:
    """Load these checkers and their compiled kernels, each with one case: the sha256 of its input and of its answer."""

    cases: Sequence[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class Warmed:
    """They are loaded."""


@dataclass(frozen=True, slots=True)
class Validated:
    """The faults found (none: it is valid), and the score of the answer if one was given."""

    faults: Sequence[dict[str, Any]]
    score: FoundScore | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The checker itself failed: the judge's fault, with what is known of it for the judges' eyes."""

    error: str


@dataclass(frozen=True, slots=True)
class Unreadable(Failed):
    """A stored file could not be read: nobody's fault that a verdict could tell of."""

    sha256: str


Request = Grade | Validate | Warm
Reply = Graded | Validated | Warmed | Failed
