"""The scoreboard: CLICS rows, frozen for the public; what changed since a version; as a table; and over time."""

from __future__ import annotations

import asyncio
import csv
import io
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from app.domain.board_arrays import moment
from app.domain.contests import PROVISIONAL
from app.domain.history import Past, history
from app.grading.scoreboard_cache import ContestSnapshot, ScoreboardCache, in_phase, with_virtual
from app.services.clics import format_reltime
from app.services.errors import BadRequest, Forbidden
from app.services.names import NoContest
from app.services.scoreboard.row_renderer import Page, arrays_of, dump, head_of, page_at_hand, page_key, rendered
from app.services.together import together
from app.services.viewer import Viewer
from app.services.visibility import seen_by

JSON = "application/json"
AS_JSON = (b"content-type", JSON.encode())
CACHING = ((b"cache-control", b"no-cache"), (b"vary", b"Authorization, Accept-Encoding"))
STEPS = (1, 10, 50, 200, 1000)
MOST_FIGURES = 200_000
"""Figures that a history has at most: steps times teams."""
DEAR_SECONDS, REST = 0.5, 20.0
"""A history that took longer than this is not computed again for so many times as long."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""


async def as_asked(snapshot: ContestSnapshot, phase: str | None, *, virtual: bool) -> ContestSnapshot:
    """The snapshot of another phase, or with virtual teams. Which phase counts is for judges to ask, until all see."""
    finals = snapshot.contest.finals
    if phase is not None:
        if snapshot.public and snapshot.phase == PROVISIONAL and phase == "final":
            raise Forbidden("only a judge or an admin may see what final cases give now")
        kinds = finals.kinds if phase == "final" and finals.used else PROVISIONAL
        snapshot = await run_sync(in_phase, snapshot, kinds)
    return await run_sync(with_virtual, snapshot) if virtual else snapshot


async def board_shown(
    boards: ScoreboardCache, viewer: Viewer, contest_id: str, *, public: bool | None, group_id: str | None
) -> ContestSnapshot:
    """The board a viewer asks for; refuses what there is not, and what is for judges only."""
    if public is False and not viewer.sees_all:
        raise Forbidden("only a judge or an admin may see the board as judges see it")
    as_public = not viewer.sees_all if public is None else public
    snapshot = boards.ready(contest_id, public=as_public)
    snapshot = snapshot or await boards.snapshot_soon(contest_id, public=as_public)
    if snapshot is None:
        raise NoContest(contest_id)
    snapshot = seen_by(viewer, snapshot)
    if group_id is not None and not _is_group(viewer, snapshot, group_id):
        raise BadRequest(f"group_id: expected the id of a group, found {group_id!r}")
    return snapshot


def _is_group(viewer: Viewer, snapshot: ContestSnapshot, group_id: str) -> bool:
    """Is a team in it that the viewer may know of? A group of hidden teams alone is to others as one there is not."""
    known = (each for each in snapshot.contest.teams if not each.hidden or viewer.sees_all or each.id == viewer.team_id)
    return any(group_id in team.group_ids for team in known)


async def page_soon(
    boards: ScoreboardCache, snapshot: ContestSnapshot, *, cases: bool = False, group_id: str | None = None
) -> Page:
    """The written board; all who wait for it share one thread."""
    page = page_at_hand(snapshot, cases=cases, group_id=group_id)
    if page is not None:
        return page
    write = partial(rendered, boards, snapshot, cases=cases, group_id=group_id)
    return await together(snapshot.pages, ("writing", cases, group_id), write)


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


def table(snapshot: ContestSnapshot, group_id: str | None) -> list[dict[str, Any]]:
    """The board as rows of a table: a row a team, a column a problem."""
    arrays = arrays_of(snapshot, group_id)
    labels = [snapshot.contest.labels.get(problem.id, problem.id) for problem in arrays.problems]
    rows = []
    for rank, team in zip(arrays.ranks.tolist(), arrays.order.tolist(), strict=True):
        time = moment(int(arrays.times[team]))
        rows.append(
            {
                "rank": rank,
                "team_id": arrays.teams[team].id,
                "team": arrays.teams[team].name,
                "points": float(arrays.totals[team]),
                "time": None if time is None else format_reltime(time),
                "problems": dict(zip(labels, arrays.scores[:, team].tolist(), strict=True)),
            }
        )
    return rows


def csv_text(snapshot: ContestSnapshot, group_id: str | None) -> str:
    """The table as CSV, harmless for spreadsheets."""
    labels = [snapshot.contest.labels.get(problem.id, problem.id) for problem in snapshot.view.problems]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(["rank", "team_id", "team", "points", "time", *map(_harmless, labels)])
    for row in table(snapshot, group_id):
        names = [_harmless(row["team_id"]), _harmless(row["team"])]
        writer.writerow([row["rank"], *names, row["points"], row["time"] or "", *row["problems"].values()])
    return stream.getvalue()


def _harmless(text: str) -> str:
    """Text that a spreadsheet does not run as a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


