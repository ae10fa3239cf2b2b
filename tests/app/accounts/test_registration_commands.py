"""Self-registration and reset passwords from the command line, against a real service."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest

from app.accounts.commands.accounts import new_login
from app.commands.fresh_service import Running
from tests.app.conftest import Jurado

PASSWORD = "open, sesame seeds"
TERMS = "contests/practice/registration"


@pytest.fixture
def name() -> str:
    """A word that nothing on the shared service is called by."""
    return f"x{uuid.uuid4().hex[:8]}"


def test_an_organiser_opens_registration_and_somebody_registers(
    admin: Jurado, jurado: Jurado, service: Running, name: str
) -> None:
    opened = admin("api", "PATCH", TERMS, "open=true", "most=1000", "until=null")
    assert opened.exit_code == 0, opened.stderr
    code = json.loads(opened.stdout)["code"]
    ours = ("--name", f"{name} Li", "--email", f"{name}@example.org", "--password-stdin")
    made = jurado("register", service.url, "practice", "--code", code, *ours, stdin=f"{PASSWORD}\n")
    assert made.exit_code == 0, made.stderr
    assert f"registered as {name}.li, in the team {name} Li" in made.stdout
    assert new_login(service.url, f"{name}.li", PASSWORD).token
    rows = json.loads(admin("api", "GET", "contests/practice/registrations").stdout)
    assert f"{name}@example.org" in {row["email"] for row in rows}
    renewed = json.loads(admin("api", "POST", f"{TERMS}/code").stdout)
    assert renewed["code"] != code
    refused = jurado("register", service.url, "practice", "--code", code, *ours, stdin=f"{PASSWORD}\n")
    assert (refused.exit_code, "expected the contest's code" in refused.stderr) == (1, True)
    assert not json.loads(admin("api", "PATCH", TERMS, "open=false").stdout)["open"]


def test_an_admin_renews_a_password(admin: Jurado, jurado: Jurado, service: Running, name: str, tmp_path: Path) -> None:
    (tmp_path / "accounts.csv").write_text(f"username,type\n{name},judge\n")
    assert admin("admin", "user", "import", tmp_path / "accounts.csv").exit_code == 0
    made = json.loads(admin("admin", "user", "password", name, "--json").stdout)
    assert new_login(service.url, name, made["password"]).token
