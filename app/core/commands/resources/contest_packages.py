"""Imports of contest packages, and the parts of a package that an export names."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue
from typing_extensions import TypedDict

from app.core.commands.resources.contests import Contest


class PackageDifference(TypedDict):
    """A value that is another one in the package than on the server."""

    where: str
    expected: str
    found: str


class Differences(TypedDict):
    """The first differences, and how many more there are."""

    differences: list[PackageDifference]
    more_differences: int


class ImportedProblem(Differences):
    """The treatment of a problem of the package: equal here, new, another version, or as it is here."""

    package_id: str
    id: str
    how: Literal["equal", "new", "version", "here"]
    test_cases: int


class ImportedBoard(Differences):
    """The comparison of the package's board with the server's."""

    equal: bool
    rows: int
    raw_scores: int
    other_teams: int
    unjudged: int
    judge_errors: int


class ImportedRole(TypedDict):
    """A role of the package, and whether the account here has it now."""

    username: str
    role: str
    granted: bool
    reason: str | None


class Imported(TypedDict):
    """The result of an import; without a board nothing was compared."""

    submissions: int
    roles: list[ImportedRole]
    problems: list[ImportedProblem]
    board: ImportedBoard | None


class ImportedContest(Contest):
    """A contest that was brought in."""

    imported: Imported


class PackedProblem(TypedDict):
    """A problem in a contest package."""

    id: str
    test_data_count: int


class PackedBoard(TypedDict):
    """The scoreboard in a contest package."""

    rows: list[JsonValue]
