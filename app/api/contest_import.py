"""A contest package brought in: read, held against what is here, graded, and kept as a whole or not at all.

Judgements, runs and the event feed are not read: they are made anew from what was sent. The board that comes of it is
held against the one in the package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace as with_other
from pathlib import Path
from typing import Annotated, Any, Literal

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse
from sqlalchemy.orm import Session

from app import passwords
from app.api import contest_versions
from app.api.contest_board import Comparison, compare
from app.api.contest_bodies import view
from app.api.contest_import_views import (
    BOARD,
    PRIVILEGED,
    PROBLEMS,
    ImportedView,
    Options,
    another_board,
    imported_view,
)
from app.api.contest_parcel import Bounds, Contents, read_parcel
from app.api.contest_rows import Importer
from app.api.contest_submissions import Found, grade_all
from app.api.contest_versions import Version, Wanted
from app.api.deps import AFTER_COMMIT, AdminOnly, TheAuthenticator, TheService
from app.api.downloads import UPLOADED_ZIP
from app.api.errors import BadRequest, Unavailable, UnsupportedMedia
from app.api.fault_list import FaultList
from app.api.gated import GatedRoute
from app.api.middleware import API
from app.api.uploads import body_file
from app.grading.apart import READER
from app.grading.questions import JudgeFailed
from app.packages.errors import PackageErrors
from app.service import Service
from app.settings import Settings
from app.storage.tentative import TentativeFiles

router = APIRouter(route_class=GatedRoute, tags=["contests"])
ZIPS = frozenset({"application/zip", "application/x-zip-compressed", "application/octet-stream"})
SECONDS_UNTIL_BACK = 10


@router.post(
    "/contests/import",
    status_code=201,
    response_model=ImportedView,
    summary="Bring in a contest package",
    openapi_extra={"requestBody": {"required": True, "content": UPLOADED_ZIP}},
)
async def import_contest(
    request: Request,
    viewer: AdminOnly,
    service: TheService,
    authenticator: TheAuthenticator,
    id: Annotated[str | None, Query(description="the contest's id here, in place of its own")] = None,
    replace: Annotated[bool, Query(description="replace groups, teams and so on that are there already")] = False,
    submissions: Annotated[bool, Query(description="also what was submitted; it is judged again here")] = True,
    problems: Annotated[Wanted, Query(description=PROBLEMS)] = "version",
    board: Annotated[Literal["equal", "any"], Query(description=BOARD)] = "equal",
    privileged: Annotated[list[str] | None, Query(description=PRIVILEGED)] = None,
) -> Response:
    """A zip of a contest package, its files in JSON or YAML. All faults are listed at once; nothing is half stored."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ZIPS:
        raise UnsupportedMedia(f"Content-Type: expected application/zip, found {kind[:80] or 'none'}")
    options = Options(id, str(viewer.account_id), replace, problems, board == "any", frozenset(privileged or ()))
    async with body_file(request, service.settings.max_upload) as path:
        contents = await run_sync(_read, path, service.settings, submissions)
    made = await run_sync(_bring_in, service, contents, options)
    authenticator.forget()
    return JSONResponse(made, 201, {"Location": f"{API}/contests/{made['id']}"})


def _read(path: Path, settings: Settings, with_submissions: bool) -> Contents:
    bounds = Bounds(settings.max_import_document, settings.max_import_objects)
    arguments = (path.resolve(), settings.max_import_files, bounds, with_submissions)
    try:
        contents = READER.read(read_parcel, arguments, settings.package_read_seconds, [path])
    except PackageErrors as found:
        faults = FaultList()
        faults.extend(error.as_data() for error in found.errors)
        raise _refusal(faults) from None
    if contents.faults:
        raise _refusal(contents.faults)
    return contents


def _bring_in(service: Service, contents: Contents, options: Options) -> dict[str, Any]:
    with TentativeFiles(service.files) as files:
        return _keep(with_other(service, files=files), files, contents, options)


def _keep(service: Service, files: TentativeFiles, contents: Contents, options: Options) -> dict[str, Any]:
    chosen, faults = contest_versions.choose(service, contents, options.problems)
    contents.rename_problems({version.package_id: version.id for version in chosen.values()})
    graded: dict[str, Found] | None = None
    if not faults:  # else nothing is kept, and the rest is only looked at for more faults
        contest_versions.keep_files(service, chosen)
        graded = _graded(service, contents, chosen, faults)
    hashes = {} if faults else _hashes(contents)  # before the transaction: 20,000 passwords take minutes
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
            contest_versions.put(session, chosen, faults)
        row = importer.keep(options.contest_id)
        faults.join(importer.faults)
        if faults:
            raise _refusal(faults)  # which rolls everything back
        numbers = {id_: submitted.number for id_, submitted in importer.submitted.items()}
        missing = [version.package_id for version in chosen.values() if version.how == "here"]
        compared = _compared(session, row.id, contents, numbers, missing=missing, any_board=options.any_board)
        made = imported_view(view(row), chosen.values(), compared, len(numbers)).model_dump(mode="json")
        calls = session.info.pop(AFTER_COMMIT, [])
        files.settle()
    for call in calls:
        call()
    return made


def _graded(service: Service, contents: Contents, chosen: Mapping[str, Version], faults: FaultList) -> dict[str, Found]:
    try:
        return grade_all(service, contents, chosen, faults)
    except JudgeFailed as failed:
        raise Unavailable(f"the submissions could not be judged: {failed}", SECONDS_UNTIL_BACK) from None


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
    given = {each["id"]: each.get("password") for each in contents.objects["accounts"]}
    given = {id_: password for id_, password in given.items() if isinstance(password, str)}
    return dict(zip(given, passwords.hash_all(list(given.values())), strict=True))


def _refusal(faults: FaultList) -> BadRequest:
    first = faults.first[0]
    said = first.get("message") or f"expected {first.get('expected')}, found {first.get('found')}"
    place = ", ".join(part for part in (first.get("file"), first.get("where")) if part)
    place = f"{place}: " if place else ""
    more = f"; listed are the first {len(faults.first)}, and there are {faults.more} more" if faults.more else ""
    number = "a fault" if faults.count == 1 else f"{faults.count} faults"
    return BadRequest(f"the contest package has {number}: {place}{said}{more}", errors=faults.first)
