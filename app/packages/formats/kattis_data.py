"""The test data of Kattis packages: groups of testdata.yaml with the default grader's flags, as groups of today.

A group whose verdict is that of its worst case gives all its points or none; with `always_accept` or
`accept_if_any_accepted` the points of its cases are added. Pass-fail problems are one group.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import isfinite
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from app.core import faults, parsing
from app.packages import contents, model
from app.packages.formats.draft import CaseDraft, Draft, GroupDraft, Program, Source, listed
from checkers.doors import N_

CONFIG = "testdata.yaml"
COPIED = (".yaml", ".out", ".in.statement", ".ans.statement", ".in.download", ".ans.download", ".png", ".jpg", ".jpeg",
          ".svg")  # fmt: skip
LENIENT = frozenset({"always_accept", "accept_if_any_accepted"})
MODES = ("sum", "avg", "min", "max")
POINTS = Fraction(100)


def _split(value: object) -> object:
    return tuple(value.split()) if isinstance(value, str) else value


Words = Annotated[tuple[str, ...], BeforeValidator(_split)]
Flag = Literal[
    "always_accept", "accept_if_any_accepted", "sum", "avg", "min", "max", "worst_error", "first_error",
    "ignore_sample", "no_errors",
]  # fmt: skip
Score = Annotated[float, Field(ge=0, le=10**9)]


class Config(BaseModel):
    """A testdata.yaml over those above it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    on_reject: object = None
    grading: Literal["default"] = "default"
    grader_flags: Annotated[tuple[Flag, ...], BeforeValidator(_split)] = ()
    input_validator_flags: Words = ()
    output_validator_flags: Words = ()
    accept_score: Score = 1
    reject_score: object = None
    range: Annotated[tuple[float, Annotated[float, Field(ge=0)]] | None, BeforeValidator(_split)] = None

    @property
    def lenient(self) -> bool:
        """Whether the group is accepted though a case of it is not."""
        return not LENIENT.isdisjoint(self.grader_flags)

    @property
    def mode(self) -> str:
        """How the points of cases become those of their group."""
        return next((flag for flag in reversed(self.grader_flags) if flag in MODES), "sum")

    @property
    def most(self) -> Fraction | None:
        """The upper end of `range`; None where there is none."""
        return Fraction(str(self.range[1])) if self.range is not None and isfinite(self.range[1]) else None


def read_data(source: Source, draft: Draft, *, scoring: bool, modern: bool) -> None:
    """Put data/sample and data/secret into the draft; faults and notes go to `source`.

    `scoring`: its groups give points; `modern`: in the format of today.
    """
    has_old = any(name.endswith(f"/{CONFIG}") for name in source.files)
    if scoring and modern and not has_old:
        for name in [*source.below("data/sample"), *source.below("data/secret")]:
            draft.files[name] = source.keep(name)
        return
    configs = _configs(source)
    members = _cases(source)
    secret = {folder: cases for folder, cases in members.items() if _is_below(folder, "data/secret")}
    draft.samples = [case for folder, cases in members.items() if folder not in secret for case in cases]
    if not scoring:
        draft.groups = _one_group(source, draft, secret, configs)
        return
    _check_containers(source, secret, configs)
    custom, common = isinstance(draft.checker, Program), draft.checker.args
    groups = [_group(source, folder, secret[folder], configs[folder], custom=custom) for folder in sorted(secret)]
    draft.groups = [replace(group, args=(*common, *(group.args or ()))) for group in groups]


def _is_below(folder: str, top: str) -> bool:
    return folder == top or folder.startswith(f"{top}/")


def _configs(source: Source) -> Mapping[str, Config]:
    """The settings of each folder of data/, what it does not say taken from above."""
    folders = {name.rpartition("/")[0] for name in source.files if name.startswith("data/")}
    every = {"/".join(folder.split("/")[:end]) for folder in folders for end in range(1, folder.count("/") + 2)}
    configs: dict[str, Config] = {"": Config()}
    for folder in sorted({*every, "data"}):
        configs[folder] = _config(source, f"{folder}/{CONFIG}", configs[folder.rpartition("/")[0]])
    return configs


def _config(source: Source, name: str, above: Config) -> Config:
    own = parsing.read_model(Config, source.take(name), name, source.faults) if name in source.files else None
    return above if own is None else above.model_copy(update={key: getattr(own, key) for key in own.model_fields_set})


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


def _one_group(
    source: Source, draft: Draft, secret: Mapping[str, list[CaseDraft]], configs: Mapping[str, Config]
) -> list[GroupDraft]:
    """All cases of a pass-fail problem: all or nothing."""
    own = {(configs[folder].output_validator_flags, configs[folder].input_validator_flags) for folder in secret}
    if len(own) > 1:
        expected = "the same flags of validators for all secret cases of a pass-fail problem"
        source.faults.expect("data/secret", "", expected, "others in a folder of them")
    cases = tuple(case for _, members in sorted(secret.items()) for case in members)
    return [
        GroupDraft("", "pass-fail", POINTS, cases, args=(*draft.checker.args, *checker), validator_args=list(validator))
        for checker, validator in list(own)[:1]
    ]


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


def _group(source: Source, folder: str, cases: list[CaseDraft], config: Config, *, custom: bool) -> GroupDraft:
    name = "-".join(folder.split("/")[2:])
    file = f"{folder}/{CONFIG}"
    points = Fraction(str(config.accept_score)) * (len(cases) if config.mode == "sum" else 1)
    if custom and config.most is not None:
        points = config.most
    elif custom and config.accept_score == 1:
        source.faults.expect(file, "range", N_("an upper end of the validator's scores"), faults.NONE)
    aggregation: model.Aggregation = "min" if custom or config.mode == "min" else "pass-fail"
    if config.lenient:
        if config.mode == "max":
            source.faults.expect(file, "grader_flags", N_("sum, avg or min"), "max")
        aggregation = "min" if config.mode == "min" else "sum"
    elif custom and config.mode != "min":
        message = N_("%(mode)s of scores, or nothing where a case is rejected: here the worst case counts")
        source.note(file, message, "grader_flags", mode=config.mode)
    share = tuple(replace(case, points=points / len(cases)) for case in cases)
    args, flags = config.output_validator_flags, list(config.input_validator_flags)
    return GroupDraft(name, aggregation, points, share, args=args, validator_args=flags)
