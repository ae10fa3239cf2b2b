"""A contest's problems: put in, moved, scored otherwise and taken out, by admins."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders.contests import add_contest, add_problem, add_submission
from tests.builders.examples import rule_cases, sqlite_first
from tests.builders.scoring import raw
from tests.builders.service import Api

ROUTE = "contests/c/problems"


@pytest.fixture(autouse=True)
def _contest(api: Api) -> None:
    for slug in ("echo", "other"):
        add_problem(api.service, slug=slug)
    add_contest(api.service, problem_id=None)


def put_in(api: Api, **body: Any) -> Any:
    """Put a problem into contest `c`."""
    reply = api.post(ROUTE, user="admin", json=body)
    assert reply.status_code == 201, reply.text
    return reply


def labels(api: Api) -> dict[str, str]:
    """The contest's problems in order, and their labels."""
    return {each["id"]: each["label"] for each in api.get(ROUTE).json()}


@sqlite_first
def test_a_problem_gets_the_next_letter_and_the_last_place_and_is_found_at_its_location(api: Api) -> None:
    assert put_in(api, id="other").json()["label"] == "A"
    made = put_in(api, id="echo")
    assert (made.json()["label"], made.json()["ordinal"]) == ("B", 1)
    assert api.get(made.headers["Location"]).json()["id"] == "echo"
    assert labels(api) == {"other": "A", "echo": "B"}


@sqlite_first
def test_what_is_left_out_of_a_rule_is_as_the_problem_has_it(api: Api) -> None:
    rule = put_in(api, id="echo", rule={"kind": "relative", "max_points": "100/3"}).json()["rule"]
    assert rule == {
        "kind": "relative",
        "direction": "maximise",
        "counting": "last",
        "carry": "best",
        "reference_counts": False,
        "max_points": "100/3",
    }


@rule_cases(
    ("body", "status", "says"),
    [
        ({"id": "nothing"}, 400, "id: expected a problem that exists, found 'nothing'"),
        ({"id": "echo"}, 409, "problem 'echo' is in the contest already"),
        ({"id": "other", "label": "A"}, 409, "label: 'A' is the label of problem 'echo'"),
        ({"id": "other", "rule": {"max_points": "1/0"}}, 400, "rule.max_points"),
        ({"id": "other", "rule": {"kind": "fair"}}, 400, "rule.kind"),
        ({"id": "other", "colour": "red"}, 400, "colour: expected no such property"),
    ],
)
def test_what_cannot_be_put_in_is_refused_and_changes_nothing(
    api: Api, body: dict[str, Any], status: int, says: str
) -> None:
    put_in(api, id="echo")
    refused = api.post(ROUTE, user="admin", json=body)
    assert refused.status_code == status, refused.text
    assert says in refused.json()["message"]
    assert labels(api) == {"echo": "A"}


@sqlite_first
def test_a_change_moves_a_problem_and_leaves_alone_what_it_does_not_name(api: Api) -> None:
    put_in(api, id="echo", rgb="#f00", color="red")
    put_in(api, id="other")
    changed = api.patch(f"{ROUTE}/echo", user="admin", json={"label": "Z", "ordinal": 7, "color": None}).json()
    assert [changed[key] for key in ("label", "ordinal", "rgb", "color")] == ["Z", 7, "#f00", None]
    assert list(labels(api).items()) == [("other", "B"), ("echo", "Z")]
    assert api.patch(f"{ROUTE}/echo", user="admin", json={"label": "B"}).status_code == 409
    assert api.patch(f"{ROUTE}/echo", user="admin", json={"id": "other"}).status_code == 409


@sqlite_first
def test_points_follow_a_changed_rule_once_it_is_applied_with_nothing_judged_again(api: Api) -> None:
    put_in(api, id="echo", rule={"kind": "relative", "max_points": 100})
    add_submission(api.service, {"02": raw(10), "03": raw(10)})
    score = api.get("contests/c/scoreboard").json()["rows"][0]["score"]["score"]
    assert score == 100.0
    rule = {"kind": "relative", "max_points": 10}
    waiting = api.patch(f"{ROUTE}/echo", user="admin", json={"rule": rule, "label": "E"})
    assert (waiting.status_code, waiting.json()["state"], waiting.json()["total"]) == (202, "ready", 0)
    assert labels(api) == {"echo": "E"}
    assert api.get("contests/c/scoreboard").json()["rows"][0]["score"]["score"] == 100.0
    assert api.post(f"{waiting.json()['href']}/apply", user="admin").status_code == 200
    assert api.get("contests/c/scoreboard").json()["rows"][0]["score"]["score"] == 10.0


@sqlite_first
def test_a_problem_is_taken_out_until_somebody_has_submitted_to_it(api: Api) -> None:
    put_in(api, id="echo")
    put_in(api, id="other")
    add_submission(api.service, {"02": raw(1)})
    assert api.delete(f"{ROUTE}/other", user="admin").status_code == 204
    refused = api.delete(f"{ROUTE}/echo", user="admin")
    assert (refused.status_code, refused.json()["message"]) == (409, "the problem has 1 submissions in this contest")
    assert labels(api) == {"echo": "A"}
    assert api.delete(f"{ROUTE}/other", user="admin").status_code == 404
