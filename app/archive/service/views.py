"""A contest package brought in: read, compared with what is here, and kept as a whole or not at all.

The reply has the contest, and its problems one by one.
"""

from collections.abc import Mapping
from dataclasses import replace as with_other
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from app.archive.service import versions
from app.archive.service.package_files import Contents, read_parcel
from app.archive.service.rows import Importer
from app.authoring.service.packages import SPOOL, limits_of
from app.contests.schemas import ContestView
from app.contests.service.contests import view
from app.core import clics, passwords
from app.core.db.database import run_after_commit
from app.core.faults import SILENT, FaultList, PackageErrors, Steps
from app.core.files.temporary import PACKAGE_PREFIX, locked_folder
from app.core.messages import N_, BadRequest, in_words
from app.core.service import Service
from app.core.settings import Settings
from app.problems.queries.versions import Difference
from app.programs.apart import READER


class ImportedProblem(BaseModel):
    """The problem here that stands for one of the package.

    how: `equal` it was here; `new` it was imported; `version` it was imported next to another one of its id, now or
    earlier; `here` the package has none, and what is here is used. `differences` are those from the package's problem
    (`before`) to the one of that id here (`after`).
    """

    package_id: str
    id: str
    how: Literal["equal", "new", "version", "here"]
    test_cases: int
    differences: list[Difference]
    more_differences: int = 0


class Imported(BaseModel):
    """The result of an import; its submissions are judged from now on."""

    submissions: int
    problems: list[ImportedProblem]


class ImportedView(ContestView):
    """The imported contest, and what the import did."""

    imported: Imported


def _problem(version: versions.Version) -> ImportedProblem:
    return ImportedProblem(
        package_id=version.package_id,
        id=version.id,
        how=version.how,
        test_cases=sum(case["answer_sha256"] is not None for case in version.document["cases"].values()),
        differences=list(version.differences[: versions.MOST_TOLD]),
        more_differences=max(0, len(version.differences) - versions.MOST_TOLD),
    )


def read(path: Path, settings: Settings, with_submissions: bool) -> Contents:
    """Read a contest package from a zip in a folder of its own, in which its files then lie.

    Raises the list of all its faults.
    """
    bounds = settings.max_import_document, settings.max_import_objects
    limits = limits_of(settings)
    limits = with_other(limits, files=settings.max_import_files, nested=limits.archive)
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


def bring_in(
    service: Service,
    contents: Contents,
    account_id: str,
    *,
    contest_id: str | None = None,
    replace: bool = False,
    steps: Steps = SILENT,
) -> clics.JsonObject:
    """Store a contest package as a whole or not at all; returns what the import answers.

    `contest_id`: the contest's id here, in place of its own; `replace` teams and so on that are there already.
    """
    with locked_folder(PACKAGE_PREFIX) as folder:
        chosen, faults = versions.choose(service, contents, folder, steps)
        contents.rename_problems({version.package_id: version.id for version in chosen.values()})
        hashes: Mapping[str, str] = {}
        if not faults:  # else nothing is kept, and the rest is only looked at for more faults
            versions.keep_files(service, chosen, steps)
            hashes = _hashes(contents)  # before the transaction: 20,000 passwords take minutes
        steps.begin("writing")
        with service.database.write() as session:
            if not faults:
                versions.put(session, chosen, faults)
            importer = Importer(session, service, contents, account_id, hashes, chosen, faults, replace)
            row = importer.keep(contest_id)
            if faults:
                raise _refusal(faults)  # which rolls everything back
            problems = [_problem(version) for version in chosen.values()]
            imported = Imported(submissions=len(importer.submitted), problems=problems)
            made = ImportedView(**dict(view(row)), imported=imported).model_dump(mode="json")
        run_after_commit(session)
    return made


def _hashes(contents: Contents) -> Mapping[str, str]:
    """The hashed passwords of the accounts that bring one, by the accounts' ids."""
    accounts = contents.objects["accounts"]
    given = ((each["id"], each.get("password")) for each in accounts)
    return passwords.hash_all({id_: password for id_, password in given if isinstance(password, str) and password})


def _refusal(faults: FaultList) -> BadRequest:
    first = faults.first[0]
    place = ", ".join(str(part) for part in (first.get("file"), first.get("where")) if part)
    several, single = (
        N_("the contest package has %(count)s faults: %(fault)s"),
        N_("the contest package has a fault: %(fault)s"),
    )
    return BadRequest(
        single if faults.count == 1 else several,
        count=faults.count,
        fault=in_words({**first, "where": place}),
        errors=faults.first,
    )
