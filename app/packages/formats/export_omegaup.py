"""Write a package as omegaUp's zip, as far as that format can say it.

Kept: the test cases of `secret` with their bytes, the points of cases and groups, samples as blocks of the statements,
and Markdown statements and solutions in Spanish, English and Portuguese with their images. A `sum` becomes cases that
are groups of their own; cases of a `min` or `pass-fail` are called `GROUP.NAME`. All else is named in a warning, and
what would be judged otherwise is refused.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from app.core.faults import MORE, NONE, Faults, PackageError
from app.packages import model
from app.packages.contents import ComposedFiles, Content
from checkers.doors import N_, Phrase

LANGUAGES = ("es", "en", "pt")
NEXT = re.compile(r"\{\{nextsample\}\}")
REMAINING = "{{remainingsamples}}"
KEPT = ("statement", "solution", "data", "problem.yaml", "jurado.yaml")


@dataclass(frozen=True, slots=True)
class Exported:
    """The files of a zip by path, and what of the package they do not say."""

    files: ComposedFiles
    warnings: tuple[PackageError, ...]


def export_omegaup(package: model.Package, *, data_only: bool = False) -> Exported:
    """Give omegaUp's files for a package; raises PackageErrors where it would be judged otherwise there.

    `data_only`: name no validator, whatever the checker is.
    """
    faults = Faults()
    answers = {case.name: case.answer for case in package.cases if case.answer is not None}
    for case in package.cases:
        if case.name not in answers:
            faults.add(f"data/{case.path}.ans", N_("missing file: omegaUp makes no expected answers"))
    faults.settle()
    warnings: list[PackageError] = []
    validator = {} if data_only else _validator(package, faults)
    if data_only:
        checker = package.settings.checker
        warnings.append(_lost("jurado.yaml", "the checker %(name)s: choose or write a validator there", name=checker))
    files: dict[str, Content] = {}
    weights: dict[str, Fraction] = {}
    for group in package.groups:
        cases = [case for case in package.cases if case.group == group.name]
        if group.kind == "sample":
            continue
        if group.require_pass:
            lost = N_("require_pass: %(require_pass)s")
            warnings.append(_lost(f"data/{group.name}", lost, require_pass=", ".join(group.require_pass)))
        for case, name, weight in _weighed(group, cases, faults):
            files |= {f"cases/{name}.in": case.input, f"cases/{name}.out": answers[case.name]}
            weights[name] = weight
    files["testplan"] = _plan(weights)
    own = package.program.files if package.program is not None and validator else {}
    files |= {f"validator.{place.rpartition('.')[2]}": data for place, data in own.items()}
    if validator:
        settings = {"Validator": {**validator, "GroupScorePolicy": "min"}}
        files["settings.json"] = (json.dumps(settings, indent=2) + "\n").encode()
    files |= _texts(package, faults, warnings)
    warnings += _left_out(package)
    faults.settle()
    return Exported(ComposedFiles(files), tuple(warnings))


def _weighed(group: model.Group, cases: list[model.Case], faults: Faults) -> Iterator[tuple[model.Case, str, Fraction]]:
    """The cases of a group with their names and weights there: a whole group's points are on its first case."""
    short = group.name.rpartition("/")[2]
    together = group.aggregation != "sum"
    for at, case in enumerate(cases):
        prefix = f"{short}."
        if not together and "." in case.name:
            faults.expect(case.input.path, "", N_("a name without dots, which make groups there"), case.name)
        if together and "." in short:
            faults.expect(f"data/{group.name}", "", N_("a group named without dots"), short)
        name = case.name if not together or case.name.startswith(prefix) else prefix + case.name
        weight = case.max_points if not together else Fraction((group.max_score or 0) if at == 0 else 0)
        yield case, name, weight


def _plan(weights: Mapping[str, Fraction]) -> bytes:
    """The testplan: weights as the smallest whole numbers in their proportion, as omegaUp scales them itself."""
    factor = lcm(*(weight.denominator for weight in weights.values()))
    whole = {name: int(weight * factor) for name, weight in weights.items()}
    divisor = gcd(*whole.values()) or 1
    return "".join(f"{name} {weight // divisor}\n" for name, weight in whole.items()).encode()


