"""Text files as the format wants them: UTF-8 without a byte-order mark, LF only, a newline at the end.

- Test cases of a problem sent as one zip, laid out as `data/` of a package; an answer may be missing.
- Work done ahead of whoever takes its results, but not far, in threads: results may be large, and each part waits for
  a program or the disk (guarantee 6: a package of ten thousand cases is checked and stored in minutes).
"""

import os
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from app.core.faults import NONE, Faults
from app.core.parsing import read_model
from app.packages.contents import GROUP_FILE
from app.packages.files import archive_files
from app.packages.settings import CaseSettings, GroupSettings
from checkers.doors import N_, Phrase

TEXTS = (
    ".yaml", ".md", ".tex", ".in", ".ans", ".out", ".py", ".txt", ".json", ".statement", ".download", ".svg", ".c",
    ".js",
)  # fmt: skip
# Folders whose answers and inputs may be malformed on purpose, or come from contestants.
FREE = ("data/invalid_input/", "data/invalid_output/", "data/valid_output/", "submissions/")


def check_texts(files: Mapping[str, bytes], faults: Faults) -> None:
    """Note every text file that is not one."""
    for name in files:
        malformed_on_purpose = name.startswith(FREE) and not name.endswith(".yaml")
        if name.endswith(TEXTS) and not malformed_on_purpose:
            _check(name, files[name], faults)


def _check(name: str, data: bytes, faults: Faults) -> None:
    if data.startswith(b"\xef\xbb\xbf"):
        faults.expect(name, "line 1", N_("no byte-order mark"), "one")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        faults.expect(
            name, _line(data, error.start), "UTF-8", Phrase(N_("byte 0x%(data)s"), data=f"{data[error.start]:02x}")
        )
    if b"\r" in data:
        faults.expect(name, _line(data, data.index(b"\r")), N_("lines to end in LF only"), "CR")
    if data and not data.endswith(b"\n"):
        faults.expect(name, _line(data, len(data)), N_("a newline at the end of the file"), NONE)


def _line(data: bytes, offset: int) -> str:
    line = data.count(b"\n", 0, offset) + 1
    return f"line {line}"


ROOMS = ("sample", "secret")
PARTS = (".in", ".ans", ".yaml")
FOLDER = re.compile(r"sample|secret(/[^/]+)?")


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


def read_cases(source: bytes | Path) -> tuple[list[SentCase], dict[str, GroupSettings]]:
    """The cases of a zip by their paths, and settings of groups; raises PackageErrors with every fault."""
    top, files = archive_files(source)
    if top in ROOMS:
        files = {f"{top}/{name}": data for name, data in files.items()}
    files = {name.removeprefix("data/"): data for name, data in files.items()}
    faults = Faults()
    check_texts(files, faults)
    groups: dict[str, GroupSettings] = {}
    parts: dict[str, dict[str, bytes]] = defaultdict(dict)
    for name, data in files.items():
        folder, _, file = name.rpartition("/")
        stem, dot, extension = file.rpartition(".")
        if not FOLDER.fullmatch(folder) or (file == GROUP_FILE and folder == "sample"):
            faults.expect(name, "", N_("a folder sample, secret or secret/GROUP"), folder or "none")
        elif file == GROUP_FILE:
            groups[folder] = read_model(GroupSettings, data, name, faults) or GroupSettings()
        elif dot + extension not in PARTS:
            faults.expect(name, "", N_("one of the extensions %(parts)s"), dot + extension, parts=", ".join(PARTS))
        else:
            parts[f"{folder}/{stem}"][dot + extension] = data
    if not parts:
        faults.expect("", "", N_("at least one test case"), NONE)
    first: dict[str, str] = {}
    cases = []
    for path, has in sorted(parts.items()):
        name = path.rpartition("/")[2]
        if (other := first.setdefault(name, path)) != path:
            double = Phrase(N_("also %(other)s.in"), other=other)
            faults.expect(f"{path}.in", "", N_("a name that no other test case has"), double)
        if ".in" not in has:
            faults.expect(f"{path}{min(has)}", "", N_("an input %(name)s.in in the same folder"), NONE, name=name)
            continue
        settings = read_model(CaseSettings, has.get(".yaml", b"{}\n"), f"{path}.yaml", faults) or CaseSettings()
        cases.append(SentCase(path, has[".in"], has.get(".ans"), settings))
    faults.settle()
    return cases, groups


T = TypeVar("T")
R = TypeVar("R")
MOST_AHEAD = 4
AT_ONCE = min(2, os.cpu_count() or 1)


def ahead(
    function: Callable[[T], R], parts: Iterable[T], most: int = MOST_AHEAD, threads: int = AT_ONCE
) -> Iterator[R]:
    """Yield the results of a function in the order of its parts; at most so many wait, done or not."""
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for part in parts:
            waiting.append(pool.submit(function, part))
            if len(waiting) >= most:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
