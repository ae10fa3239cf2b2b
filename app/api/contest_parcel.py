"""The files of a contest package: its documents in JSON or YAML, and what lies beside them."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import yaml

from app.api import contest_bodies, teams
from app.api.directory import COLLECTIONS
from app.packages.documents import UNREADABLE, StrictLoader

Name = Literal[
    "problems",
    "groups",
    "organizations",
    "teams",
    "persons",
    "accounts",
    "submissions",
    "clarifications",
    "awards",
    "commentary",
]
NAMES: tuple[str, ...] = get_args(Name)
YAML_TOO = frozenset({"contest", "problems", "accounts"})
EXTENSIONS = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "svg": "image/svg+xml"}
FILES: Mapping[str, tuple[str, ...]] = {
    "contest": contest_bodies.FILES,
    "teams": teams.FILES,
    **{collection.name: collection.files for collection in COLLECTIONS if collection.files},
}
SIZE = re.compile(r"([0-9]{1,5})x([0-9]{1,5})")


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


TextLoader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^-?(0|[1-9][0-9]*)$"), list("-0123456789"))
TextLoader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"^-?[0-9]+\.[0-9]+$"), list("-0123456789"))


@dataclass
class Contents:
    """What a package says. `faults` are all that is wrong with its files."""

    files: Mapping[str, bytes]
    contest: dict[str, Any] = field(default_factory=dict)
    finalized: str | None = None
    objects: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    faults: list[dict[str, str]] = field(default_factory=list)

    @property
    def problem_ids(self) -> list[str]:
        """The problems of the contest."""
        return [str(each["id"]) for each in self.objects["problems"]]

    def package_of(self, problem_id: str) -> bytes | None:
        """The package of a problem, if it is here."""
        return self.files.get(f"problems/{problem_id}/{problem_id}.zip")

    def add_fault(self, file: str, where: str, expected: str, found: str) -> None:
        """Note what is wrong."""
        self.faults.append({"file": file, "where": where, "expected": expected, "found": found})


def read_contents(files: Mapping[str, bytes], *, with_submissions: bool = True) -> Contents:
    """Read every document; files that their objects name are put into them, as if they had been sent along."""
    found = Contents(files)
    contest = _document(found, "contest")
    if isinstance(contest, dict):
        found.contest = _with_files(found, "contest", "contest", contest)
    else:
        found.add_fault("contest.json", "", "an object", "none" if contest is None else "something else")
    state = _document(found, "state")
    found.finalized = state.get("finalized") if isinstance(state, dict) else None
    for name in NAMES:
        skipped = name == "submissions" and not with_submissions
        found.objects[name] = [] if skipped else _objects(found, name)
    return found


def _objects(found: Contents, name: str) -> list[dict[str, Any]]:
    value = _document(found, name)
    if value is None:
        return []
    if not isinstance(value, list):
        found.add_fault(f"{name}.json", "", "an array", "something else")
        return []
    objects = []
    for at, each in enumerate(value):
        if not isinstance(each, dict) or not isinstance(each.get("id"), str):
            found.add_fault(f"{name}.json", f"[{at}]", "an object with an id", "something else")
        else:
            objects.append(_with_files(found, name, f"{name}/{each['id']}", each))
    return objects


def _document(found: Contents, name: str) -> Any:
    """The value of NAME.json, or NAME.yaml where the format has it; None where there is neither."""
    if f"{name}.json" in found.files:
        try:
            value = json.loads(found.files[f"{name}.json"])
            json.dumps(value, ensure_ascii=False).encode()  # half of a surrogate pair is text to JSON alone
        except (ValueError, RecursionError) as error:
            found.add_fault(f"{name}.json", "", "JSON", str(error)[:200])
        else:
            return value
    elif name in YAML_TOO and f"{name}.yaml" in found.files:
        try:
            return yaml.load(found.files[f"{name}.yaml"].decode(), TextLoader)
        except (yaml.YAMLError, *UNREADABLE) as error:
            found.add_fault(f"{name}.yaml", "", "YAML", " ".join(str(error).split())[:200])
    return None


def _with_files(found: Contents, name: str, folder: str, document: dict[str, Any]) -> dict[str, Any]:
    """A document with the bytes of the files it names, and of those that lie where its properties would be."""
    document = dict(document)
    for property_ in FILES.get(name, ()):
        value = document.get(property_)
        references = [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
        named = {str(each.get("filename")) for each in references}
        kept = [_reference(found, folder, each) for each in references] + _lying(found, folder, property_, named)
        if kept:
            document[property_] = [each for each in kept if each is not None]
    return document


def _reference(found: Contents, folder: str, reference: dict[str, Any]) -> dict[str, Any] | None:
    """A file reference with its bytes; one that lies elsewhere stays as it is."""
    name = str(reference.get("filename"))
    data = found.files.get(f"{folder}/{name}")
    if data is None:
        if str(reference.get("href", "")).startswith(("http://", "https://")):
            return reference
        found.add_fault(f"{folder}/{name}", "", "the file that is referred to", "none")
        return None
    expected = reference.get("hash")
    if expected is not None and expected != hashlib.md5(data, usedforsecurity=False).hexdigest():
        found.add_fault(f"{folder}/{name}", "", f"a file of the MD5 {expected}", "another one")
    sent = {key: value for key, value in reference.items() if key not in {"href", "hash"}}
    return {**sent, "data": base64.b64encode(data).decode()}


def _lying(found: Contents, folder: str, property_: str, named: set[str]) -> list[dict[str, Any]]:
    """The files `PROPERTY.TAG.WIDTHxHEIGHT.EXTENSION` that no document names."""
    lying = []
    for path, data in found.files.items():
        name = path.removeprefix(f"{folder}/")
        parts = name.split(".")
        if name == path or "/" in name or name in named or parts[0] != property_ or parts[-1] not in EXTENSIONS:
            continue
        sizes = [size for part in parts[1:-1] if (size := SIZE.fullmatch(part)) is not None]
        tags = [part for part in parts[1:-1] if SIZE.fullmatch(part) is None]
        reference: dict[str, Any] = {"filename": name, "data": base64.b64encode(data).decode()}
        if sizes:
            reference |= {"width": int(sizes[0][1]), "height": int(sizes[0][2])}
        lying.append(reference | ({"tag": tags} if tags else {}))
    return lying
