"""The test data of Kattis packages: groups of testdata.yaml with the default grader's flags, as groups of today.

A group whose verdict is that of its worst case gives all its points or none; with `always_accept` or
`accept_if_any_accepted` the points of its cases are added. Pass-fail problems are one group.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from app.core import faults, parsing
from app.packages import contents, model
from app.packages.contents import bytes_of
from app.packages.formats.draft import CaseDraft, Draft, GroupDraft, Source, listed
from app.packages.formats.writing import to_yaml
from checkers.doors import N_, Phrase

CONFIG = "testdata.yaml"
IMAGES = (".png", ".jpg", ".jpeg", ".svg")
COPIED = (".yaml", ".out", ".in.statement", ".ans.statement", ".in.download", ".ans.download", *IMAGES)
NUMBER = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]{1,15})?")
LENIENT = frozenset({"always_accept", "accept_if_any_accepted"})
MODES = ("sum", "avg", "min", "max")
FLAGS = frozenset({*LENIENT, *MODES, "worst_error", "first_error", "ignore_sample", "no_errors"})
KEYS = frozenset({"on_reject", "grading", "grader_flags", "input_validator_flags", "output_validator_flags",
                  "accept_score", "reject_score", "range"})  # fmt: skip
POINTS = Fraction(100)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is known of a problem before its data: whether it scores, in today's format, by a program of its own."""

    scoring: bool
    modern: bool
    custom: bool


@dataclass(frozen=True, slots=True)
class Config:
    """A testdata.yaml over those above it; `most` is the upper end of `range`, None where there is none."""

    accept: Fraction = Fraction(1)
    most: Fraction | None = None
    flags: frozenset[str] = frozenset()
    mode: str = "sum"
    checker: tuple[str, ...] = ()
    validator: tuple[str, ...] | None = None

    @property
    def lenient(self) -> bool:
        """Whether the group is accepted though a case of it is not."""
        return bool(self.flags & LENIENT)


def read_data(source: Source, draft: Draft, plan: Plan) -> None:
    """Put data/sample and data/secret into the draft; faults and notes go to `source`."""
    has_old = any(name.endswith(f"/{CONFIG}") for name in source.files)
    if plan.scoring and plan.modern and not has_old:
        for name in [*source.below("data/sample"), *source.below("data/secret")]:
            draft.files[name] = source.keep(name)
        return
    configs = _configs(source)
    members = _cases(source)
    secret = {folder: cases for folder, cases in members.items() if _is_below(folder, "data/secret")}
    draft.samples = [case for folder, cases in members.items() if folder not in secret for case in cases]
    if not plan.scoring:
        draft.groups = _one_group(draft, secret, configs)
        return
    _check_containers(source, secret, configs)
    groups = [_group(source, folder, secret[folder], configs[folder], plan) for folder in sorted(secret)]
    common = draft.checker.args
    draft.groups = [replace(group, args=(*common, *(group.args or ()))) for group in groups]


def _is_below(folder: str, top: str) -> bool:
    return folder == top or folder.startswith(f"{top}/")


def _configs(source: Source) -> Mapping[str, Config]:
    """The settings of each folder of data/, what it does not say taken from above."""
    folders = {name.rpartition("/")[0] for name in source.files if name.startswith("data/")}
    every = {"/".join(folder.split("/")[:end]) for folder in folders for end in range(1, folder.count("/") + 2)}
    configs: dict[str, Config] = {"": Config()}
    for folder in sorted({*every, "data"}):
        above = configs[folder.rpartition("/")[0]]
        name = f"{folder}/{CONFIG}"
        configs[folder] = _config(source, name, above) if name in source.files else above
    return configs


def _config(source: Source, name: str, above: Config) -> Config:
    document = parsing.read_document(source.take(name), name, source.faults)
    value = document.value if document is not None else None
    if document is None or value is None:
        return above
    if not isinstance(value, dict):
        source.faults.expect(name, "", N_("a map of keys to values"), type(value).__name__)
        return above
    for key in value:
        if key not in KEYS:
            source.faults.add(name, Phrase(N_("unknown key")), document.where((key,)))
    if value.get("grading", "default") != "default":
        where = document.where(("grading",))
        source.faults.expect(name, where, N_("the default grader"), str(value["grading"])[:60])
    flags = _flags(source, name, document.where(("grader_flags",)), value.get("grader_flags"))
    modes = [flag for flag in flags or () if flag in MODES]
    return replace(
        above,
        accept=_number(source, name, value.get("accept_score"), above.accept),
        most=_upper(source, name, value.get("range"), above.most),
        flags=above.flags if flags is None else frozenset(flags),
        mode=modes[-1] if modes else above.mode if flags is None else "sum",
        checker=_words(source, name, value.get("output_validator_flags"), above.checker) or (),
        validator=_words(source, name, value.get("input_validator_flags"), above.validator),
    )


def _flags(source: Source, name: str, where: str, value: object) -> list[str] | None:
    if value is None:
        return None
    words = str(value).split()
    for unknown in sorted(set(words) - FLAGS):
        source.faults.expect(
            name, where, N_("flags of the default grader (%(flags)s)"), unknown[:60], flags=", ".join(sorted(FLAGS))
        )
    return words


