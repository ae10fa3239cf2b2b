"""The walk itself: what is asked, in which order, and what is written down of each reply."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import httpx

from ops.walk.masks import Masks
from ops.walk.stage import CONTESTS, DAY, ROLES, Stage
from tests.builders import lively

MISSING = "none"
MOST_VALUES = 2
"""How many of a list's objects are asked for one by one, beside one that does not exist."""
LISTS = {
    "problem_id": "problems",
    "submission_id": "submissions",
    "judgement_id": "judgements",
    "run_id": "runs",
    "team_id": "teams",
    "account_id": "accounts",
    "type_id": "judgement-types",
    "language_id": "languages",
    "award_id": "awards",
    "clarification_id": "clarifications",
    "commentary_id": "commentary",
}
FIXED = {
    "name": ("02", "logo", "photo"),
    "case_name": ("02",),
    "group": ("secret",),
    "other_team_id": ("blue",),
    "file_name": ("logo.png", "banner.png", "photo.png"),
    "path": ("cat.png",),
    "rejudging_id": ("1",),
    "number": ("1",),
    "day": (DAY.isoformat(),),
    "kind": ("netgame",),
    "size": ("small",),
    **dict.fromkeys(("game_id", "job_id", "webhook_id", "image_name"), ()),
}
"""The values of the other parameters; of some the server has none."""
OBJECTS = re.compile(r"/(persons|organizations|groups)/\{object_id\}")
STREAMS = ("/event-feed", "/stream")
ALIVE = ("/metrics", "/health/live", "/health/ready", "/api/status")
"""What counts or depends on the hour: only its status is held."""
BODIES: tuple[tuple[str, Any], ...] = (("nothing", None), ("{}", {}), ("[]", []), ("unknown", {"unknown_property": 1}))
ARCHIVE = "application/zip"
JSON = "application/json"


@dataclass(frozen=True)
class Request:
    """What is asked: `name` tells the bodies of one route apart; a body of None sends none."""

    method: str
    path: str
    name: str = ""
    body: Any = None


@dataclass(frozen=True)
class Answer:
    """What is written down of a reply."""

    status: int
    kind: str
    body: str


def walk(stage: Stage, progress: Callable[[int, int], None] = lambda done, total: None) -> dict[str, Answer]:
    """Ask every route as every role: first all that reads, then all that writes."""
    document = stage.ask("GET", "/openapi.json").json()
    masks = Masks()
    known = _known(stage, masks)
    answers = {"openapi": Answer(200, "application/json", json.dumps(document, indent=1, sort_keys=True))}
    requests = [*_reads(document, known), *_writes(document)]
    for done, each in enumerate(requests):
        for role in ROLES:
            options = {} if each.body is None else {"json": each.body}
            reply = stage.ask(each.method, each.path, user=role, **options)
            key = f"{role or 'nobody'} {each.method} {masks.apply(each.path)} {each.name}".strip()
            answers[key] = _written(reply, each.path, masks)
        progress(done + 1, len(requests))
    return answers


def _known(stage: Stage, masks: Masks) -> dict[str, dict[str, Sequence[str]]]:
    """The first ids of every list of every contest, and masks for all of them."""
    known: dict[str, dict[str, Sequence[str]]] = {}
    for contest in CONTESTS:
        known[contest] = {}
        for parameter, name in [*LISTS.items(), *((kind, kind) for kind in ("persons", "organizations", "groups"))]:
            rows = stage.ask("GET", f"/api/contests/{contest}/{name}", user="admin").json()
            ids = [row["id"] for row in rows]
            masks.learn(name, ids)
            known[contest][parameter] = ids[:MOST_VALUES]
    return known


