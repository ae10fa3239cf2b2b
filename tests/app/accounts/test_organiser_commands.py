"""Roles from the command line, against a real service."""

from __future__ import annotations

import json
import uuid

import pytest

from app.accounts.commands.accounts import new_login
from app.commands.fresh_service import Running
from tests.app.conftest import Jurado


@pytest.fixture
def name() -> str:
    """An id that nothing on the shared service has."""
    return f"x{uuid.uuid4().hex[:8]}"


@pytest.fixture
def contest(admin: Jurado, name: str) -> str:
    """A contest, and an account of a helper, both of this name."""
    assert admin("admin", "contest", "create", name, "A contest").exit_code == 0
    added = admin("admin", "user", "add", name, "--type", "staff", "--password-stdin", stdin="a good password\n")
    assert added.exit_code == 0, added.stderr
    return name


def test_a_role_is_granted_listed_and_revoked(admin: Jurado, contest: str) -> None:
    granted = admin("admin", "contest", "grant", contest, contest, "owner")
    assert (granted.exit_code, granted.stdout) == (0, f"{contest} is owner of {contest}\n")
    (role,) = json.loads(admin("admin", "contest", "roles", contest, "--json").stdout)
    assert (role["username"], role["role"], role["rests"]) == (contest, "owner", False)
    assert "owner" in admin("admin", "contest", "roles", contest).stdout
    assert admin("admin", "contest", "revoke", contest, contest).exit_code == 0
    assert admin("admin", "contest", "roles", contest, "--json").stdout == "[]\n"
    assert admin("admin", "contest", "revoke", contest, contest).exit_code == 1


def test_invitations_are_listed_accepted_and_declined(
    admin: Jurado, service: Running, contest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = f"o{contest}"
    added = admin("admin", "user", "add", owner, "--type", "staff", "--password-stdin", stdin="a good password\n")
    assert added.exit_code == 0, added.stderr
    assert admin("admin", "contest", "grant", contest, owner, "owner").exit_code == 0
    assert admin("admin", "problem", "grant", "comesolo", owner, "owner").exit_code == 0
    invitations = ("api", "GET", "account/roles")
    tokens = {name: new_login(service.url, name, "a good password").token for name in (owner, contest)}

    def run(user: str, *words: str) -> str:
        monkeypatch.setenv("JURADO_TOKEN", tokens[user])
        done = admin(*words)
        assert done.exit_code == 0, done.stderr
        return done.stdout

    assert run(contest, *invitations) == "[]\n"
    pending = f"{contest} is judge of {contest} once the account accepts (on its account page)\n"
    assert run(owner, "admin", "contest", "grant", contest, contest, "judge") == pending
    run(owner, "admin", "problem", "grant", "comesolo", contest, "judge")
    assert "judge, pending" in run(owner, "admin", "contest", "roles", contest)
    offered = json.loads(run(contest, *invitations))
    assert [(each["kind"], each["id"], each["role"]) for each in offered] == [
        ("contests", contest, "judge"),
        ("problems", "comesolo", "judge"),
    ]
    run(contest, "api", "PUT", f"account/roles/contests/{contest}")
    run(contest, "api", "DELETE", "account/roles/problems/comesolo")
    assert run(contest, *invitations) == "[]\n"
    assert "pending" not in run(owner, "admin", "contest", "roles", contest)
    at_problem = json.loads(run(owner, "admin", "problem", "roles", "comesolo", "--json"))
    assert contest not in [each["username"] for each in at_problem]
    refused = admin("api", "PUT", "account/roles/contests/nothing")
    assert (refused.exit_code, "no invitation to contests/nothing" in refused.stderr) == (1, True)
    monkeypatch.setenv("JURADO_TOKEN", tokens[owner])
    assert admin("admin", "problem", "revoke", "comesolo", owner).exit_code == 0


def test_an_account_is_allowed_to_make_contests_and_listed(admin: Jurado, contest: str) -> None:
    assert admin("admin", "user", "allow-contests", contest).exit_code == 0
    assert admin("admin", "problem", "grant", "comesolo", contest, "judge").exit_code == 0
    listed = {each["username"]: each for each in json.loads(admin("api", "GET", "organisers").stdout)}
    assert (listed[contest]["organiser"], listed[contest]["problems"]) == (True, {"comesolo": "judge"})
    assert admin("api", "DELETE", f"organisers/{contest}").exit_code == 0
    assert admin("admin", "problem", "revoke", "comesolo", contest).exit_code == 0