def _words(source: Source, name: str, value: object, above: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if value is None:
        return above
    if isinstance(value, dict):
        source.faults.expect(name, "", N_("flags as text"), N_("those of one validator by name"))
        return above
    return tuple(str(value).split())


def _number(source: Source, name: str, value: object, above: Fraction) -> Fraction:
    if value is None:
        return above
    text = f"{value}"
    if isinstance(value, bool) or not NUMBER.fullmatch(text) or Fraction(text) < 0:
        source.faults.expect(name, "", N_("a score of 0 or more"), text[:60])
        return above
    return Fraction(text)


def _upper(source: Source, name: str, value: object, above: Fraction | None) -> Fraction | None:
    if value is None:
        return above
    words = str(value).split()
    if len(words) != 2:
        source.faults.expect(name, "range", N_("two numbers"), str(value)[:60])
        return above
    return None if words[1] in ("inf", "+inf") else _number(source, name, words[1], Fraction(0))


def _cases(source: Source) -> dict[str, list[CaseDraft]]:
    """The cases of each folder, their base names made unique by the folder's where two have the same."""
    parts: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for name in [*source.below("data/sample"), *source.below("data/secret")]:
        folder, _, last = name.rpartition("/")
        extension = next((each for each in contents.EXTENSIONS if last.endswith(each) and last != each), None)
        if extension is not None and last not in (CONFIG, "test_group.yaml"):
            parts[folder, last.removesuffix(extension)][extension] = name
    counts = Counter(stem for (_, stem), files in parts.items() if ".in" in files)
    secret = Counter(stem for (folder, stem), files in parts.items() if ".in" in files and folder != "data/sample")
    members: dict[str, list[CaseDraft]] = {}
    renamed: list[str] = []
    for (folder, stem), files in parts.items():
        if ".in" not in files:
            continue
        parts_of = folder.split("/")
        # Of a sample and a secret case of one name the sample is renamed: answers are named by secret cases.
        is_sample = folder == "data/sample"
        unique = (
            stem if (counts if is_sample else secret)[stem] == 1 else "-".join([*(parts_of[2:] or parts_of[1:]), stem])
        )
        renamed += [unique] if unique != stem else []
        data = {extension: source.keep(name) for extension, name in files.items()}
        members.setdefault(folder, []).append(
            CaseDraft(
                unique, data[".in"], data.get(".ans"), extras={each: data[each] for each in COPIED if each in data}
            )
        )
    if renamed:
        source.note("data", N_("base names were used twice: answers are named by %(renamed)s"), renamed=listed(renamed))
    return members


def _one_group(draft: Draft, secret: Mapping[str, list[CaseDraft]], configs: Mapping[str, Config]) -> list[GroupDraft]:
    """All cases of a pass-fail problem: all or nothing. Cases keep arguments of their own folder."""
    common = draft.checker.args
    cases: list[CaseDraft] = []
    for folder, members in sorted(secret.items()):
        config = configs[folder]
        own: dict[str, object] = {}
        if config.checker:
            own["output_validator_args"] = [*common, *config.checker]
        if config.validator:
            own["input_validator_args"] = list(config.validator)
        cases += [_with_settings(case, own) for case in members]
    return [GroupDraft("", "pass-fail", POINTS, tuple(cases))] if cases else []


def _with_settings(case: CaseDraft, own: Mapping[str, object]) -> CaseDraft:
    settings = bytes_of(case.extras.get(".yaml", b"")) + (to_yaml(dict(own)) if own else b"")
    return replace(case, extras={**case.extras, ".yaml": settings}) if own else case


def _check_containers(source: Source, secret: Mapping[str, Sequence[CaseDraft]], configs: Mapping[str, Config]) -> None:
    """Groups of groups add their points here, whatever became of the others."""
    containers = {"/".join(folder.split("/")[:end]) for folder in secret for end in range(2, folder.count("/") + 1)}
    for folder in sorted(containers):
        config = configs[folder]
        if config.mode != "sum":
            expected, actual = "sum, as points of groups are added", config.mode
            source.faults.expect(f"{folder}/{CONFIG}", "grader_flags", expected, actual)
        elif not config.lenient:
            message = "there one rejected group takes the points of the others; here points of groups are added"
            source.note(f"{folder}/{CONFIG}", message, "grader_flags")


def _group(source: Source, folder: str, cases: list[CaseDraft], config: Config, plan: Plan) -> GroupDraft:
    name = "-".join(folder.split("/")[2:])
    file = f"{folder}/{CONFIG}"
    points = config.accept * (len(cases) if config.mode == "sum" else 1)
    if plan.custom and config.most is not None:
        points = config.most
    elif plan.custom and config.accept == 1:
        source.faults.expect(file, "range", N_("an upper end of the validator's scores"), faults.NONE)
    aggregation: model.Aggregation = "min" if plan.custom or config.mode == "min" else "pass-fail"
    if config.lenient:
        if config.mode == "max":
            source.faults.expect(file, "grader_flags", N_("sum, avg or min"), "max")
        aggregation = "min" if config.mode == "min" else "sum"
    elif plan.custom and config.mode != "min":
        message = Phrase(
            N_("%(mode)s of scores, or nothing where a case is rejected: here the worst case counts"), mode=config.mode
        )
        source.note(file, message, "grader_flags", mode=config.mode)
    share = tuple(replace(case, points=points / len(cases)) for case in cases)
    return GroupDraft(
        name, aggregation, points, share, args=config.checker, validator_args=list(config.validator or ())
    )
