"""The problems of a contest package compared with those of this server: used, brought in, or refused.

A problem that is here and equal is used. One that is not here is brought in, checked as any upload. One that is here
and different is brought in under a free id of its own, which only this contest uses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as with_other
from itertools import count
from pathlib import Path
from typing import Literal

from sqlalchemy.orm import Session

from app.archive.service.package_files import Contents
from app.authoring.service.packages import check_package, limits_of
from app.core.faults import FaultList, PackageError, PackageErrors, Steps, of_severity
from app.core.files.files import OnlyHashes
from app.core.json_documents import ProblemDocument
from app.core.messages import N_, Message
from app.core.service import Service
from app.domain.documents import FoundScore
from app.packages import contents as package_contents
from app.packages import files, model
from app.packages.arrivals import Arrival, read_member
from app.problems.queries import problem_diff, problems, versions
from app.programs.apart import READER
from app.tables import ProblemRow

How = Literal["equal", "new", "version", "here"]
# Differences of one problem that a reply lists.
MOST_TOLD = 20


@dataclass
class Version:
    """A problem of the package, and the problem here that stands for it.

    package_id  its id in the package; `id` the one it has here
    how         equal: it was here; new: it was not; version: another one of its id is here, so that it got another id;
                here: what is here is used unseen, as the package does not carry it
    document    what the submissions are judged by
    pin         the earlier version of the problem here that it is; None: the newest, whose `number` that was
    package     what is to be stored, with the rules it breaks and the scores of its expected answers
    """

    package_id: str
    id: str
    how: How
    document: ProblemDocument
    package: model.Package | None = None
    broken: Sequence[PackageError] = ()
    scores: Mapping[str, FoundScore] = field(default_factory=dict)
    differences: Sequence[versions.Difference] = ()
    stored: problems.KeptPackage | None = None
    pin: int | None = None
    number: int | None = None


def choose(service: Service, contents: Contents, folder: Path, steps: Steps) -> tuple[dict[str, Version], FaultList]:
    """Choose the problem that stands for each one of the package, by its id there; also returns the faults.

    Nothing is stored yet; their files are in `folder`. Every problem with a fault is left out. All packages together
    may have so many bytes and files: each could be a bomb.
    """
    faults = FaultList()
    settings = service.settings
    limits = with_other(limits_of(settings), files=settings.max_import_files)
    chosen: dict[str, Version] = {}
    with service.database.read() as session:
        for number, problem_id in enumerate(contents.problem_ids):
            archive, arrival = contents.package_of(problem_id, folder / f"{number}.zip"), None
            if archive is not None:
                arguments = (archive, problem_id, limits, archive.with_suffix(".files"))
                try:
                    arrival = READER.read(read_member, arguments, settings.package_read_seconds, [archive], folder)
                except PackageErrors as wrong:
                    _note(faults, problem_id, wrong)
                    continue
                files_of = arrival.package.files
                left = limits.total - package_contents.total_size(files_of), limits.files - len(files_of)
                limits = with_other(limits, total=left[0], files=left[1])
            version = _choose(session, contents, problem_id, arrival, faults)
            if version is not None:
                chosen[problem_id] = version
    for version in chosen.values():
        if version.package is None:
            continue
        try:
            version.scores = check_package(service, Arrival(version.package, tuple(version.broken)), steps).scores
        except PackageErrors as wrong:
            _note(faults, version.package_id, wrong)
    return chosen, faults


def _choose(
    session: Session, contents: Contents, problem_id: str, arrival: Arrival | None, faults: FaultList
) -> Version | None:
    row = session.get(ProblemRow, problem_id)
    if arrival is None and row is not None:
        return Version(problem_id, problem_id, "here", problem_diff.document(session, problem_id), number=row.version)
    if arrival is None:
        expected = Message(N_("a problem that is here already, or its package %(path)s"), path=_path(problem_id))
        faults.add("problems", problem_id, expected, Message(N_("neither")))
        return None
    document = _document(arrival.package)
    if row is None:
        return Version(problem_id, problem_id, "new", document, arrival.package, arrival.broken)
    current = problem_diff.document(session, problem_id)
    differences = versions.differences(document, current)
    if not differences:
        return Version(problem_id, problem_id, "equal", current, number=row.version)
    for each in versions.versions(session, problem_id)[1:]:
        known = problem_diff.of_version(session, problem_id, each.number)
        if not versions.differences(document, known):
            return Version(problem_id, problem_id, "equal", known, pin=each.number)
    # The first id `echo2`, `echo3`... that is free, or has this very version already.
    for number in count(2):
        id_ = f"{problem_id[: files.LONGEST_ID - len(str(number))]}{number}"
        if id_ in contents.problem_ids:
            continue
        if (other := session.get(ProblemRow, id_)) is None:
            package = with_other(arrival.package, slug=id_)
            return Version(problem_id, id_, "version", _document(package), package, arrival.broken, {}, differences)
        current = problem_diff.document(session, id_)
        if not versions.differences(document, current):
            return Version(problem_id, id_, "version", current, differences=differences, number=other.version)
    raise AssertionError("numbers do not end")


def _document(package: model.Package) -> ProblemDocument:
    return versions.package_document(problems.keep_package(OnlyHashes(), package, archive=False))


def keep_files(service: Service, chosen: dict[str, Version], steps: Steps) -> None:
    """Store the files of what is brought in: graders read them, and no row points to them yet."""
    for version in chosen.values():
        if version.package is not None:
            version.stored = problems.keep_package(service.files, version.package, steps=steps)


def put(session: Session, chosen: dict[str, Version], faults: FaultList) -> None:
    """Write the problems that are brought in; those that are used must be as they were when they were compared."""
    for version in chosen.values():
        row = session.get(ProblemRow, version.id)
        if version.stored is not None and row is None:
            problems.put_package(session, version.stored, version.scores)
        elif row is None or (version.pin is None and row.version != version.number):
            expected = "the problem as it was when the package was read"
            faults.add(f"problem {version.id}", "", expected, "another version")


def _path(problem_id: str) -> str:
    return f"problems/{problem_id}/{problem_id}.zip"


def _note(faults: FaultList, problem_id: str, wrong: PackageErrors) -> None:
    for error in of_severity(wrong.errors, "error"):
        faults.note({**error.as_data(), "file": f"{_path(problem_id)}: {error.file}"})
