"""The files of a contest package: its documents in JSON or YAML, and what lies beside them.

What a package says is bounded before it is read: its documents in bytes and values, each object in values.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Required, TypedDict, TypeGuard, cast

import yaml
from pydantic import ValidationError

from app.archive.service import judging as contest_judging
from app.archive.service import own as contest_own
from app.core.errors import fault
from app.core.faults import FaultList
from app.core.messages import Text
from app.core.parsing import UNREADABLE, StrictLoader
from app.feed.service.collections import IN_REFERENCE_ORDER
from app.packages.contents import SpooledFiles
from app.packages.files import Limits, archive_files

NAMES: tuple[str, ...] = tuple(each.name for each in IN_REFERENCE_ORDER if each.imported)
YAML_TOO = frozenset({"contest", "problems", "accounts"})
EXTENSIONS = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "svg": "image/svg+xml"}
FILES: Mapping[str, tuple[str, ...]] = {each.name: each.files for each in IN_REFERENCE_ORDER}
# Collections that an import makes anew. In a large contest it is most of the package.
UNREAD = frozenset({"judgements.json", "runs.json", "event-feed.ndjson"})
SIZE = re.compile(r"([0-9]{1,5})x([0-9]{1,5})")
MOST_YAML_BYTES = 2**20  # written by hand, and read a hundred times slower than JSON
MOST_VALUES = 2_000_000
MOST_VALUES_OF_ONE = 100_000


class TextLoader(StrictLoader):
    """Reads times and durations as the text that they are written as: YAML would make numbers of `5:00:00`."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - as PyYAML has it
        first: [
            (tag, pattern)
            for tag, pattern in resolvers
            if tag not in {"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"}
        ]
        for first, resolvers in StrictLoader.yaml_implicit_resolvers.items()
    }

    def __init__(self, text: str) -> None:
        # Packages are read in a process with a limit of its time, bodies of requests in a thread of the server.
        super().__init__(text, MOST_VALUES)


TextLoader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^-?(0|[1-9][0-9]*)$"), list("-0123456789"))
TextLoader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"^-?[0-9]+\.[0-9]+$"), list("-0123456789"))


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a document: bytes, and objects."""

    document: int = 32 * 2**20
    objects: int = 50_000


class PackageObject(TypedDict, total=False):
    """An object of a collection as a package has it: all that is known of it is that its id is text.

    Named are the properties that are read one by one; models read all others.
    """

    id: Required[str]
    problem_id: object
    team_id: object
    account_id: object
    team_ids: object
    source_id: object
    time: object
    contest_time: object
    comment: object
    disqualified: object
    files: object
    password: object


@dataclass
class PackageBoard:
    """The board as a package has it: its rows are objects, of which nothing more is known."""

    rows: list[dict[str, object]]
    time: object


@dataclass
class Contents:
    """The parsed contents of a package. `faults` are what is wrong with its files."""

    files: Mapping[str, bytes]
    bounds: Bounds = field(default_factory=Bounds)
    contest: dict[str, object] = field(default_factory=dict)
    finalized: str | None = None
    pauses: object = None
    objects: dict[str, list[PackageObject]] = field(default_factory=dict)
    own: dict[str, list[object]] = field(default_factory=dict)
    judging: contest_judging.Judging | None = None
    board: PackageBoard | None = None
    faults: FaultList = field(default_factory=FaultList)
    _folders: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _encoded: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Sort the files by their folders."""
        for path in self.files:
            folder, _, name = path.rpartition("/")
            self._folders[folder].append(name)

    @property
    def problem_ids(self) -> list[str]:
        """The problems of the contest."""
        return [each["id"] for each in self.objects["problems"]]

    def package_of(self, problem_id: str, target: Path) -> Path | None:
        """The package of a problem as a new file at `target`; None where there is none."""
        name = f"problems/{problem_id}/{problem_id}.zip"
        if name not in self.files:
            return None
        if isinstance(self.files, SpooledFiles):
            return self.files.copy(name, target)
        target.write_bytes(self.files[name])
        return target

    def rename_problems(self, ids: Mapping[str, str]) -> None:
        """Let problems have other ids here than in the package, wherever they are referred to."""
        rows = self.board.rows if self.board is not None else []
        _rename([self.objects[name] for name in NAMES if name != "problems"], ids)
        _rename([*self.own.values(), rows], ids)
        for problem in self.objects["problems"]:
            problem["id"] = ids.get(problem["id"], problem["id"])
        if self.judging is not None:
            self.judging.rename_problems(ids)

    def names_in(self, folder: str) -> list[str]:
        """The files of one folder."""
        return self._folders.get(folder, [])

    def encoded(self, path: str) -> str:
        """A file in base64, made once however often it is named."""
        if path not in self._encoded:
            self._encoded[path] = base64.b64encode(self.files[path]).decode()
        return self._encoded[path]

    def add_fault(self, file: str, where: str, expected: Text, found: Text) -> None:
        """Note what is wrong."""
        self.faults.add(file, where, expected, found)


