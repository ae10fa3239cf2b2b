"""What the API says of contests, teams and accounts has the shapes of CLICS 2026-01, by its own schemas."""

from __future__ import annotations

import pytest

from tests.builders.contests import HOUR, add_contest, add_problem
from tests.builders.schemas import faults
from tests.builders.service import Api

SINGLE = {
    "contests": "contest",
    "contests/c/judgement-types": "judgement-type",
    "contests/c/languages": "language",
    "contests/c/teams": "team",
    "contests/c/accounts": "account",
    "contests/c/groups": "group",
    "contests/c/organizations": "organization",
    "contests/c/persons": "person",
}
USERS = [None, "team", "judge", "admin"]
REFERENCES = {
    "account_id": "accounts",
    "team_id": "teams",
    "team_ids": "teams",
    "problem_id": "problems",
    "group_ids": "groups",
    "organization_id": "organizations",
    "person_id": "persons",
    "source_id": "persons",
    "submission_id": "submissions",
    "judgement_id": "judgements",
}


@pytest.fixture(params=["AC", "PC"])
def partly_correct(quick_api: Api, request: pytest.FixtureRequest) -> bool:
    """Contests of all kinds; whether partly correct is shown as a type of its own."""
    add_problem(quick_api.service)
    settings = {"partly_correct_as": request.param}
    add_contest(quick_api.service, started=4 * HOUR, freeze=2 * HOUR, settings=settings)
    add_contest(quick_api.service, "soon", started=-HOUR, settings=settings)
    body = {"id": "unset", "name": "Unset", "duration": "5:00:00", "formal_name": "Not yet set"}
    assert quick_api.post("contests", user="admin", json=body).status_code == 201
    quick_api.patch("teams/team", user="admin", json={"display_name": "The Team", "hidden": True})
    return bool(request.param == "PC")


@pytest.mark.parametrize("user", USERS)
def test_collections_and_their_objects_have_the_shapes_of_clics(
    quick_api: Api, partly_correct: bool, user: str | None
) -> None:
    for path, single in SINGLE.items():
        if user is None and single == "account":
            continue  # no one has no account, and the endpoint says so with 404
        found = quick_api.get(path, user=user).json()
        collection = path.rpartition("/")[2]
        assert faults(collection, found, partly_correct=partly_correct) == [], path
        for each in found:
            one = quick_api.get(f"{path}/{each['id']}", user=user).json()
            assert one == each
            assert faults(single, one, partly_correct=partly_correct) == [], path


@pytest.mark.parametrize("user", USERS)
def test_single_objects_have_the_shapes_of_clics(quick_api: Api, partly_correct: bool, user: str | None) -> None:
    assert faults("api_information", quick_api.get("/api/").json()) == []
    for contest_id in ("c", "soon", "unset"):
        for name in ("state", "access"):
            found = quick_api.get(f"contests/{contest_id}/{name}", user=user).json()
            assert faults(name, found, partly_correct=partly_correct) == []
    if user is not None:
        assert faults("account", quick_api.get("contests/c/account", user=user).json()) == []


def test_capabilities_are_those_of_the_role(quick_api: Api, partly_correct: bool) -> None:
    found = {user: set(quick_api.get("contests/c/access", user=user).json()["capabilities"]) for user in USERS}
    assert found == {
        None: set(),
        "team": {"team_submit", "post_clar"},
        "judge": {"post_clar", "admin_clar"},
        "admin": {
            "contest_start",
            "contest_thaw",
            "admin_submit",
            "proxy_submit",
            "post_clar",
            "proxy_clar",
            "admin_clar",
            "post_comment",
        },
    }


@pytest.mark.parametrize("user", USERS)
def test_what_access_lists_is_there_and_refers_to_nothing_that_is_not(
    quick_api: Api, partly_correct: bool, user: str | None
) -> None:
    listed = {
        each["type"]: set(each["properties"])
        for each in quick_api.get("contests/c/access", user=user).json()["endpoints"]
    }
    for type_ in listed:
        path = "contests/c" if type_ == "contest" else f"contests/c/{type_}"
        assert quick_api.get(path, user=user).status_code == 200
    properties = set().union(*listed.values())
    for reference, type_ in REFERENCES.items():
        assert type_ in listed or reference not in properties
