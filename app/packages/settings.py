"""jurado.yaml, test_group.yaml, a case's NAME.yaml and submissions.yaml: the smaller files of a package, strictly.

- Checkers opened by the name that packages give them: modules of `checkers/`, and the one of `games/` beside them.
"""

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Annotated, Literal, Self, cast

from pydantic import BeforeValidator, ConfigDict, Field, RootModel, StringConstraints, field_validator, model_validator

from app.domain.documents import CaseListDocument, ProblemSettingsDocument
from app.packages.metadata import (
    Language,
    Number,
    OneOrMore,
    Persons,
    Positive,
    Range,
    Strict,
    Text,
    as_tuple,
    one_or_many,
)
from app.programs import model, tools
from checkers import doors
from checkers.doors import N_, AnyChecker, Phrase
from games import checker as of_games

# The checker of problems that are played.
GAME = "game"
STANDARD_CHECKERS = frozenset({"tokens", "exact", "floats", "lines", "unordered", "metric", GAME})
SUBMISSION_SECONDS = 120.0
LARGEST = 2**63 - 1  # what a database's integers hold
MOST_MEMORY = 2**20  # MiB
Count = Annotated[int, Field(ge=0, le=LARGEST)]
Points = Annotated[int, Field(ge=0, le=10**9)]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+$")]
GroupName = Annotated[str, StringConstraints(pattern=r"^secret(/[a-zA-Z0-9_][a-zA-Z0-9_.-]*)?$")]


class Scoring(Strict):
    """The scoring: how raw scores become points, and which way is better."""

    kind: Literal["absolute", "relative", "rank"]
    direction: Literal["maximise", "minimise"] = "maximise"


class Reference(Strict):
    """Options of reference runs: `seconds` for runs on demand, `steps` for reproducible data; memory in MiB.

    `solver` is the module of `solvers/`, where it is not the one that `solver_of` gives; `program` the place of the
    package's own solver, which needs no method.
    """

    method: Text | None = None
    solver: Slug | None = None
    program: Text | None = None
    seconds: Annotated[Number, Field(gt=0, le=3600)] = 10
    steps: Positive | None = None
    seed: Count = 1
    memory: Annotated[int, Field(gt=0, le=MOST_MEMORY)] = 1024


Share = Annotated[Number, Field(ge=0, le=100)]


RungPoints = Annotated[dict[Text, Range[Share]], Field(min_length=1)]


class ShortLadder(Strict):
    """The part of the ladder that a test can climb: its time limit, its cases, and points that differ on them."""

    seconds: Annotated[Number, Field(gt=0, le=60)]
    cases: Annotated[tuple[Text, ...], BeforeValidator(as_tuple), Field(min_length=1)]
    points: RungPoints | None = None


class Ladder(Strict):
    """The points of 100 that each method must earn, a number or [least, most], under limits for one case (s, MiB).

    `short` names a few cases whose points, each group scaled to its own maximum, lie in the same ranges or its own.
    """

    seconds: Annotated[Number, Field(gt=0, le=3600)]
    memory: Annotated[int, Field(gt=0, le=MOST_MEMORY)]
    points: RungPoints
    short: ShortLadder


class Answers(Strict):
    """Limits of an answer file: at most `limit` bytes, named by `pattern` if that is set.

    `{case}` is the place of the case's name; without it one file is the answer to all cases, such as predictions.csv.
    """

    limit: Annotated[int, Field(gt=0, le=256 * 2**20)] = 2**20
    pattern: Text | None = None

    @field_validator("pattern")
    @classmethod
    def _one_place(cls, pattern: str | None) -> str | None:
        if pattern is not None and (pattern.count("{case}") > 1 or "/" in pattern):
            raise ValueError("expected a file name, with `{case}` in it once where each case has its own file")
        return pattern


class Inputs(Strict):
    """Limits of an input: at most `limit` bytes."""

    limit: Annotated[int, Field(gt=0, le=256 * 2**20)] = 2**20


class Languages(Strict):
    """Languages beside those of the statements."""

    source: Language | None = None


class ProgramSettings(Strict):
    """How the package's own checker is asked, and what its numbers mean; defaults are those of its kind."""

    protocol: model.Protocol | None = None
    points: model.Meaning | None = None


class ValidatorSettings(Strict):
    """How the package's input validators are asked."""

    protocol: tools.ValidatorProtocol = "kattis"


class GameSettings(Strict):
    """A problem that is played against the judge: the name of its rules, and the contestant's time, in seconds."""

    name: Slug
    move_seconds: Annotated[int, Field(gt=0, le=86_400)] | None = None
    game_seconds: Annotated[int, Field(gt=0, le=86_400)] | None = None


class CaseList(Strict):
    """Test cases that come first in their groups, in this order, and points of single cases of groups with `sum`."""

    order: Annotated[tuple[Text, ...], BeforeValidator(as_tuple)] = ()
    points: dict[Text, Points] = Field(default_factory=dict)

    def document(self) -> CaseListDocument:
        """The list as rows keep it."""
        return {"order": list(self.order), "points": dict(self.points)}


