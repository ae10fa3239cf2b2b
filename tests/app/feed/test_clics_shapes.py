"""What the API answers has the shapes of CLICS 2026-01, by its own schemas."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction

import pytest

from tests.builders.contests import HOUR, add_contest, add_problem, add_submission
from tests.builders.examples import rule_cases, sqlite_first
from tests.builders.schemas import faults
from tests.builders.scoring import JUDGE_ERROR, REJECTED, raw, share
from tests.builders.service import Api

COLLECTIONS = ("problems", "submissions", "judgements", "runs")
SINGLE = {"problems": "problem", "submissions": "submission", "judgements": "judgement", "runs": "run"}


@pytest.fixture(params=["AC", "PC"])
def contest(api: Api, request: pytest.FixtureRequest) -> str:
    """A frozen contest with every kind of judgement; returns what partly correct is shown as."""
    add_problem(api.service)
    settings = {"partly_correct_as": request.param}
    add_contest(api.service, started=4 * HOUR, freeze=2 * HOUR, settings=settings)
    add_submission(api.service, {"02": share(1), "03": share(1)}, minute=1, judgement_type="AC")
    add_submission(api.service, {"02": share(Fraction(1, 3)), "03": REJECTED}, minute=2, judgement_type="PC")
    add_submission(api.service, {"02": REJECTED}, minute=3, judgement_type="WA", team="other")
    add_submission(api.service, {"02": JUDGE_ERROR}, minute=4, judgement_type="JE")
    add_submission(api.service, {}, minute=5, judgement_type="CE")
    add_submission(api.service, None, files={"02": b"2\n"}, minute=6)
    add_submission(api.service, {"03": raw(5, 1)}, minute=200, team="other")
    return str(request.param)


@sqlite_first
@pytest.mark.parametrize("user", [None, "team", "judge"])
def test_collections_and_their_objects_have_the_shapes_of_clics(api: Api, contest: str, user: str | None) -> None:
    """The unmodified schemas where a contest shows partly correct as AC; with PC among the types where it does not."""
    for collection in COLLECTIONS:
        found = api.get(f"contests/c/{collection}", user=user).json()
        assert faults(collection, found, partly_correct=contest == "PC") == []
        assert found or (collection == "runs" and user is None)
        for each in found:
            one = api.get(f"contests/c/{collection}/{each['id']}", user=user).json()
            assert one == each
            assert faults(SINGLE[collection], one, partly_correct=contest == "PC") == []


@rule_cases("user", [None, "judge"])
@pytest.mark.parametrize("query", ["", "?cases=true", "?since=x"])
def test_the_scoreboard_has_the_shape_of_clics(api: Api, contest: str, user: str | None, query: str) -> None:
    assert contest
    assert faults("scoreboard", api.get(f"contests/c/scoreboard{query}", user=user).json()) == []


@sqlite_first
def test_a_partly_correct_judgement_is_shown_as_the_contest_wants_it(api: Api, contest: str) -> None:
    types = [each["judgement_type_id"] for each in api.get("contests/c/judgements", user="judge").json()]
    assert types == ["AC", contest, "WA", "JE", "CE", None, "PC" if contest == "PC" else "AC"]


@sqlite_first
def test_every_judgement_type_that_is_shown_is_among_those_listed(api: Api, contest: str) -> None:
    assert contest
    listed = {each["id"] for each in api.get("contests/c/judgement-types").json()}
    shown = {each["judgement_type_id"] for each in api.get("contests/c/judgements", user="judge").json()} - {None}
    runs = {each["judgement_type_id"] for each in api.get("contests/c/runs", user="judge").json()}
    assert shown | runs <= listed


@sqlite_first
def test_a_contest_that_has_not_begun_has_the_shapes_too(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service, started=-timedelta(hours=1))
    assert faults("scoreboard", api.get("contests/c/scoreboard").json()) == []
    for collection in COLLECTIONS:
        assert api.get(f"contests/c/{collection}").json() == []
