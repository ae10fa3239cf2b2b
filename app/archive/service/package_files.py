"""The files of a contest package: its documents in JSON or YAML, and what lies beside them.

What a package says is bounded before it is read: its documents in bytes and values, each object in values.
"""

import base64
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Required, TypedDict, TypeVar, cast

import yaml
from pydantic import BaseModel, ValidationError

from app.archive.service import judging as contest_judging
from app.archive.service import own as contest_own
from app.archive.service.own import OF_SUBMISSIONS
from app.core import load, parsing
from app.core.faults import FaultList
from app.core.messages import fault
from app.feed.service.collections import IN_REFERENCE_ORDER
from app.packages.contents import SpooledFiles
from app.packages.files import Limits, archive_files

M = TypeVar("M", bound=BaseModel)
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


class TextLoader(parsing.StrictLoader):
    """Reads times and durations as the text that they are written as: YAML would make numbers of `5:00:00`."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - as PyYAML has it
        first: [
            (tag, pattern)
            for tag, pattern in resolvers
            if tag not in {"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"}
        ]
        for first, resolvers in parsing.StrictLoader.yaml_implicit_resolvers.items()
    }

    def __init__(self, text: str, most_nodes: int = MOST_VALUES) -> None:
        # Packages are read in a process with a limit of its time, bodies of requests in a thread of the server.
        super().__init__(text, most_nodes)


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
class Contents:
    """The parsed contents of a package. `faults` are what is wrong with its files."""

    files: Mapping[str, bytes]
    bounds: Bounds = field(default_factory=Bounds)
    contest: dict[str, object] = field(default_factory=dict)
    state: contest_judging.PackageState = field(default_factory=contest_judging.PackageState)
    objects: dict[str, list[PackageObject]] = field(default_factory=dict)
    own: dict[str, object] = field(default_factory=dict)
    judging: contest_judging.Judging | None = None
    board: contest_judging.PackageBoard | None = None
    faults: FaultList = field(default_factory=FaultList)
    folders: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _encoded: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Sort the files by their folders."""
        for path in self.files:
            folder, _, name = path.rpartition("/")
            self.folders[folder].append(name)

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
        _rename([self.own, rows], ids)
        for problem in self.objects["problems"]:
            problem["id"] = ids.get(problem["id"], problem["id"])

    def encoded(self, path: str) -> str:
        """A file in base64, made once however often it is named."""
        if path not in self._encoded:
            self._encoded[path] = base64.b64encode(self.files[path]).decode()
        return self._encoded[path]


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
    if isinstance(contest, dict):
        contents.contest = _with_files(contents, "contest", "contest", contest)
    elif not contents.faults:
        contents.faults.add("contest.json", "", "an object", "none" if contest is None else "something else")
    contents.state = _read(contents, "state", contest_judging.PackageState) or contest_judging.PackageState()
    for name in NAMES:
        skipped = name == "submissions" and not with_submissions
        contents.objects[name] = [] if skipped else list(_objects(contents, name))
    own = _document(contents, contest_own.FILE.removesuffix(".json"))
    if isinstance(own, dict):
        contents.own = {name: each for name, each in own.items() if with_submissions or name not in OF_SUBMISSIONS}
    elif own is not None:
        contents.faults.add(contest_own.FILE, "", "an object", "something else")
    if with_submissions:
        contents.judging = _read(contents, contest_judging.FILE.removesuffix(".json"), contest_judging.Judging)
        contents.board = _read(contents, "scoreboard", contest_judging.PackageBoard)
    return contents


def _read(contents: Contents, name: str, model: type[M]) -> M | None:
    """A document by its model; None where there is none, as in packages of other systems, or it has a fault."""
    value = _document(contents, name)
    if value is None:
        return None
    try:
        return model.model_validate(value)
    except ValidationError as error:
        given = error.errors(include_url=False)
        contents.faults.extend({"file": f"{name}.json", **fault(each)} for each in given)
        return None


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