class JuradoSettings(Strict):
    """Settings that the package format has no word for: jurado.yaml.

    A package with a checker of its own names none; read, it has `checker: program`. `submission_seconds` limits the
    time of graders that all cases of one submission may take together; None: `SUBMISSION_SECONDS`.
    """

    checker: Slug | Literal[""] = ""
    program: ProgramSettings | None = None
    input_validators: ValidatorSettings | None = None
    game: GameSettings | None = None
    scoring: Scoring
    reference: Reference | None = None
    ladder: Ladder | None = None
    answers: Answers = Answers()
    inputs: Inputs = Inputs()
    final: Annotated[tuple[GroupName, ...], BeforeValidator(as_tuple)] = ()
    testcases: CaseList | None = None
    languages: Languages = Languages()
    submission_seconds: Annotated[Number, Field(gt=0, le=3600)] | None = None

    def document(self) -> ProblemSettingsDocument:
        """The settings as rows keep them; those of a package's own checker have its sha256 beside them."""
        document = self.model_dump(mode="json")
        for name in ("program", "input_validators", "game", "testcases", "submission_seconds"):
            if document[name] is None:
                del document[name]
        if self.reference is not None and self.reference.program is None:
            del document["reference"]["program"]
        return cast(ProblemSettingsDocument, document)  # its keys are the fields

    @property
    def refuses_inputs(self) -> bool:
        """Whether the checker knows what an input must be; most standard ones take any."""
        return self.checker == GAME or self.checker not in {*STANDARD_CHECKERS, model.PROGRAM}


def solver_of(settings: ProblemSettingsDocument, problem_id: str) -> str:
    """The module of `solvers/` that makes a problem's expected answers, from its settings as they are stored.

    It is named like the checker that goes with it: a version of a problem has an id of its own, and the same programs.
    Standard checkers and those of packages go with no solver; there the problem's id is the solver's name.
    """
    named = (settings.get("reference") or {}).get("solver")
    checker = settings["checker"]
    return named or (problem_id if checker in {*STANDARD_CHECKERS, model.PROGRAM} else checker)


def _by_validator(value: object) -> object:
    """Write arguments of all validators out as those of `*`."""
    return {key: as_tuple(entry) for key, entry in (value if isinstance(value, dict) else {"*": value}).items()}


def _not_here(_value: object) -> object:
    raise ValueError(N_("not possible where answer files are submitted"))


# The value of a key that the format has for other types of problems.
Never = Annotated[None, BeforeValidator(_not_here)]
Arguments = Annotated[tuple[str, ...], BeforeValidator(as_tuple)]
ValidatorArguments = Annotated[dict[Text, tuple[str, ...]], BeforeValidator(_by_validator)]


class SharedSettings(Strict):
    """The keys of cases and groups; None means: as the folder above says."""

    input_validator_args: ValidatorArguments | None = None
    output_validator_args: Arguments | None = None
    input_visualizer_args: Arguments | None = None
    output_visualizer_args: Arguments | None = None
    full_feedback: bool | None = None
    description: str | None = None


class CaseSettings(SharedSettings):
    """NAME.yaml of a test case."""

    args: Never = None
    hint: str | None = None


class GroupSettings(SharedSettings):
    """test_group.yaml: how a group's cases are scored and which arguments they hand down; `description` is unused."""

    max_score: Points | None = None
    score_aggregation: Literal["pass-fail", "sum", "min"] | None = None
    static_validation_score: Never = None
    require_pass: Annotated[tuple[Text, ...], BeforeValidator(one_or_many)] = ()
    args: Arguments | None = None
    static_validator_args: Never = None


Verdicts = OneOrMore[Literal["AC", "WA", "TLE", "RTE"]]


class CaseDemands(Strict):
    """The demands of submissions.yaml on a submission, on some of the cases."""

    permitted: Verdicts | None = None
    required: Verdicts | None = None
    score: Range[Annotated[Number, Field(ge=0)]] | None = None
    message: str = ""
    use_for_time_limit: bool | Literal["lower", "upper"] | None = None


class Demands(CaseDemands):
    """The demands on a submission, its authors, and by globs of cases (`sample` or `secret` first) those on some."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, CaseDemands]

    language: Text | None = None
    entrypoint: Text | None = None
    authors: Persons | None = None
    model_solution: bool = False

    @model_validator(mode="after")
    def _cases(self) -> Self:
        for key in self.__pydantic_extra__ or {}:
            if key.partition("/")[0] not in ("sample", "secret"):
                raise ValueError(f"unknown key `{key}`")
        return self


class DemandsByGlob(RootModel[dict[str, Demands]]):
    """submissions.yaml."""

    model_config = ConfigDict(strict=True)


DEFAULTS: Mapping[str, Demands] = {
    "accepted": Demands(permitted=("AC",)),
    "rejected": Demands(required=("RTE", "TLE", "WA")),
    "wrong_answer": Demands(permitted=("AC", "WA"), required=("WA",)),
    "time_limit_exceeded": Demands(permitted=("AC", "TLE"), required=("TLE",)),
    "run_time_error": Demands(permitted=("AC", "RTE"), required=("RTE",)),
    "brute_force": Demands(permitted=("AC", "RTE", "TLE"), required=("RTE", "TLE")),
}

# Checkers that know more than the room `checkers` may: their arguments are none.
BESIDE: Mapping[str, ModuleType] = {GAME: of_games}


def open_checker(name: str, args: Sequence[str] = ()) -> AnyChecker:
    """Open a checker; raises ValueError where its arguments are not understood."""
    if name not in BESIDE:
        return doors.open_checker(name, args)
    if args:
        source = "checker %(name)s: expected %(expected)s, found %(found)s"
        raise ValueError(Phrase(source, name=name, expected="no arguments", found=list(args)))
    return cast(AnyChecker, BESIDE[name])
