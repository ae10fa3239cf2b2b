"""Roles from the command line, against a real service."""

from __future__ import annotations

import json
import uuid

import pytest

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


def test_an_account_is_allowed_to_make_contests_and_listed(admin: Jurado, contest: str) -> None:
    assert admin("admin", "user", "allow-contests", contest).exit_code == 0
    assert admin("admin", "problem", "grant", "comesolo", contest, "judge").exit_code == 0
    listed = {each["username"]: each for each in json.loads(admin("api", "GET", "organisers").stdout)}
    assert (listed[contest]["organiser"], listed[contest]["problems"]) == (True, {"comesolo": "judge"})
    assert admin("api", "DELETE", f"organisers/{contest}").exit_code == 0
    assert admin("admin", "problem", "revoke", "comesolo", contest).exit_code == 0
