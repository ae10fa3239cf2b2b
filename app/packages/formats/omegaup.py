"""omegaUp's zip: cases/, testplan, settings.json, validator.*, statements/, solutions/, examples/.

Every case belongs to the group before the first dot of its name. omegaUp gives a group all of its weight or nothing
(`sum-if-not-zero` of right-or-wrong answers), or its worst case's share (`min`): both are `min` here. Cases that are
groups of their own are added up.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from app.core.parsing import LARGEST_DOCUMENT, note_errors
from app.packages.formats import draft as drafts
from app.packages.formats import omegaup_statements
from checkers.doors import N_, Phrase

PLAN_LINE = re.compile(r"\s*([^#\s]+)\s+([0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})\s*")
VALIDATOR = re.compile(r"validator\.[a-z0-9]+")
SETTINGS = "settings.json"
TOTAL = 100
NUMERIC_TOLERANCE = "1e-6"
NUMERIC = (
    "token-numeric: omegaUp skips what is no number, and tokens are compared here; numbers count as equal within the "
    "tolerance of settings.json, absolute or relative"
)


class Loose(BaseModel):
    """A map of settings; keys that are unknown here are left out."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class CaseEntry(Loose):
    """A case of settings.json."""

    Name: str
    Weight: float


class GroupEntry(Loose):
    """A group of settings.json."""

    Name: str = ""
    Cases: list[CaseEntry]


class ValidatorEntry(Loose):
    """How answers are compared."""

    Name: Literal["token", "token-caseless", "token-numeric", "literal", "custom"] = "token-caseless"
    Tolerance: float | None = None
    GroupScorePolicy: Literal["", "sum-if-not-zero", "min"] = ""


class Settings(Loose):
    """settings.json, as far as answer files need it."""

    Cases: list[GroupEntry] | None = None
    Validator: ValidatorEntry | None = None
    Interactive: dict[str, object] | None = None


def read(source: drafts.Source) -> drafts.Draft:
    """Read omegaUp's files into a draft; faults and notes go to `source`."""
    draft = drafts.Draft(total=TOTAL)
    settings = _settings(source)
    if source.below("interactive") or settings.Interactive:
        source.faults.add("interactive", N_("expected answers that are files: an interactive problem has none"))
    draft.checker = _checker(source, settings)
    cases = _cases(source)
    weights = _weights(source, settings, cases)
    draft.groups = _groups(source, settings, draft.checker, cases, weights)
    omegaup_statements.read_statements(source, draft, taken=set(cases))
    drafts.note_unused(source)
    return draft


def _settings(source: drafts.Source) -> Settings:
    """settings.json, and its defaults where there is none; notes what is wrong with it."""
    data = source.take(SETTINGS) if SETTINGS in source.files else b"{}"
    if len(data) > LARGEST_DOCUMENT:
        source.faults.expect(SETTINGS, "", N_("at most %(most)s bytes of JSON"), str(len(data)), most=LARGEST_DOCUMENT)
        return Settings()
    try:
        return Settings.model_validate_json(data)
    except ValidationError as error:
        note_errors(error, SETTINGS, source.faults)
        return Settings()


def _cases(source: drafts.Source) -> dict[str, drafts.CaseDraft]:
    """The cases by name; a missing `.out` is left to the solution."""
    cases: dict[str, drafts.CaseDraft] = {}
    for file in source.below("cases"):
        stem, dot, extension = file.rpartition(".")
        name = stem.removeprefix("cases/")
        if dot and extension == "out" and f"{stem}.in" in source.files:
            continue
        if extension != "in" or "/" in name:
            source.faults.expect(file, "", N_("NAME.in and NAME.out directly in cases/"), Phrase(N_("another file")))
        else:
            answer = source.keep(f"{stem}.out") if f"{stem}.out" in source.files else None
            cases[name] = drafts.CaseDraft(name, source.keep(file), answer)
    return cases


def _weights(source: drafts.Source, settings: Settings, cases: Mapping[str, drafts.CaseDraft]) -> dict[str, Fraction]:
    """The weight of each case: from testplan, otherwise from settings.json, otherwise the same for all."""
    if "testplan" in source.files:
        weights = _testplan(source, cases)
    elif settings.Cases:
        entries = [case for group in settings.Cases for case in group.Cases]
        weights = {case.Name: Fraction(str(case.Weight)) for case in entries}
        _match(source, "settings.json", dict.fromkeys(weights, ""), cases)
    else:
        return dict.fromkeys(cases, Fraction(1))
    return {name: weights.get(name, Fraction(0)) for name in cases}


