"""The scoreboard: CLICS rows, frozen for the public; what changed since a version; as a table; and over time."""

from __future__ import annotations

import asyncio
import csv
import io
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request, Response
from starlette.types import Receive, Scope, Send

from app.api.auth import Viewer
from app.api.clics import format_reltime
from app.api.deps import CurrentViewer, TheBoards
from app.api.errors import BadRequest, Forbidden, NotFound
from app.api.gated import GatedRoute
from app.api.named import NoContest
from app.api.scoreboard_bodies import History, Scoreboard, ScoreTable
from app.api.sheets import Page, WrittenRow, changes, dump, figures_of, head_of, page_at_hand, page_key, rendered
from app.api.standings import seen_by
from app.api.together import together
from app.domain.contests import PROVISIONAL
from app.domain.history import Past, history
from app.domain.live import moment
from app.grading.boards import Boards, Standing, in_phase, with_virtual

router = APIRouter(route_class=GatedRoute, tags=["scoreboard"])
JSON = "application/json"
AS_JSON = (b"content-type", JSON.encode())
CACHING = ((b"cache-control", b"no-cache"), (b"vary", b"Authorization, Accept-Encoding"))
IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "description": "The ETag of the board that the client has already.",
    "schema": {"type": "string"},
}
MOST_STEPS = 1000
STEPS = (1, 10, 50, 200, 1000)
MOST_FIGURES = 200_000
"""Figures that a history has at most: steps times teams."""
DEAR_SECONDS, REST = 0.5, 20.0
"""A history that took longer than this is not computed again for so many times as long."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""

Public = Annotated[bool | None, Query(description="for judges: the board as everybody sees it")]
GroupId = Annotated[str | None, Query(description="only the teams of this group, ranked among themselves")]


@router.get(
    "/contests/{contest_id}/scoreboard",
    summary="The scoreboard",
    responses={
        200: {"model": Scoreboard, "headers": {"ETag": {"description": "the version", "schema": {"type": "string"}}}},
        304: {"description": "it is still the version that `If-None-Match` names"},
    },
    openapi_extra={"parameters": [IF_NONE_MATCH]},
)
async def get_scoreboard(
    request: Request,
    contest_id: str,
    viewer: CurrentViewer,
    boards: TheBoards,
    public: Public = None,
    cases: Annotated[bool, Query(description="with each problem's raw scores, case by case")] = False,
    since: Annotated[str | None, Query(description="a version: only rows that changed after it")] = None,
    group_id: GroupId = None,
    phase: Annotated[Literal["provisional", "final"] | None, Query(description="which cases give the points")] = None,
    virtual: Annotated[bool, Query(description="with the virtual teams among the others")] = False,
) -> Response:
    """Rows in order of rank. Sends an ETag and 304 where nothing changed."""
    standing = await board_shown(boards, viewer, contest_id, public=public, group_id=group_id)
    standing = await _as_asked(standing, phase, virtual=virtual)
    page = await page_soon(boards, standing, cases=cases, group_id=group_id)
    given = dict(request.scope["headers"])
    wanted = Wanted.of(given.get(b"if-none-match", b""), given.get(b"accept-encoding", b""), since)
    return await reply(wanted, boards.history[page_key(standing, cases=cases, group_id=group_id)], page)


async def _as_asked(standing: Standing, phase: str | None, *, virtual: bool) -> Standing:
    """The standing of another phase, or with virtual teams. Which phase counts is for judges to ask, until all see."""
    finals = standing.contest.finals
    if phase is not None:
        if standing.public and standing.phase == PROVISIONAL and phase == "final":
            raise Forbidden("only a judge or an admin may see what final cases give now")
        kinds = finals.kinds if phase == "final" and finals.used else PROVISIONAL
        standing = await run_sync(in_phase, standing, kinds)
    return await run_sync(with_virtual, standing) if virtual else standing


async def board_shown(
    boards: Boards, viewer: Viewer, contest_id: str, *, public: bool | None, group_id: str | None
) -> Standing:
    """The board a viewer asks for; refuses what there is not, and what is for judges only."""
    if public is False and not viewer.sees_all:
        raise Forbidden("only a judge or an admin may see the board as judges see it")
    as_public = not viewer.sees_all if public is None else public
    standing = boards.ready(contest_id, public=as_public)
    standing = standing or await boards.standing_soon(contest_id, public=as_public)
    if standing is None:
        raise NoContest(contest_id)
    standing = seen_by(viewer, standing)
    if group_id is not None and not _is_group(viewer, standing, group_id):
        raise BadRequest(f"group_id: expected the id of a group, found {group_id!r}")
    return standing


def _is_group(viewer: Viewer, standing: Standing, group_id: str) -> bool:
    """Is a team in it that the viewer may know of? A group of hidden teams alone is to others as one there is not."""
    known = (each for each in standing.contest.teams if not each.hidden or viewer.sees_all or each.id == viewer.team_id)
    return any(group_id in team.group_ids for team in known)


async def page_soon(boards: Boards, standing: Standing, *, cases: bool = False, group_id: str | None = None) -> Page:
    """The written board; all who wait for it share one thread."""
    page = page_at_hand(standing, cases=cases, group_id=group_id)
    if page is not None:
        return page
    write = partial(rendered, boards, standing, cases=cases, group_id=group_id)
    return await together(standing.pages, ("writing", cases, group_id), write)


class Wanted(NamedTuple):
    """How a client wants a written board.

    known   the ETags it has already, as in If-None-Match
    zipped  does it take gzip?
    since   the version it has, if it wants only what has changed
    """

    known: str
    zipped: bool
    since: str | None

    @classmethod
    def of(cls, if_none_match: bytes, accept_encoding: bytes, since: str | None) -> Wanted:
        """From the headers of a request; changes since a version are small, and never zipped here."""
        return cls(if_none_match.decode("latin-1"), since is None and b"gzip" in accept_encoding, since)


class WrittenReply(Response):
    """A reply whose bytes and headers are there already: nothing is encoded or looked up for it. May be sent often."""

    def __init__(self, headers: Sequence[tuple[bytes, bytes]], body: bytes = b"", status_code: int = 200) -> None:
        self.status_code = status_code
        self.body = body
        self.raw_headers = [*headers, (b"content-length", b"%d" % len(body))] if status_code == 200 else list(headers)
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it; with a copy of the headers, to which the layers around add theirs."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": [*self.raw_headers]})
        await send({"type": "http.response.body", "body": self.body})


async def reply(wanted: Wanted, older: Mapping[str, Mapping[str, WrittenRow]], page: Page) -> Response:
    """A written board as it was asked for: zipped, only what has changed, or nothing where the client has it."""
    since = wanted.since
    if since is None and page.tag in wanted.known:
        return WrittenReply([*CACHING, (b"etag", page.tag.encode())], status_code=304)
    if since is not None and since in older:
        return WrittenReply([*CACHING, AS_JSON], changes(page, older[since], since))
    whole: WrittenReply | None = page.replies.get(wanted.zipped)
    if whole is None:
        headers = [*CACHING, AS_JSON, (b"etag", page.tag.encode())]
        if wanted.zipped:
            zipped = await together(page.waiting, "zip", page.zip)
            whole = WrittenReply([*headers, (b"content-encoding", b"gzip")], zipped)
        else:
            whole = WrittenReply(headers, page.plain)
        page.replies[wanted.zipped] = whole
    return whole


@router.get(
    "/contests/{contest_id}/scoreboard.csv",
    summary="The scoreboard as a table for spreadsheets",
    response_class=Response,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
async def get_scoreboard_csv(
    contest_id: str, viewer: CurrentViewer, boards: TheBoards, public: Public = None, group_id: GroupId = None
) -> Response:
    """Rank, team, points, time of the last improvement and the points at each problem: the figures of the board."""
    standing = await board_shown(boards, viewer, contest_id, public=public, group_id=group_id)
    text = await run_sync(_csv, standing, group_id)
    name = f'attachment; filename="{contest_id}.csv"'
    return Response(text, media_type="text/csv", headers={"Content-Disposition": name, "Cache-Control": "no-cache"})


@router.get(
    "/contests/{contest_id}/scoreboard.json",
    summary="The scoreboard as a table, in JSON",
    responses={200: {"model": ScoreTable}},
)
async def get_scoreboard_table(
    contest_id: str, viewer: CurrentViewer, boards: TheBoards, public: Public = None, group_id: GroupId = None
) -> Response:
    """The table of scoreboard.csv, with names and labels in place of ids."""
    standing = await board_shown(boards, viewer, contest_id, public=public, group_id=group_id)
    document = {"contest_id": contest_id, **head_of(standing), "rows": await run_sync(_table, standing, group_id)}
    return Response(dump(document), media_type=JSON, headers={"Cache-Control": "no-cache"})


def _table(standing: Standing, group_id: str | None) -> list[dict[str, Any]]:
    figures = figures_of(standing, group_id)
    labels = [standing.contest.labels.get(problem.id, problem.id) for problem in figures.problems]
    rows = []
    for rank, team in zip(figures.ranks.tolist(), figures.order.tolist(), strict=True):
        time = moment(int(figures.times[team]))
        rows.append(
            {
                "rank": rank,
                "team_id": figures.teams[team].id,
                "team": figures.teams[team].name,
                "points": float(figures.totals[team]),
                "time": None if time is None else format_reltime(time),
                "problems": dict(zip(labels, figures.scores[:, team].tolist(), strict=True)),
            }
        )
    return rows


def _csv(standing: Standing, group_id: str | None) -> str:
    labels = [standing.contest.labels.get(problem.id, problem.id) for problem in standing.view.problems]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(["rank", "team_id", "team", "points", "time", *map(_harmless, labels)])
    for row in _table(standing, group_id):
        names = [_harmless(row["team_id"]), _harmless(row["team"])]
        writer.writerow([row["rank"], *names, row["points"], row["time"] or "", *row["problems"].values()])
    return stream.getvalue()


def _harmless(text: str) -> str:
    """Text that a spreadsheet does not run as a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


