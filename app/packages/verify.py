"""Decide what a package that reads must be to be taken: one function for every door that packages come in by.

An error is what would be judged or shown wrongly: an upload refuses the package. A warning is a promise that the
package itself does not keep, such as an example submission that earns other points: an upload takes it. A note is no
fault: a file that nothing uses, a program that nothing here runs.

- Expected answers that a package leaves to its solution: the solution makes them in the sandbox.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NotRequired, TypedDict

from app.core.faults import (
    EXPECTED_TEXT,
    SILENT,
    PackageError,
    PackageErrors,
    PackageFault,
    Steps,
    of_severity,
)
from app.packages.arrivals import check_rules, read_place
from app.packages.contents import File
from app.packages.examples import ask_validators, check_opinions, check_reproduction, check_validation_cases
from app.packages.model import Case, Package, Submission
from app.packages.names import PATTERNS
from app.packages.submissions import Outcomes, check_demands, check_unused, submission_points
from app.packages.tools import Workshop, local_workshop, not_runnable, program_of
from app.packages.trials import Desk, LocalDesk, Outcome, Question, over_limit, question_of, run_program
from app.programs import model, places
from checkers.doors import N_, Phrase, Score


def complete(package: Package, workshop: Workshop | None, steps: Steps) -> tuple[Package, list[PackageError]]:
    """Let the package's solution answer the cases without an expected answer; gives the package and the faults.

    Cases stay without one where no program runs here. The upload of a package starts a reference run for them.
    """
    lacking = [case for case in package.cases if case.answer is None]
    if not lacking:
        return package, []
    reference = package.settings.reference
    place = reference.program if reference is not None else None
    if place is None or workshop is None or workshop.desk is None:
        later = N_("%(count)s cases have no expected answer: a reference run makes them after the upload")
        return package, [PackageError("data", "", Phrase(later, count=len(lacking)), "note")]
    try:
        answers = run_program(replace(package, cases=tuple(lacking)), place, workshop.desk)
        made = {case.name: answer for case, answer in steps.each("expected answers", lacking, answers)}
    except model.ProgramFault as fault:
        return package, [PackageError(place, "", Phrase(N_("this solution cannot be run: %(fault)s"), fault=fault))]
    source = N_("%(place)s does not answer this input: %(rejected)s")
    faults = [
        PackageError(case.input.path, "", Phrase(source, place=place, rejected=answer.rejected))
        for case in lacking
        if isinstance(answer := made[case.name], Outcome)
    ]
    return replace(package, cases=tuple(_answered(case, made.get(case.name)) for case in package.cases)), faults


def _answered(case: Case, answer: bytes | Outcome | None) -> Case:
    path = f"data/{case.path}.ans"
    return replace(case, answer=File(path, {path: answer})) if isinstance(answer, bytes) else case


MISSING = Outcome(rejected="expected an answer file, found none")


@dataclass(frozen=True, slots=True)
class Examination:
    """The result of examining a package.

    faults   errors and warnings, sorted by file
    scores   what the expected answers score, by case, where they are answers
    points   points of the example submissions, by path; empty where there are errors
    """

    faults: tuple[PackageError, ...]
    scores: Mapping[str, Score]
    points: Mapping[str, float]


def examine(
    package: Package,
    desk: Desk | None,
    *,
    workshop: Workshop | None = None,
    broken: Sequence[PackageError] | None = None,
    steps: Steps = SILENT,
) -> Examination:
    """Hold a package against every rule.

    `desk` runs its checker; None: only what shows without running anything is looked at. `workshop` runs its other
    programs: input validators, generators, and example submissions that are programs; None: they are not run.
    `broken`: the rules that it breaks, where that is known.
    """
    faults = [*(check_rules(package) if broken is None else broken), *check_unused(package)]
    scores: dict[str, Score] = {}
    points: dict[str, float] = {}
    if workshop is not None:
        opinions, unknown = ask_validators(package, workshop, steps)
        faults += [*unknown, *check_opinions(opinions or {}), *check_reproduction(package, workshop, steps)]
    if not of_severity(faults, "error"):
        package, lacking = complete(package, workshop, steps)
        faults += lacking
    if desk is not None and package.program is not None and not of_severity(faults, "error"):
        faults += _check_program(package, package.program, desk)
    # A checker is asked about sound packages only: its rejections would repeat what the rules say better.
    if desk is not None and not of_severity(faults, "error"):
        faults += check_validation_cases(package, desk)
        faults += _check_cases(package, desk, scores, steps)
    answered = all(case.answer is not None for case in package.cases)
    if desk is not None and answered and not of_severity(faults, "error"):
        faults += _check_submissions(package, desk, workshop, points, steps)
    return Examination(tuple(sorted(set(faults))), scores, points)


def _check_program(package: Package, program: model.Program, desk: Desk) -> Iterator[PackageError]:
    """Yield why the package's own checker cannot be asked at all: once, and not for each case."""
    file, lack = places.entry(program.files), desk.lacks()
    if lack:
        yield PackageError(file, "", Phrase(N_("packages' own checkers cannot run here: %(lack)s"), lack=lack))
        return
    (outcome,) = desk.ask([question_of(package, package.cases[0])])
    if outcome.failed:
        fails = N_("this checker fails before it is asked about an answer: %(failed)s")
        yield PackageError(file, "", Phrase(fails, failed=outcome.failed))