def _testplan(source: drafts.Source, cases: Mapping[str, drafts.CaseDraft]) -> dict[str, Fraction]:
    weights: dict[str, Fraction] = {}
    places: dict[str, str] = {}
    text = source.take("testplan").decode("utf-8", "replace")
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = PLAN_LINE.fullmatch(line)
        if match is None:
            source.faults.expect("testplan", f"line {number}", N_("`CASE WEIGHT`"), repr(line[:60]))
        elif match[1] in weights:
            source.faults.add("testplan", N_("case %(match)s stands twice"), f"line {number}", match=match[1])
        else:
            weights[match[1]], places[match[1]] = Fraction(match[2]), f"line {number}"
    _match(source, "testplan", places, cases)
    return weights


def _match(source: drafts.Source, file: str, places: Mapping[str, str], cases: Mapping[str, drafts.CaseDraft]) -> None:
    """The plan and cases/ name the same cases."""
    for name, place in places.items():
        if name not in cases:
            source.faults.add(file, N_("case %(name)s has no files cases/%(name)s.in and .out"), place, name=name)
    if missing := sorted(cases.keys() - places.keys()):
        source.faults.add(file, N_("no weight for %(missing)s"), missing=drafts.listed(missing))


def _groups(
    source: drafts.Source,
    settings: Settings,
    checker: drafts.Standard | drafts.Program,
    cases: Mapping[str, drafts.CaseDraft],
    weights: Mapping[str, Fraction],
) -> list[drafts.GroupDraft]:
    """Cases without a dot in their names are added up; those with one count by their group's worst case."""
    members: dict[str, list[drafts.CaseDraft]] = defaultdict(list)
    singles: list[drafts.CaseDraft] = []
    for name in sorted(cases):
        group, dot, _ = name.partition(".")
        if dot:
            members[group].append(cases[name])
        else:
            singles.append(replace(cases[name], points=weights[name]))
    policy = settings.Validator.GroupScorePolicy if settings.Validator else ""
    several = [name for name, together in members.items() if len(together) > 1]
    if several and policy != "min" and isinstance(checker, drafts.Program):
        message = N_(
            "sum-if-not-zero adds the scores of a group's cases, which nothing here does: %(groups)s count by the"
            " worst case, as with omegaUp's policy `min`"
        )
        source.note(SETTINGS, message, groups=drafts.listed(several))
    alone = sum((case.points for case in singles), Fraction(0))
    groups = [drafts.GroupDraft("", "sum", alone, tuple(singles))] if singles else []
    for name, together in members.items():
        points = sum((weights[case.name] for case in together), Fraction(0))
        groups.append(drafts.GroupDraft(name, "min", points, tuple(together)))
    return groups


def _checker(source: drafts.Source, settings: Settings) -> drafts.Standard | drafts.Program:
    """The standard checker that compares as the validator named does, or the package's own program."""
    programs = [name for name in source.files if VALIDATOR.fullmatch(name)]
    entry = settings.Validator
    name = entry.Name if entry is not None else ("custom" if programs else "token-caseless")
    if entry is None and not programs:
        source.note("settings.json", N_("no validator is named: answers are compared as with token-caseless"))
    if name == "custom":
        if len(programs) != 1:
            expected, actual = "one file validator.EXTENSION", ", ".join(programs) or "none"
            source.faults.expect("validator", "", expected, actual)
        return drafts.Program("omegaup", "fraction", {each: source.take(each) for each in programs})
    if programs:
        source.note(programs[0], N_("not used, as settings.json names the validator %(name)s"), name=name)
    if name == "literal":
        expected = "a validator that compares answers"
        source.faults.expect("settings.json", "Validator.Name", expected, N_("literal: the answer is the score"))
    if name == "token-numeric":
        source.note("settings.json", NUMERIC, "Validator.Name")
        tolerance = entry.Tolerance if entry is not None else None
        return drafts.Standard(
            "tokens", ("float_tolerance", NUMERIC_TOLERANCE if tolerance is None else f"{tolerance:g}")
        )
    return drafts.Standard("tokens", ("case_sensitive",) if name == "token" else ())
