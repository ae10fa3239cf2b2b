"""Reset passwords from the command line, against a real service."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest

from app.accounts.commands.accounts import new_login
from app.commands.fresh_service import Running
from tests.app.conftest import Jurado


@pytest.fixture
def name() -> str:
    """A word that nothing on the shared service is called by."""
    return f"x{uuid.uuid4().hex[:8]}"


def test_an_admin_renews_a_password(admin: Jurado, jurado: Jurado, service: Running, name: str, tmp_path: Path) -> None:
    (tmp_path / "accounts.csv").write_text(f"username,type\n{name},judge\n")
    assert admin("admin", "user", "import", tmp_path / "accounts.csv").exit_code == 0
    made = json.loads(admin("admin", "user", "password", name, "--json").stdout)
    assert new_login(service.url, name, made["password"]).token
