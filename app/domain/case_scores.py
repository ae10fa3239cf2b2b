"""What a grader is given and what it returns, an answer at a time: plain values, so that a grader loads no database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.documents import ImageDocument, MessageDocument
from app.domain.scoring import Exact
from app.domain.verdicts import CaseVerdict


@dataclass(frozen=True, slots=True)
class CaseAnswer:
    """One answer to check: its bytes or the file they lie in, and the case it is for.

    The case's name and points are for checkers that packages bring; bundled ones know neither.
    """

    test_case_id: int
    input_sha256: str
    answer_sha256: str | None
    data: bytes | None
    sha256: str | None
    refused: MessageDocument | None
    checker_args: Sequence[str] = ()
    points_num: int = 0
    points_den: int = 1
    case_name: str = ""


@dataclass(frozen=True, slots=True)
class FoundScore:
    """What a grader found for one answer."""

    test_case_id: int
    verdict: CaseVerdict
    raw: Exact | None
    max_raw: Exact | None
    multiplier: Exact | None
    message: MessageDocument
    run_time_ms: int
    judge_message: str | None = None
    images: Sequence[ImageDocument] = ()
