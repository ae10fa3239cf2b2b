"""`jurado admin testcase upload`, `group` and `move`, against a real service."""

from __future__ import annotations

import json
from pathlib import Path

from tests.app.conftest import Jurado
from tests.app.judging.test_rejudging_commands import contest

__all__ = ["contest"]


def test_a_folder_of_cases_is_put_and_its_groups_are_changed(admin: Jurado, contest: str, tmp_path: Path) -> None:
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
    group = ("admin", "testcase", "group", contest, "secret/a", "--points", 60, "--aggregation", "sum", "--keep")
    assert admin(*group, "--with", "02", "--with", "03", "--with", "04").exit_code == 0
    split = ("admin", "testcase", "group", contest, "secret/b", "--points", 40, "--with", "04", "--keep")
    assert admin(*split).exit_code == 0
    assert admin("admin", "testcase", "group", contest, "secret/b", "--with", "03", "--keep").exit_code == 0
    cases = json.loads(admin("admin", "testcase", "list", contest, "--json").stdout)
    assert {each["name"]: (each["group"], each["max_points"]) for each in cases} == {
        "01": ("sample", 0),
        "02": ("secret/a", 60),
        "03": ("secret/b", 40),
        "04": ("secret/b", 40),
    }
    points = ("admin", "testcase", "points", contest, "02=20", "--keep")
    assert "expected points that make 60 in secret/a, found 20" in admin(*points).stderr
    assert admin("admin", "testcase", "points", contest, "02=x").exit_code == 2
    assert admin("admin", "testcase", "order", contest, "04", "03", "--keep").exit_code == 0
    listed = json.loads(admin("admin", "testcase", "list", contest, "--json").stdout)
    assert [each["name"] for each in listed] == ["01", "02", "04", "03"]
