"""Versions of a problem: listed, shown, compared, restored, and written as packages."""

from collections.abc import Mapping
from typing import IO

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.authoring.service.packages import CaseView, TestDataGroup, case_view, group_view
from app.core import clics, json_documents
from app.core.db.database import after_commit
from app.core.messages import N_, Conflict, NotFound
from app.core.service import Service
from app.judging.service.problem_changes import How, Preview, RejudgingView, change
from app.problems.queries import packing, pins, problem_diff, problems, versions
from app.tables import ProblemRow, ProblemVersionRow, TestGroupRow


class VersionView(BaseModel):
    """A version of a problem: who made it, when and why; `contests` use it, `pinned` ones permanently."""

    number: int
    newest: bool
    created: str
    account_id: str | None
    note: str
    contests: list[str]
    pinned: list[str]
    href: str


class VersionDetails(VersionView):
    """A version with what it consists of; `sha256` is that of all of it, and equal for equal versions alone."""

    names: dict[str, str]
    languages: list[str]
    settings: dict[str, object]
    groups: list[TestDataGroup]
    testcases: list[CaseView]
    sha256: str


class VersionDiff(BaseModel):
    """The difference between two versions: in words, field by field, and case by case.

    `judging`: verdicts or raw scores could differ; `points`: points could.
    """

    before: int
    after: int
    judging: bool
    points: bool
    changes: list[str]
    fields: list[versions.Difference]
    testcases: list[versions.CaseChange]


def listed(session: Session, problem_id: str) -> list[VersionView]:
    """A problem's versions, newest first."""
    row, places = problems.existing(session, problem_id), problems.places(session, problem_id)
    return [_view(row, each, places) for each in versions.versions(session, problem_id)]


def one(session: Session, problem_id: str, number: int) -> VersionDetails:
    """A version with its groups and test cases; raises NotFound."""
    row, known = problems.existing(session, problem_id), _manifest(session, problem_id, number)
    (version,) = [each for each in versions.versions(session, problem_id) if each.number == number]
    columns = known["columns"]
    return VersionDetails(
        **dict(_view(row, version, problems.places(session, problem_id))),
        names=columns["names"],
        languages=sorted(columns["statements"]),
        settings=dict(columns["settings"]),
        groups=[group_view(TestGroupRow(problem_id=problem_id, **group)) for group in known["groups"]],
        testcases=[case_view(case) for case in pins.cases_of(session, problem_id, known)],
        sha256=problem_diff.fingerprint(_document(known)),
    )


def diff(session: Session, problem_id: str, number: int, against: int | None) -> VersionDiff:
    """The difference from a version (None: the one before) to another; raises NotFound."""
    problems.existing(session, problem_id)
    base = against if against is not None else max(number - 1, 1)
    before, after = (_document(_manifest(session, problem_id, each)) for each in (base, number))
    is_other = problem_diff.difference(before, after) != {}
    return VersionDiff(
        before=base,
        after=number,
        judging=problem_diff.needs_judging(before, after),
        points=problem_diff.matters(before, after),
        changes=versions.summary(before, after) if is_other else [],
        fields=versions.differences(before, after),
        testcases=versions.case_changes(before["cases"], after["cases"]),
    )


def package_zip(service: Service, session: Session, problem_id: str, number: int | None = None) -> IO[bytes]:
    """A version (None: the newest) as a Kattis 2025-09 package, an open temporary file.

    Raises NotFound, or Conflict for one that no package can hold.
    """
    row, known = problems.existing(session, problem_id), _manifest(session, problem_id, number)
    groups = [TestGroupRow(problem_id=row.id, **group) for group in known["groups"]]
    try:
        return packing.packed(service.files, pins.row_of(row, known), groups, pins.cases_of(session, row.id, known))
    except packing.NotPackable as lacking:
        raise Conflict(
            N_("problem %(problem)r cannot be written as a package: %(lacking)s"), problem=row.id, lacking=lacking
        ) from None


def restore(
    service: Service, viewer: Viewer, session: Session, problem_id: str, number: int, how: How
) -> VersionView | RejudgingView | Preview:
    """Make a version the newest again, as a version of its own; raises NotFound, Conflict, PreconditionFailed."""
    problems.existing(session, problem_id)
    target = _document(_manifest(session, problem_id, number))

    def write() -> None:
        live = problem_diff.document(session, problem_id)
        problem_diff.write(session, problem_id, problem_diff.difference(live, {**target, "rules": live["rules"]}))

    author = versions.Author(viewer.account_id, f"version {number} of {problem_id} has been restored")
    opened = change(session, problem_id, write, author, how)
    if opened is None:
        return listed(session, problem_id)[0]
    if isinstance(opened, RejudgingView):
        after_commit(session, lambda: service.engine.wake(rejudging=True))
    return opened


def _manifest(session: Session, problem_id: str, number: int | None) -> json_documents.ManifestDocument:
    known = versions.manifest(session, problem_id, number)
    if known is None:
        newest = problems.existing(session, problem_id).version
        raise NotFound(
            N_("problem %(problem)r has no version %(version)s: it has 1 to %(newest)s"),
            problem=problem_id,
            version=number,
            newest=newest,
        )
    return known


def _document(known: json_documents.ManifestDocument) -> json_documents.ProblemDocument:
    return {**known, "rules": {}}


def _view(row: ProblemRow, version: ProblemVersionRow, places: Mapping[str, int | None]) -> VersionView:
    pinned = [contest for contest, number in places.items() if number == version.number]
    following = [contest for contest, number in places.items() if number is None and version.number == row.version]
    return VersionView(
        number=version.number,
        newest=version.number == row.version,
        created=clics.format_time(version.created),
        account_id=version.account_id,
        note=version.note,
        contests=sorted([*pinned, *following]),
        pinned=pinned,
        href=f"problems/{row.id}/versions/{version.number}",
    )
