"""Settings: where they come from, and that the documents know them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from app.archive.commands.places import read_settings
from app.core.commands.output import Failure
from app.core.files.open_files import folder_of
from app.core.settings import SECRETS, Settings
from app.packages.catalog import VARIABLE

PROJECT = Path(__file__).resolve().parents[2]
OF_THE_COMMAND_LINE = {"JURADO_URL", "JURADO_TOKEN", "JURADO_PASSWORD"}
OF_SOLVERS = {"JURADO_SEED", "JURADO_METHOD", "JURADO_SECONDS"}
"""What the reference solver of a package finds in its environment."""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(f"JURADO_{name.upper()}", raising=False)


def test_an_argument_goes_before_the_environment_and_that_before_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("jurado.toml").write_text('port = 1\nhost = "file"\ngraders = 3\n')
    monkeypatch.setenv("JURADO_PORT", "2")
    monkeypatch.setenv("JURADO_HOST", "environment")
    found = Settings(port=4)
    assert (found.port, found.host, found.graders) == (4, "environment", 3)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", "70000"),
        ("graders", "-1"),
        ("check_seconds", "0"),
        ("broker_url", "redis://there"),
        ("broker_url", "amqp://there"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_name(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"JURADO_{name.upper()}", value)
    with pytest.raises(ValidationError, match=name):
        Settings()


def test_a_misspelt_setting_in_the_file_is_refused() -> None:
    Path("jurado.toml").write_text("prot = 1\n")
    with pytest.raises(ValidationError, match="prot"):
        Settings()


@pytest.mark.parametrize(
    "line",
    [
        'databse_url = "postgresql://u:hunter2@h/d"',
        'broker_url = ["amqp://u:hunter2@h"]',
        'database_url = "postgresql://u:hunter2@h:port/d"',
        'files_url = "s3://key:hunter2@b/x?color=red"',
        'metrics_token = "hunter2"',
        'secret_key = "hunter2"',
        'admin_password = { is = "hunter2" }',
    ],
)
def test_a_wrong_setting_is_named_without_its_secret(line: str) -> None:
    Path("jurado.toml").write_text(line)
    with pytest.raises(Failure, match=line.partition(" ")[0]) as caught:
        read_settings()
    assert "hunter2" not in str(caught.value)


def test_the_settings_that_hold_secrets_are_known() -> None:
    assert {name for name in Settings.model_fields if name.endswith(("_url", "_token", "_key", "_password"))} == SECRETS


def test_urls_of_postgresql_name_the_driver_and_sqlite_is_the_default() -> None:
    assert Settings(database_url="postgres://u@h/d").database == "postgresql+psycopg://u@h/d"
    assert Settings(home=Path("here")).database == f"sqlite:///{Path('here').resolve()}/jurado.db"


def test_files_lie_in_the_home_or_where_a_file_url_says_and_nowhere_else() -> None:
    assert folder_of(Settings(home=Path("here")).files) == Path("here/files").resolve()
    assert folder_of(Settings(files_url="file:///there").files) == Path("/there")
    with pytest.raises(ValidationError, match=r"expected file:///FOLDER or s3://BUCKET/PREFIX, found ftp:\.\.\."):
        Settings(files_url="ftp://there")


def test_the_documents_name_only_settings_that_exist() -> None:
    known = {f"JURADO_{name.upper()}" for name in Settings.model_fields} | OF_THE_COMMAND_LINE | OF_SOLVERS | {VARIABLE}
    pages = [*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md"), PROJECT / "compose.yaml", PROJECT / "Dockerfile"]
    for page in pages:
        assert set(re.findall(r"JURADO_[A-Z_]+", page.read_text())) <= known, page
