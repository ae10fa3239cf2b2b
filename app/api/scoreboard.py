"""The scoreboard: CLICS rows, frozen for the public, with what changed since a version where that is asked for."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request, Response

from app.api.clics import format_reltime, format_time, number, state_json
from app.api.deps import CurrentViewer, TheBoards
from app.api.errors import BadRequest, Forbidden, NotFound
from app.api.standings import seen_by
from app.domain.contests import PROVISIONAL
from app.domain.scoreboard import Cell, Row
from app.grading.boards import OLD_PAGES, Boards, Standing, in_phase, with_virtual

router = APIRouter(tags=["scoreboard"])
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Page:
    """A rendered board: its version (also its ETag), the bytes to send, plain and zipped, and its rows by team."""

    version: str
    plain: bytes
    zipped: bytes
    rows: Mapping[str, Any]
    head: Mapping[str, Any]


@router.get("/contests/{contest_id}/scoreboard", summary="The scoreboard")
async def scoreboard(
    request: Request,
    contest_id: str,
    viewer: CurrentViewer,
    boards: TheBoards,
    public: Annotated[bool | None, Query(description="for judges: the board as everybody sees it")] = None,
    cases: Annotated[bool, Query(description="with each problem's raw scores, case by case")] = False,
    since: Annotated[str | None, Query(description="a version: only rows that changed after it")] = None,
    group_id: Annotated[str | None, Query(description="only the teams of this group")] = None,
    phase: Annotated[Literal["provisional", "final"] | None, Query(description="which cases give the points")] = None,
    virtual: Annotated[bool, Query(description="with the virtual teams among the others")] = False,
) -> Response:
    """Rows in order of rank. Sends an ETag and 304 where nothing changed."""
    if public is False and not viewer.sees_all:
        raise Forbidden("only a judge or an admin may see the board as judges see it")
    as_public = not viewer.sees_all if public is None else public
    standing = boards.ready(contest_id, public=as_public)
    standing = standing or await boards.standing_soon(contest_id, public=as_public)
    if standing is None:
        raise NotFound(f"no contest {contest_id!r}")
    standing = await _as_asked(seen_by(viewer, standing), phase, virtual=virtual)
    if group_id is not None and not any(group_id in team.group_ids for team in standing.contest.teams):
        raise BadRequest(f"group_id: expected the id of a group, found {group_id!r}")
    page = rendered(boards, standing, cases=cases, group_id=group_id)
    return _reply(request, boards.history[_key(standing, cases, group_id)], page, since)


async def _as_asked(standing: Standing, phase: str | None, *, virtual: bool) -> Standing:
    """The standing of another phase, or with virtual teams. Which phase counts is for judges to ask, until all see."""
    finals = standing.contest.finals
    if phase is not None:
        if standing.public and standing.phase == PROVISIONAL and phase == "final":
            raise Forbidden("only a judge or an admin may see what final cases give now")
        kinds = finals.kinds if phase == "final" and finals.used else PROVISIONAL
        standing = await run_sync(in_phase, standing, kinds)
    return await run_sync(with_virtual, standing) if virtual else standing


def _reply(request: Request, older: Mapping[str, Mapping[str, Any]], page: Page, since: str | None) -> Response:
    tag = f'"{page.version}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache", "Vary": "Authorization, Accept-Encoding"}
    if since is None and tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if since is not None and since in older:
        del headers["ETag"]
        return Response(_changes(page, older[since], since), media_type=JSON, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(page.zipped, media_type=JSON, headers={**headers, "Content-Encoding": "gzip"})
    return Response(page.plain, media_type=JSON, headers=headers)


def _changes(page: Page, before: Mapping[str, Any], since: str) -> bytes:
    """The rows that are not as they were, and the teams whose rows are gone."""
    rows = [row for team, row in page.rows.items() if before.get(team) != row]
    gone = [team for team in before if team not in page.rows]
    return _dump({**page.head, "version": page.version, "since": since, "removed_team_ids": gone, "rows": rows})


def history(boards: Boards, standing: Standing) -> Mapping[str, Mapping[str, Any]]:
    """The rows of the last few versions of a board, by version."""
    return boards.history[_key(standing, False, None)]


def changed_rows(boards: Boards, standing: Standing, page: Page, since: str) -> bytes:
    """What ?since= answers, for a version that is among the last few."""
    return _changes(page, history(boards, standing)[since], since)


def _key(standing: Standing, cases: bool, group_id: str | None) -> tuple[Any, ...]:
    contest = standing.contest.id
    return (contest, standing.public, standing.closed, standing.phase, standing.virtual, cases, group_id)


def rendered(boards: Boards, standing: Standing, *, cases: bool = False, group_id: str | None = None) -> Page:
    """Render a board once for each choice of options; the rows of the last few versions stay, for `since`."""
    page: Page | None = standing.pages.get((cases, group_id))
    if page is None:
        page = render(standing, cases=cases, group_id=group_id)
        standing.pages[cases, group_id] = page
    older = boards.history[_key(standing, cases, group_id)]
    if page.version not in older:
        older[page.version] = page.rows
        while len(older) > OLD_PAGES:
            older.pop(next(iter(older)), None)
    return page


def render(standing: Standing, *, cases: bool = False, group_id: str | None = None) -> Page:
    """Write a board as CLICS JSON. The version is a hash of what it says: equal boards have equal versions."""
    shown = cases and (not standing.public or standing.contest.settings.get("show_best", True))
    rows = {row.team.id: row_document(row, cases=shown) for row in standing.board.rows}
    head = {
        "time": format_time(standing.moment),
        "contest_time": format_reltime(standing.contest.clock.contest_time(standing.moment)),
        "state": state_json(standing.state),
    }
    version = hashlib.blake2b(_dump([head, *rows.values(), group_id]), digest_size=12).hexdigest()
    plain = _dump({**head, "version": version, "rows": list(rows.values())})
    return Page(version, plain, gzip.compress(plain, 5, mtime=0), rows, head)


def row_document(row: Row, *, cases: bool = False) -> dict[str, Any]:
    """One team's row."""
    return {
        "rank": row.rank,
        "team_id": row.team.id,
        "score": {"score": row.points, "time": None if row.time is None else format_reltime(row.time)},
        "problems": [cell_document(cell, cases=cases) for cell in row.cells],
    }


def cell_document(cell: Cell, *, cases: bool = False) -> dict[str, Any]:
    """One team at one problem; `time` is there only where there are points."""
    document: dict[str, Any] = {
        "problem_id": cell.problem_id,
        "num_judged": cell.num_judged,
        "num_pending": cell.num_pending,
        "score": cell.points.points,
    }
    if cell.points.points > 0 and cell.points.improved is not None:
        document["time"] = format_reltime(cell.points.improved)
    if cases:
        document["raw"] = {
            case: {
                "raw": number(counted.score.raw),
                "verdict": counted.score.verdict.value,
                "points": cell.points.case_points.get(case, 0.0),
            }
            for case, counted in sorted(cell.answers.items())
        }
    return document


def _dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
