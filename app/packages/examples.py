"""Hold a package's inputs against its validators, and its validation cases against its validators and its checker.

- Run the plan of a package's test data again: each input that is made must be the one that is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from app.core.faults import EXPECTED_TEXT, NONE, Faults, PackageError, Steps, mismatch
from app.packages.generation import Plan, Recipe, read_plan
from app.packages.model import Case, File, Package, ValidationCase
from app.packages.texts import ahead
from app.packages.tools import Workshop, not_runnable, tool_of, validation_bounds, validators_of
from app.packages.trials import Desk, Outcome, Question, over_limit, question_of
from app.programs.model import ProgramFault
from app.programs.points import generate
from app.programs.tools import Opinion, Tool, ToolDesk, validate
from checkers.doors import N_, Phrase

# The opinion of each input validator on each input, by the input's path.
Opinions = Mapping[str, Sequence[Opinion]]

SENTENCE = "expected "


def ask_validators(package: Package, workshop: Workshop, steps: Steps) -> tuple[Opinions | None, list[PackageError]]:
    """Run all input validators on all inputs; gives their opinions, and the faults of those that cannot be run here.

    Without any that runs there are no opinions.
    """
    tools, unknown = validators_of(package)
    faults = [_warning(each.place, "this input validator is not run: %(why)s", why=each.reason) for each in unknown]
    if workshop.desk is None:
        lack = _warning("input_validators", "input validators are not run: %(lack)s", lack=workshop.lack)
        return None, [*faults, lack]
    desk, bounds, protocol = workshop.desk, validation_bounds(package), package.settings.validator_protocol
    broken = _broken(desk, tools)
    faults += [
        _warning(place, "this input validator cannot be run: %(fault)s", fault=broken[place]) for place in broken
    ]
    sound = [tool for tool in tools if tool.place not in broken]
    if not sound:
        return None, faults

    def look(case: Case | ValidationCase) -> tuple[str, list[Opinion]]:
        data, args = case.input.read(), case.validator_args
        return case.input.path, [
            validate(desk, tool, protocol, data, args.get(tool.called, args.get("*", ())), bounds) for tool in sound
        ]

    everything: list[Case | ValidationCase] = [*package.cases, *package.validation_cases]
    return dict(steps.each("input validators", everything, ahead(look, everything))), faults


def _broken(desk: ToolDesk, tools: Iterable[Tool]) -> dict[str, ProgramFault]:
    """Why programs cannot be run, by their places."""
    broken = {}
    for tool in tools:
        try:
            desk.prepare(tool)
        except ProgramFault as fault:
            broken[tool.place] = fault
    return broken


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
        yield _warning(path, N_("the checker failed by itself: %(failed)s"), failed=outcome.failed)
    elif _has_question(package, case) and outcome.unread is None:
        yield _warning(path, mismatch(N_("the checker to refuse this input"), Phrase(N_("it accepted"))))
    if opinions is not None:
        texts = [opinion.text for opinion in opinions[path]]
        yield from _check_text(case, case.input, [*texts, outcome.unread or ""])


def _check_output(case: ValidationCase, output: File, outcome: Outcome) -> Iterator[PackageError]:
    if outcome.unread:
        yield _warning(case.input.path, N_("the checker refuses this input: %(unread)s"), unread=outcome.unread)
    elif outcome.failed:
        yield _warning(output.path, N_("the checker failed by itself: %(failed)s"), failed=outcome.failed)
    elif case.kind == "valid_output" and outcome.rejected:
        expected = "the checker to accept this answer"
        yield _warning(output.path, EXPECTED_TEXT, expected=expected, found=outcome.rejected)
    elif case.kind == "invalid_output" and outcome.rejected is None:
        yield _warning(output.path, mismatch(N_("the checker to reject this answer"), Phrase(N_("it accepted"))))
    elif case.kind == "invalid_output":
        yield from _check_text(case, output, [outcome.rejected or ""])


def _check_text(case: ValidationCase, file: File, texts: Sequence[str]) -> Iterator[PackageError]:
    """A description with a rejection's sentence in it (`expected ... found ...`) holds the one really given."""
    if SENTENCE in case.description and not any(text and text in case.description for text in texts):
        given = " / ".join(text for text in texts if text) or "nothing"
        path = f"{file.path.rpartition('.')[0]}.yaml"
        yield _warning(path, Phrase(EXPECTED_TEXT, expected="the rejection as it is given", found=given), "description")


def _warning(file: str, message: str, where: str = "", /, **values: object) -> PackageError:
    return PackageError(file, where, Phrase(message, **values) if values else message, "warning")


LONGEST_QUOTE = 60
JUDGED = ("sample/", "secret/")