def read_parcel(path: Path, limits: Limits, bounds: Bounds, with_submissions: bool, spool: Path) -> Contents:
    """Inflate an archive into the new file `spool` and read its documents.

    The contents are good while that file is there. Raises PackageErrors for what is wrong with the archive.
    """
    _top, files = archive_files(path, limits, UNREAD, spool)
    return read_contents(files, bounds, with_submissions=with_submissions)


def read_contents(
    files: Mapping[str, bytes], bounds: Bounds | None = None, *, with_submissions: bool = True
) -> Contents:
    """Read every document; files that their objects name are put into them, as if they had been sent along."""
    contents = Contents(files, bounds or Bounds())
    contest = _document(contents, "contest")
    if isinstance(contest, dict) and _is_small(contest):
        contents.contest = _with_files(contents, "contest", "contest", contest)
    elif isinstance(contest, dict):
        contents.add_fault("contest.json", "", f"at most {MOST_VALUES_OF_ONE} values", "more")
    elif not contents.faults:
        contents.add_fault("contest.json", "", "an object", "none" if contest is None else "something else")
    state = _document(contents, "state")
    if isinstance(state, dict):
        contents.finalized, contents.pauses = state.get("finalized"), state.get("removed_intervals")
    elif state is not None:
        contents.add_fault("state.json", "", "an object", "something else")
    for name in NAMES:
        skipped = name == "submissions" and not with_submissions
        contents.objects[name] = [] if skipped else _objects(contents, name)
    skipped_own = frozenset() if with_submissions else contest_own.OF_SUBMISSIONS
    contents.own = {name: objects for name, objects in _own(contents).items() if name not in skipped_own}
    if with_submissions:
        contents.judging = _judging(contents)
        contents.board = _board(contents)
    return contents


def _judging(contents: Contents) -> contest_judging.Judging | None:
    """The document `judging.json`; None in packages of other systems."""
    value = _document(contents, contest_judging.FILE.removesuffix(".json"))
    if value is None:
        return None
    for name, each in value.items() if isinstance(value, dict) else ():
        if isinstance(each, list) and not _is_list(each, contents, contest_judging.FILE, name):
            return None
    try:
        return contest_judging.Judging.model_validate(value)
    except ValidationError as error:
        given = error.errors(include_url=False)
        contents.faults.extend({"file": contest_judging.FILE, **fault(each)} for each in given)
        return None


def _board(contents: Contents) -> PackageBoard | None:
    value = _document(contents, "scoreboard")
    if value is None:
        return None
    board = value if isinstance(value, dict) else {}
    rows = board.get("rows")
    if not isinstance(rows, list) or not all(isinstance(row, dict) and _is_small(row) for row in rows):
        contents.add_fault("scoreboard.json", "", "an object with rows", "something else")
        return None
    shown = PackageBoard(rows, board.get("time"))
    return shown if _is_list(rows, contents, "scoreboard.json", "rows") else None


