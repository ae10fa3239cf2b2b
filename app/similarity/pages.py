"""Teams whose answers or sources are alike, and two of them side by side, for judges."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Query
from fastapi.responses import HTMLResponse

from app.core.messages import ServiceError
from app.core.pages.languages import translate
from app.core.pages.visits import ContestLook
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


def comparison_page(
    visit: ContestLook, team_id: str, rival_id: str, problem: Annotated[str, Query(max_length=255)] = ""
) -> HTMLResponse:
    """What two teams have alike, case by case, their answers beside each other."""
    both = comparison(visit.service.files, visit.snapshot, visit.session, (team_id, rival_id), problem or None)
    telling = [case for case in both.cases if case.why_nothing is None]
    return visit.framed(
        "organiser/comparison.html",
        "similarity",
        both=both,
        telling=len(telling),
        sides=[
            SideBySide(case, _texts(visit, case) if at < MOST_TEXTS else ())
            for at, case in enumerate([*telling, *(case for case in both.cases if case.why_nothing is not None)])
        ],
        names=dict(visit.teams),
        labels=visit.snapshot.contest.labels,
    )


def _of(pairs: Sequence[AlikePair], team_id: str) -> list[AlikePair]:
    return [pair for pair in pairs if not team_id or team_id in pair.team_ids]


def _texts(visit: ContestLook, case: Likeness) -> list[str]:
    """The beginnings of the answers of a case; of one that cannot be read, why."""
    service, viewer, snapshot, session = visit.service, visit.viewer, visit.snapshot, visit.session
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
