"""Put answers of a package before its checker, here or wherever checkers run, and say what came of them.

- Run programs of a package on its test cases: example submissions that are programs, and the reference solver.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Protocol

from app.domain.counting import CaseVerdict, RawScore
from app.packages import settings, texts, tools
from app.packages.model import Case, Package
from app.programs import desk, model
from app.programs.tools import ToolDesk
from checkers.doors import N_, AnyChecker, Phrase, Rejected, Score, check_instance, check_reference


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of an answer: at most one of four (none: there was only an input, and the checker takes it).

    score     what the checker gives
    rejected  why the checker rejects the answer
    unread    why the checker refuses the input
    failed    how the checker failed by itself
    verdict   of a rejection: WA, or what became of a program that was to answer (TLE, RTE)
    """

    score: Score | None = None
    rejected: str | None = None
    unread: str | None = None
    failed: str | None = None
    verdict: str = "WA"

    @property
    def fault(self) -> Phrase | None:
        """Why there is neither a score nor a rejection."""
        if self.failed:
            return Phrase(N_("the checker failed: %(failed)s"), failed=self.failed)
        return Phrase(N_("the checker refuses this input: %(unread)s"), unread=self.unread) if self.unread else None

    @property
    def raw_score(self) -> RawScore:
        """The outcome as the scoring rules see it."""
        if self.score is not None:
            return RawScore(CaseVerdict.ACCEPTED, self.score.raw, self.score.multiplier)
        return RawScore(CaseVerdict.JUDGE_ERROR if self.failed or self.unread else CaseVerdict.REJECTED)


@dataclass(frozen=True, slots=True)
class Question:
    """An input and perhaps an answer to be put before a checker.

    answer     an answer file, scored beside `reference` (the case's `.ans`)
    expected   the case's `.ans` itself, compared with the input as the expected answer it is to be
    program    the package's own checker, in place of the one named; it is told the case's name and points
    """

    checker: str
    checker_args: tuple[str, ...]
    input: bytes
    answer: bytes | None = None
    reference: bytes | None = None
    expected: bytes | None = None
    program: model.Program | None = None
    name: str = ""
    most: Fraction | None = None

    @property
    def case(self) -> model.CaseFiles:
        """The question as the package's own checker is asked it."""
        is_expected = self.expected is not None
        output, reference = (self.expected, self.expected) if is_expected else (self.answer, self.reference)
        args, most = self.checker_args, self.most
        return model.CaseFiles(self.name, self.input, reference or b"", output, args, most, is_expected=is_expected)


def question_of(
    package: Package, case: Case, *, answer: bytes | None = None, expected: bytes | None = None
) -> Question:
    """The question about a case of a package: an answer, its own expected one, or without either the input alone."""
    reference = None if answer is None else case.answer.read() if case.answer is not None else b""
    most = case.max_points if case.ordinal else None
    checker, given = package.settings.checker, case.input.read()
    args, program = case.checker_args, package.program
    return Question(checker, args, given, answer, reference, expected, program, case.name, most)


class Desk(Protocol):
    """A place where checkers run: this process, or the graders of a service."""

    def ask(self, questions: Iterable[Question]) -> list[Outcome]:
        """Answer every question, in order; never raises for what a checker does.

        Questions hold whole files, so that they are taken one after another, and let go once they are answered.
        """

    def lacks(self) -> str:
        """What keeps packages' own checkers from running here; empty where nothing does."""


class LocalDesk:
    """Runs checkers in this process, and those of packages in a sandbox beside it.

    Each input of a checker is read once for the questions that follow each other.
    """

    def lacks(self) -> str:
        """What keeps packages' own checkers from running here."""
        return tools.local_workshop().lack

    def ask(self, questions: Iterable[Question]) -> list[Outcome]:
        """Answer every question, in order."""
        outcomes: list[Outcome] = []
        for program, some in groupby(questions, key=lambda question: question.program):
            if program is None:
                outcomes += _asked_here(some)
            else:
                opinions = tools.ask_here(program, [question.case for question in some])
                outcomes += [outcome_of(opinion) for opinion in opinions]
        return outcomes


def outcome_of(opinion: desk.Opinion) -> Outcome:
    """The outcome of asking a package's own checker."""
    if opinion.fault or opinion.unread:
        return Outcome(failed=opinion.fault or None, unread=opinion.unread or None)
    if opinion.decision is None:
        return Outcome()
    score = opinion.decision.score
    return Outcome(score=score) if score is not None else Outcome(rejected=opinion.decision.words)


def _asked_here(questions: Iterable[Question]) -> list[Outcome]:
    last: tuple[object, ...] = ()
    instance: object = None
    outcomes: list[Outcome] = []
    for question in questions:
        key = (question.checker, question.checker_args, question.input)
        try:
            checker: AnyChecker = settings.open_checker(question.checker, question.checker_args)
            # Questions about one input follow each other, and reading it may take longer than scoring an answer.
            if key != last:
                instance, last = checker.read_instance(question.input), key
            if question.answer is None:
                check_instance(checker, instance)
        except Rejected as refused:
            outcomes.append(Outcome(unread=refused.message.text))
        except Exception as error:
            outcomes.append(Outcome(failed=f"{type(error).__name__}: {error}"))
        else:
            outcomes.append(_try(checker, instance, question))
    return outcomes


def _try(checker: AnyChecker, instance: object, question: Question) -> Outcome:
    try:
        if question.expected is not None:
            return Outcome(score=check_reference(checker, instance, question.expected))
        if question.answer is None:
            return Outcome()
        answer = checker.read_answer(question.answer, instance)
        return Outcome(score=checker.score_answer(instance, answer, question.reference))
    except Rejected as rejected:
        return Outcome(rejected=rejected.message.text)
    except Exception as error:
        return Outcome(failed=f"{type(error).__name__}: {error}")


def judge_here(package: Package, case: Case, answer: bytes) -> Outcome:
    """Judge one answer in this process."""
    too_long = over_limit(answer, package.settings.answers.limit)
    return too_long or LocalDesk().ask([question_of(package, case, answer=answer)])[0]


def over_limit(data: bytes, limit: int) -> Outcome | None:
    """The rejection of an answer that is too long, before any checker sees it."""
    return Outcome(rejected=f"expected at most {limit} bytes, found {len(data)}") if len(data) > limit else None


def run_program(package: Package, place: str, desk: ToolDesk) -> Iterator[tuple[Case, bytes | Outcome]]:
    """Let a program answer every case: its answer, or the outcome of a case that it does not answer.

    Raises ProgramFault for a program that cannot be run at all.
    """
    tool = tools.tool_of(package, place)
    desk.prepare(tool)

    def run(case: Case) -> tuple[Case, bytes | Outcome]:
        command = desk.command(tool, (), tools.submission_bounds(package), stdin=case.input.read(), environment={})
        result = desk.sandbox.run(command)
        try:
            if (code := model.exit_code(result)) != 0:
                raise model.unexpected(code, "0", result)
        except model.ProgramFault as fault:
            verdict = "TLE" if result.ending in ("cpu", "wall") else "RTE"
            return case, Outcome(rejected=str(fault), verdict=verdict)
        return case, over_limit(result.stdout, package.settings.answers.limit) or result.stdout

    yield from texts.ahead(run, package.cases)
