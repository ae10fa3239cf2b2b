"""Symbolic links of a folder that stay in the package are followed; others, and those in archives, are refused."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import Path

import pytest

from app.core.faults import PackageErrors
from app.packages.files import archive_files
from app.packages.read import read_package
from tests.builders.packages import write_package


def test_links_in_the_package_are_followed(tmp_path: Path) -> None:
    """To a file, to a folder, and through another link."""
    root = write_package(tmp_path)
    (root / "data/secret/04.in").symlink_to("../sample/01.in")
    (root / "data/secret/04.ans").symlink_to("03.ans")
    (root / "attachments").symlink_to("data/sample")
    (root / "data/secret/05.in").symlink_to("../../attachments/01.in")
    (root / "data/secret/05.ans").symlink_to("./04.ans")
    first = (root / "data/sample/01.in").read_bytes()
    cases = read_package(root).cases
    assert [case.name for case in cases] == ["01", "02", "03", "04", "05"]
    assert [case.input.read() == first for case in cases] == [True, False, False, True, True]


@pytest.mark.parametrize(
    ("target", "fault"),
    [
        ("/etc/passwd", "expected a symbolic link that stays in the package, found one to /etc/passwd"),
        ("nothing.md", "expected a symbolic link to a file or folder, found one to nothing.md"),
        ("more.md", "expected a symbolic link to a file or folder, found one to more.md"),
        ("..", "expected no symbolic link to a folder that it lies in, found one to .."),
        (".", "expected no symbolic link to a folder that it lies in, found one to ."),
    ],
    ids=["absolute", "nowhere", "itself", "its package", "its folder"],
)
def test_a_link_that_leads_outside_nowhere_or_around_is_refused(tmp_path: Path, target: str, fault: str) -> None:
    root = write_package(tmp_path)
    (root / "statement/more.md").symlink_to(target)
    with pytest.raises(PackageErrors) as refused:
        read_package(root)
    assert str(refused.value) == f"statement/more.md: {fault}"


def test_a_link_to_a_file_next_to_the_package_is_refused(tmp_path: Path) -> None:
    root = write_package(tmp_path)
    (tmp_path / "outside").write_text("secret")
    (root / "statement/more.md").symlink_to("../../outside")
    with pytest.raises(PackageErrors, match="expected a symbolic link that stays in the package"):
        read_package(root)


@pytest.mark.parametrize("target", ["f", "../x", "/etc/passwd"])
def test_a_link_in_an_archive_is_refused(target: str) -> None:
    entry = zipfile.ZipInfo("p/link")
    entry.create_system = 3
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(entry, target)
        archive.writestr("p/f", "1")
    with pytest.raises(PackageErrors, match="p/link: expected a plain file, found a symbolic link"):
        archive_files(buffer.getvalue())
