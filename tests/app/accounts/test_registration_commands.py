"""Self-registration and reset passwords from the command line, against a real service."""

from __future__ import annotations

import json
import re
import uuid
from pathlib import Path

import httpx
import pytest

from app.accounts.commands.accounts import new_login
from app.commands.fresh_service import Running
from tests.app.conftest import Jurado

PASSWORD = "open, sesame seeds"


@pytest.fixture
def name() -> str:
    """A word that nothing on the shared service is called by."""
    return f"x{uuid.uuid4().hex[:8]}"


def test_an_organiser_opens_registration_and_somebody_registers(
    admin: Jurado, jurado: Jurado, service: Running, name: str
) -> None:
    opened = admin("admin", "registration", "open", "practice", "--most", "1000", "--until", "none", "--json")
    assert opened.exit_code == 0, opened.stderr
    code = json.loads(opened.stdout)["code"]
    ours = ("--name", f"{name} Li", "--email", f"{name}@example.org", "--password-stdin")
    made = jurado("register", service.url, "practice", "--code", code, *ours, stdin=f"{PASSWORD}\n")
    assert made.exit_code == 0, made.stderr
    assert f"registered as {name}.li, in the team {name} Li" in made.stdout
    assert new_login(service.url, f"{name}.li", PASSWORD).token
    rows = json.loads(admin("admin", "registration", "list", "practice", "--json").stdout)
    assert f"{name}@example.org" in {row["email"] for row in rows}
    renewed = admin("admin", "registration", "new-code", "practice")
    link = re.search(r"^link: (\S+)$", renewed.stdout, re.MULTILINE)
    assert link is not None
    assert "<form class" in httpx.get(link[1]).text
    assert re.search(r"^code: (\S+)$", renewed.stdout, re.MULTILINE)[1] != code  # type: ignore[index]
    refused = jurado("register", service.url, "practice", "--code", code, *ours, stdin=f"{PASSWORD}\n")
    assert (refused.exit_code, "expected the contest's code" in refused.stderr) == (1, True)
    assert "is not open" in admin("admin", "registration", "close", "practice").stdout
    assert "is not open" in admin("admin", "registration", "show", "practice").stdout


def test_a_time_without_a_zone_is_no_end_of_registration(admin: Jurado) -> None:
    done = admin("admin", "registration", "open", "practice", "--until", "2030-01-01T00:00:00")
    assert (done.exit_code, "expected a time such as" in done.stderr) == (2, True)


def test_an_admin_renews_a_password(admin: Jurado, jurado: Jurado, service: Running, name: str, tmp_path: Path) -> None:
    (tmp_path / "accounts.csv").write_text(f"username,type\n{name},judge\n")
    assert admin("admin", "user", "import", tmp_path / "accounts.csv").exit_code == 0
    made = json.loads(admin("admin", "user", "password", name, "--json").stdout)
    assert new_login(service.url, name, made["password"]).token
