"""Names as people write them: a problem by its id or its label, and what a misspelt name is near to.

Nothing is suggested that the viewer may not see: the names to choose from are those of what they are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, cast

from anyio.to_thread import run_sync
from fastapi import Depends, Request

from app.api.auth import Viewer
from app.api.deps import CurrentViewer, TheBoards
from app.api.errors import NotFound
from app.grading.boards import Boards, Standing
from app.storage import contests

if TYPE_CHECKING:
    from app.service import Service

NEAR = 0.5
LONGEST_NAME = 100


class NoContest(NotFound):
    """There is no such contest; the reply suggests the nearest one, as everybody may list all of them."""

    def __init__(self, contest_id: str) -> None:
        super().__init__(f"no contest {contest_id!r}")
        self._contest_id = contest_id

    async def sentence(self, request: Request) -> str:
        """Say it with the nearest contest."""
        return await self.sentence_of(request.app.state.service)

    async def sentence_of(self, service: Service) -> str:
        """Say it with the nearest contest of a service."""
        return self.message + did_you_mean(self._contest_id, await run_sync(_contest_ids, service))


def _contest_ids(service: Service) -> list[str]:
    with service.database.read() as session:
        return [row.id for row in contests.contests(session)]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`: did you mean 'comesolo'?`, or nothing where no known name is near."""
    if len(name) > LONGEST_NAME:
        return ""
    by_lower = {each.lower(): each for each in known}
    near = get_close_matches(name.lower(), by_lower, 1, NEAR)
    return f": did you mean {by_lower[near[0]]!r}?" if near else ""


def called(name: str, labels: Mapping[str, str]) -> str | None:
    """The id of the problem that a name stands for, given the labels by id.

    An id comes before a label, and a label as written before one in other letters; None where two would do.
    """
    if name in labels:
        return name
    same = [id_ for id_, label in labels.items() if label == name]
    alike = same or [id_ for id_, label in labels.items() if label.lower() == name.lower()]
    return alike[0] if len(alike) == 1 else None


def shown_labels(standing: Standing) -> dict[str, str]:
    """The labels, by id, of the problems that this standing shows."""
    return {problem.id: standing.contest.labels[problem.id] for problem in standing.problems}


def problem_called(standing: Standing, name: str) -> str:
    """The id of the problem that a name stands for; the name itself where it stands for none that is shown."""
    return called(name, shown_labels(standing)) or name


def no_problem(standing: Standing, name: str) -> NotFound:
    """The refusal of a name that stands for no problem that is shown, with the nearest one."""
    known = [problem.id for problem in standing.problems]
    return NotFound(f"no problem {name!r} in contest {standing.contest.id!r}{did_you_mean(name, known)}")


async def standing_for(boards: Boards, viewer: Viewer, contest_id: str) -> Standing | None:
    """The contest as the viewer may see it, or None where there is none."""
    from app.api.standings import seen_by  # standings needs this module for its own refusals

    public = not viewer.sees_all
    standing = boards.ready(contest_id, public=public) or await boards.standing_soon(contest_id, public=public)
    return None if standing is None else seen_by(viewer, standing)


async def _by_label(request: Request, viewer: CurrentViewer, boards: TheBoards) -> None:
    """Put the problem's id where the path has its label, before the endpoint reads its parameters."""
    path = cast("dict[str, str]", request.path_params)
    if "contest_id" not in path or "problem_id" not in path:
        return
    standing = await standing_for(boards, viewer, path["contest_id"])
    if standing is not None:
        path["problem_id"] = problem_called(standing, path["problem_id"])


ByLabel = Depends(_by_label)
"""Lets a route below `contests/{contest_id}/problems/{problem_id}` be asked for by the problem's label."""
