"""Options of an import, and its reply: the contest, its problems one by one, and the boards compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from app.archive.service.board import Comparison
from app.archive.service.people import ImportedRole
from app.archive.service.versions import MOST_TOLD, Version, Wanted
from app.contests.schemas.bodies import ContestView
from app.core.errors import Conflict, all_in_words
from app.core.fault_list import FaultList
from app.core.messages import N_

PROBLEMS = (
    "a problem of the package that is here and different: `version` brings it in under an id of its own, `refuse` "
    "refuses the package with every difference, `here` uses the problem that is here"
)
PRIVILEGED = "ids of accounts of admins and judges that may be brought in, or replaced: without it none are"
BOARD = "`equal` refuses the package where its board comes out different here; `any` keeps it and lists the differences"
MOST_IN_WORDS = 3


@dataclass(frozen=True, slots=True)
class Options:
    """The options of an import, and the account that asks for it."""

    contest_id: str | None
    account_id: str
    replace: bool
    problems: Wanted
    any_board: bool
    privileged: frozenset[str] = frozenset()


class PackageDifference(BaseModel):
    """A field that is not the same: what the package has, and what was found here."""

    where: str
    expected: str
    found: str


class ImportedProblem(BaseModel):
    """The problem here that stands for one of the package.

    how: `equal` it was here; `new` it was brought in; `version` it was brought in beside another one of its id, or was
    so before; `here` the one that is here is used without a comparison. `differences` are those from the other one.
    """

    package_id: str
    id: str
    how: Literal["equal", "new", "version", "here"]
    test_cases: int
    differences: list[PackageDifference]
    more_differences: int = 0


class ImportedBoard(BaseModel):
    """The board here held against the one in the package, at the moment of the export.

    `other_teams` of this server take part as the contest is open to all; `unjudged` submissions were not judged at the
    export, and on `judge_errors` answers the judge had failed: the comparison leaves all three out.
    """

    equal: bool
    rows: int
    raw_scores: int
    other_teams: int
    unjudged: int
    judge_errors: int
    differences: list[PackageDifference]
    more_differences: int = 0


class Imported(BaseModel):
    """The result of an import; `board` is missing where the package has none, or came without its submissions."""

    submissions: int
    roles: list[ImportedRole]
    problems: list[ImportedProblem]
    board: ImportedBoard | None


class ImportedView(ContestView):
    """The contest that was brought in, and what that took."""

    imported: Imported


def imported_view(
    contest: ContestView,
    versions: Iterable[Version],
    compared: Comparison | None,
    submissions: int,
    roles: list[ImportedRole],
) -> ImportedView:
    """Put the reply together."""
    imported = Imported(
        submissions=submissions,
        roles=roles,
        problems=[_problem(version) for version in versions],
        board=_board(compared),
    )
    return ImportedView(**dict(contest), imported=imported)


def _problem(version: Version) -> ImportedProblem:
    cases = [case for case in version.document["cases"].values() if case["answer_sha256"] is not None]
    listed = [PackageDifference(**each._asdict()) for each in version.differences[:MOST_TOLD]]
    return ImportedProblem(
        package_id=version.package_id,
        id=version.id,
        how=version.how,
        test_cases=len(cases),
        differences=listed,
        more_differences=len(version.differences) - len(listed),
    )


def _board(compared: Comparison | None) -> ImportedBoard | None:
    if compared is None:
        return None
    faults, about = compared.differences, compared.compared
    return ImportedBoard(
        equal=not faults,
        rows=about.rows,
        raw_scores=about.raw_scores,
        other_teams=about.other_teams,
        unjudged=about.unjudged,
        judge_errors=about.judge_errors,
        differences=[
            PackageDifference(where=str(each["where"]), expected=str(each["expected"]), found=str(each["found"]))
            for each in faults.first
        ],
        more_differences=faults.more,
    )


def another_board(differences: FaultList, missing: Sequence[str]) -> Conflict:
    """The refusal of a package whose board comes out different; `missing`: problems that it does not carry."""
    listed = all_in_words(differences.first, min(len(differences.first), MOST_IN_WORDS))
    if missing:
        return Conflict(
            N_(
                "the board would not be the package's (differences: %(count)s): %(listed)s; the package does not carry "
                "%(missing)s, and what is here under these ids was used; nothing has been stored (board=any brings the "
                "contest in nevertheless)"
            ),
            count=differences.count,
            listed=listed,
            missing=", ".join(missing),
            errors=differences.first,
        )
    return Conflict(
        N_(
            "the board would not be the package's (differences: %(count)s): %(listed)s; nothing has been stored "
            "(board=any brings the contest in nevertheless)"
        ),
        count=differences.count,
        listed=listed,
        errors=differences.first,
    )
