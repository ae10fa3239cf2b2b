"""The scoreboard: CLICS rows, frozen for the public; what changed since a version; as a table; and over time."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import NamedTuple

from anyio.to_thread import run_sync

from app.accounts.service.viewer import Viewer
from app.contests.service.names import NoContest
from app.contests.service.visibility import seen_by
from app.core.clics import format_reltime
from app.core.errors import BadRequest, Forbidden, NotFound
from app.core.messages import N_
from app.domain.board_arrays import moment
from app.domain.contests import PROVISIONAL
from app.scoreboard.queries.contest_snapshot import ContestSnapshot, in_phase, with_virtual
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.scoreboard.service.bodies import TableRow
from app.scoreboard.service.histories import history_steps
from app.scoreboard.service.pages import BoardPages
from app.scoreboard.service.row_renderer import arrays_of, dump, head_of

JSON = "application/json"
AS_JSON = (b"content-type", JSON.encode())
COMPACT = "application/vnd.jurado.scoreboard+json"
AS_COMPACT = (b"content-type", COMPACT.encode())
CACHING = ((b"cache-control", b"no-cache"), (b"vary", b"Authorization, Accept-Encoding"))
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Characters that a spreadsheet takes for the beginning of a formula."""


async def as_asked(snapshot: ContestSnapshot, phase: str | None, *, virtual: bool) -> ContestSnapshot:
    """The snapshot of another phase, or with virtual teams. Which phase counts is for judges to ask, until all see."""
    finals = snapshot.contest.finals
    if phase is not None:
        if snapshot.public and snapshot.phase == PROVISIONAL and phase == "final":
            raise Forbidden(N_("only a judge or an admin may see what final cases give now"))
        kinds = finals.kinds if phase == "final" and finals.used else PROVISIONAL
        snapshot = await run_sync(in_phase, snapshot, kinds)
    return await run_sync(with_virtual, snapshot) if virtual else snapshot


async def board_shown(
    boards: ScoreboardCache, viewer: Viewer, contest_id: str, *, public: bool | None, group_id: str | None
) -> ContestSnapshot:
    """The board a viewer asks for; refuses what there is not, and what is for judges only."""
    if public is False and not viewer.sees_all:
        raise Forbidden(N_("only a judge or an admin may see the board as judges see it"))
    as_public = not viewer.sees_all if public is None else public
    snapshot = boards.ready(contest_id, public=as_public)
    snapshot = snapshot or await boards.snapshot_soon(contest_id, public=as_public)
    if snapshot is None:
        raise NoContest(contest_id)
    snapshot = seen_by(viewer, snapshot)
    if group_id is not None and not _is_group(viewer, snapshot, group_id):
        raise BadRequest(N_("expected the id of a group, found %(found)r"), where="group_id", found=group_id)
    return snapshot


def _is_group(viewer: Viewer, snapshot: ContestSnapshot, group_id: str) -> bool:
    """Whether a group has a team that the viewer may know of; one of hidden teams alone exists for judges only."""
    known = (each for each in snapshot.contest.teams if not each.hidden or viewer.sees_all or each.id == viewer.team_id)
    return any(group_id in team.group_ids for team in known)


class Wanted(NamedTuple):
    """A client's options for a written board.

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


async def history_json(
    pages: BoardPages, snapshot: ContestSnapshot, steps: int, team_ids: Sequence[str] | None
) -> bytes:
    """Points and ranks over time of all teams, or of some, at about `steps` moments; raises BadRequest, NotFound."""
    known_ids = {row.team.id for row in snapshot.main.rows}
    if unknown := [each for each in team_ids or () if each not in known_ids]:
        raise BadRequest(N_("expected a team on the board, found %(found)r"), where="team_id", found=unknown[0])
    history = await pages.history_soon(snapshot, history_steps(snapshot, steps))
    if team_ids is not None and not history.teams.keys() >= set(team_ids):
        raise NotFound(N_("a team of these is too new; try again later"))
    return await run_sync(history.written, team_ids)


def table_json(snapshot: ContestSnapshot, group_id: str | None) -> bytes:
    """The board as a table in JSON, with names and labels in place of ids."""
    rows = [row.model_dump() for row in table(snapshot, group_id)]
    return dump({"contest_id": snapshot.contest.id, **head_of(snapshot), "rows": rows})


def table(snapshot: ContestSnapshot, group_id: str | None) -> list[TableRow]:
    """The board as rows of a table: a row a team, a column a problem."""
    arrays = arrays_of(snapshot, group_id)
    labels = [snapshot.contest.labels.get(problem.id, problem.id) for problem in arrays.problems]
    rows: list[TableRow] = []
    for rank, team in zip(arrays.ranks.tolist(), arrays.order.tolist(), strict=True):
        time = moment(int(arrays.times[team]))
        rows.append(
            TableRow(
                rank=rank,
                team_id=arrays.teams[team].id,
                team=arrays.teams[team].name,
                points=float(arrays.totals[team]),
                time=None if time is None else format_reltime(time),
                problems=dict(zip(labels, arrays.scores[:, team].tolist(), strict=True)),
            )
        )
    return rows


def csv_text(snapshot: ContestSnapshot, group_id: str | None) -> str:
    """The table as CSV, harmless for spreadsheets."""
    labels = [snapshot.contest.labels.get(problem.id, problem.id) for problem in snapshot.view.problems]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(["rank", "team_id", "team", "points", "time", *map(_harmless, labels)])
    for row in table(snapshot, group_id):
        names = [_harmless(row.team_id), _harmless(row.team)]
        writer.writerow([row.rank, *names, row.points, row.time or "", *row.problems.values()])
    return stream.getvalue()


def _harmless(text: str) -> str:
    """Text that a spreadsheet does not run as a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text
