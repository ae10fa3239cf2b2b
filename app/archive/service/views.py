"""Options of an import, and its reply: the contest, its problems one by one, and the boards compared.

- A contest package brought in: read, held against what is here, graded, and kept as a whole or not at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.archive.service import own, submissions, versions
from app.archive.service.board import ImportedBoard, PackageDifference, compare
from app.archive.service.package_files import Bounds, Contents, read_parcel
from app.archive.service.rows import Importer
from app.authoring.service.packages import SPOOL, limits_of
from app.contests.schemas import ContestView
from app.contests.service.contests import view
from app.core import clics, passwords
from app.core.db.database import run_after_commit
from app.core.faults import SILENT, FaultList, PackageErrors, Steps
from app.core.files.temporary import PACKAGE_PREFIX, locked_folder
from app.core.messages import N_, SECONDS_UNTIL_BACK, BadRequest, Conflict, Unavailable, all_in_words, in_words
from app.core.service import Service
from app.core.settings import Settings
from app.judging.service.questions import JudgeFailed
from app.programs.apart import READER

PRIVILEGED = "ids of accounts of admins and judges that may be brought in, or replaced: without it none are"
BOARD = "`equal` refuses the package where its board comes out different here; `any` keeps it and lists the differences"
MOST_IN_WORDS = 3


@dataclass(frozen=True, slots=True)
class Options:
    """The options of an import, and the account that asks for it."""

    contest_id: str | None
    account_id: str
    replace: bool
    any_board: bool
    privileged: frozenset[str] = frozenset()


class ImportedProblem(BaseModel):
    """The problem here that stands for one of the package.

    how: `equal` it was here; `new` it was brought in; `version` it was brought in beside another one of its id, or was
    so before; `here` the package has none, and what is here is used. `differences` are those from the other one.
    """

    package_id: str
    id: str
    how: Literal["equal", "new", "version", "here"]
    test_cases: int
    differences: list[PackageDifference]
    more_differences: int = 0


class Imported(BaseModel):
    """The result of an import; `board` is missing where the package has none, or came without its submissions."""

    submissions: int
    roles: list[own.ImportedRole]
    problems: list[ImportedProblem]
    board: ImportedBoard | None


class ImportedView(ContestView):
    """The contest that was brought in, and what that took."""

    imported: Imported


def _problem(version: versions.Version) -> ImportedProblem:
    cases = [case for case in version.document["cases"].values() if case["answer_sha256"] is not None]
    listed = [PackageDifference(**each._asdict()) for each in version.differences[: versions.MOST_TOLD]]
    return ImportedProblem(
        package_id=version.package_id,
        id=version.id,
        how=version.how,
        test_cases=len(cases),
        differences=listed,
        more_differences=len(version.differences) - len(listed),
    )


def another_board(differences: FaultList, missing: Sequence[str]) -> Conflict:
    """The refusal of a package whose board comes out different; `missing`: problems that it does not carry."""
    listed = all_in_words(differences.first, min(len(differences.first), MOST_IN_WORDS))
    message = N_(
        "the board would not be the package's (differences: %(count)s): %(listed)s; nothing has been stored "
        "(board=any brings the contest in nevertheless)"
    )
    if missing:
        message = N_(
            "the board would not be the package's (differences: %(count)s): %(listed)s; the package does not carry "
            "%(missing)s, and what is here under these ids was used; nothing has been stored (board=any brings the "
            "contest in nevertheless)"
        )
    return Conflict(
        message, count=differences.count, listed=listed, missing=", ".join(missing), errors=differences.first
    )


def read(path: Path, settings: Settings, with_submissions: bool) -> Contents:
    """Read a contest package from a zip in a folder of its own, in which its files then lie.

    Raises the list of all its faults.
    """
    bounds = Bounds(settings.max_import_document, settings.max_import_objects)
    limits = limits_of(settings)
    limits = replace(limits, files=settings.max_import_files, nested=limits.archive)
    place = path.resolve()
    arguments = (place, limits, bounds, with_submissions, place.parent / SPOOL)
    try:
        contents = READER.read(read_parcel, arguments, settings.package_read_seconds, [place], place.parent)
    except PackageErrors as refused:
        faults = FaultList()
        faults.extend(error.as_data() for error in refused.errors)
        raise _refusal(faults) from None
    if contents.faults:
        raise _refusal(contents.faults)
    return contents


def bring_in(service: Service, contents: Contents, options: Options, steps: Steps = SILENT) -> clics.JsonObject:
    """Store a contest package as a whole or not at all; returns what the import answers."""
    with locked_folder(PACKAGE_PREFIX) as folder:
        return _keep(service, contents, folder, options, steps)


def _keep(service: Service, contents: Contents, folder: Path, options: Options, steps: Steps) -> clics.JsonObject:
    chosen, faults = versions.choose(service, contents, folder, steps)
    contents.rename_problems({version.package_id: version.id for version in chosen.values()})
    graded: dict[str, submissions.Trials] | None = None
    if not faults:  # else nothing is kept, and the rest is only looked at for more faults
        versions.keep_files(service, chosen, steps)
        graded = _graded(service, contents, chosen, faults, steps)
    hashes = {} if faults else _hashes(contents)  # before the transaction: 20,000 passwords take minutes
    steps.begin("writing")
    with service.database.write() as session:
        importer = Importer(
            session,
            service,
            contents,
            options.account_id,
            hashes,
            chosen,
            graded,
            replace=options.replace,
            privileged=options.privileged,
        )
        if not faults:
            versions.put(session, chosen, faults)
        row = importer.keep(options.contest_id)
        faults.join(importer.faults)
        if faults:
            raise _refusal(faults)  # which rolls everything back
        numbers = {id_: submitted.number for id_, submitted in importer.submitted.items()}
        missing = [version.package_id for version in chosen.values() if version.how == "here"]
        compared = _compared(session, row.id, contents, numbers, missing=missing, any_board=options.any_board)
        problems = [_problem(version) for version in chosen.values()]
        imported = Imported(submissions=len(numbers), roles=importer.roles, problems=problems, board=compared)
        made = ImportedView(**dict(view(row)), imported=imported).model_dump(mode="json")
    run_after_commit(session)
    return made


def _graded(
    service: Service, contents: Contents, chosen: Mapping[str, versions.Version], faults: FaultList, steps: Steps
) -> dict[str, submissions.Trials]:
    try:
        return submissions.grade_all(service, contents, chosen, faults, steps)
    except JudgeFailed as failed:
        raise Unavailable(
            N_("the submissions could not be judged: %(failed)s"), SECONDS_UNTIL_BACK, failed=failed
        ) from None


def _compared(
    session: Session,
    contest_id: str,
    contents: Contents,
    numbers: Mapping[str, int],
    *,
    missing: Sequence[str],
    any_board: bool,
) -> ImportedBoard | None:
    """Hold the boards against each other; None where the package has none, or came without its submissions."""
    if contents.board is None:
        return None
    session.flush()
    compared, differences = compare(session, contest_id, contents, numbers)
    if differences and not any_board:
        raise another_board(differences, missing)
    return compared


def _hashes(contents: Contents) -> Mapping[str, str]:
    """The hashed passwords of the accounts that bring one, by the accounts' ids."""
    accounts = contents.objects["accounts"]
    given = ((each["id"], each.get("password")) for each in accounts)
    return passwords.hash_all({id_: password for id_, password in given if isinstance(password, str) and password})


def _refusal(faults: FaultList) -> BadRequest:
    first = faults.first[0]
    place = ", ".join(str(part) for part in (first.get("file"), first.get("where")) if part)
    message = N_("the contest package has %(count)s faults: %(fault)s")
    if faults.count == 1:
        message = N_("the contest package has a fault: %(fault)s")
    elif faults.more:
        message = N_(
            "the contest package has %(count)s faults: %(fault)s; listed are the first %(listed)s, and there are "
            "%(more)s more"
        )
    return BadRequest(
        message,
        count=faults.count,
        fault=in_words({**first, "where": place}),
        listed=len(faults.first),
        more=faults.more,
        errors=faults.first,
    )
