"""Verify a package that reads: its programs, checker and example submissions must agree with its data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.packages.demands import Outcomes, check_demands, submission_points
from app.packages.errors import PackageError, PackageErrors
from app.packages.ladder import check_ladder
from app.packages.model import Case, File, Package, Submission, ValidationCase
from app.packages.read import read_archive, read_package
from app.packages.trials import Outcome, Trial, open_trial, read_instance
from app.packages.validators import Opinion, Question, Validators
from checkers.doors import open_checker

Finding = PackageError
"""What verifying finds has the shape of what reading finds: file, where, message."""

SENTENCE = "expected "
MISSING = Outcome(rejected="expected an answer file, found none")
DEFAULT_PATTERNS = ("{case}.out", "{case}.ans", "{case}.txt", "output_{case}.txt")


def verify_package(package: Package) -> list[Finding]:
    """Run everything of a package that can be run; gives every disagreement, none for a sound package."""
    opinions, findings = _ask_validators(package)
    findings += _check_opinions(package, opinions)
    try:
        trials = {case.name: open_trial(package, case) for case in package.cases}
    except (ImportError, ValueError, PackageErrors) as error:
        return [*findings, *_unusable(error)]
    findings += [fault for case in package.validation_cases for fault in _check_validation(package, case, opinions)]
    findings += [fault for case in package.cases for fault in _check_shown(case, trials[case.name])]
    judged = {submission.path: _judge(package, submission, trials) for submission in package.submissions}
    findings += _check_failures(judged)
    findings += check_demands(package, judged)
    findings += check_ladder(package)
    return sorted(set(findings))


def verify_report(path: Path) -> dict[str, Any]:
    """Read and verify the package at `path` (a folder or a zip), as data for people and programs.

    Keys: path, slug, valid, errors (of reading), findings (of verifying): each with file, where, message; and, where
    the package reads, cases (per group), points (of each example submission).
    """
    report: dict[str, Any] = {"path": str(path), "slug": None, "valid": False, "errors": [], "findings": []}
    try:
        package = read_package(path) if path.is_dir() else read_archive(path)
    except PackageErrors as errors:
        return report | {"errors": [_as_data(error) for error in errors.errors]}
    findings = verify_package(package)
    cases = {group.name: sum(case.group == group.name for case in package.cases) for group in package.groups}
    return report | {
        "slug": package.slug,
        "valid": not findings,
        "findings": [_as_data(finding) for finding in findings],
        "cases": cases,
        "points": example_points(package) if not findings else {},
    }


def example_points(package: Package) -> dict[str, float]:
    """Score the example submissions: points by path, by the package's groups and its checker's own multipliers."""
    trials = {case.name: open_trial(package, case) for case in package.cases}
    judged = {submission.path: _judge(package, submission, trials) for submission in package.submissions}
    return {path: submission_points(package, outcomes, judged).points for path, outcomes in judged.items()}


def _as_data(error: PackageError) -> dict[str, str]:
    return {"file": error.file, "where": error.where, "message": error.message}


def _unusable(error: Exception) -> tuple[PackageError, ...]:
    if isinstance(error, PackageErrors):
        return error.errors
    return (PackageError("jurado.yaml", "checker", f"the checker cannot be opened: {error}"),)


def _ask_validators(package: Package) -> tuple[dict[str, list[Opinion]], list[Finding]]:
    """Opinions of all input validators on all inputs; findings for those that cannot be run here."""
    everything: list[Case | ValidationCase] = [*package.cases, *package.validation_cases]
    questions = [Question(case.input.path, case.input.read(), case.validator_args) for case in everything]
    with Validators(package.files) as validators:
        unknown = [
            Finding(
                f"input_validators/{name}", "", "expected a Python program (one file, or a folder with __main__.py)"
            )
            for name in validators.unknown
        ]
        return validators.ask(questions), unknown


def _check_opinions(package: Package, opinions: dict[str, list[Opinion]]) -> Iterator[Finding]:
    for path, given in opinions.items():
        for opinion in given:
            if opinion.fault:
                yield Finding(path, "", opinion.fault)
            elif not opinion.accepted and not path.startswith("data/invalid_input/"):
                yield Finding(path, "", f"{opinion.validator} refuses this input: {opinion.text}")
        if path.startswith("data/invalid_input/") and all(opinion.accepted for opinion in given):
            yield Finding(path, "", "expected at least one input validator to refuse this input, found none")


def _check_validation(package: Package, case: ValidationCase, opinions: dict[str, list[Opinion]]) -> Iterator[Finding]:
    if case.kind == "invalid_input":
        yield from _check_invalid_input(package, case, opinions[case.input.path])
        return
    if case.output is None:
        return
    try:
        outcome = open_trial(package, case).judge(case.output.read())
    except PackageErrors as errors:
        yield from errors.errors
        return
    if outcome.failed:
        yield Finding(case.output.path, "", f"the checker failed by itself: {outcome.failed}")
    elif case.kind == "valid_output" and outcome.rejected:
        yield Finding(case.output.path, "", f"expected the checker to accept this answer, found: {outcome.rejected}")
    elif case.kind == "invalid_output" and outcome.rejected is None:
        yield Finding(case.output.path, "", "expected the checker to reject this answer, found it accepted")
    elif case.kind == "invalid_output":
        yield from _check_text(case, case.output, [outcome.rejected or ""])


def _check_invalid_input(package: Package, case: ValidationCase, given: list[Opinion]) -> Iterator[Finding]:
    """The checker refuses what the validators refuse (the standard checkers take any input)."""
    said = [opinion.text for opinion in given]
    if package.settings.bundled_checker:
        checker = open_checker(package.settings.checker, case.checker_args)
        data = case.input.read()
        too_large = len(data) > package.settings.inputs.limit
        _, refused = read_instance(checker, data)
        if refused is None and not too_large:
            yield Finding(case.input.path, "", "expected the checker to refuse this input, found it accepted")
        said.append(refused or "")
    yield from _check_text(case, case.input, said)


def _check_text(case: ValidationCase, file: File, said: list[str]) -> Iterator[Finding]:
    """A description with a rejection's sentence in it (`expected ... found ...`) holds the one really given."""
    if SENTENCE in case.description and not any(text and text in case.description for text in said):
        found = " / ".join(text for text in said if text) or "nothing"
        path = f"{file.path.rpartition('.')[0]}.yaml"
        yield Finding(path, "description", f"expected the rejection as it is given, found: {found}")


