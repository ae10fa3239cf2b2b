"""Test cases of a problem sent as one zip, laid out as `data/` of a package; an answer may be missing.

    sample/NAME.in  secret/NAME.in  secret/GROUP/NAME.in     inputs
    NAME.ans                                                 beside an input: its expected answer
    NAME.yaml                                                beside an input: hint, description, output_validator_args
    secret/GROUP/test_group.yaml                             max_score, score_aggregation, require_pass of the group

A folder `data` around them, or one of any other name, is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.core.faults import Faults
from app.core.parsing import read_model
from app.packages.files import archive_files
from app.packages.settings import CaseSettings, GroupSettings
from app.packages.testdata import GROUP_FILE
from app.packages.texts import check_texts

ROOMS = ("sample", "secret")
PARTS = (".in", ".ans", ".yaml")


@dataclass(frozen=True, slots=True)
class SentCase:
    """A test case of the zip; `path` is that of its files without their extensions."""

    path: str
    input: bytes
    answer: bytes | None
    settings: CaseSettings

    @property
    def name(self) -> str:
        """Its base name."""
        return self.path.rpartition("/")[2]

    @property
    def group(self) -> str:
        """The folder that it lies in."""
        return self.path.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class SentCases:
    """The cases of the zip in order of their paths, and the settings of groups by their names."""

    cases: tuple[SentCase, ...]
    groups: Mapping[str, GroupSettings]


def read_cases(source: bytes | Path) -> SentCases:
    """Read the zip; raises PackageErrors with every fault."""
    top, files = archive_files(source)
    if top in ROOMS:
        files = {f"{top}/{name}": data for name, data in files.items()}
    files = {name.removeprefix("data/"): data for name, data in files.items()}
    faults = Faults()
    check_texts(files, faults)
    groups = _groups(files, faults)
    cases = _cases(files, faults)
    faults.settle()
    return SentCases(tuple(cases), groups)


def _groups(files: Mapping[str, bytes], faults: Faults) -> dict[str, GroupSettings]:
    groups = {}
    for name, data in files.items():
        folder, _, file = name.rpartition("/")
        if file != GROUP_FILE:
            continue
        settings = read_model(GroupSettings, data, name, faults)
        if folder == "sample" or not _is_group(folder):
            faults.expect(name, "", expected="a group directly in secret", found=folder or "none")
        elif settings is not None:
            groups[folder] = settings
            if settings.max_score == "unbounded":
                faults.expect(name, "max_score", expected="a number of points", found="unbounded")
    return groups


def _is_group(folder: str) -> bool:
    room, _, rest = folder.partition("/")
    return room in ROOMS and "/" not in rest and not (room == "sample" and rest)


def _cases(files: Mapping[str, bytes], faults: Faults) -> list[SentCase]:
    parts: dict[str, dict[str, bytes]] = {}
    for name, data in files.items():
        folder, _, file = name.rpartition("/")
        if file == GROUP_FILE:
            continue
        stem, dot, extension = file.rpartition(".")
        if not _is_group(folder):
            faults.expect(name, "", expected="a folder sample, secret or secret/GROUP", found=folder or "none")
        elif dot + extension not in PARTS:
            faults.expect(name, "", expected=f"one of the extensions {', '.join(PARTS)}", found=dot + extension)
        else:
            parts.setdefault(f"{folder}/{stem}", {})[dot + extension] = data
    if not parts:
        faults.expect("", "", expected="at least one test case", found="none")
    first: dict[str, str] = {}
    cases = []
    for path in sorted(parts):
        has, name = parts[path], path.rpartition("/")[2]
        if (other := first.setdefault(name, path)) != path:
            faults.expect(f"{path}.in", "", expected="a name that no other test case has", found=f"also {other}.in")
        if ".in" not in has:
            faults.expect(f"{path}{min(has)}", "", expected=f"an input {name}.in beside it", found="none")
            continue
        settings = read_model(CaseSettings, has.get(".yaml", b"{}\n"), f"{path}.yaml", faults) or CaseSettings()
        cases.append(SentCase(path, has[".in"], has.get(".ans"), settings))
    return cases