def _reads(document: Mapping[str, Any], known: Mapping[str, Mapping[str, Sequence[str]]]) -> Iterator[Request]:
    for path, operations in document["paths"].items():
        if "get" not in operations:
            continue
        contests = CONTESTS if "{contest_id}" in path else (lively.CONTEST,)
        for contest in contests:
            for filled in _filled(path, contest, known[contest]):
                ends = "stream=false" if path.endswith(STREAMS) else ""
                yield Request("GET", filled + ("?" + ends if ends else ""))
                for name in _switches(operations["get"]):
                    yield Request("GET", f"{filled}?{name}=true" + ("&" + ends if ends else ""))


def _switches(operation: Mapping[str, Any]) -> list[str]:
    """The parameters of a query that are true or false."""
    return [
        each["name"]
        for each in operation.get("parameters", ())
        if each["in"] == "query" and "boolean" in json.dumps(each["schema"]) and each["name"] not in {"stream"}
    ]


def _filled(path: str, contest: str, known: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The path with known values for its parameters, and with one that does not exist for each."""
    objects = OBJECTS.search(path)
    names = re.findall(r"\{(\w+)\}", path)
    values: list[Sequence[str]] = []
    for name in names:
        of_list = known.get(objects[1] if name == "object_id" and objects else name, FIXED.get(name, ()))
        values.append((contest,) if name == "contest_id" else of_list or (MISSING,))
    without = [contest if name == "contest_id" else MISSING for name in names]
    for chosen in dict.fromkeys([*product(*values), tuple(without)]):
        filled = path
        for name, value in zip(names, chosen, strict=True):
            filled = filled.replace(f"{{{name}}}", value)
        yield filled


def _writes(document: Mapping[str, Any]) -> Iterator[Request]:
    """Requests that write: of things that do not exist with every body, of contests that do with bodies refused."""
    for method in ("post", "put", "patch", "delete"):
        for path, operations in document["paths"].items():
            if method not in operations:
                continue
            bodies = dict(BODIES) if method != "delete" else {"nothing": None}
            bodies |= {f"example {name}": value for name, value in _examples(operations[method]).items()}
            contests = (*CONTESTS, MISSING) if "{contest_id}" in path else (MISSING,)
            for contest, (name, body) in product(contests, bodies.items()):
                filled = path.replace("{contest_id}", contest)
                if method == "delete" and filled == f"/api/contests/{contest}" and contest != MISSING:
                    continue
                yield Request(method.upper(), re.sub(r"\{\w+\}", MISSING, filled), name, body)


def _examples(operation: Mapping[str, Any]) -> Mapping[str, Any]:
    """The examples of a JSON body by name."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    shown = {name: each.get("value") for name, each in content.get("examples", {}).items()}
    return shown | ({"only": content["example"]} if "example" in content else {})


def _written(reply: httpx.Response, path: str, masks: Masks) -> Answer:
    kind = reply.headers.get("content-type", "").partition(";")[0]
    if path.startswith(ALIVE):
        return Answer(reply.status_code, kind, "")
    if kind == ARCHIVE and reply.status_code == 200:
        return Answer(200, kind, "\n".join(_members(reply.content, masks)))
    try:
        text = reply.content.decode()
    except UnicodeDecodeError:
        text = hashlib.sha256(reply.content).hexdigest()
    return Answer(reply.status_code, kind, masks.apply(_in_order(text) if kind == JSON else text))


def _in_order(text: str) -> str:
    """A JSON text with the names of its objects sorted, as their order says nothing; broken JSON as it is."""
    try:
        return json.dumps(json.loads(text), sort_keys=True)
    except json.JSONDecodeError:
        return text


def _members(archive: bytes, masks: Masks) -> list[str]:
    """Every file of an archive with what it holds, texts as they are."""
    lines = []
    with zipfile.ZipFile(io.BytesIO(archive)) as members:
        for name in sorted(members.namelist()):
            data = members.read(name)
            is_text = name.endswith((".json", ".ndjson", ".yaml", ".tsv", ".csv", ".txt"))
            shown = masks.apply(data.decode()) if is_text else hashlib.sha256(data).hexdigest()
            lines.append(f"{masks.apply(name)}: {shown}")
    return lines
