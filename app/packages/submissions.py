"""The example submissions of a package: folders of answer files, and what submissions.yaml demands of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from app.core.faults import Faults
from app.core.parsing import Document, check_model, read_document
from app.packages.metadata import Number, OneOrMore, Person, Strict, Text, read_person
from app.packages.model import File, Submission, SubmissionRule

FILE = "submissions/submissions.yaml"
Verdicts = OneOrMore[Literal["AC", "WA", "TLE", "RTE"]]


def _range(value: object) -> object:
    return (value, value) if isinstance(value, int | float) else tuple(value) if isinstance(value, list) else value


def _ordered(value: tuple[Number, Number]) -> tuple[Number, Number]:
    if value[0] > value[1]:
        raise ValueError(f"expected [low, high], found [{value[0]}, {value[1]}]")
    return value


Points = Annotated[Number, Field(ge=0)]
Range = Annotated[tuple[Points, Points], AfterValidator(_ordered), BeforeValidator(_range)]


class CaseDemands(Strict):
    """The demands on some of the cases."""

    permitted: Verdicts | None = None
    required: Verdicts | None = None
    score: Range | None = None
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
            faults.add(name, "expected submissions in folders such as submissions/accepted/")
        else:
            by_program["/".join(path.split("/")[:2])].append(File(name, files))
    if not any(path.startswith("accepted/") for path in by_program):
        faults.add("submissions/accepted", "expected at least one accepted submission, found none")
    return tuple(Submission(path, tuple(by_program[path])) for path in sorted(by_program))


def read_rules(files: Mapping[str, bytes], faults: Faults) -> tuple[SubmissionRule, ...]:
    """Read submissions.yaml over the format's default demands on its default folders."""
    document = read_document(files[FILE], FILE, faults) if FILE in files else None
    value = document.value if document else None
    if document is None or value is None:
        document, value = Document({}, {}), {}
    if not isinstance(value, dict):
        faults.expect(FILE, "", expected="a map of globs to demands", found=type(value).__name__)
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
        faults.expect(FILE, document.where((glob,)), expected="a map", found=type(entry).__name__)
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