def check_reproduction(package: Package, workshop: Workshop, steps: Steps) -> Iterator[PackageError]:
    """Yield where the plan does not read, a generator fails, or makes another input than the stored one."""
    faults = Faults()
    plan = read_plan(package.files, package.problem.constants, faults)
    yield from (PackageError(each.file, each.where, each.message, "warning") for each in faults.errors)
    if plan is None:
        return
    yield from _check_cases(package, plan)
    recipes = [recipe for recipe in plan.recipes if f"data/{recipe.path}.in" in package.files]
    yield from _check_given(package, plan, recipes)
    generated = [recipe for recipe in recipes if recipe.program]
    lacking = {recipe.program: not_runnable(package.files, recipe.program) for recipe in generated}
    for place, reason in lacking.items():
        if reason is not None:
            yield PackageError(
                place, "", Phrase(N_("nothing here runs this generator: %(reason)s"), reason=reason), "note"
            )
    asked = [recipe for recipe in generated if lacking[recipe.program] is None]
    if asked and workshop.desk is None:
        yield PackageError(plan.file, "", Phrase(N_("generators are not run: %(lack)s"), lack=workshop.lack), "warning")
    if workshop.desk is not None:
        yield from _check_generated(package, plan, asked, workshop.desk, steps)


def _check_cases(package: Package, plan: Plan) -> Iterator[PackageError]:
    """Yield cases of the plan without files, and judged cases that the plan does not know."""
    if not plan.recipes:
        return
    known = {recipe.path for recipe in plan.recipes}
    for recipe in plan.recipes:
        if f"data/{recipe.path}.in" not in package.files:
            text = mismatch("data/%(path)s.in", Phrase(N_("no such file")), path=recipe.path)
            yield _warning(plan.file, text, recipe.where)
    for case in package.cases:
        if case.path not in known:
            text = Phrase(N_("%(name)s does not say how this input is made"), name=plan.file)
            yield PackageError(case.input.path, "", text, "note")


def _check_given(package: Package, plan: Plan, recipes: list[Recipe]) -> Iterator[PackageError]:
    for recipe in recipes:
        for extension, data in recipe.given.items():
            name = f"data/{recipe.path}.{extension}"
            if name not in package.files or (extension == "in" and recipe.program):
                continue
            if package.files[name] != data:
                yield _differs(name, plan, recipe, data, package.files[name])


def _check_generated(
    package: Package, plan: Plan, recipes: list[Recipe], desk: ToolDesk, steps: Steps
) -> Iterator[PackageError]:
    bounds = validation_bounds(package)
    tools = {recipe.program: tool_of(package, recipe.program, recipe.beside) for recipe in recipes}
    broken = _broken(desk, tools.values())
    for place, fault in broken.items():
        yield PackageError(place, "", Phrase(N_("this generator cannot be run: %(fault)s"), fault=fault), "warning")
    asked = [recipe for recipe in recipes if recipe.program not in broken]

    def make(recipe: Recipe) -> bytes | ProgramFault:
        try:
            return generate(desk, tools[recipe.program], recipe.args, bounds)
        except ProgramFault as fault:
            return fault

    made = ahead(make, asked)
    for recipe in steps.over("generators", asked):
        data, name = next(made), f"data/{recipe.path}.in"
        if isinstance(data, ProgramFault):
            values = {"command": _command(recipe), "path": recipe.path, "fault": data}
            source = "%(command)s does not make data/%(path)s.in: %(fault)s"
            yield _warning(plan.file, source, recipe.where, **values)
        elif data != package.files[name]:
            yield _differs(name, plan, recipe, data, package.files[name])


def _differs(name: str, plan: Plan, recipe: Recipe, made: bytes, stored: bytes) -> PackageError:
    """The fault of a stored file, at the first line that the plan makes otherwise."""
    mine, theirs = made.split(b"\n"), stored.split(b"\n")
    at = next((at for at, pair in enumerate(zip(mine, theirs, strict=False)) if pair[0] != pair[1]), None)
    line = (min(len(mine), len(theirs)) - 1 if at is None else at) + 1
    how = _command(recipe) if recipe.program else f"{plan.file}, {recipe.where}"
    text = mismatch(N_("%(mine)s as %(how)s makes it"), _quoted(theirs, line), mine=_quoted(mine, line), how=how)
    return PackageError(name, f"line {line}", text, "warning")


def _quoted(lines: list[bytes], line: int) -> str:
    text = lines[line - 1].decode("utf-8", "replace") if line <= len(lines) else ""
    if line >= len(lines) and not text:
        return "no more lines"
    return repr(text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}...")


def _command(recipe: Recipe) -> str:
    return f"`{' '.join((recipe.program, *recipe.args))[:200]}`"
