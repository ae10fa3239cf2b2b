"""Hold a package's inputs against its validators, and its validation cases against its validators and its checker.

- Run the plan of a package's test data again (`generators/cases.yaml`): each input that is made must be the one that is
  stored.
"""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel, Field

from app.core.faults import EXPECTED_TEXT, NONE, Faults, PackageError, Steps, mismatch
from app.core.parsing import check_model, read_document
from app.packages import contents, metadata, texts, trials
from app.packages.model import Case, Package, ValidationCase
from app.packages.tools import Workshop, tool_of, validation_bounds, validators_of
from app.programs import model, points
from app.programs.tools import Opinion, ToolDesk, validate
from checkers.doors import N_, Phrase

# The opinion of each input validator on each input, by the input's path.
Opinions = Mapping[str, Sequence[Opinion]]

SENTENCE = "expected "


def ask_validators(package: Package, workshop: Workshop, steps: Steps) -> tuple[Opinions | None, list[PackageError]]:
    """Run all input validators on all inputs; gives their opinions, and the faults of those that cannot be run here.

    Without any that runs there are no opinions.
    """
    tools, unknown = validators_of(package)
    faults = [_warning(place, "this input validator is not run: %(why)s", why=why) for place, why in unknown.items()]
    if workshop.desk is None:
        lack = _warning("input_validators", "input validators are not run: %(lack)s", lack=workshop.lack)
        return None, [*faults, lack]
    desk, bounds, protocol = workshop.desk, validation_bounds(package), package.settings.validator_protocol
    sound = []
    for tool in tools:
        try:
            desk.prepare(tool)
            sound.append(tool)
        except model.ProgramFault as fault:
            faults.append(_warning(tool.place, "this input validator cannot be run: %(fault)s", fault=fault))
    if not sound:
        return None, faults

    def look(case: Case | ValidationCase) -> tuple[str, list[Opinion]]:
        data, args = case.input.read(), case.validator_args
        return case.input.path, [
            validate(desk, tool, protocol, data, args.get(tool.called, args.get("*", ())), bounds) for tool in sound
        ]

    everything: list[Case | ValidationCase] = [*package.cases, *package.validation_cases]
    return dict(steps.each("input validators", everything, texts.ahead(look, everything))), faults


def check_opinions(opinions: Opinions) -> Iterator[PackageError]:
    """Yield the inputs that the validators refuse or take against what their folder says, and failing validators."""
    for path, given in opinions.items():
        bad = path.startswith("data/invalid_input/")
        for opinion in given:
            if opinion.fault:
                yield _warning(path, opinion.fault)
            elif not opinion.accepted and not bad:
                values = {"validator": opinion.validator, "text": opinion.text}
                yield _warning(path, "%(validator)s refuses this input: %(text)s", **values)
        if bad and all(opinion.accepted for opinion in given):
            yield _warning(path, mismatch(N_("at least one input validator to refuse this input"), NONE))


def check_validation_cases(package: Package, desk: trials.Desk, opinions: Opinions | None) -> Iterator[PackageError]:
    """Yield the validation cases of which the checker thinks otherwise than their folder says.

    `opinions`: None where validators are not run; then the words of an invalid input's rejection are not compared.
    """
    cases = [case for case in package.validation_cases if _has_question(package, case)]
    outcomes = desk.ask([_question(package, case) for case in cases])
    answered = {case.input.path: outcome for case, outcome in zip(cases, outcomes, strict=True)}
    for case in package.validation_cases:
        outcome = answered.get(case.input.path, trials.Outcome())
        if case.kind == "invalid_input":
            yield from _check_invalid_input(package, case, outcome, opinions)
        elif case.output is not None:
            too_long = trials.over_limit(case.output.read(), package.settings.answers.limit)
            yield from _check_output(case, case.output, too_long or outcome)


def _has_question(package: Package, case: ValidationCase) -> bool:
    """Most standard checkers take any input, and a checker is not asked about one that is too large for it."""
    if case.kind == "invalid_input":
        return package.settings.refuses_inputs and case.input.size <= package.settings.inputs.limit
    return case.output is not None


def _question(package: Package, case: ValidationCase) -> trials.Question:
    tried = None if case.kind == "invalid_input" or case.output is None else case.output.read()
    return trials.question_of(package, case, answer=tried)


def _check_invalid_input(
    package: Package, case: ValidationCase, outcome: trials.Outcome, opinions: Opinions | None
) -> Iterator[PackageError]:
    path = case.input.path
    if outcome.failed and outcome.fault:
        yield _warning(path, outcome.fault)
    elif _has_question(package, case) and outcome.unread is None:
        yield _warning(path, mismatch(N_("the checker to refuse this input"), Phrase(N_("it accepted"))))
    if opinions is not None:
        texts = [opinion.text for opinion in opinions[path]]
        yield from _check_text(case, case.input, [*texts, outcome.unread or ""])


def _check_output(case: ValidationCase, output: contents.File, outcome: trials.Outcome) -> Iterator[PackageError]:
    if outcome.fault:
        yield _warning(case.input.path if outcome.unread else output.path, outcome.fault)
    elif case.kind == "valid_output" and outcome.rejected:
        expected = "the checker to accept this answer"
        yield _warning(output.path, EXPECTED_TEXT, expected=expected, found=outcome.rejected)
    elif case.kind == "invalid_output" and outcome.rejected is None:
        yield _warning(output.path, mismatch(N_("the checker to reject this answer"), Phrase(N_("it accepted"))))
    elif case.kind == "invalid_output":
        yield from _check_text(case, output, [outcome.rejected or ""])


