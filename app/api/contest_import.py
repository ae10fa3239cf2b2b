"""A contest package brought in: read, held against what is here, and kept as a whole or not at all.

Judgements, runs, the board and the event feed are not read: they are made anew from what was sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace as with_other
from pathlib import Path
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from app import passwords
from app.api.contest_bodies import ContestView, view
from app.api.contest_parcel import Bounds, Contents, read_contents
from app.api.contest_rows import Importer
from app.api.deps import AFTER_COMMIT, AdminOnly, TheAuthenticator, TheService
from app.api.errors import BadRequest, UnsupportedMedia
from app.api.fault_list import FaultList
from app.api.middleware import API
from app.api.packages import check_package
from app.api.uploads import body_file
from app.packages.errors import PackageError, PackageErrors, errors_of
from app.packages.files import LIMITS, archive_files
from app.packages.model import Package
from app.packages.read import assemble
from app.service import Service
from app.settings import Settings
from app.storage import problems

router = APIRouter(tags=["contests"])
ZIPS = frozenset({"application/zip", "application/x-zip-compressed", "application/octet-stream"})
UNREAD = frozenset({"judgements.json", "runs.json", "scoreboard.json", "event-feed.ndjson"})
"""What is made anew. In a large contest it is most of the package."""


@router.post(
    "/contests/import",
    status_code=201,
    response_model=ContestView,
    summary="Bring in a contest package",
    openapi_extra={"requestBody": {"required": True, "content": {"application/zip": {}}}},
)
async def bring_in(
    request: Request,
    viewer: AdminOnly,
    service: TheService,
    authenticator: TheAuthenticator,
    id: Annotated[str | None, Query(description="the contest's id here, in place of its own")] = None,
    replace: Annotated[bool, Query(description="replace groups, teams and so on that are there already")] = False,
    submissions: Annotated[bool, Query(description="also what was submitted; it is judged again here")] = True,
) -> Response:
    """A zip of a contest package, its files in JSON or YAML. All faults are listed at once; nothing is half stored."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ZIPS:
        raise UnsupportedMedia(f"Content-Type: expected application/zip, found {kind[:80] or 'none'}")
    async with body_file(request, service.settings.max_upload) as path:
        contents = await run_sync(_read, path, service.settings, submissions)
    made = await run_sync(_keep, service, contents, id, str(viewer.account_id), replace)
    authenticator.forget()
    return JSONResponse(made, 201, {"Location": f"{API}/contests/{made['id']}"})


def _read(path: Path, settings: Settings, with_submissions: bool) -> Contents:
    try:
        _top, files = archive_files(path, with_other(LIMITS, files=settings.max_import_files), UNREAD)
    except PackageErrors as found:
        faults = FaultList()
        faults.extend(_fault(error) for error in found.errors)
        raise _refusal(faults) from None
    bounds = Bounds(settings.max_import_document, settings.max_import_objects)
    contents = read_contents(files, bounds, with_submissions=with_submissions)
    if contents.faults:
        raise _refusal(contents.faults)
    return contents


def _keep(
    service: Service, contents: Contents, contest_id: str | None, account_id: str, replace: bool
) -> dict[str, Any]:
    packages, faults = _packages(service, contents)
    hashes = {} if faults else _hashes(contents)  # before the transaction: 20,000 passwords take minutes
    with service.database.write() as session:
        importer = Importer(session, service, contents, account_id, hashes, replace=replace)
        for package in packages.values():
            problems.import_package(session, service.files, *package)
        row = importer.keep(contest_id)
        faults.join(importer.faults)
        if faults:
            raise _refusal(faults)  # which rolls everything back
        made = view(row).model_dump(mode="json")
        calls = session.info.pop(AFTER_COMMIT, [])
    for call in calls:
        call()
    return made


def _packages(service: Service, contents: Contents) -> tuple[dict[str, tuple[Package, Mapping[str, Any]]], FaultList]:
    """The packages of the problems that are not here yet, checked as any other; and what is wrong with them."""
    found: dict[str, tuple[Package, Mapping[str, Any]]] = {}
    faults = FaultList()
    with service.database.read() as session:
        missing = [each for each in contents.problem_ids if problems.get(session, each) is None]
    for problem_id in missing:
        data = contents.package_of(problem_id)
        if data is None:
            expected = f"a problem that is here already, or its package problems/{problem_id}/{problem_id}.zip"
            faults.add("problems", problem_id, expected, "neither")
            continue
        try:
            checked = check_package(service, assemble(problem_id, archive_files(data)[1]))
            found[problem_id] = (checked.package, checked.scores)
        except PackageErrors as wrong:
            prefix = f"problems/{problem_id}/{problem_id}.zip"
            faults.extend({**_fault(error), "file": f"{prefix}: {error.file}"} for error in errors_of(wrong.errors))
    return found, faults


def _hashes(contents: Contents) -> dict[str, str | None]:
    """The hashed passwords of the accounts that bring one, by the accounts' ids."""
    given = {each["id"]: each.get("password") for each in contents.objects["accounts"]}
    given = {id_: password for id_, password in given.items() if isinstance(password, str)}
    return dict(zip(given, passwords.hash_all(list(given.values())), strict=True))


def _fault(error: PackageError) -> dict[str, Any]:
    return error.as_data()


def _refusal(faults: FaultList) -> BadRequest:
    first = faults.first[0]
    said = first.get("message") or f"expected {first.get('expected')}, found {first.get('found')}"
    place = ", ".join(part for part in (first.get("file"), first.get("where")) if part)
    place = f"{place}: " if place else ""
    more = f"; listed are the first {len(faults.first)}, and there are {faults.more} more" if faults.more else ""
    number = "a fault" if faults.count == 1 else f"{faults.count} faults"
    return BadRequest(f"the contest package has {number}: {place}{said}{more}", errors=faults.first)