def _objects(contents: Contents, name: str) -> Iterator[PackageObject]:
    value = _document(contents, name)
    if value is not None and not isinstance(value, list):
        contents.faults.add(f"{name}.json", "", "an array", "something else")
    places: dict[str, int] = {}
    for at, each in enumerate(value if isinstance(value, list) else ()):
        if not isinstance(each, dict) or not isinstance(each.get("id"), str):
            contents.faults.add(f"{name}.json", f"[{at}]", "an object with an id", "something else")
        elif each["id"] in places:
            expected = f"another id than that of [{places[each['id']]}]"
            contents.faults.add(f"{name}.json", f"[{at}].id", expected, repr(each["id"])[:80])
        else:
            places[each["id"]] = at
            whole = _with_files(contents, name, f"{name}/{each['id']}", each)
            yield cast(PackageObject, whole)  # its id is text, as was asked above


def _document(contents: Contents, name: str) -> object:
    """The value of NAME.json, or NAME.yaml where the format has it; None where there is neither, or it has a fault."""
    value: object = None
    file = f"{name}.yaml" if name in YAML_TOO and f"{name}.json" not in contents.files else f"{name}.json"
    is_yaml = file.endswith(".yaml")
    most = min(MOST_YAML_BYTES, contents.bounds.document) if is_yaml else contents.bounds.document
    if not _may_be_read(contents, file, most):
        return None
    try:
        if is_yaml:
            value = yaml.load(contents.files[file].decode(), TextLoader)
        else:
            value = json.loads(contents.files[file])
            json.dumps(value, ensure_ascii=False).encode()  # half of a surrogate pair is text to JSON alone
    except (yaml.YAMLError, *parsing.UNREADABLE) as error:
        contents.faults.add(file, "", "YAML" if is_yaml else "JSON", " ".join(str(error).split())[:200])
        return None
    return value if _is_bounded(contents, file, value) else None


def _is_bounded(contents: Contents, file: str, value: object) -> bool:
    """Whether the lists and objects of a document are short; adds a fault otherwise.

    Each value may be a fault, and thousands of them in one object are no mistake.
    """
    lists = {"": value} if isinstance(value, list) else value if isinstance(value, dict) else {}
    for where, objects in lists.items():
        listed = objects if isinstance(objects, list) else [objects]
        if len(listed) > contents.bounds.objects:
            contents.faults.add(file, where, f"at most {contents.bounds.objects} objects", str(len(listed)))
            return False
        large = next((at for at, each in enumerate(listed) if not load.is_within(each, MOST_VALUES_OF_ONE)), None)
        if large is not None:
            place = f"{where}[{large}]" if isinstance(objects, list) else where
            contents.faults.add(file, place, f"at most {MOST_VALUES_OF_ONE} values in an object", "more")
            return False
    return True


def _may_be_read(contents: Contents, file: str, most: int) -> bool:
    """Whether a file is there, and small enough; adds a fault otherwise.

    Values are bounded as well as bytes: one of a few bytes takes many times the memory.
    """
    data = contents.files.get(file)
    if data is None:
        return False
    if len(data) > most:
        contents.faults.add(file, "", f"at most {most} bytes", str(len(data)))
        return False
    values = sum(data.count(mark) for mark in (b",", b"[", b"{"))
    if values > MOST_VALUES:
        contents.faults.add(file, "", f"at most {MOST_VALUES} values", f"about {values}")
        return False
    return True


def _with_files(contents: Contents, name: str, folder: str, document: Mapping[str, object]) -> dict[str, object]:
    """A document with the bytes of the files it names, and of those that lie where its properties would be."""
    whole = dict(document)
    for property_ in FILES.get(name, ()):
        value = whole.get(property_)
        references = [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
        named = [str(each.get("filename")) for each in references]
        if len({*named}) < len(named):
            expected = f"different file names in {property_}"
            contents.faults.add(f"{name}.json", str(whole.get("id")), expected, "one of them twice")
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
        contents.faults.add(f"{folder}/{name}", "", "the file that is referred to", "none")
        return None
    expected = reference.get("hash")
    if expected is not None and expected != hashlib.md5(data, usedforsecurity=False).hexdigest():
        contents.faults.add(f"{folder}/{name}", "", f"a file of the MD5 {expected}", "another one")
    sent = {key: value for key, value in reference.items() if key not in {"href", "hash"}}
    return {**sent, "data": contents.encoded(f"{folder}/{name}")}


def _lying(contents: Contents, folder: str, property_: str, named: set[str]) -> list[dict[str, object]]:
    """The files `PROPERTY.TAG.WIDTHxHEIGHT.EXTENSION` that no document names."""
    lying: list[dict[str, object]] = []
    for name in contents.folders.get(folder, ()):
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