@router.get("/contests/{contest_id}/scores/history", summary="Points over time", responses={200: {"model": History}})
async def get_history(
    contest_id: str,
    viewer: CurrentViewer,
    boards: TheBoards,
    public: Public = None,
    team_id: Annotated[list[str] | None, Query(description="only these teams; may be given several times")] = None,
    steps: Annotated[int, Query(ge=1, le=MOST_STEPS, description="at about how many moments at most")] = 100,
) -> Response:
    """Each team's points and rank whenever they changed, by the answers sent until then; the last are the board's."""
    standing = await board_shown(boards, viewer, contest_id, public=public, group_id=None)
    known = {row.team.id for row in standing.main.rows}
    if unknown := [each for each in team_id or () if each not in known]:
        raise BadRequest(f"team_id: expected a team on the board, found {unknown[0]!r}")
    told = await _told_soon(boards, standing, _steps(standing, steps))
    if team_id is not None and not told.teams.keys() >= set(team_id):
        raise NotFound("a team of these is too new; try again later")
    return Response(await run_sync(told.written, team_id), media_type=JSON)


@dataclass(frozen=True, slots=True)
class _Told:
    """A contest's history as one standing had it, and until when (monotonic) it stays as it is."""

    standing: Standing
    teams: Mapping[str, list[Past]]
    good_until: float

    def written(self, team_ids: Sequence[str] | None) -> bytes:
        """All of it, or that of some teams, as JSON."""
        wanted = self.teams if team_ids is None else {team: self.teams[team] for team in team_ids}
        teams = [{"team_id": team, "points": [_past(each) for each in past]} for team, past in wanted.items()]
        return dump({**head_of(self.standing), "teams": teams})


