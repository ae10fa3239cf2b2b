"""The documents that columns keep as JSON, key by key; those that the domain parses are in `app.domain.documents`.

A key that is not required is one that a change may leave out.
"""

from collections.abc import Mapping
from typing import NotRequired, TypedDict

from app.domain.documents import JsonValue, PhraseDocument, ProblemSettingsDocument, ReferenceDocument


class PauseDocument(TypedDict):
    """An interval taken out of a contest's time; `end` null: it lasts."""

    start: str
    end: str | None


class StatementDocument(TypedDict):
    """The statement in one language: md, tex or pdf, and its images by their paths below `statement/`."""

    kind: str
    file: str
    sha256: str
    images: dict[str, str]


class PersonDocument(TypedDict):
    """Someone credited, as problem.yaml names them."""

    name: str


class OriginDocument(TypedDict):
    """Where a problem was used first."""

    name: str
    url: NotRequired[str | None]


class MetadataDocument(TypedDict, total=False):
    """problem.yaml with its defaults written out: the keys that are read of it, and two more.

    sample_outputs  the outputs shown of samples: their sha256 by case
    solutions       the solution texts by language
    """

    sample_outputs: dict[str, str]
    solutions: dict[str, StatementDocument]
    constants: dict[str, dict[str, int | float | str]]
    limits: dict[str, JsonValue]
    license: str
    credits: dict[str, list[PersonDocument] | dict[str, list[PersonDocument]] | None]
    source: list[OriginDocument]


class RunFacts(TypedDict, total=False):
    """The facts that are kept of a solver's run."""

    method: str | None
    seed: int | None
    seconds: float | None
    steps: int | None
    states: int | None
    version: str | None
    raw: JsonValue
    max_raw: JsonValue
    optimal: bool | None


_Origin = TypedDict("_Origin", {"from": str}, total=False)  # the keyword is no name of a field


class ProvenanceDocument(RunFacts, _Origin, total=False):
    """The origin of an expected answer (`from`); without an answer, `reference` has the options of its run."""

    reference: ReferenceDocument
    solution_sha256: str
    made: str


class ProblemColumns(TypedDict, total=False):
    """The columns of a problem's own row: all in a version of it, those that change in a difference."""

    uuid: str
    names: dict[str, str]
    metadata_: MetadataDocument
    settings: ProblemSettingsDocument
    statements: dict[str, StatementDocument]
    package_sha256: str


class GroupDocument(TypedDict):
    """A test data group; its points as an exact ratio."""

    name: str
    ordinal: int
    kind: str
    max_points_num: int
    max_points_den: int
    aggregation: str
    require_pass: list[str]


class CaseDocument(TypedDict):
    """A test case; what is not required is learnt later, and no part of a package."""

    group_name: str
    ordinal: int
    points_num: int
    points_den: int
    input_sha256: str
    input_size: int
    answer_sha256: str | None
    answer_size: int | None
    checker_args: list[str]
    reference_raw_num: NotRequired[int | None]
    reference_raw_den: NotRequired[int | None]
    reference_multiplier_num: NotRequired[int | None]
    reference_multiplier_den: NotRequired[int | None]
    provenance: NotRequired[ProvenanceDocument]


class ManifestDocument(TypedDict):
    """One version of a problem: its row, groups, and test cases by name."""

    columns: ProblemColumns
    groups: list[GroupDocument]
    cases: dict[str, CaseDocument]


class ProblemDocument(ManifestDocument):
    """One version of a problem, and the rules that contests give it."""

    rules: dict[str, dict[str, JsonValue]]


class ProblemChanges(TypedDict, total=False):
    """The diff of two versions, and a rejudging's notes beside it. Empty: the versions are equal.

    cases    a case that is None is deleted
    pins     the version that a contest is moved to (None: it follows the newest); the rest is what that changes there
    judging  whether verdicts or raw scores may differ
    summary  the changes in words
    base     the fingerprint of the version they were made from
    """

    columns: ProblemColumns
    groups: list[GroupDocument]
    cases: dict[str, CaseDocument | None]
    rules: dict[str, dict[str, JsonValue]]
    pins: dict[str, int | None]
    problem_id: str
    judging: bool
    summary: list[str]
    base: str


class SelectionDocument(TypedDict, total=False):
    """The submissions a rejudging is about: `submissions` are numbers of rows, `named` the ids they were named by."""

    problem: str
    team: str
    submissions: list[int]
    named: list[str]
    contests: list[str]


class FileNoteDocument(TypedDict):
    """A file that was sent: the test case it was taken for, or the message id and values of why it was ignored."""

    name: str
    case: str | None
    ignored: PhraseDocument | None


class SourceDocument(TypedDict):
    """A source file that was sent along and is not judged."""

    name: str
    size: int
    sha256: str


class RunParams(TypedDict):
    """The parameters of a reference run; memory in MiB.

    `program` is the place of the package's own solver, in the package of that sha256; there is no `solver` then.
    """

    problem_id: str
    checker: str
    solver: NotRequired[str]
    program: NotRequired[str]
    package_sha256: NotRequired[str]
    cases: list[str]
    method: str
    seconds: float
    seed: int
    memory: int


class VerificationParams(TypedDict):
    """The parameters of a package's verification."""

    problem_id: str
    package_sha256: str


JobParams = RunParams | VerificationParams


class CaseResult(RunFacts, total=False):
    """The result of a reference run for a test case: its fault or its facts, and the rejudging that waits for it."""

    error: str
    rejudging: str
    contest: str


class JobResult(TypedDict, total=False):
    """The result of a job: a fault of all of it, or the result of each test case, a package's report."""

    error: str
    report: Mapping[str, object]
    cases: dict[str, CaseResult]


class AuditObject(TypedDict):
    """A row that a change of the audit log touches: `what` is added, changed or deleted; a statement has no id."""

    table: str
    id: str | None
    what: str
    before: dict[str, JsonValue]
    after: dict[str, JsonValue]


class AuditChanges(TypedDict):
    """What an entry of the audit log changes: the first rows, and counts by table and by what was done."""

    objects: list[AuditObject]
    counts: dict[str, dict[str, int]]
