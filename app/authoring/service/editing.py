"""A problem edited in place: a save puts files into its package and imports that, as an upload does.

- New problems, made of the skeletons of packages; and an answer tried against a test case, without a submission.
"""

import shutil
from collections.abc import Mapping
from tempfile import TemporaryFile

from pydantic import BaseModel, Field

from app.accounts.service.viewer import Viewer
from app.authoring.service import packages, versions
from app.core import bodies, messages
from app.core.clics import number
from app.core.files.temporary import PACKAGE_PREFIX, locked_folder
from app.core.messages import N_
from app.core.service import Service
from app.domain.counting import CaseVerdict
from app.judging.service.engine import JudgeFailed
from app.judging.service.messages import Validate
from app.judging.service.problem_changes import How
from app.packages import contents, files, zips
from app.packages.skeletons.choices import FITTING, CheckerKind, Choices, Scoring, faults_of
from app.packages.skeletons.writing import TEMPLATES, skeleton
from app.problems.queries import packing, problems
from app.tables import ProblemRow

# The only case of a problem without an example, its expected answer, and the sample answer that must pass.
OUTLINE = ("data/secret/01.in", "data/secret/01.ans", "submissions/accepted/reference/01.out")
# What C++ checkers include, and the small one that new packages bring.
TESTLIB = "include/testlib.h"
# Bytes of a file that is read of a package: a text to be edited, or an image.
LARGEST_READ = 2**20
# The files to put by path (None deletes one), and what to set in YAML files by path (None deletes a key).
Edit = tuple[Mapping[str, bytes | None], Mapping[str, Mapping[str, object]]]
# Options of the command that have another name here.
NAMED = {"language": "languages"}
AN_ID = messages.Message(N_("lowercase letters and digits, at most %(most)s"), most=files.LONGEST_ID)


class NewProblem(bodies.Body):
    """A problem to be created: its id, its title, and what it begins with."""

    id: str = Field(pattern=messages.describe_pattern(f"^{files.SLUG.pattern}$", AN_ID))
    title: bodies.Line
    languages: list[str] = Field(["en"], min_length=1, max_length=20, description="of the statement, such as es")
    scoring: Scoring = "points"
    checker: CheckerKind | None = Field(None, description="default: the first that fits the scoring")
    empty: bool = Field(False, description="an outline with one case, without an example problem")


class TrialRequest(bodies.Body):
    """An answer to try against a test case."""

    testcase: bodies.Line
    answer: str


class Trial(BaseModel):
    """The outcome of an answer that was tried: its raw score and, if the checker gives one, its share of the points."""

    verdict: CaseVerdict
    message: str
    raw_score: int | float | None = None
    share: int | float | None = None


def create(service: Service, viewer: Viewer, asked: NewProblem) -> packages.BroughtIn:
    """Create a problem as a small package that verifies; raises BadRequest, or Conflict if the id is taken."""
    checker = asked.checker or FITTING[asked.scoring][0]
    choices = Choices(asked.title, asked.scoring, checker, tuple(asked.languages), asked.empty)
    pairs = [each.removeprefix("--").partition(": ") for each in faults_of(choices)]
    if faults := [{"where": NAMED.get(where, where), "message": text} for where, _, text in pairs]:
        raise messages.BadRequest(messages.all_in_words(faults, len(faults)), errors=faults)
    with service.database.read() as session:
        if session.get(ProblemRow, asked.id) is not None:
            raise messages.Conflict(N_("a problem with this id exists"), where="id")
    case = dict.fromkeys(OUTLINE, b"id,value\n1,1\n" if checker == "metric" else b"1\n") if asked.empty else {}
    created = _import(service, viewer, asked.id, {**skeleton(asked.id, choices), **case}, How())
    assert isinstance(created, packages.BroughtIn), "nobody has submitted to it"
    return created