def _steps(standing: Standing, steps: int) -> int:
    """One of few numbers of steps, so that nobody makes us compute hundreds; and fewer where there are many teams."""
    most = min(steps, MOST_FIGURES // max(1, len(standing.main.rows)))
    return max((each for each in STEPS if each <= most), default=1)


async def _told_soon(boards: Boards, standing: Standing, steps: int) -> _Told:
    """The history; all who wait for it share one computation, and one that was dear stays good for a while."""
    key = (*page_key(standing), "history", steps)
    running = (*key, "running")
    while True:
        told: _Told | None = boards.sheets.get(key)
        if told is not None and (told.standing is standing or time.monotonic() < told.good_until):
            return told
        task: asyncio.Task[_Told] | None = boards.sheets.get(running)
        if task is None:
            task = asyncio.create_task(run_sync(_told, standing, steps, limiter=_one_at_a_time(boards)))
            boards.sheets[running] = task
            task.add_done_callback(lambda _: boards.sheets.pop(running, None))
        boards.sheets[key] = told = await asyncio.shield(task)
        if told.standing is standing:
            return told


def _one_at_a_time(boards: Boards) -> CapacityLimiter:
    """Whoever waits for a history does not take a thread from others."""
    limiter: CapacityLimiter = boards.sheets.setdefault((None, "history"), CapacityLimiter(1))
    return limiter


def _told(standing: Standing, steps: int) -> _Told:
    seen, began = standing.view, time.monotonic()
    teams = history(
        seen.problems,
        standing.contest.official_teams,
        standing.official(),
        curtain=seen.curtain,
        chosen=seen.chosen,
        phase=seen.phase,
        references=standing.contest.references,
        steps=steps,
        among=standing.contest.main_teams,
    )
    ended = time.monotonic()
    seconds = ended - began
    return _Told(standing, teams, ended + (REST * seconds if seconds > DEAR_SECONDS else 0.0))


def _past(past: Past) -> dict[str, Any]:
    return {"contest_time": format_reltime(past.time), "score": past.points, "rank": past.rank}
