"""The verification of a stored package: all its programs run in the sandbox, as a job that one can watch and cancel.

- The desk that runs a new package's checker: in the service's graders, bounded as judging is.
"""

import re
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future

from app.core.faults import SLOWER, PackageError, PackageErrors, Steps, mismatch
from app.core.files.files import FileStore
from app.domain.documents import FoundScore
from app.judging.service.engine import Engine, JudgeFailed, NotJudged
from app.judging.service.messages import Validate, Validated
from app.packages.model import program_document
from app.packages.trials import Outcome, Question
from app.packages.verify import Report, examine, report_of
from app.problems.queries.packing import stored_package
from app.programs.model import pack
from app.programs.places import PROGRAM_FOLDER
from checkers.doors import N_, Message, Score

TRACEBACK = "Traceback"
IN_PROGRAM = re.compile(rf'File "{PROGRAM_FOLDER}/([^"]+)", line ([0-9]+)')


class GraderDesk:
    """Asks the graders of an engine, for so many seconds in all."""

    def __init__(self, engine: Engine, seconds: float) -> None:
        self._engine = engine
        self._seconds = seconds
        self._until = time.monotonic() + seconds

    def lacks(self) -> str:
        """What keeps packages' own checkers from running on this server."""
        return self._engine.programs.lacks()

    def ask(self, questions: Iterable[Question]) -> list[Outcome]:
        """Answer every question, one after another, so that graders have other work in between.

        Raises PackageErrors once the time for all of them is over, NotJudged where graders could not answer.
        """
        outcomes: list[Outcome] = []
        for question in questions:
            if time.monotonic() > self._until:
                seconds = f"{self._seconds:g}"
                text = mismatch(N_("a package that is checked within %(seconds)s s"), SLOWER, seconds=seconds)
                raise PackageErrors([PackageError("", "", text)])
            outcomes.append(_outcome(self._engine.validate(_request(question))))
        return outcomes


def _request(question: Question) -> Validate:
    program = question.program
    return Validate(
        question.checker,
        question.input,
        question.checker_args,
        answer=question.answer,
        reference=question.reference,
        expected=question.expected,
        program=None if program is None else program_document(program),
        bundle=None if program is None else pack(program.files),
        case_name=question.name,
        points=None if question.most is None else question.most.as_integer_ratio(),
    )


def _outcome(future: Future[Validated]) -> Outcome:
    try:
        validated = future.result()
    except NotJudged:
        raise
    except JudgeFailed as failed:
        return Outcome(failed=_in_short(str(failed).strip()))
    for fault in validated.faults:
        text = str(fault["text"])
        return Outcome(unread=text) if fault["file"] == "input" else Outcome(rejected=text)
    return Outcome(score=None if validated.score is None else _score(validated.score))


def _in_short(text: str) -> str:
    """The reason of a failure: of a traceback the last line, with the line of the package's program that it was at."""
    if text.startswith(TRACEBACK):
        reason, places = text.splitlines()[-1], IN_PROGRAM.findall(text)
        return f"{reason} ({places[-1][0]}, line {places[-1][1]})" if places else reason
    return text or "no message"


def _score(score: FoundScore) -> Score:
    assert score.raw is not None, "an answer that is accepted has a raw score"
    message = Message(score.message["key"], score.message["text"], score.message["args"])
    return Score(score.raw, score.max_raw, score.multiplier, message)


# For the checker, in all; other programs have limits of their own.
SECONDS = 3600.0
PHASES = ("input validators", "generators", "test cases", "example submissions")
MOST_FAULTS = 2000


class Ended(Exception):
    """The job is cancelled, or the server stops."""


def verify_stored(
    engine: Engine,
    files: FileStore,
    package: tuple[str, str],
    on_progress: Callable[[float, str], None],
    is_ending: Callable[[], bool],
) -> Report:
    """Examine a package, its id and the sha256 of its zip, with everything that it brings.

    Raises Ended where `is_ending` says so; PackageErrors for a package that does not read any longer.
    """

    def on_step(phase: str, done: int, total: int) -> None:
        if is_ending():
            raise Ended
        at = PHASES.index(phase) if phase in PHASES else 0
        on_progress((at + done / max(total, 1)) / len(PHASES), f"{phase}: {done} of {total}")

    problem_id, sha256 = package
    desk = GraderDesk(engine, SECONDS)
    with stored_package(files, problem_id, sha256) as read:
        examined = examine(read, desk, workshop=engine.programs.workshop(), steps=Steps(on_step))
        report = report_of(problem_id, read, examined)
    return {
        **report,
        "errors": report["errors"][:MOST_FAULTS],
        "warnings": report["warnings"][:MOST_FAULTS],
        "notes": report["notes"][:MOST_FAULTS],
    }
