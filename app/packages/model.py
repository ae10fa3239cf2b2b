"""A problem package once it is read: frozen values, wherever its bytes lie.

- Write a package as a zip.
- The order of test cases and points of single ones: the key `testcases` of jurado.yaml, and what follows from it.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Literal

from app.core.faults import SILENT, Faults, Steps
from app.domain.documents import CaseListDocument, ProblemSettingsDocument, ProgramDocument
from app.packages import metadata, zips
from app.packages.contents import ChangedFile, ComposedFiles, File
from app.packages.settings import CaseDemands, JuradoSettings
from app.programs.model import OwnLimits, Program, digest, pack
from checkers.doors import N_, Phrase

GroupKind = Literal["sample", "provisional", "final"]
Aggregation = Literal["sum", "min", "pass-fail"]
CONSTANT = re.compile(r"\{\{([a-zA-Z_][a-zA-Z0-9_]*)(?:\.([a-zA-Z0-9_]+))?\}\}")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement or a solution in one language; `kind` is how it is written."""

    language: str
    kind: Literal["md", "tex", "pdf"]
    file: File
    constants: Mapping[str, Mapping[str, int | float | str]] = field(default_factory=dict, repr=False)

    @property
    def text(self) -> str:
        """The Markdown or LaTeX text with the problem's constants put in; empty for a PDF."""
        return "" if self.kind == "pdf" else replace_constants(self.file.read().decode(), self.constants)


@dataclass(frozen=True, slots=True)
class Group:
    """Test cases that count together: `sample`, a folder of secret with a test_group.yaml, or, without such, `secret`.

    max_score     points of the whole group; None for samples, which give none
    aggregation   how the cases make the group's points
    require_pass  names of earlier groups whose cases must all be accepted (also those that `secret` as a whole names)
    """

    name: str
    kind: GroupKind
    max_score: int | None
    aggregation: Aggregation
    require_pass: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A test case: its files and settings. Those that only try validators and the checker have the ordinal 0.

    name          its base name; that of a judged case is unique in the package
    path          the format's name (`secret/final/07`)
    ordinal       1.. in lexicographic order of `path`, over samples and secret cases
    max_points    most points it can give: the group's max for `min` and `pass-fail`, max/N for `sum`, otherwise 0
    answer        the `.ans` file, None where the package's solver is to make it; `output` the `.out` file: an answer to
                  be tried, or what a sample shows
    checker_args  the format's output_validator_args, inherited from the group where the case has none
    validator_args  arguments by input validator; the key `*` stands for every validator
    """

    name: str
    path: str
    group: str
    input: File
    answer: File | None
    output: File | None = None
    ordinal: int = 0
    max_points: Fraction = Fraction(0)
    checker_args: tuple[str, ...] = ()
    validator_args: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def room(self) -> str:
        """`sample`, `secret` or one of the validation folders."""
        return self.path.partition("/")[0]


@dataclass(frozen=True, slots=True)
class SubmissionRule:
    """The demands of an entry of submissions.yaml on the submissions its glob matches, on a group or on all cases."""

    glob: str
    cases: str | None
    demands: CaseDemands


@dataclass(frozen=True, slots=True)
class Submission:
    """An example submission: a folder of answer files, as a contestant would send them."""

    path: str
    answers: tuple[File, ...]


@dataclass(frozen=True, slots=True)
class Package:
    """A whole problem package.

    groups     those that hold cases, in lexicographic order: `sample` first
    cases      in order of `ordinal`
    files      every file of the package by its relative path, sorted
    program    the checker that it brings along, if it does
    """

    slug: str
    problem: metadata.Problem
    settings: JuradoSettings
    statements: Mapping[str, Statement]
    solutions: Mapping[str, Statement]
    groups: tuple[Group, ...]
    cases: tuple[Case, ...]
    validation_cases: tuple[Case, ...]
    submissions: tuple[Submission, ...]
    submission_rules: tuple[SubmissionRule, ...]
    files: Mapping[str, bytes] = field(repr=False, compare=False)
    program: Program | None = None

    @property
    def max_score(self) -> int:
        """The most points that a submission can have."""
        return sum(group.max_score or 0 for group in self.groups)

    def settings_document(self) -> ProblemSettingsDocument:
        """The settings as rows keep them."""
        document = self.settings.document()
        if self.program is not None:
            document["program"] = program_document(self.program)
        return document


def program_document(program: Program) -> ProgramDocument:
    """A package's own checker as rows keep it and graders are told of it.

    Its name is computed here: the process that read the package may have been taken over by it.
    """
    sha256, own = digest(pack(program.files)), program.limits
    document: ProgramDocument = {"protocol": program.protocol, "points": program.points, "sha256": sha256}
    if own != OwnLimits():
        document["limits"] = {"seconds": own.seconds, "memory": own.memory, "output": own.output}
    return document


def with_constants(
    files: Mapping[str, bytes], constants: Mapping[str, Mapping[str, int | float | str]]
) -> Mapping[str, bytes]:
    """The files of a package with the problem's constants put into those that are text."""

    def change(data: bytes) -> bytes:
        try:
            return replace_constants(data.decode(), constants).encode() if b"{{" in data else data
        except UnicodeDecodeError:
            return data

    return ComposedFiles({name: ChangedFile(name, files, change) for name in files}) if constants else files


