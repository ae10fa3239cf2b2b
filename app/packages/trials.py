"""Put one answer of a package before its checker, and say what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.domain.scoring import RawScore
from app.domain.verdicts import CaseVerdict
from app.packages.errors import PackageError, PackageErrors
from app.packages.model import Case, Package, ValidationCase
from checkers.doors import Checker, Rejected, Score, open_checker


@dataclass(frozen=True, slots=True)
class Outcome:
    """A score, a rejection's text, or the text of the checker's own failure: exactly one of them."""

    score: Score | None = None
    rejected: str | None = None
    failed: str | None = None

    @property
    def raw_score(self) -> RawScore:
        """The outcome as the scoring rules see it."""
        if self.score is not None:
            return RawScore(CaseVerdict.ACCEPTED, self.score.raw, self.score.multiplier)
        return RawScore(CaseVerdict.JUDGE_ERROR if self.failed else CaseVerdict.REJECTED)


@dataclass(frozen=True, slots=True)
class Trial:
    """A checker, an instance it has read, the case's reference file, and how long an answer may be."""

    checker: Checker[Any, Any]
    instance: Any
    reference: bytes
    limit: int

    def judge(self, data: bytes) -> Outcome:
        """Read and score one answer; whatever the checker raises becomes an outcome."""
        if len(data) > self.limit:
            return Outcome(rejected=f"expected at most {self.limit} bytes, found {len(data)}")
        try:
            answer = self.checker.read_answer(data, self.instance)
            score = self.checker.score_answer(self.instance, answer, self.reference)
        except Rejected as rejected:
            return Outcome(rejected=rejected.message.text)
        except Exception as error:
            return Outcome(failed=f"{type(error).__name__}: {error}")
        return Outcome(score=score)


def read_instance(checker: Checker[Any, Any], data: bytes) -> tuple[Any, str | None]:
    """Let the checker read an input: (the instance, None), or (None, why not)."""
    try:
        return checker.read_instance(data), None
    except Rejected as rejected:
        return None, rejected.message.text


def open_trial(package: Package, case: Case | ValidationCase) -> Trial:
    """Open the checker for a case and let it read the input; raises PackageErrors if it refuses it."""
    checker = open_checker(package.settings.checker, case.checker_args)
    instance, refused = read_instance(checker, case.input.read())
    if refused is not None:
        raise PackageErrors([PackageError(case.input.path, "", f"the checker refuses this input: {refused}")])
    reference = case.answer.read() if case.answer else b""
    return Trial(checker, instance, reference, package.settings.answers.limit)
