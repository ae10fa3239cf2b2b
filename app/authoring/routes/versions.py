"""HTTP routes: versions of a problem, and the package that a contest is judged with."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from app.authoring.service import contest_problems, versions
from app.authoring.service.versions import VersionDetails, VersionDiff, VersionView
from app.core.http.deps import CurrentViewer, Reading, TheService, Writing
from app.core.http.downloads import ARCHIVE, BYTES, ZIP, TemporaryFileReply, type_for
from app.core.http.errors import ErrorBody
from app.core.http.gated import GatedRoute
from app.judging.routes.problem_changes import RESPONSES, TheHow, accepted

router = APIRouter(route_class=GatedRoute, tags=["problems"])
PLACE = "/problems/{problem_id}/versions"
MOST = 2**31 - 1
Number = Annotated[int, Path(ge=1, le=MOST)]
PACKAGE: dict[int | str, dict[str, object]] = {
    **ARCHIVE,
    409: {"model": ErrorBody, "description": "No package can hold the problem as it is"},
}


@router.get(PLACE, summary="A problem's versions")
def list_versions(_viewer: CurrentViewer, session: Reading, problem_id: str) -> list[VersionView]:
    """Newest first: who made each, when and why, and the contests that have it."""
    return versions.listed(session, problem_id)


@router.get(f"{PLACE}/{{number}}", summary="One version of a problem")
def get_version(_viewer: CurrentViewer, session: Reading, problem_id: str, number: Number) -> VersionDetails:
    """Its settings, groups and test cases, each file by its sha256."""
    return versions.one(session, problem_id, number)


@router.get(f"{PLACE}/{{number}}/diff", summary="What a version changes")
def get_version_diff(
    _viewer: CurrentViewer,
    session: Reading,
    problem_id: str,
    number: Number,
    against: Annotated[int | None, Query(ge=1, le=MOST, description="default: the version before")] = None,
) -> VersionDiff:
    """From another version to this one: in words, field by field, and case by case."""
    return versions.diff(session, problem_id, number, against)


@router.get(
    f"{PLACE}/{{number}}/package.zip", response_class=Response, responses=PACKAGE, summary="A version as a package"
)
def get_version_package(
    request: Request, problem_id: str, number: Number, _viewer: CurrentViewer, session: Reading, service: TheService
) -> Response:
    """A Kattis 2025-09 package with the test cases of the version, byte for byte."""
    file = versions.package_zip(service, session, problem_id, number)
    return TemporaryFileReply(file, type_for(request, ZIP, BYTES), f"{problem_id}-{number}.zip")


@router.post(
    f"{PLACE}/{{number}}/restore",
    response_model=VersionView,
    responses=RESPONSES,
    summary="Make a version the newest again",
)
def restore_version(
    viewer: CurrentViewer, session: Writing, service: TheService, problem_id: str, number: Number, how: TheHow
) -> VersionView | Response:
    """As a version of its own, equal to that one. Where it would change what anybody has, it becomes a rejudging."""
    outcome = versions.restore(service, viewer, session, problem_id, number, how)
    return outcome if isinstance(outcome, VersionView) else accepted(outcome)


@router.get(
    "/contests/{contest_id}/problems/{problem_id}/package.zip",
    response_class=Response,
    responses=PACKAGE,
    summary="What a contest is judged with, as a package",
)
def get_contest_problem_package(
    request: Request, contest_id: str, problem_id: str, _viewer: CurrentViewer, session: Reading, service: TheService
) -> Response:
    """The version of the problem that the contest has, with the exact bytes of its test cases."""
    contest_problems.entry_of(session, contest_id, problem_id)
    file = versions.contest_package_zip(service, session, contest_id, problem_id)
    return TemporaryFileReply(file, type_for(request, ZIP, BYTES), f"{problem_id}.zip")