def replace_constants(text: str, constants: Mapping[str, Mapping[str, int | float | str]]) -> str:
    """Put `{{name}}` and `{{name.variant}}` in; sequences that name no constant stay as they are."""

    def value(match: re.Match[str]) -> str:
        known = constants.get(match[1], {})
        variant = match[2] or "value"
        return str(known[variant]) if variant in known else match[0]

    return CONSTANT.sub(value, text)


def write_archive(package: Package) -> bytes:
    """Pack all files of a package below one folder named by its slug: the same files give the same bytes."""
    return zips.zip_bytes(below_top(package))


def write_archive_file(package: Package, target: Path, steps: Steps = SILENT) -> None:
    """Pack all files of a package into a new file, one at a time: the same bytes as `write_archive` gives."""
    with target.open("wb") as file:
        zips.write_files(file, below_top(package), steps)


def below_top(package: Package) -> ComposedFiles:
    """The files of a package below one folder named by its slug."""
    return ComposedFiles({f"{package.slug}/{name}": File(name, package.files) for name in package.files})


NOTHING: CaseListDocument = {"order": [], "points": {}}


def place(known: CaseListDocument, name: str) -> int:
    """The place of a case in its group: as listed, and behind those all others (which are sorted by name)."""
    order = known["order"]
    return order.index(name) if name in order else len(order)


def shares(group: Group, names: Collection[str], known: CaseListDocument) -> dict[str, Fraction]:
    """The most points that each open case of a group can give.

    Of a group with `sum` those with points of their own get them, and the others share the rest equally.
    """
    most = Fraction(group.max_score or 0)
    if group.aggregation != "sum":
        return dict.fromkeys(names, most)
    own = {name: Fraction(known["points"][name]) for name in names if name in known["points"]}
    rest, total = len(names) - len(own), sum(own.values(), Fraction(0))
    if not rest and total:
        return {name: points * most / total for name, points in own.items()}  # a case that had the rest is gone
    share = (most - total) / rest if rest else Fraction(0)
    return {name: own.get(name, share) for name in names}


def check(
    known: CaseListDocument, groups: Sequence[Group], members: Mapping[str, Iterable[str]], file: str, faults: Faults
) -> None:
    """Note names that no case has, and points that do not fit into those of the group."""
    by_name = {group.name: group for group in groups}
    group_of = {name: by_name[group] for group, names in members.items() for name in names if group in by_name}
    for name in [*known["order"], *known["points"]]:
        if name not in group_of:
            faults.expect(file, "testcases", N_("names of test cases"), name)
    if len(set(known["order"])) < len(known["order"]):
        faults.expect(file, "testcases.order", N_("each name once"), N_("one of them again"))
    for group in groups:
        names = [name for name, own in group_of.items() if own is group]
        own = {name: known["points"][name] for name in names if name in known["points"]}
        if not own:
            continue
        total, most = sum(own.values()), group.max_score or 0
        if group.aggregation != "sum" or group.kind == "sample":
            expected = "points of cases in secret groups with the aggregation sum"
            faults.expect(
                file, "testcases.points", expected, Phrase(N_("%(own)s in %(name)s"), own=min(own), name=group.name)
            )
        elif total > most or (total < most and len(own) == len(names)):
            expected = f"points that make {most} in {group.name}" if total < most else f"at most {most} in {group.name}"
            faults.expect(file, "testcases.points", expected, str(total))
