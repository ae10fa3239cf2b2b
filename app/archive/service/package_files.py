"""The files of a contest package: its documents in JSON, and what lies next to them.

What a package says is bounded before it is read: its documents in bytes and values.
"""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from app.archive.service import own as contest_own
from app.archive.service.own import OF_SUBMISSIONS
from app.core import clics, parsing
from app.core.faults import FaultList
from app.core.messages import fault
from app.feed.service.collections import IN_REFERENCE_ORDER
from app.packages.contents import SpooledFiles
from app.packages.files import Limits, archive_files

NAMES: tuple[str, ...] = tuple(each.name for each in IN_REFERENCE_ORDER if each.imported)
FILES: Mapping[str, tuple[str, ...]] = {each.name: each.files for each in IN_REFERENCE_ORDER}
# What an import makes again. In a large contest it is most of the package.
UNREAD = frozenset({"judgements.json", "runs.json", "scoreboard.json", "event-feed.ndjson"})
MOST_VALUES = 2_000_000


class Interval(BaseModel):
    """An interval that was taken out of the contest's time; without an end it lasts still."""

    start: clics.Time
    end: clics.Time | None


class PackageState(BaseModel):
    """What an import takes over of the contest's state."""

    finalized: clics.Time | None = None
    removed_intervals: list[Interval] | None = None


# An object of a collection as a package has it: all that is known of it is that its `id` is text.
PackageObject = dict[str, Any]


@dataclass
class Contents:
    """The parsed contents of a package. `faults` are what is wrong with its files.

    A document has at most `most_bytes` and `most_objects`.
    """

    files: Mapping[str, bytes]
    most_bytes: int = 32 * 2**20
    most_objects: int = 50_000
    contest: dict[str, object] = field(default_factory=dict)
    state: PackageState = field(default_factory=PackageState)
    objects: dict[str, list[PackageObject]] = field(default_factory=dict)
    own: dict[str, object] = field(default_factory=dict)
    faults: FaultList = field(default_factory=FaultList)
    _encoded: dict[str, str] = field(default_factory=dict)

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
        _rename([self.own, *(self.objects[name] for name in NAMES if name != "problems")], ids)
        for problem in self.objects["problems"]:
            problem["id"] = ids.get(problem["id"], problem["id"])

    def encoded(self, path: str) -> str:
        """A file in base64, made once however often it is named."""
        if path not in self._encoded:
            self._encoded[path] = base64.b64encode(self.files[path]).decode()
        return self._encoded[path]


def read_parcel(path: Path, limits: Limits, bounds: tuple[int, int], with_submissions: bool, spool: Path) -> Contents:
    """Inflate an archive into the new file `spool` and read its documents.

    The contents are good while that file is there. Raises PackageErrors for what is wrong with the archive.
    """
    _top, files = archive_files(path, limits, UNREAD, spool)
    return read_contents(Contents(files, *bounds), with_submissions=with_submissions)


def read_contents(contents: Contents, *, with_submissions: bool = True) -> Contents:
    """Read every document; files that their objects name are put into them, as if they had been sent along."""
    contest = _document(contents, "contest")
    if isinstance(contest, dict):
        contents.contest = _with_files(contents, "contest", "contest", contest)
    elif not contents.faults:
        contents.faults.add("contest.json", "", "an object", "none" if contest is None else "something else")
    contents.state = _state(contents)
    for name in NAMES:
        skipped = name == "submissions" and not with_submissions
        contents.objects[name] = [] if skipped else list(_objects(contents, name))
    own = _document(contents, contest_own.FILE.removesuffix(".json"))
    if isinstance(own, dict):
        contents.own = {name: each for name, each in own.items() if with_submissions or name not in OF_SUBMISSIONS}
    elif own is not None:
        contents.faults.add(contest_own.FILE, "", "an object", "something else")
    return contents


def _state(contents: Contents) -> PackageState:
    """What the package has of the contest's state; the default where there is none, or it has a fault."""
    value = _document(contents, "state")
    try:
        return PackageState() if value is None else PackageState.model_validate(value)
    except ValidationError as error:
        given = error.errors(include_url=False)
        contents.faults.extend({"file": "state.json", **fault(each)} for each in given)
        return PackageState()


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
            yield _with_files(contents, name, f"{name}/{each['id']}", each)


def _document(contents: Contents, name: str) -> object:
    """The value of NAME.json; None where there is none, or it has a fault."""
    file, faults = f"{name}.json", contents.faults
    data = contents.files.get(file)
    if data is None:
        return None
    if len(data) > contents.most_bytes:
        faults.add(file, "", f"at most {contents.most_bytes} bytes", str(len(data)))
        return None
    # Values are bounded as well as bytes: one of a few bytes takes many times the memory.
    values = sum(data.count(mark) for mark in (b",", b"[", b"{"))
    if values > MOST_VALUES:
        faults.add(file, "", f"at most {MOST_VALUES} values", f"about {values}")
        return None
    try:
        value: object = json.loads(data)
        json.dumps(value, ensure_ascii=False).encode()  # half of a surrogate pair is text to JSON alone
    except parsing.UNREADABLE as error:
        faults.add(file, "", "JSON", " ".join(str(error).split())[:200])
        return None
    lists = {"": value} if isinstance(value, list) else value if isinstance(value, dict) else {}
    for where, objects in lists.items():
        if isinstance(objects, list) and len(objects) > contents.most_objects:
            faults.add(file, where, f"at most {contents.most_objects} objects", str(len(objects)))
            return None
    return value


def _with_files(contents: Contents, name: str, folder: str, document: PackageObject) -> PackageObject:
    """A document with the bytes of the files it names."""
    whole = dict(document)
    for property_ in FILES.get(name, ()):
        value = whole.get(property_)
        references = [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
        named = [str(each.get("filename")) for each in references]
        if len({*named}) < len(named):
            expected = f"different file names in {property_}"
            contents.faults.add(f"{name}.json", str(whole.get("id")), expected, "one of them twice")
            continue
        if files := [_reference(contents, folder, each) for each in references]:
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
