"""The files of `data/`, collected by test case, and what is wrong with their names and extensions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from app.core.faults import Faults
from app.packages.model import File

VALIDATION = ("invalid_input", "invalid_output", "valid_output")
ROOMS = ("sample", "secret", *VALIDATION)
EXTENSIONS = (
    ".in.statement", ".ans.statement", ".in.download", ".ans.download", ".interaction",
    ".in", ".ans", ".out", ".yaml", ".png", ".jpg", ".jpeg", ".svg",
)  # fmt: skip
UNUSED = {".interaction": "answer files are not interactive", ".files": "answer files read no other input"}
GROUP_FILE = "test_group.yaml"
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Bundle:
    """The files of one case by extension; `path` is the format's name for it, below `data/`."""

    path: str
    parts: Mapping[str, File]

    @property
    def name(self) -> str:
        """The base name."""
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """The folder below `data/` that it lies in."""
        return self.path.rpartition("/")[0]

    @property
    def room(self) -> str:
        """`sample`, `secret` or one of the validation folders."""
        return self.path.partition("/")[0]


def collect_bundles(files: Mapping[str, bytes], faults: Faults) -> list[Bundle]:
    """Collect the files of each case, in lexicographic order of their paths."""
    parts: dict[str, dict[str, File]] = defaultdict(dict)
    for name in files:
        if not name.startswith("data/") or name.endswith(f"/{GROUP_FILE}"):
            continue
        path = name.removeprefix("data/")
        if path.partition("/")[0] not in ROOMS or "/" not in path:
            faults.expect(name, "", expected=f"one of the folders {', '.join(ROOMS)}", found=path.partition("/")[0])
            continue
        if ".files/" in path:
            faults.add(name, f"not possible here: {UNUSED['.files']}")
            continue
        extension = next((e for e in EXTENSIONS if path.endswith(e) and not path.endswith(f"/{e}")), None)
        if extension is None:
            faults.expect(name, "", expected=f"an extension of a test case ({' '.join(EXTENSIONS)})", found="another")
        else:
            parts[path.removesuffix(extension)][extension] = File(name, files)
    return [Bundle(path, parts[path]) for path in sorted(parts)]


def only_validates(bundle: Bundle) -> bool:
    """Whether a case only tries the validators."""
    return bundle.room in VALIDATION and ".in" in bundle.parts


def check_parts(bundle: Bundle, faults: Faults, *, has_solver: bool) -> None:
    """Check one case's files against what its folder requires and allows. A solver can make expected answers."""
    has, at = set(bundle.parts), f"data/{bundle.path}"
    if ".in" not in has:
        faults.add(f"{at}{min(has)}", f"missing input {bundle.name}.in: without it this file belongs to no test case")
        return
    for extension in sorted(has & set(UNUSED)):
        faults.add(f"{at}{extension}", f"not possible here: {UNUSED[extension]}")
    judged = set() if has_solver else {".ans"}
    needed = {"invalid_input": set(), "sample": judged, "secret": judged}.get(bundle.room, {".ans", ".out"})
    for extension in sorted(needed - has):
        hint = (
            ", and no solution in submissions/accepted/ that could make it"
            if bundle.room in ("sample", "secret")
            else ""
        )
        faults.add(f"{at}{extension}", f"missing file{hint}")
    forbidden = {"invalid_input": {".ans", ".out"}}.get(bundle.room, set())
    for extension in sorted(has & forbidden):
        faults.add(f"{at}{extension}", f"not possible in {bundle.room}")
    if bundle.name == "test_group":
        faults.add(f"{at}.in", "a test case must not be named test_group")
    _check_display(bundle, faults)


def _check_display(bundle: Bundle, faults: Faults) -> None:
    """Note shown and downloaded files that are overridden alone, or more than once."""
    has, at = set(bundle.parts), f"data/{bundle.path}"
    if (".in.statement" in has) != (".in.download" in has):
        faults.add(f"{at}.in", "expected .in.statement and .in.download together, found one of them")
    shown, loaded = has & {".out", ".ans.statement"}, has & {".out", ".ans.download"}
    if len(shown) > 1 or len(loaded) > 1:
        faults.add(f"{at}.out", "expected either .out or .ans.statement and .ans.download, found both")
    elif bool(shown) != bool(loaded):
        faults.add(f"{at}.ans", "expected .ans.statement and .ans.download together, found one of them")
    if len(has & {".png", ".jpg", ".jpeg", ".svg"}) > 1:
        faults.add(f"{at}.in", "expected at most one illustration, found several")


def check_names(bundles: list[Bundle], faults: Faults) -> None:
    """Base names are unique among the judged cases, as answer files are named by them."""
    judged = [bundle for bundle in bundles if bundle.room in ("sample", "secret")]
    by_name: dict[str, list[str]] = defaultdict(list)
    for bundle in judged:
        by_name[bundle.name].append(f"data/{bundle.path}")
    for paths in by_name.values():
        if len(paths) > 1:
            others = " and ".join([*paths[:MOST_NAMED], *(["others"] if len(paths) > MOST_NAMED else [])])
            for path in paths:
                faults.add(f"{path}.in", f"base name used {len(paths)} times: {others}")
    folders = {b.path[:end] for b in bundles for end, letter in enumerate(b.path) if letter == "/"}
    for bundle in bundles:
        if bundle.path in folders:
            faults.add(f"data/{bundle.path}.in", "a folder of the same name lies beside this test case")
    if not any(bundle.room == "secret" for bundle in judged):
        faults.add("data/secret", "expected at least one test case, found none")