class Report(TypedDict):
    """A package read and verified; `valid`: an upload takes it.

    Where it reads, there are the number of cases of each group and the points of each example submission.
    """

    path: str
    slug: str | None
    valid: bool
    errors: list[PackageFault]
    warnings: list[PackageFault]
    notes: list[PackageFault]
    cases: NotRequired[dict[str, int]]
    points: NotRequired[dict[str, float]]


def verify_report(path: Path, steps: Steps = SILENT) -> Report:
    """Read and verify the package of any judge at `path` (a folder or a zip), as data for people and programs."""
    with TemporaryDirectory(prefix="jurado-verify-") as folder:
        try:
            arrival = read_place(path, Path(folder) / "files")
        except PackageErrors as unread:
            errors = [error.as_data() for error in unread.errors]
            return {"path": str(path), "slug": None, "valid": False, "errors": errors, "warnings": [], "notes": []}
        package = arrival.package
        examined = examine(package, LocalDesk(), workshop=local_workshop(), broken=arrival.broken, steps=steps)
        return report_of(str(path), package, examined)


def report_of(path: str, package: Package, examined: Examination) -> Report:
    """The report on a package that reads."""
    errors = [fault.as_data() for fault in of_severity(examined.faults, "error")]
    return {
        "path": path,
        "slug": package.slug,
        "valid": not errors,
        "errors": errors,
        "warnings": [fault.as_data() for fault in of_severity(examined.faults, "warning")],
        "notes": [fault.as_data() for fault in of_severity(examined.faults, "note")],
        "cases": {group.name: sum(case.group == group.name for case in package.cases) for group in package.groups},
        "points": dict(examined.points),
    }


def _check_cases(package: Package, desk: Desk, scores: dict[str, Score], steps: Steps) -> Iterator[PackageError]:
    """Check that the checker takes the input and expected answer of every case, and the output that a sample shows."""
    outcomes: list[Outcome] = []
    for some in steps.batches("test cases", package.cases):
        outcomes += desk.ask(
            question_of(package, case, expected=case.answer.read() if case.answer else None) for case in some
        )
    shown = []
    for case, outcome in zip(package.cases, outcomes, strict=True):
        if outcome.score is not None:
            scores[case.name] = outcome.score
        yield from _check_expected(case, outcome, is_own=package.program is not None)
        is_shown = case.output or (case.answer and case.group == "sample")
        if is_shown and not (outcome.fault or outcome.rejected):
            shown.append(case)
    answered = desk.ask(question_of(package, case, answer=_shown_file(case).read()) for case in shown)
    for case, outcome in zip(shown, answered, strict=True):
        if outcome.score is None:
            file = _shown_file(case)
            given = outcome.rejected or f"the checker failed by itself: {outcome.failed}"
            text = Phrase(EXPECTED_TEXT, expected=Phrase(N_("an answer that the checker accepts")), found=given)
            yield PackageError(file.path, "", text)