def edit(service: Service, viewer: Viewer, problem_id: str, change: Edit, how: How) -> packages.Imported:
    """Make a new version of the newest package; raises BadRequest with every fault, or Conflict."""
    changed, keys = change
    with locked_folder(PACKAGE_PREFIX) as folder:
        with service.database.read() as session:
            constants = problems.existing(session, problem_id).metadata_.get("constants", {})
            packed = versions.package_zip(service, session, problem_id)
        with packed, (folder / "package.zip").open("wb") as target:
            shutil.copyfileobj(packed, target)
        _, before = files.archive_files(folder / "package.zip", files.LARGEST, spool=folder / "files")
        # Inputs without an expected answer are cases again, so that the import asks for their answers.
        stored: dict[str, contents.Content | None] = {
            name.replace(packing.UNANSWERED, "data", 1): contents.File(name, before) for name in before
        }
        after = {name: content for name, content in {**stored, **changed}.items() if content is not None}
        if any(name.endswith(".cpp") for name in changed):
            after.setdefault(TESTLIB, (TEMPLATES / "common" / TESTLIB).read_bytes())
        for name, values in keys.items():
            known = packing.read_map(contents.bytes_of(after.get(name, b"")), constants)
            wanted = {key: value for key, value in {**known, **values}.items() if value is not None}
            packing.write_map(after, name, known, wanted)
        return _import(service, viewer, problem_id, after, how)


def _import(
    service: Service, viewer: Viewer, slug: str, package: Mapping[str, contents.Content], how: How
) -> packages.Imported:
    with locked_folder(PACKAGE_PREFIX) as folder:
        with (folder / "package.zip").open("wb") as target:
            below = {f"{slug}/{name}": content for name, content in package.items()}
            zips.write_files(target, contents.ComposedFiles(below))
        return packages.bring_in(service, viewer, packages.SentPackage(folder / "package.zip", slug), how)


def read_files(service: Service, problem: ProblemRow, place: str) -> dict[str, bytes]:
    """Return the files of the problem's package whose paths begin so, except those too large to edit."""
    matching = {}
    with TemporaryFile() as archive:
        archive.writelines(service.files.pieces(problem.package_sha256))
        archive.seek(0)
        with zips.open_zip(archive) as opened:
            for entry in opened.infolist():
                name = entry.filename.partition("/")[2]
                if name.startswith(place) and entry.file_size <= LARGEST_READ:
                    # One byte more than the limit: only reading to the end checks the CRC.
                    matching[name] = zips.inflate(opened, entry, LARGEST_READ + 1, lambda _: None)
    return matching


def try_answer(service: Service, problem_id: str, asked: TrialRequest) -> Trial:
    """Let the checker score an answer to a test case; nothing is stored. Raises NotFound."""
    with service.database.read() as session:
        problem, case = problems.existing(session, problem_id), problems.test_case(session, problem_id, asked.testcase)
    if case is None:
        message = N_("problem %(problem)r has no test case %(case)r")
        raise messages.NotFound(message, problem=problem_id, case=asked.testcase)
    question = Validate(
        problem.settings["checker"],
        service.files.load(case.input_sha256),
        case.checker_args or (),
        answer=asked.answer.encode(),
        reference=b"" if case.answer_sha256 is None else service.files.load(case.answer_sha256),
        program=problem.settings.get("program"),
        case_name=case.name,
        points=(case.points_num, case.points_den),
    )
    try:
        validated = service.engine.validate(question).result()
    except JudgeFailed as failed:
        return Trial(verdict=CaseVerdict.JUDGE_ERROR, message=str(failed))
    for fault in validated.faults:
        verdict = CaseVerdict.JUDGE_ERROR if fault["file"] == "input" else CaseVerdict.REJECTED
        return Trial(verdict=verdict, message=str(fault["text"]))
    score = validated.score
    assert score is not None, "an answer without a fault has a score"
    shown = {"raw_score": number(score.raw), "share": number(score.multiplier)}
    return Trial(verdict=score.verdict, message=score.message["text"], **shown)
