"""Rules of visibility, asked directly: what each viewer may know of a submission as the contest continues."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.accounts.service.viewer import PUBLIC, Viewer
from app.contests.service.visibility import may_see, may_see_answers, may_see_sources, may_see_verdict
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.tables import SubmissionRow
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission
from tests.builders.scoring import share
from tests.builders.service import open_service

OWN = Viewer("team", "team", "team", "team")
OTHER = Viewer("team", "other", "other", "team")
JUDGE = Viewer("judge", "judge", None, "judge")
VIEWERS = {"nobody": PUBLIC, "another team": OTHER, "its team": OWN, "a judge": JUDGE}
Rule = Callable[[Viewer, ContestSnapshot, SubmissionRow], bool]


@pytest.fixture
def allowed(sqlite_url: str, tmp_path: Path) -> Callable[..., set[str]]:
    """Names of those whom a rule allows a submission of `team`, in a contest of five hours frozen for its last."""

    def ask(rule: Rule, *, started: float, minute: float, **settings: Any) -> set[str]:
        with open_service(sqlite_url, tmp_path / "home") as service:
            add_problem(service)
            add_contest(service, started=started, freeze=HOUR, settings=settings)
            add_submission(service, {"02": share(1)}, minute=minute)
            boards = ScoreboardCache(service.database)
            snapshots = {public: boards.snapshot("c", public=public) for public in (True, False)}
            with service.database.read() as session:
                row = session.get_one(SubmissionRow, 1)
                return {name for name, viewer in VIEWERS.items() if rule(viewer, snapshots[not viewer.sees_all], row)}

    return ask


def test_before_the_start_a_submission_is_known_to_its_team_and_to_judges(allowed: Callable[..., set[str]]) -> None:
    assert allowed(may_see, started=-HOUR, minute=60) == {"its team", "a judge"}


@pytest.mark.parametrize(
    ("started", "minute", "viewers"),
    [
        (2 * HOUR, 60, set(VIEWERS)),
        (4.5 * HOUR, 60, set(VIEWERS)),
        (4.5 * HOUR, 250, {"its team", "a judge"}),
        (6 * HOUR, 250, {"its team", "a judge"}),
        (8 * HOUR, 310, {"its team", "a judge"}),
    ],
    ids=["before the freeze", "from before the freeze", "frozen", "over and not revealed", "sent for practice"],
)
def test_the_freeze_hides_the_verdicts_of_others_until_they_are_revealed(
    allowed: Callable[..., set[str]], started: float, minute: float, viewers: set[str]
) -> None:
    assert allowed(may_see_verdict, started=started, minute=minute) == viewers


@pytest.mark.parametrize(
    ("shown", "minute", "viewers"),
    [
        (False, 60, {"its team", "a judge"}),
        (True, 60, set(VIEWERS)),
        (True, 250, {"its team", "a judge"}),
    ],
    ids=["kept to the team", "shown", "shown, but frozen"],
)
def test_answers_of_others_are_shown_where_the_contest_says_so_and_no_freeze_hides_their_verdict(
    allowed: Callable[..., set[str]], shown: bool, minute: float, viewers: set[str]
) -> None:
    assert allowed(may_see_answers, started=4.5 * HOUR, minute=minute, show_others_answers=shown) == viewers


def test_sources_stay_with_the_team_and_the_judges_even_where_answers_are_public(
    allowed: Callable[..., set[str]],
) -> None:
    def rule(viewer: Viewer, _snapshot: ContestSnapshot, row: SubmissionRow) -> bool:
        return may_see_sources(viewer, row)

    assert allowed(rule, started=2 * HOUR, minute=60, show_others_answers=True) == {"its team", "a judge"}