def _check_text(case: ValidationCase, file: contents.File, texts: Sequence[str]) -> Iterator[PackageError]:
    """A description with a rejection's sentence in it (`expected ... found ...`) holds the one really given."""
    if SENTENCE in case.description and not any(text and text in case.description for text in texts):
        given = " / ".join(text for text in texts if text) or "nothing"
        path = f"{file.path.rpartition('.')[0]}.yaml"
        yield _warning(path, Phrase(EXPECTED_TEXT, expected="the rejection as it is given", found=given), "description")


def _warning(file: str, message: str, where: str = "", /, **values: object) -> PackageError:
    return PackageError(file, where, Phrase(message, **values) if values else message, "warning")


LONGEST_QUOTE = 60
PLAN = "generators/cases.yaml"
GENERATOR = "generators/generate.py"


class PlannedCase(metadata.Strict):
    """A test case of the plan: `file` below generators/ is its input, or the generator makes it from seed and params.

    `reference` and `description` are for the author's own scripts.
    """

    group: str
    name: str
    file: str | None = None
    seed: int | None = None
    params: dict[str, object] = Field(default_factory=dict)
    reference: object = None
    description: str = ""

    @property
    def path(self) -> str:
        """Its input in the package."""
        return f"data/{self.group}/{self.name}.in"

    @property
    def source(self) -> str:
        """The file that is its input; empty where the generator makes it."""
        return "" if self.file is None else f"generators/{self.file}"

    @property
    def args(self) -> list[str]:
        """The arguments of the generator."""
        return ["--seed", str(self.seed), *(f"{key}={value}" for key, value in self.params.items())]

    @property
    def command(self) -> str:
        """The command that makes its input, as messages show it."""
        return f"`{' '.join((GENERATOR, *self.args))[:200]}`"


class Plan(BaseModel):
    """The plan of a package's test data."""

    cases: list[PlannedCase]


def check_reproduction(package: Package, workshop: Workshop, steps: Steps) -> Iterator[PackageError]:
    """Yield where the plan does not read, the generator fails, or makes another input than the stored one."""
    if PLAN not in package.files:
        return
    faults = Faults()
    document = read_document(package.files[PLAN], PLAN, faults)
    plan = None if document is None else check_model(Plan, document, PLAN, faults)
    yield from (_warning(each.file, each.message, each.where) for each in faults.errors)
    if document is None or plan is None:
        return
    known = {case.path for case in plan.cases}
    for judged in package.cases:
        if judged.input.path not in known:
            text = Phrase(N_("%(name)s does not say how this input is made"), name=PLAN)
            yield PackageError(judged.input.path, "", text, "note")
    generated: list[tuple[PlannedCase, str]] = []
    for at, case in enumerate(plan.cases):
        where = document.where(("cases", at))
        missing = [name for name in (case.path, case.source or GENERATOR) if name not in package.files]
        if missing:
            yield _warning(PLAN, mismatch("%(path)s", Phrase(N_("no such file")), path=missing[0]), where)
        elif not case.source:
            generated.append((case, where))
        elif package.files[case.source] != package.files[case.path]:
            yield _differs(case.path, case.source, package.files[case.source], package.files[case.path])
    if generated and workshop.desk is None:
        yield _warning(PLAN, N_("generators are not run: %(lack)s"), lack=workshop.lack)
    elif generated and workshop.desk is not None:
        yield from _check_generated(package, generated, workshop.desk, steps)


def _check_generated(
    package: Package, cases: Sequence[tuple[PlannedCase, str]], desk: ToolDesk, steps: Steps
) -> Iterator[PackageError]:
    bounds, tool = validation_bounds(package), tool_of(package, GENERATOR)
    try:
        desk.prepare(tool)
    except model.ProgramFault as fault:
        yield _warning(GENERATOR, N_("this generator cannot be run: %(fault)s"), fault=fault)
        return

    def make(planned: tuple[PlannedCase, str]) -> bytes | model.ProgramFault:
        try:
            return points.generate(desk, tool, planned[0].args, bounds)
        except model.ProgramFault as fault:
            return fault

    for (case, where), data in zip(cases, steps.each("generators", cases, texts.ahead(make, cases)), strict=True):
        if isinstance(data, model.ProgramFault):
            values = {"command": case.command, "path": case.path, "fault": data}
            yield _warning(PLAN, "%(command)s does not make %(path)s: %(fault)s", where, **values)
        elif data != package.files[case.path]:
            yield _differs(case.path, case.command, data, package.files[case.path])


def _differs(name: str, how: str, made: bytes, stored: bytes) -> PackageError:
    """The fault of a stored file, at the first line that the plan makes otherwise."""
    mine, theirs = made.split(b"\n"), stored.split(b"\n")
    at = next((at for at, pair in enumerate(zip(mine, theirs, strict=False)) if pair[0] != pair[1]), None)
    line = (min(len(mine), len(theirs)) - 1 if at is None else at) + 1
    text = mismatch(N_("%(mine)s as %(how)s makes it"), _quoted(theirs, line), mine=_quoted(mine, line), how=how)
    return PackageError(name, f"line {line}", text, "warning")


def _quoted(lines: list[bytes], line: int) -> str:
    text = lines[line - 1].decode("utf-8", "replace") if line <= len(lines) else ""
    if line >= len(lines) and not text:
        return "no more lines"
    return repr(text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}...")
