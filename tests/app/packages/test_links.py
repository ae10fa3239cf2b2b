"""Symbolic links that stay in a package are followed, in folders and in archives; others are refused by name."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import Path

import pytest

from app.core.faults import PackageErrors
from app.packages.files import LARGEST, Limits, archive_files
from app.packages.read import read_archive, read_package
from tests.builders.packages import write_package


def zipped(root: Path) -> bytes:
    """A folder as `zip -ry` packs it: links are entries of their own."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(root.rglob("*")):
            name = str(path.relative_to(root.parent))
            if path.is_symlink():
                archive.writestr(linked(name), str(path.readlink()))
            elif path.is_file():
                archive.write(path, name)
    return buffer.getvalue()


def linked(name: str) -> zipfile.ZipInfo:
    """The entry of a link."""
    entry = zipfile.ZipInfo(name)
    entry.create_system = 3
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


def archive_of(links: dict[str, str], files: dict[str, str]) -> bytes:
    """An archive with links."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, target in links.items():
            archive.writestr(linked(name), target)
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def test_links_in_the_package_are_followed_in_a_folder_and_in_its_zip_alike(tmp_path: Path) -> None:
    """To a file, and to a folder; in a folder also through another link."""
    root = write_package(tmp_path)
    (root / "data/secret/04.in").symlink_to("../sample/01.in")
    (root / "data/secret/04.ans").symlink_to("03.ans")
    (root / "attachments").symlink_to("data/sample")
    for made in (read_package(root), read_archive(zipped(root))):
        assert [case.name for case in made.cases] == ["01", "02", "03", "04"]
        first = (root / "data/sample/01.in").read_bytes()
        assert [case.input.read() == first for case in made.cases] == [True, False, False, True]
    assert dict(read_package(root).files) == dict(read_archive(zipped(root)).files)
    (root / "data/secret/05.in").symlink_to("../../attachments/01.in")
    (root / "data/secret/05.ans").symlink_to("./04.ans")
    assert [case.name for case in read_package(root).cases] == ["01", "02", "03", "04", "05"]
    with pytest.raises(PackageErrors, match=r"04\.ans, which does not exist"):
        read_archive(zipped(root))


@pytest.mark.parametrize(
    ("target", "fault"),
    [
        ("/etc/passwd", "expected a symbolic link that stays in the package, found one to /etc/passwd"),
        ("nothing.md", "expected a symbolic link to a file or folder, found one to nothing.md, which does not exist"),
        ("more.md", "expected a symbolic link to a file or folder, found one to more.md, which does not exist"),
        ("..", "expected no symbolic link to a folder that it lies in, found one to .."),
        (".", "expected no symbolic link to a folder that it lies in, found one to ."),
    ],
    ids=["absolute", "nowhere", "itself", "its package", "its folder"],
)
def test_a_link_that_leads_outside_nowhere_or_around_is_refused(tmp_path: Path, target: str, fault: str) -> None:
    root = write_package(tmp_path)
    (root / "statement/more.md").symlink_to(target)
    with pytest.raises(PackageErrors) as of_folder:
        read_package(root)
    with pytest.raises(PackageErrors) as of_archive:
        read_archive(zipped(root))
    assert str(of_folder.value) == f"statement/more.md: {fault}"
    assert str(of_archive.value) == f"echo/statement/more.md: {fault}"


def test_a_link_to_a_file_next_to_the_package_is_refused(tmp_path: Path) -> None:
    root = write_package(tmp_path)
    (tmp_path / "outside").write_text("secret")
    (root / "statement/more.md").symlink_to("../../outside")
    with pytest.raises(PackageErrors, match="expected a symbolic link that stays in the package"):
        read_package(root)


def test_a_link_leaves_an_archive_neither_by_another_link_nor_by_its_top(tmp_path: Path) -> None:
    for links in ({"p/b": "sub/../../x"}, {"p/b": "../x"}, {"p/b": "../../x"}):
        with pytest.raises(PackageErrors, match="p/b: expected"):
            archive_files(archive_of(links, {"p/sub/f": "1"}))


def test_links_that_multiply_files_stop_at_the_limits() -> None:
    with pytest.raises(PackageErrors, match="expected at most 100 files, found"):
        archive_files(
            archive_of({f"p/{at}": "q" for at in range(50)}, {f"p/q/{at}": "1" for at in range(10)}), Limits(files=100)
        )
    with pytest.raises(PackageErrors, match="bytes in a file and 1000 in all, found more"):
        archive_files(archive_of({f"p/{at}": "f" for at in range(5)}, {"p/f": "1" * 400}), Limits(total=1000))


def test_links_to_each_other_end(tmp_path: Path) -> None:
    with pytest.raises(PackageErrors, match="which does not exist"):
        archive_files(archive_of({"p/a": "b", "p/b": "a"}, {"p/f": "1"}), LARGEST)
    both = archive_of({"p/a/x": "../b", "p/b/y": "../a"}, {"p/a/f": "1", "p/b/f": "1"})
    assert sorted(archive_files(both, LARGEST)[1]) == ["a/f", "a/x/f", "b/f", "b/y/f"]
