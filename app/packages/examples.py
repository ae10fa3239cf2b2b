"""Hold a package's inputs against its validators, and its validation cases against its validators and its checker.

- Run the plan of a package's test data again (`generators/cases.yaml`): each input that is made must be the one that is
  stored.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from pydantic import BaseModel, Field

from app.core.faults import EXPECTED_TEXT, NONE, Faults, PackageError, Steps, mismatch
from app.core.parsing import read_model
from app.packages import contents, metadata, texts, trials
from app.packages.model import Case, Package
from app.packages.settings import ValidatorSettings
from app.packages.tools import Workshop, tool_of, validation_bounds, validators_of
from app.programs import model, points
from app.programs.tools import Opinion, validate
from checkers.doors import N_, Phrase

# The opinion of each input validator on each input, by the input's path.
Opinions = Mapping[str, Sequence[Opinion]]


def ask_validators(package: Package, workshop: Workshop, steps: Steps) -> tuple[Opinions | None, list[PackageError]]:
    """Run all input validators on all inputs; gives their opinions, and the faults of those that cannot be run here.

    Without any that runs there are no opinions.
    """
    tools, unknown = validators_of(package)
    faults = [_warning(place, "this input validator is not run: %(why)s", why=why) for place, why in unknown.items()]
    if workshop.desk is None:
        lack = _warning("input_validators", "input validators are not run: %(lack)s", lack=workshop.lack)
        return None, [*faults, lack]
    desk, bounds = workshop.desk, validation_bounds(package)
    protocol = (package.settings.input_validators or ValidatorSettings()).protocol
    sound = []
    for tool in tools:
        try:
            desk.prepare(tool)
            sound.append(tool)
        except model.ProgramFault as fault:
            faults.append(_warning(tool.place, "this input validator cannot be run: %(fault)s", fault=fault))
    if not sound:
        return None, faults

    def look(case: Case) -> tuple[str, list[Opinion]]:
        data, args = case.input.read(), case.validator_args
        return case.input.path, [
            validate(desk, tool, protocol, data, args.get(tool.called, args.get("*", ())), bounds) for tool in sound
        ]

    everything: list[Case] = [*package.cases, *package.validation_cases]
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


def check_validation_cases(package: Package, desk: trials.Desk) -> Iterator[PackageError]:
    """Yield the validation cases of which the checker thinks otherwise than their folder says."""
    cases = package.validation_cases
    asked: list[tuple[Case, contents.File | None]] = [(case, None) for case in cases if _is_refusable(package, case)]
    asked += [(case, case.output) for case in cases if case.output is not None]
    questions = (
        trials.question_of(package, case, answer=None if output is None else output.read()) for case, output in asked
    )
    for (case, output), outcome in zip(asked, desk.ask(questions), strict=True):
        if output is not None:
            too_long = trials.over_limit(output.read(), package.settings.answers.limit)
            yield from _check_output(case, output, too_long or outcome)
        elif outcome.failed and outcome.fault:
            yield _warning(case.input.path, outcome.fault)
        elif outcome.unread is None:
            text = mismatch(N_("the checker to refuse this input"), Phrase(N_("it accepted")))
            yield _warning(case.input.path, text)


def _is_refusable(package: Package, case: Case) -> bool:
    """Most standard checkers take any input, and a checker is not asked about one that is too large for it."""
    is_small = case.input.size <= package.settings.inputs.limit
    return case.room == "invalid_input" and package.settings.refuses_inputs and is_small


def _check_output(case: Case, output: contents.File, outcome: trials.Outcome) -> Iterator[PackageError]:
    if outcome.fault:
        yield _warning(case.input.path if outcome.unread else output.path, outcome.fault)
    elif case.room == "valid_output" and outcome.rejected:
        expected = "the checker to accept this answer"
        yield _warning(output.path, EXPECTED_TEXT, expected=expected, found=outcome.rejected)
    elif case.room == "invalid_output" and outcome.rejected is None:
        yield _warning(output.path, mismatch(N_("the checker to reject this answer"), Phrase(N_("it accepted"))))


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


class Plan(BaseModel):
    """The plan of a package's test data."""

    cases: list[PlannedCase]


def check_reproduction(package: Package, workshop: Workshop, steps: Steps) -> Iterator[PackageError]:
    """Yield where the plan does not read, the generator fails, or makes another input than the stored one."""
    if PLAN not in package.files:
        return
    faults = Faults()
    plan = read_model(Plan, package.files[PLAN], PLAN, faults)
    yield from (_warning(each.file, each.message, each.where) for each in faults.errors)
    if plan is None or not plan.cases:
        return
    if workshop.desk is None:
        yield _warning(PLAN, N_("generators are not run: %(lack)s"), lack=workshop.lack)
        return
    desk, bounds, generator = workshop.desk, validation_bounds(package), tool_of(package, GENERATOR)

    def make(case: PlannedCase) -> bytes | model.ProgramFault:
        source = GENERATOR if case.file is None else f"generators/{case.file}"
        if source not in package.files:
            return model.ProgramFault(f"no such file: {source}")
        if case.file is not None:
            return package.files[source]
        try:
            desk.prepare(generator)
            args = ["--seed", str(case.seed), *(f"{key}={value}" for key, value in case.params.items())]
            return points.generate(desk, generator, args, bounds)
        except model.ProgramFault as fault:
            return fault

    for case, made in zip(plan.cases, steps.each("generators", plan.cases, texts.ahead(make, plan.cases)), strict=True):
        name = f"data/{case.group}/{case.name}.in"
        if isinstance(made, model.ProgramFault):
            yield _warning(PLAN, "%(name)s is not made: %(fault)s", name=name, fault=made)
        elif name not in package.files:
            yield _warning(PLAN, mismatch("%(name)s", Phrase(N_("no such file")), name=name))
        elif made != (stored := package.files[name]):
            yield _differs(name, made, stored)


def _differs(name: str, made: bytes, stored: bytes) -> PackageError:
    """The fault of a stored input, at the first line that the plan makes otherwise."""
    pairs = enumerate(zip_longest(made.split(b"\n"), stored.split(b"\n")), start=1)
    line, (mine, theirs) = next((at, pair) for at, pair in pairs if pair[0] != pair[1])
    text = mismatch(N_("%(mine)s as %(how)s makes it"), _quoted(theirs), mine=_quoted(mine), how=PLAN)
    return PackageError(name, f"line {line}", text, "warning")


def _quoted(line: bytes | None) -> str:
    return "no more lines" if line is None else repr(line.decode("utf-8", "replace")[:LONGEST_QUOTE])