def _rename(value: object, ids: Mapping[str, str]) -> None:
    """Put other ids in wherever a property says that it holds a problem's."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            waiting.extend(each)
        elif isinstance(each, dict):
            for name, inner in each.items():
                if name == "problem_id" and isinstance(inner, str):
                    each[name] = ids.get(inner, inner)
                elif name == "problem_ids" and isinstance(inner, list):
                    each[name] = [ids.get(one, one) if isinstance(one, str) else one for one in inner]
                elif isinstance(inner, dict | list):
                    waiting.append(inner)


def _objects(contents: Contents, name: str) -> list[PackageObject]:
    value = _document(contents, name)
    if value is None:
        return []
    return list(_checked_objects(contents, name, value)) if _is_list(value, contents, f"{name}.json", "") else []


def _own(contents: Contents) -> dict[str, list[object]]:
    """The document `jurado.json`: what the package has beyond CLICS."""
    value = _document(contents, contest_own.FILE.removesuffix(".json"))
    if value is None:
        return {}
    if not isinstance(value, dict) or not contest_own.KEYS.keys() >= value.keys():
        contents.add_fault(contest_own.FILE, "", f"an object of {', '.join(contest_own.KEYS)}", "something else")
        return {}
    listed = {name: each for name, each in value.items() if _is_list(each, contents, contest_own.FILE, name)}
    for name, objects in listed.items():
        for at, each in enumerate(objects):
            if isinstance(each, dict | list) and not _is_small({"": each}):
                expected = f"at most {MOST_VALUES_OF_ONE} values in an object"
                contents.add_fault(contest_own.FILE, f"{name}[{at}]", expected, "more")
    return listed


def _is_list(value: object, contents: Contents, file: str, where: str) -> TypeGuard[list[object]]:
    """Whether a value is a list of bounded length; adds a fault otherwise."""
    if not isinstance(value, list):
        contents.add_fault(file, where, "an array", "something else")
        return False
    if len(value) > contents.bounds.objects:
        contents.add_fault(file, where, f"at most {contents.bounds.objects} objects", str(len(value)))
        return False
    return True


def _checked_objects(contents: Contents, name: str, value: list[object]) -> Iterator[PackageObject]:
    places: dict[str, int] = {}
    for at, each in enumerate(value):
        if not isinstance(each, dict) or not isinstance(each.get("id"), str):
            contents.add_fault(f"{name}.json", f"[{at}]", "an object with an id", "something else")
        elif each["id"] in places:
            expected = f"another id than that of [{places[each['id']]}]"
            contents.add_fault(f"{name}.json", f"[{at}].id", expected, repr(each["id"])[:80])
        elif not _is_small(each):
            contents.add_fault(f"{name}.json", f"[{at}]", f"at most {MOST_VALUES_OF_ONE} values in an object", "more")
        else:
            places[each["id"]] = at
            whole = _with_files(contents, name, f"{name}/{each['id']}", each)
            yield cast(PackageObject, whole)  # its id is text, as was asked above


def _document(contents: Contents, name: str) -> object:
    """The value of NAME.json, or NAME.yaml where the format has it; None where there is neither."""
    if f"{name}.json" in contents.files:
        if not _may_be_read(contents, f"{name}.json", contents.bounds.document):
            return None
        try:
            value: object = json.loads(contents.files[f"{name}.json"])
            json.dumps(value, ensure_ascii=False).encode()  # half of a surrogate pair is text to JSON alone
        except (ValueError, RecursionError) as error:
            contents.add_fault(f"{name}.json", "", "JSON", str(error)[:200])
        else:
            return value
    elif name in YAML_TOO and _may_be_read(contents, f"{name}.yaml", min(MOST_YAML_BYTES, contents.bounds.document)):
        try:
            value = yaml.load(contents.files[f"{name}.yaml"].decode(), TextLoader)
        except (yaml.YAMLError, *UNREADABLE) as error:
            contents.add_fault(f"{name}.yaml", "", "YAML", " ".join(str(error).split())[:200])
        else:
            return value
    return None


def _may_be_read(contents: Contents, file: str, most: int) -> bool:
    """Whether a file is there, and small enough; adds a fault otherwise.

    Values are bounded as well as bytes: one of a few bytes takes many times the memory.
    """
    data = contents.files.get(file)
    if data is None:
        return False
    if len(data) > most:
        contents.add_fault(file, "", f"at most {most} bytes", str(len(data)))
        return False
    values = sum(data.count(mark) for mark in (b",", b"[", b"{"))
    if values > MOST_VALUES:
        contents.add_fault(file, "", f"at most {MOST_VALUES} values", f"about {values}")
        return False
    return True


def _is_small(document: Mapping[str, object]) -> bool:
    """Each value may be a fault, and thousands of them in one object are no mistake."""
    waiting: list[object] = [document]
    left = MOST_VALUES_OF_ONE
    while waiting and left >= 0:
        value = waiting.pop()
        if isinstance(value, dict | list):
            left -= len(value)
            waiting.extend(each for each in (value.values() if isinstance(value, dict) else value) if each)
    return left >= 0


def _with_files(contents: Contents, name: str, folder: str, document: Mapping[str, object]) -> dict[str, object]:
    """A document with the bytes of the files it names, and of those that lie where its properties would be."""
    whole = dict(document)
    for property_ in FILES.get(name, ()):
        value = whole.get(property_)
        references = [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
        named = [str(each.get("filename")) for each in references]
        if len({*named}) < len(named):
            expected = f"different file names in {property_}"
            contents.add_fault(f"{name}.json", str(whole.get("id")), expected, "one of them twice")
            continue
        files = [_reference(contents, folder, each) for each in references] + _lying(
            contents, folder, property_, {*named}
        )
        if files:
            whole[property_] = [each for each in files if each is not None]
    return whole


def _reference(contents: Contents, folder: str, reference: dict[str, object]) -> dict[str, object] | None:
    """A file reference with its bytes; one that lies elsewhere stays as it is."""
    name = str(reference.get("filename"))
    data = contents.files.get(f"{folder}/{name}")
    if data is None:
        if str(reference.get("href", "")).startswith(("http://", "https://")):
            return reference
        contents.add_fault(f"{folder}/{name}", "", "the file that is referred to", "none")
        return None
    expected = reference.get("hash")
    if expected is not None and expected != hashlib.md5(data, usedforsecurity=False).hexdigest():
        contents.add_fault(f"{folder}/{name}", "", f"a file of the MD5 {expected}", "another one")
    sent = {key: value for key, value in reference.items() if key not in {"href", "hash"}}
    return {**sent, "data": contents.encoded(f"{folder}/{name}")}


def _lying(contents: Contents, folder: str, property_: str, named: set[str]) -> list[dict[str, object]]:
    """The files `PROPERTY.TAG.WIDTHxHEIGHT.EXTENSION` that no document names."""
    lying: list[dict[str, object]] = []
    for name in contents.names_in(folder):
        parts = name.split(".")
        if name in named or parts[0] != property_ or parts[-1] not in EXTENSIONS:
            continue
        sizes = [size for part in parts[1:-1] if (size := SIZE.fullmatch(part)) is not None]
        tags = [part for part in parts[1:-1] if SIZE.fullmatch(part) is None]
        reference: dict[str, object] = {"filename": name, "data": contents.encoded(f"{folder}/{name}")}
        if sizes:
            reference |= {"width": int(sizes[0][1]), "height": int(sizes[0][2])}
        lying.append(reference | ({"tag": tags} if tags else {}))
    return lying
