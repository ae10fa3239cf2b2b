"""The Docker files, as far as they can be held without Docker."""

from __future__ import annotations

import fnmatch
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[1]
DOCKERFILE = (PROJECT / "Dockerfile").read_text()
COPIED = [
    source
    for sources in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    for source in sources.split()
]


def compose() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((PROJECT / "compose.yaml").read_text())
    return document


@pytest.mark.parametrize("source", COPIED)
def test_what_is_copied_exists_and_is_let_through_by_dockerignore(source: str) -> None:
    assert (PROJECT / source).exists()
    let_through = [line[1:] for line in (PROJECT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert any(fnmatch.fnmatch(source, pattern) for pattern in let_through)


def test_everything_the_service_imports_or_reads_is_copied() -> None:
    assert {"app", "checkers", "games", "solvers", "problems", "migrations", "docs/guides"} <= set(COPIED)
    assert {"pyproject.toml", "uv.lock"} <= set(COPIED)


def test_every_file_that_the_metadata_name_is_copied_before_the_libraries_are_installed() -> None:
    """Else the build of the project itself ends with "did not match any files"."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    assert {project["readme"], *project["license-files"]} <= set(COPIED)


def test_the_image_runs_the_service_as_a_user_without_rights() -> None:
    users = re.findall(r"^USER (\S+)$", DOCKERFILE, re.MULTILINE)
    assert users == ["jurado"]
    assert DOCKERFILE.index("USER jurado") < DOCKERFILE.index('CMD ["jurado", "serve"]')


def test_the_same_uv_is_pinned_everywhere() -> None:
    pinned = re.search(r"^UV_VERSION=(\S+)", (PROJECT / "scripts" / "setup.sh").read_text(), re.MULTILINE)
    assert pinned is not None
    assert f"uv=={pinned[1]}" in DOCKERFILE


def test_the_health_check_is_a_python_program_that_asks_whether_the_service_is_ready() -> None:
    check = re.search(r"^HEALTHCHECK.*?CMD (\[.*?\])$", DOCKERFILE, re.MULTILINE | re.DOTALL)
    assert check is not None
    program, flag, text = json.loads(check[1])
    assert (program, flag) == ("python", "-c")
    assert "/health/ready" in text
    compile(text, "HEALTHCHECK", "exec")


def test_plain_compose_starts_one_service_and_needs_no_database_server() -> None:
    plain = [name for name, service in compose()["services"].items() if "profiles" not in service]
    assert plain == ["jurado"]
    assert "JURADO_DATABASE_URL" not in compose()["services"]["jurado"]["environment"]


def test_the_postgres_profile_brings_the_database_its_url_names() -> None:
    services = compose()["services"]
    url = services["jurado-postgres"]["environment"]["JURADO_DATABASE_URL"]
    assert url.startswith("postgresql+psycopg://")
    assert url.split("@")[1].split("/")[0] in services
    assert all("postgres" in services[name]["profiles"] for name in ("jurado-postgres", "database"))


def test_every_volume_is_declared() -> None:
    document = compose()
    used = {volume.split(":")[0] for service in document["services"].values() for volume in service["volumes"]}
    assert used == set(document["volumes"])