def _shown_file(case: Case) -> File:
    file = case.output or case.answer
    assert file is not None, "cases without either are not shown"
    return file


def _check_expected(case: Case, outcome: Outcome, *, is_own: bool) -> Iterator[PackageError]:
    """Yield what the checker says against a case; a package's own may want other files as `.ans` than answers."""
    if outcome.fault:
        yield PackageError(case.input.path, "", outcome.fault)
    elif outcome.rejected:
        text = Phrase(N_("the checker refuses this expected answer: %(rejected)s"), rejected=outcome.rejected)
        yield PackageError(f"data/{case.path}.ans", "", text, "warning" if is_own else "error")


def _check_submissions(
    package: Package, desk: Desk, workshop: Workshop | None, points: dict[str, float], steps: Steps
) -> Iterator[PackageError]:
    """The example submissions earn what submissions.yaml demands; programs are run where there is a workshop."""
    judged: dict[str, Outcomes] = {}
    for submission in steps.over("example submissions", package.submissions):
        place = program_of(submission, package.files)
        if place is None:
            judged[submission.path] = _judge(package, submission, desk)
        elif workshop is not None:
            reason = not_runnable(package.files, place)
            if reason or workshop.desk is None:
                text = Phrase(N_("this program is not run: %(reason)s"), reason=reason or workshop.lack)
                yield PackageError(place, "", text, "note")
                continue
            try:
                judged[submission.path] = _outcomes(package, run_program(package, place, workshop.desk), desk)
            except model.ProgramFault as fault:
                text = Phrase(N_("this program cannot be run: %(fault)s"), fault=fault)
                yield PackageError(place, "", text, "warning")
    for path, outcomes in judged.items():
        for name, outcome in outcomes.items():
            if outcome.failed and outcome.fault:
                yield PackageError(f"submissions/{path}", name, outcome.fault, "warning")
        points[path] = submission_points(package, outcomes, judged).points
    yield from check_demands(package, judged)


def _judge(package: Package, submission: Submission, desk: Desk) -> Outcomes:
    """Judge a submission's files; a secret case without a file is rejected, a sample without one is left out."""
    pattern = package.settings.answers.pattern
    patterns = (pattern,) if pattern else PATTERNS
    files = {file.name: file for file in submission.answers}
    missing = {case.name: MISSING for case in package.cases if case.group != "sample"}

    def answers() -> Iterator[tuple[Case, bytes | Outcome]]:
        for case in package.cases:
            named = [files[name] for name in (p.replace("{case}", case.name) for p in patterns) if name in files]
            if named:
                answer = named[0].read()
                yield case, over_limit(answer, package.settings.answers.limit) or answer

    return missing | _outcomes(package, answers(), desk)


def _outcomes(package: Package, answers: Iterable[tuple[Case, bytes | Outcome]], desk: Desk) -> dict[str, Outcome]:
    """Judge answers, of which a few are in memory at a time; what has an outcome already keeps it."""
    outcomes: dict[str, Outcome] = {}
    asked: list[str] = []

    def questions() -> Iterator[Question]:
        for case, answer in answers:
            if isinstance(answer, Outcome):
                outcomes[case.name] = answer
            else:
                asked.append(case.name)
                yield question_of(package, case, answer=answer)

    replies = desk.ask(questions())
    return outcomes | dict(zip(asked, replies, strict=True))
