"""The example submissions of a package: folders of answer files, and what submissions.yaml demands of them.

- Files of a package that nothing uses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from app.core.faults import NONE, Faults, PackageError
from app.core.parsing import Document, check_model, read_document
from app.packages.contents import File
from app.packages.metadata import Number, OneOrMore, Person, Range, Strict, Text, read_person
from app.packages.model import Package, Submission, SubmissionRule
from app.packages.tools import program_of
from checkers.doors import N_

FILE = "submissions/submissions.yaml"
Verdicts = OneOrMore[Literal["AC", "WA", "TLE", "RTE"]]


Points = Annotated[Number, Field(ge=0)]


class CaseDemands(Strict):
    """The demands on some of the cases."""

    permitted: Verdicts | None = None
    required: Verdicts | None = None
    score: Range[Points] | None = None
    message: str = ""
    use_for_time_limit: bool | Literal["lower", "upper"] | None = None


class Demands(CaseDemands):
    """The demands on a submission, and its authors."""

    language: Text | None = None
    entrypoint: Text | None = None
    authors: OneOrMore[Annotated[Person, BeforeValidator(read_person)]] | None = None
    model_solution: bool = False


DEFAULTS: Mapping[str, Demands] = {
    "accepted": Demands(permitted=("AC",)),
    "rejected": Demands(required=("RTE", "TLE", "WA")),
    "wrong_answer": Demands(permitted=("AC", "WA"), required=("WA",)),
    "time_limit_exceeded": Demands(permitted=("AC", "TLE"), required=("TLE",)),
    "run_time_error": Demands(permitted=("AC", "RTE"), required=("RTE",)),
    "brute_force": Demands(permitted=("AC", "RTE", "TLE"), required=("RTE", "TLE")),
}


def read_submissions(files: Mapping[str, bytes], faults: Faults) -> tuple[Submission, ...]:
    """Collect `submissions/<folder>/<name>/...` (or a single file there); at least one must be in `accepted`."""
    by_program: dict[str, list[File]] = defaultdict(list)
    for name in files:
        top, _, path = name.partition("/")
        if top != "submissions" or name == FILE:
            continue
        if "/" not in path:
            faults.add(name, N_("expected submissions in folders such as submissions/accepted/"))
        else:
            by_program["/".join(path.split("/")[:2])].append(File(name, files))
    if not any(path.startswith("accepted/") for path in by_program):
        faults.expect("submissions/accepted", "", N_("at least one accepted submission"), NONE)
    return tuple(Submission(path, tuple(by_program[path])) for path in sorted(by_program))


def read_rules(files: Mapping[str, bytes], faults: Faults) -> tuple[SubmissionRule, ...]:
    """Read submissions.yaml over the format's default demands on its default folders."""
    document = read_document(files[FILE], FILE, faults) if FILE in files else None
    value = document.value if document else None
    if document is None or value is None:
        document, value = Document({}, {}), {}
    if not isinstance(value, dict):
        faults.expect(FILE, "", N_("a map of globs to demands"), type(value).__name__)
        value = {}
    rules: list[SubmissionRule] = []
    for glob in [*DEFAULTS, *(glob for glob in value if glob not in DEFAULTS)]:
        rules += _rules(glob, document if glob in value else None, value.get(glob), faults)
    return tuple(rules)


def _rules(glob: str | int, document: Document | None, entry: object, faults: Faults) -> list[SubmissionRule]:
    name = str(glob)
    default = DEFAULTS.get(name, Demands())
    if document is None:
        return [_rule(name, None, default, default)]
    if not isinstance(entry, dict):
        faults.expect(FILE, document.where((glob,)), N_("a map"), type(entry).__name__)
        return []
    inner = [key for key in entry if str(key).partition("/")[0] in ("sample", "secret")]
    own = Document({glob: {key: entry[key] for key in entry if key not in inner}}, document.lines)
    demands = check_model(Demands, own, FILE, faults, (glob,))
    rules = [_rule(name, None, demands, default)] if demands else []
    for key in inner:
        partial = check_model(CaseDemands, document, FILE, faults, (glob, key))
        rules += [_rule(name, key, partial, Demands())] if partial else []
    return rules


def _rule(glob: str, cases: str | None, demands: CaseDemands, default: CaseDemands) -> SubmissionRule:
    permitted = demands.permitted or default.permitted
    required = demands.required or default.required
    return SubmissionRule(
        glob=glob,
        cases=cases,
        permitted=frozenset(permitted) if permitted else None,
        required=frozenset(required) if required else None,
        score=demands.score,
        message=demands.message,
    )


IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".svg")
DEFAULT_PATTERNS = ("{case}.out", "{case}.ans", "{case}.txt", "output_{case}.txt")


def check_unused(package: Package) -> Iterator[PackageError]:
    """Yield images that no statement shows, and answer files of example submissions that belong to no test case."""
    texts = [written.text for written in (*package.statements.values(), *package.solutions.values())]
    for name in package.files:
        stem = name.rpartition("/")[2].rpartition(".")[0]
        is_shown = not name.startswith(("statement/", "solution/")) or any(stem in text for text in texts)
        if name.endswith(IMAGES) and not is_shown:
            yield PackageError(name, "", "no statement shows this image", "note")
    pattern = package.settings.answers.pattern
    patterns = (pattern,) if pattern else DEFAULT_PATTERNS
    expected = {each.format(case=case.name) for case in package.cases for each in patterns}
    for submission in package.submissions:
        if program_of(submission, package.files) is None:
            for file in submission.answers:
                if file.name not in expected and file.path != FILE:
                    yield PackageError(file.path, "", "no test case is called like this answer file", "note")
