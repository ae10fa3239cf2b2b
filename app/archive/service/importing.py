"""A contest package brought in: read, held against what is here, graded, and kept as a whole or not at all.

Judgements, runs and the event feed are not read: they are made anew from what was sent. The board that comes of it is
held against the one in the package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from dataclasses import replace as with_other
from pathlib import Path

from sqlalchemy.orm import Session

from app.archive.service import versions
from app.archive.service.board import Comparison, compare
from app.archive.service.package_files import Bounds, Contents, read_parcel
from app.archive.service.rows import Importer
from app.archive.service.submissions import Trials, grade_all
from app.archive.service.versions import Version
from app.archive.service.views import Options, another_board, imported_view
from app.authoring.service.packages import SPOOL, limits_of
from app.contests.service.contests import view
from app.core import passwords
from app.core.clics import JsonObject
from app.core.db import notices
from app.core.db.notices import Kind
from app.core.errors import SECONDS_UNTIL_BACK, BadRequest, Unavailable, in_words
from app.core.fault_list import FaultList
from app.core.faults import PackageErrors
from app.core.files.temporary import PACKAGE_PREFIX, locked_folder
from app.core.files.tentative import TentativeFiles
from app.core.messages import N_
from app.core.service import Service
from app.core.settings import Settings
from app.core.steps import SILENT, Steps
from app.core.transactions import run_after_commit
from app.judging.service.apart import READER
from app.judging.service.questions import JudgeFailed


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


def bring_in(service: Service, contents: Contents, options: Options, steps: Steps = SILENT) -> JsonObject:
    """Store a contest package as a whole or not at all; returns what the import answers."""
    with TentativeFiles(service.files) as files, locked_folder(PACKAGE_PREFIX) as folder:
        return _keep(with_other(service, files=files), files, contents, folder, options, steps)


def _keep(
    service: Service, files: TentativeFiles, contents: Contents, folder: Path, options: Options, steps: Steps
) -> JsonObject:
    chosen, faults = versions.choose(service, contents, folder, options.problems, steps)
    contents.rename_problems({version.package_id: version.id for version in chosen.values()})
    graded: dict[str, Trials] | None = None
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
        service.entries.usage.forget(row.id)
        notices.tell(session, Kind.IMPORTED, row.id)
        faults.join(importer.faults)
        if faults:
            raise _refusal(faults)  # which rolls everything back
        numbers = {id_: submitted.number for id_, submitted in importer.submitted.items()}
        missing = [version.package_id for version in chosen.values() if version.how == "here"]
        compared = _compared(session, row.id, contents, numbers, missing=missing, any_board=options.any_board)
        made = imported_view(view(row), chosen.values(), compared, len(numbers), importer.roles).model_dump(mode="json")
        files.settle()
    run_after_commit(session)
    return made


def _graded(
    service: Service, contents: Contents, chosen: Mapping[str, Version], faults: FaultList, steps: Steps
) -> dict[str, Trials]:
    try:
        return grade_all(service, contents, chosen, faults, steps)
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
) -> Comparison | None:
    """Hold the boards against each other; None where the package has none, or came without its submissions."""
    if contents.board is None:
        return None
    session.flush()
    compared = compare(session, contest_id, contents, numbers)
    if compared.differences and not any_board:
        raise another_board(compared.differences, missing)
    return compared


def _hashes(contents: Contents) -> dict[str, str | None]:
    """The hashed passwords of the accounts that bring one, by the accounts' ids."""
    accounts = contents.objects["accounts"]
    given = {each["id"]: password for each in accounts if isinstance(password := each.get("password"), str)}
    return dict(zip(given, passwords.hash_all(list(given.values())), strict=True))


def _refusal(faults: FaultList) -> BadRequest:
    first = faults.first[0]
    place = ", ".join(str(part) for part in (first.get("file"), first.get("where")) if part)
    shown = in_words({**first, "where": place})
    if faults.count == 1:
        return BadRequest(N_("the contest package has a fault: %(fault)s"), fault=shown, errors=faults.first)
    more = N_(
        "the contest package has %(count)s faults: %(fault)s; listed are the first %(listed)s, and there are %(more)s "
        "more"
    )
    return BadRequest(
        more if faults.more else N_("the contest package has %(count)s faults: %(fault)s"),
        count=faults.count,
        fault=shown,
        listed=len(faults.first),
        more=faults.more,
        errors=faults.first,
    )
