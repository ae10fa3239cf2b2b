"""Run the plan of a package's test data again: each input that is made must be the one that is stored."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from app.core.faults import Faults, PackageError
from app.core.steps import Steps
from app.packages.ahead import ahead
from app.packages.generation import Plan, Recipe, read_plan
from app.packages.model import Package
from app.packages.tools import Workshop, not_runnable, tool_of, validation_bounds
from app.programs.generating import generate
from app.programs.model import ProgramFault
from app.programs.tools import ToolDesk

AT_ONCE = min(2, os.cpu_count() or 1)
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
            yield PackageError(place, "", f"nothing here runs this generator: {reason}", "note")
    asked = [recipe for recipe in generated if lacking[recipe.program] is None]
    if asked and workshop.desk is None:
        yield PackageError(plan.file, "", f"generators are not run: {workshop.lack}", "warning")
    if workshop.desk is not None:
        yield from _check_generated(package, plan, asked, workshop.desk, steps)


def _check_cases(package: Package, plan: Plan) -> Iterator[PackageError]:
    """Yield cases of the plan without files, and judged cases that the plan does not know."""
    if not plan.recipes:
        return
    known = {recipe.path for recipe in plan.recipes}
    for recipe in plan.recipes:
        if f"data/{recipe.path}.in" not in package.files:
            yield PackageError(
                plan.file, recipe.where, f"expected data/{recipe.path}.in, found no such file", "warning"
            )
    for case in package.cases:
        if case.path not in known:
            yield PackageError(case.input.path, "", f"{plan.file} does not say how this input is made", "note")


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
    broken = {}
    for place, tool in tools.items():
        try:
            desk.prepare(tool)
        except ProgramFault as fault:
            broken[place] = str(fault)
            yield PackageError(place, "", f"this generator cannot be run: {fault}", "warning")
    asked = [recipe for recipe in recipes if recipe.program not in broken]

    def make(recipe: Recipe) -> bytes | ProgramFault:
        try:
            return generate(desk, tools[recipe.program], recipe.args, bounds)
        except ProgramFault as fault:
            return fault

    with ThreadPoolExecutor(AT_ONCE) as pool:
        made = ahead(pool, make, asked)
        for recipe in steps.over("generators", asked):
            data, name = next(made), f"data/{recipe.path}.in"
            if isinstance(data, ProgramFault):
                text = f"{_command(recipe)} does not make data/{recipe.path}.in: {data}"
                yield PackageError(plan.file, recipe.where, text, "warning")
            elif data != package.files[name]:
                yield _differs(name, plan, recipe, data, package.files[name])


def _differs(name: str, plan: Plan, recipe: Recipe, made: bytes, stored: bytes) -> PackageError:
    """The fault of a stored file, at the first line that the plan makes otherwise."""
    mine, theirs = made.split(b"\n"), stored.split(b"\n")
    at = next((at for at, pair in enumerate(zip(mine, theirs, strict=False)) if pair[0] != pair[1]), None)
    line = (min(len(mine), len(theirs)) - 1 if at is None else at) + 1
    how = _command(recipe) if recipe.program else f"{plan.file}, {recipe.where}"
    text = f"expected {_quoted(mine, line)} as {how} makes it, found {_quoted(theirs, line)}"
    return PackageError(name, f"line {line}", text, "warning")


def _quoted(lines: list[bytes], line: int) -> str:
    text = lines[line - 1].decode("utf-8", "replace") if line <= len(lines) else ""
    if line >= len(lines) and not text:
        return "no more lines"
    return repr(text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}...")


def _command(recipe: Recipe) -> str:
    return f"`{' '.join((recipe.program, *recipe.args))[:200]}`"