def _check_shown(case: Case, trial: Trial) -> Iterator[Finding]:
    """What a sample shows as its output is an answer the checker accepts."""
    if case.group != "sample" and case.output is None:
        return
    shown = case.output or case.answer
    outcome = trial.judge(shown.read())
    if outcome.score is None:
        said = outcome.rejected or f"the checker failed by itself: {outcome.failed}"
        yield Finding(shown.path, "", f"expected an answer that the checker accepts, found: {said}")


def _judge(package: Package, submission: Submission, trials: dict[str, Trial]) -> Outcomes:
    """Judge a submission's files; a secret case without a file is rejected, a sample without one is left out."""
    pattern = package.settings.answers.pattern
    patterns = (pattern,) if pattern else DEFAULT_PATTERNS
    files = {file.name: file for file in submission.answers}
    outcomes: dict[str, Outcome] = {}
    for case in package.cases:
        named = [files[name] for name in (p.format(case=case.name) for p in patterns) if name in files]
        if named:
            outcomes[case.name] = trials[case.name].judge(named[0].read())
        elif case.group != "sample":
            outcomes[case.name] = MISSING
    return outcomes


def _check_failures(judged: dict[str, Outcomes]) -> Iterator[Finding]:
    for path, outcomes in judged.items():
        for name, outcome in outcomes.items():
            if outcome.failed:
                yield Finding(f"submissions/{path}", name, f"the checker failed by itself: {outcome.failed}")
