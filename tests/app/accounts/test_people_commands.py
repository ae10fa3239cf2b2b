"""Class lists and passwords from the command line, and the tables of the guide, against a real service."""

from __future__ import annotations

import csv
import json
import re
import uuid
from pathlib import Path

import pytest

from app.accounts.commands.accounts import new_login
from app.commands.fresh_service import Running
from tests.app.conftest import Jurado

GUIDE = Path(__file__).resolve().parents[3] / "docs/guides/accounts-and-teams.md"
TABLES = re.findall(r"```csv\n(.*?)```", GUIDE.read_text(), re.DOTALL)


@pytest.fixture
def name() -> str:
    """An id that nothing on the shared service has."""
    return f"x{uuid.uuid4().hex[:8]}"


@pytest.mark.parametrize(("kind", "table"), [("people", TABLES[0]), ("team", TABLES[1])])
def test_the_tables_of_the_guide_are_taken(admin: Jurado, tmp_path: Path, kind: str, table: str) -> None:
    (tmp_path / "table.csv").write_text(table)
    done = admin("admin", kind, "import", tmp_path / "table.csv", "--dry-run")
    assert done.exit_code == 0, done.stderr
    assert "would be imported" in done.stdout


def test_a_class_list_prints_its_passwords_once_and_they_log_in(
    admin: Jurado, service: Running, name: str, tmp_path: Path
) -> None:
    (tmp_path / "class.csv").write_text(f"name,username,team\nAna,{name},{name} Team\n")
    done = admin("admin", "people", "import", tmp_path / "class.csv", "--make-passwords")
    assert done.exit_code == 0, done.stderr
    password = re.search(rf"{name} +│ (\S+) ", done.stdout)
    assert password is not None
    assert new_login(service.url, name, password[1]).token
    again = admin("admin", "people", "import", tmp_path / "class.csv", "--make-passwords")
    assert "(0 made, 0 changed, 1 as they were)" in again.stdout
    assert "│" not in again.stdout


def test_passwords_go_to_a_new_file_for_its_owner_alone(
    admin: Jurado, service: Running, name: str, tmp_path: Path
) -> None:
    (tmp_path / "accounts.csv").write_text(f"username;type;name\n{name};judge;=1+1\n")
    path = tmp_path / "passwords.csv"
    done = admin("admin", "user", "import", tmp_path / "accounts.csv", "--passwords", path, "--json")
    assert done.exit_code == 0, done.stderr
    assert "password" not in json.loads(done.stdout)[0]
    assert path.stat().st_mode & 0o777 == 0o600
    with path.open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["username"], row["name"]) == (name, "'=1+1")
    assert new_login(service.url, name, row["password"]).token
    refused = admin("admin", "user", "import", tmp_path / "accounts.csv", "--passwords", path, "--replace")
    assert (refused.exit_code, "exists already" in refused.stderr) == (2, True)


def test_a_dry_run_shows_what_would_be_made_and_changed(admin: Jurado, name: str, tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text(f"name,username,team\nAna,{name},{name} Team\n")
    done = admin("admin", "people", "import", tmp_path / "class.csv", "--dry-run")
    assert done.exit_code == 0, done.stderr
    assert re.search(rf"line 2 +│ {name} +│ Ana +│ {name} Team +│ made ", done.stdout)
    assert admin("admin", "people", "import", tmp_path / "class.csv").exit_code == 0
    (tmp_path / "accounts.csv").write_text(f"username;type;name\n{name}-b;judge;B\n")
    shown = admin("admin", "user", "import", tmp_path / "accounts.csv", "--dry-run")
    assert shown.stdout == "1 accounts would be imported\n"
    assert f"{name}-b" not in admin("admin", "user", "list").stdout


def test_groups_and_organizations_come_from_files(admin: Jurado, name: str, tmp_path: Path) -> None:
    (tmp_path / "groups.tsv").write_text(f"groups\t1\n{name}\tGroup {name}\n")
    done = admin("admin", "group", "import", tmp_path / "groups.tsv", "--contest", "practice")
    assert (done.exit_code, "1 groups have been imported" in done.stdout) == (0, True)
    (tmp_path / "o.csv").write_bytes(f"id;name\n{name};Señor {name}\n".encode("cp1252"))
    done = admin(
        "admin", "organization", "import", tmp_path / "o.csv", "--contest", "practice", "--encoding", "windows-1252"
    )
    assert done.exit_code == 0, done.stderr
    rows = json.loads(admin("admin", "organization", "list", "--contest", "practice", "--json").stdout)
    assert {"id": name, "name": f"Señor {name}"} in rows


def test_a_refused_import_leaves_no_file_for_passwords(admin: Jurado, tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text("nmae\nAna\n")
    path = tmp_path / "passwords.csv"
    refused = admin("admin", "people", "import", tmp_path / "class.csv", "--passwords", path)
    assert refused.exit_code == 1
    assert "line 1: expected one of the columns name, " in refused.stderr
    assert not path.exists()


def test_teams_are_listed_with_their_groups(admin: Jurado, name: str, tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text(f"name,username,team,group\nAna,{name},{name} Team,{name}-g\n")
    assert admin("admin", "people", "import", tmp_path / "class.csv").exit_code == 0
    rows = {row["name"]: row for row in json.loads(admin("admin", "team", "list", "--json").stdout)}
    assert rows[f"{name} Team"]["group_ids"] == [f"{name}-g"]
    assert re.search(rf"{name} Team +│ {name}-g ", admin("admin", "team", "list").stdout)
