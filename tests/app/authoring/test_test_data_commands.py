"""`jurado admin testcase upload`, against a real service."""

from __future__ import annotations

import json
from pathlib import Path

from tests.app.conftest import Jurado
from tests.app.judging.test_rejudging_commands import contest

__all__ = ["contest"]


def test_a_folder_of_cases_is_put_as_one_version(admin: Jurado, contest: str, tmp_path: Path) -> None:
    for name in ("02", "03", "04"):
        for ending in ("in", "ans"):
            path = tmp_path / "data" / "secret" / f"{name}.{ending}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{name[1]}\n")
    upload = ("admin", "testcase", "upload", contest, tmp_path / "data", "--keep")
    preview = json.loads(admin(*upload, "--preview", "--json").stdout)
    assert [(each["name"], each["change"]) for each in preview["testcases"]][-1] == ("04", "added")
    done = admin(*upload)
    assert (done.exit_code, done.stdout) == (0, f"the test cases of {contest} have been stored\n")
    cases = json.loads(admin("admin", "testcase", "list", contest, "--json").stdout)
    assert [each["name"] for each in cases] == ["01", "02", "03", "04"]
