"""Hold a package's inputs against its validators, and its validation cases against its validators and its checker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from app.core.faults import PackageError
from app.core.steps import Steps
from app.packages.model import Case, File, Package, ValidationCase
from app.packages.tools import Workshop, validation_bounds, validators_of
from app.packages.trials import Desk, Outcome, Question, over_limit, question_of
from app.packages.validators import Question as Input
from app.packages.validators import Validators
from app.programs.model import ProgramFault
from app.programs.tools import Opinion

Opinions = Mapping[str, Sequence[Opinion]]
"""The opinion of each input validator on each input, by the input's path."""

SENTENCE = "expected "


def ask_validators(package: Package, workshop: Workshop, steps: Steps) -> tuple[Opinions | None, list[PackageError]]:
    """Run all input validators on all inputs; gives their opinions, and the faults of those that cannot be run here.

    Without any that runs there are no opinions.
    """
    tools, unknown = validators_of(package)
    faults = [_warning(each.place, f"this input validator is not run: {each.reason}") for each in unknown]
    if workshop.desk is None:
        return None, [*faults, _warning("input_validators", f"input validators are not run: {workshop.lack}")]
    sound = []
    for tool in tools:
        try:
            workshop.desk.prepare(tool)
        except ProgramFault as fault:
            faults.append(_warning(tool.place, f"this input validator cannot be run: {fault}"))
        else:
            sound.append(tool)
    if not sound:
        return None, faults
    everything: list[Case | ValidationCase] = [*package.cases, *package.validation_cases]
    inputs = [Input(case.input, case.validator_args) for case in everything]
    protocol = package.settings.validator_protocol
    validators = Validators(workshop.desk, sound, protocol, validation_bounds(package))
    opinions = dict(steps.each("input validators", inputs, validators.ask(inputs)))
    return opinions, faults


def check_opinions(opinions: Opinions) -> Iterator[PackageError]:
    """Yield the inputs that the validators refuse or take against what their folder says, and failing validators."""
    for path, given in opinions.items():
        bad = path.startswith("data/invalid_input/")
        for opinion in given:
            if opinion.fault:
                yield _warning(path, opinion.fault)
            elif not opinion.accepted and not bad:
                yield _warning(path, f"{opinion.validator} refuses this input: {opinion.text}")
        if bad and all(opinion.accepted for opinion in given):
            yield _warning(path, "expected at least one input validator to refuse this input, found none")


def check_validation_cases(package: Package, desk: Desk, opinions: Opinions | None) -> Iterator[PackageError]:
    """Yield the validation cases of which the checker thinks otherwise than their folder says.

    `opinions`: None where validators are not run; then the words of an invalid input's rejection are not compared.
    """
    cases = [case for case in package.validation_cases if _has_question(package, case)]
    outcomes = desk.ask([_question(package, case) for case in cases])
    answered = {case.input.path: outcome for case, outcome in zip(cases, outcomes, strict=True)}
    for case in package.validation_cases:
        outcome = answered.get(case.input.path, Outcome())
        if case.kind == "invalid_input":
            yield from _check_invalid_input(package, case, outcome, opinions)
        elif case.output is not None:
            too_long = over_limit(case.output.read(), package.settings.answers.limit)
            yield from _check_output(case, case.output, too_long or outcome)


def _has_question(package: Package, case: ValidationCase) -> bool:
    """Most standard checkers take any input, and a checker is not asked about one that is too large for it."""
    if case.kind == "invalid_input":
        return package.settings.refuses_inputs and not _too_large(package, case)
    return case.output is not None


def _too_large(package: Package, case: ValidationCase) -> bool:
    return case.input.size > package.settings.inputs.limit


def _question(package: Package, case: ValidationCase) -> Question:
    if case.kind == "invalid_input" or case.output is None:
        return question_of(package, case)
    return question_of(package, case, answer=case.output.read())


def _check_invalid_input(
    package: Package, case: ValidationCase, outcome: Outcome, opinions: Opinions | None
) -> Iterator[PackageError]:
    path = case.input.path
    if outcome.failed:
        yield _warning(path, f"the checker failed by itself: {outcome.failed}")
    elif _has_question(package, case) and outcome.unread is None:
        yield _warning(path, "expected the checker to refuse this input, found it accepted")
    if opinions is not None:
        texts = [opinion.text for opinion in opinions[path]]
        yield from _check_text(case, case.input, [*texts, outcome.unread or ""])


def _check_output(case: ValidationCase, output: File, outcome: Outcome) -> Iterator[PackageError]:
    if outcome.unread:
        yield _warning(case.input.path, f"the checker refuses this input: {outcome.unread}")
    elif outcome.failed:
        yield _warning(output.path, f"the checker failed by itself: {outcome.failed}")
    elif case.kind == "valid_output" and outcome.rejected:
        yield _warning(output.path, f"expected the checker to accept this answer, found: {outcome.rejected}")
    elif case.kind == "invalid_output" and outcome.rejected is None:
        yield _warning(output.path, "expected the checker to reject this answer, found it accepted")
    elif case.kind == "invalid_output":
        yield from _check_text(case, output, [outcome.rejected or ""])


def _check_text(case: ValidationCase, file: File, texts: Sequence[str]) -> Iterator[PackageError]:
    """A description with a rejection's sentence in it (`expected ... found ...`) holds the one really given."""
    if SENTENCE in case.description and not any(text and text in case.description for text in texts):
        given = " / ".join(text for text in texts if text) or "nothing"
        path = f"{file.path.rpartition('.')[0]}.yaml"
        yield _warning(path, f"expected the rejection as it is given, found: {given}", "description")


def _warning(file: str, message: str, where: str = "") -> PackageError:
    return PackageError(file, where, message, "warning")