def _validator(package: model.Package, faults: Faults) -> dict[str, object]:
    """The validator that compares as the package's checker does, for all cases alike."""
    checker = package.settings.checker
    args = {case.checker_args for case in package.cases if case.group != "sample"}
    kind = package.settings.scoring.kind
    if package.program is not None and package.program.protocol == "omegaup" and kind == "absolute":
        if len(package.program.files) > 1 or args != {()}:
            expected = "one file without arguments, as a validator is there"
            faults.expect(package.program.place, "", expected, MORE)
        return {"Name": "custom"}
    if checker not in ("tokens", "floats") or kind != "absolute":
        expected = "the checker tokens or floats and absolute scoring (or the option for data alone)"
        faults.expect(
            "jurado.yaml", "checker", expected, Phrase(N_("%(checker)s, %(kind)s"), checker=checker, kind=kind)
        )
        return {}
    if checker == "floats":
        args = {each or ("float_tolerance", "1e-6") for each in args}
    known: dict[tuple[str, ...], dict[str, object]] = {
        (): {"Name": "token-caseless"},
        ("case_sensitive",): {"Name": "token"},
    }
    if len(args) == 1 and (only := next(iter(args))) in known:
        return known[only]
    if len(args) == 1 and len(only := next(iter(args))) == 2 and only[0] == "float_tolerance":
        return {"Name": "token-numeric", "Tolerance": float(only[1])}
    expected = "case_sensitive, float_tolerance or no arguments, the same for all cases"
    faults.expect("data/secret", "output_validator_args", expected, str(sorted(args))[:80])
    return {}


def _texts(package: model.Package, faults: Faults, warnings: list[PackageError]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for folder, texts in (("statements", package.statements), ("solutions", package.solutions)):
        for language, statement in texts.items():
            if language not in LANGUAGES or statement.kind != "md":
                lost = N_("omegaUp has Markdown in %(languages)s only")
                warnings.append(_lost(statement.file.path, lost, languages=", ".join(LANGUAGES)))
                continue
            text = _with_samples(package, statement.text) if folder == "statements" else statement.text
            files[f"{folder}/{language}.markdown"] = text.encode()
    if not any(name.startswith("statements/") for name in files):
        faults.expect("statement", "", N_("Markdown in %(languages)s"), NONE, languages=", ".join(LANGUAGES))
    for name in package.files:
        if name.startswith("statement/") and name.rpartition(".")[2] in ("png", "jpg", "jpeg", "gif", "svg"):
            files[f"statements/{name.partition('/')[2]}"] = package.files[name]
    return files


def _with_samples(package: model.Package, text: str) -> str:
    """Write each sample at its place, and the rest at the end, as blocks."""
    samples = iter([case for case in package.cases if case.group == "sample"])
    text = NEXT.sub(lambda _match: _block([case]) if (case := next(samples, None)) is not None else "", text)
    rest = list(samples)
    if REMAINING in text:
        return text.replace(REMAINING, _block(rest))
    return f"{text}\n{_block(rest)}" if rest else text


def _block(cases: list[model.Case]) -> str:
    """The samples as a block of their inputs and outputs."""
    parts = []
    for case in cases:
        output = case.output or case.answer
        shown = b"" if output is None else output.read()
        parts.append(f"||input\n{case.input.read().decode()}||output\n{shown.decode()}")
    return "".join(parts) + "||end\n" if parts else ""


def _left_out(package: model.Package) -> Iterator[PackageError]:
    """Warn of each folder, and of each fact, that the zip does not hold."""
    tops = sorted({name.partition("/")[0] for name in package.files} - set(KEPT))
    for top in tops:
        yield _lost(top, "no place in the zip")
    yield _lost("problem.yaml", "titles, credits, source and license: to be entered in omegaUp's form")
    if any(group.kind == "final" for group in package.groups):
        yield _lost("jurado.yaml", "final groups count from the start there")
    if package.validation_cases:
        yield _lost("data", "cases that try the validators")


def _lost(file: str, what: str, /, **values: object) -> PackageError:
    return PackageError(file, "", Phrase(N_("left out: %(what)s"), what=Phrase(what, **values)), "warning")