@dataclass(frozen=True, slots=True)
class _Told:
    """A contest's history as one snapshot had it, and until when (monotonic) it stays as it is."""

    snapshot: ContestSnapshot
    teams: Mapping[str, list[Past]]
    good_until: float

    def written(self, team_ids: Sequence[str] | None) -> bytes:
        """All of it, or that of some teams, as JSON."""
        wanted = self.teams if team_ids is None else {team: self.teams[team] for team in team_ids}
        teams = [{"team_id": team, "points": [_past(each) for each in past]} for team, past in wanted.items()]
        return dump({**head_of(self.snapshot), "teams": teams})


def history_steps(snapshot: ContestSnapshot, steps: int) -> int:
    """One of few numbers of steps, so that nobody makes us compute hundreds; and fewer where there are many teams."""
    most = min(steps, MOST_FIGURES // max(1, len(snapshot.main.rows)))
    return max((each for each in STEPS if each <= most), default=1)


async def told_soon(boards: ScoreboardCache, snapshot: ContestSnapshot, steps: int) -> _Told:
    """The history; all who wait for it share one computation, and one that was dear stays good for a while."""
    key = (*page_key(snapshot), "history", steps)
    running = (*key, "running")
    while True:
        told: _Told | None = boards.sheets.get(key)
        if told is not None and (told.snapshot is snapshot or time.monotonic() < told.good_until):
            return told
        task: asyncio.Task[_Told] | None = boards.sheets.get(running)
        if task is None:
            task = asyncio.create_task(run_sync(_told, snapshot, steps, limiter=_one_at_a_time(boards)))
            boards.sheets[running] = task
            task.add_done_callback(lambda _: boards.sheets.pop(running, None))
        boards.sheets[key] = told = await asyncio.shield(task)
        if told.snapshot is snapshot:
            return told


def _one_at_a_time(boards: ScoreboardCache) -> CapacityLimiter:
    """Whoever waits for a history does not take a thread from others."""
    limiter: CapacityLimiter = boards.sheets.setdefault((None, "history"), CapacityLimiter(1))
    return limiter


def _told(snapshot: ContestSnapshot, steps: int) -> _Told:
    seen, began = snapshot.view, time.monotonic()
    teams = history(
        seen.problems,
        snapshot.contest.official_teams,
        snapshot.official(),
        freeze=seen.freeze,
        chosen=seen.chosen,
        phase=seen.phase,
        references=snapshot.contest.references,
        steps=steps,
        among=snapshot.contest.main_teams,
    )
    ended = time.monotonic()
    seconds = ended - began
    return _Told(snapshot, teams, ended + (REST * seconds if seconds > DEAR_SECONDS else 0.0))


def _past(past: Past) -> dict[str, Any]:
    return {"contest_time": format_reltime(past.time), "score": past.points, "rank": past.rank}
