"""Where the machine gives no sandbox, no door runs a program of a package, and each says so in one line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from app.core.files.open_files import LocalFiles
from app.core.json_documents import RunParams
from app.judging.service.graders import EngineSettings
from app.judging.service.programs import Programs
from app.judging.service.reference_runs import solve_by_package
from app.judging.service.solver_process import SolverFailed
from app.packages import tools
from app.packages.read import read_package
from app.programs.tools import Solving
from app.sandbox.model import SandboxMissing
from app.sandbox.sandbox import Sandbox
from tests.app.conftest import Jurado
from tests.builders.foreign import OMEGAUP, foreign_zip
from tests.builders.packages import write_package, zip_package
from tests.builders.programs import ABSOLUTE, own_checker
from tests.builders.service import Api, Idle, open_api

LACK = "no sandbox: bubblewrap: bwrap is not installed; namespaces: none may be made"
CHECKER = {"checker.py": "def score(*_):\n    return 1\n"}
PRINTS = "print(1)\n"
TOOLS: dict[str, str | bytes | None] = {
    "generators/generate.py": PRINTS,
    "generators/cases.yaml": "cases: [{group: secret, name: '02', seed: 3}]\n",
    "submissions/accepted/copy.py": PRINTS,
    "solver.py": PRINTS,
}


@pytest.fixture(autouse=True)
def _missing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(Sandbox, "open", missing)
    monkeypatch.setattr(Sandbox, "_launch", lambda *_args, **_more: pytest.fail("a program was started"))
    tools._desk.cache_clear()
    yield
    tools._desk.cache_clear()


def missing(*, as_root: bool = False) -> Sandbox:
    """A machine without two of the protections."""
    raise SandboxMissing({"bubblewrap": "bwrap is not installed", "namespaces": "none may be made"})


def test_check_and_verify_refuse_a_checker_in_one_line(jurado: Jurado, tmp_path: Path) -> None:
    root = write_package(tmp_path, own_checker(CHECKER, ABSOLUTE))
    case = (root, root / "data/secret/02.in", "-", "--reference", root / "data/secret/02.ans", "--json")
    checked = jurado("check", *case, stdin="2\n")
    assert (checked.exit_code, json.loads(checked.stdout)["message"]) == (2, f"the checker failed: {LACK}")
    verified = jurado("package", "verify", root, "--json")
    report = json.loads(verified.stdout)
    assert (verified.exit_code, report["valid"]) == (1, False)
    assert [fault["message"] for fault in report["errors"]] == [f"packages' own checkers cannot run here: {LACK}"]


def test_verify_runs_no_validator_generator_or_example_and_names_each(jurado: Jurado, tmp_path: Path) -> None:
    report = json.loads(jurado("package", "verify", write_package(tmp_path, TOOLS), "--json").stdout)
    messages = {fault["file"]: fault["message"] for fault in (*report["warnings"], *report["notes"])}
    assert messages["input_validators"] == f"input validators are not run: {LACK}"
    assert messages["generators/cases.yaml"] == f"generators are not run: {LACK}"
    assert messages["submissions/accepted/copy.py"] == f"this program is not run: {LACK}"


def test_a_reference_run_fails_in_one_line(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path / "files")
    params: RunParams = {
        "problem_id": "echo",
        "package_sha256": files.keep(zip_package(TOOLS)),
        "program": "solver.py",
        "method": "",
        "memory": 256,
        "seconds": 1.0,
        "seed": 1,
        "cases": ["02"],
        "checker": "exact",
    }
    programs = Programs(EngineSettings(1, 2**28, 60.0, LocalFiles(tmp_path / "files")), missing)
    with pytest.raises(SolverFailed) as failed:
        solve_by_package(programs, files, params, b"1\n", Solving())
    assert str(failed.value) == LACK


@pytest.fixture
def api(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A service whose engine has no sandbox."""
    with open_api(sqlite_url, tmp_path / "home") as api:
        yield api


@pytest.mark.parametrize("door", ["problems", "problems?format=omegaup"])
def test_an_upload_or_an_import_with_a_checker_is_refused_with_the_reason_and_nothing_is_stored(
    api: Api, door: str
) -> None:
    cast(Idle, api.service.engine).lack = LACK
    sent = zip_package(own_checker(CHECKER, ABSOLUTE), "mine/")
    if "omegaup" in door:
        sent = foreign_zip(OMEGAUP, {"validator.py": PRINTS, "settings.json": None}, top="mine/")
    reply = api.post(door, user="admin", content=sent, headers={"Content-Type": "application/zip"})
    assert reply.status_code == 400
    (error,) = [each for each in reply.json()["errors"] if each["severity"] == "error"]
    assert error["message"] == f"packages' own checkers cannot run here: {LACK}"
    assert api.get("problems/mine", user="admin").status_code == 404


def test_a_package_without_programs_is_taken_all_the_same(jurado: Jurado, tmp_path: Path) -> None:
    root = write_package(tmp_path)
    assert json.loads(jurado("package", "verify", root, "--json").stdout)["errors"] == []
    assert read_package(root).program is None
