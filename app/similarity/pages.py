"""Teams whose answers or sources are alike, and two of them side by side, for judges."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.core.messages import ServiceError
from app.core.pages.frames import frame
from app.core.pages.languages import translate
from app.core.pages.pages import page
from app.core.pages.visitor import Reading, TheService, TheSnapshot, Visitor
from app.core.service import Service
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.similarity.service import AlikePair, Likeness, comparison, similarity
from app.submissions.service.submissions import answer

MOST_PAIRS = 100
# Characters of an answer that stand side by side.
LONGEST = 4000
# Cases whose answers stand side by side; the others are linked.
MOST_TEXTS = 10


@dataclass(frozen=True, slots=True)
class SideBySide:
    """A case that two teams answered alike: the service's facts, and the beginning of both answers."""

    case: Likeness
    texts: Sequence[str]


def similarity_page(
    request: Request,
    service: TheService,
    viewer: Visitor,
    snapshot: TheSnapshot,
    session: Reading,
    problem: Annotated[str, Query(max_length=255)] = "",
    team: Annotated[str, Query(max_length=36)] = "",
) -> HTMLResponse:
    """Pairs of teams, the most telling first; of one team where it is asked for."""
    contest = snapshot.contest
    shown = similarity(service.files, snapshot, session, problem or None, 0.0, MOST_PAIRS)
    return page(
        "organiser/similarity.html",
        request,
        viewer=viewer,
        frame=frame(session, viewer, snapshot, "similarity"),
        shown=shown,
        pairs=_of(shown.pairs, team),
        sources=_of(shown.sources, team),
        asked={"problem": problem, "team": team},
        names={each.id: each.name for each in contest.teams},
        labels=contest.labels,
        problems=[(each.id, contest.labels.get(each.id, each.id)) for each in contest.problems],
    )


def comparison_page(
    request: Request,
    service: TheService,
    viewer: Visitor,
    snapshot: TheSnapshot,
    session: Reading,
    team_id: str,
    rival_id: str,
    problem: Annotated[str, Query(max_length=255)] = "",
) -> HTMLResponse:
    """What two teams have alike, case by case, their answers beside each other."""
    both = comparison(service.files, snapshot, session, (team_id, rival_id), problem or None)
    telling = [case for case in both.cases if case.why_nothing is None]
    return page(
        "organiser/comparison.html",
        request,
        viewer=viewer,
        frame=frame(session, viewer, snapshot, "similarity"),
        both=both,
        telling=len(telling),
        sides=[
            SideBySide(case, _texts(service, viewer, snapshot, session, case) if at < MOST_TEXTS else ())
            for at, case in enumerate([*telling, *(case for case in both.cases if case.why_nothing is not None)])
        ],
        names={each.id: each.name for each in snapshot.contest.teams},
        labels=snapshot.contest.labels,
    )


def _of(pairs: Sequence[AlikePair], team_id: str) -> list[AlikePair]:
    return [pair for pair in pairs if not team_id or team_id in pair.team_ids]


def _texts(service: Service, viewer: Viewer, snapshot: ContestSnapshot, session: Session, case: Likeness) -> list[str]:
    """The beginnings of the answers of a case; of one that cannot be read, why."""
    texts = []
    for each in case.files:
        try:
            data = answer(service, viewer, snapshot, session, each.submission_id, each.name).data
        except ServiceError as refusal:
            texts.append(f"({translate(refusal.message)})")
            continue
        # A character has at most four bytes, and HTML has no NUL.
        text = data[: LONGEST * 4].decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
        texts.append(text if len(text) <= LONGEST else text[:LONGEST] + "…")
    return texts
