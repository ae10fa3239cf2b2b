"""Teams whose answers or sources are alike, for judges."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query
from fastapi.responses import HTMLResponse

from app.core.pages.visits import ContestLook
from app.similarity.service import AlikePair, similarity

MOST_PAIRS = 100


def similarity_page(
    visit: ContestLook,
    problem: Annotated[str, Query(max_length=255)] = "",
    team: Annotated[str, Query(max_length=36)] = "",
) -> HTMLResponse:
    """Pairs of teams, the most telling first; of one team where it is asked for."""
    shown = similarity(visit.service.files, visit.snapshot, visit.session, problem or None, 0.0, MOST_PAIRS)
    return visit.framed(
        "organiser/similarity.html",
        "similarity",
        shown=shown,
        pairs=_of(shown.pairs, team),
        sources=_of(shown.sources, team),
        asked={"problem": problem, "team": team},
        names=dict(visit.teams),
        labels=visit.snapshot.contest.labels,
        problems=visit.problems,
    )


def _of(pairs: Sequence[AlikePair], team_id: str) -> list[AlikePair]:
    return [pair for pair in pairs if not team_id or team_id in pair.team_ids]
