"""The plan of a package's test data: which program with which arguments, or which text, makes each input.

`generators/generators.yaml` is the plan that BAPCtools reads; `generators/cases.yaml` is the shorter one of the bundled
problems, whose only program is `generators/generate.py`.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from app.core.faults import NONE, Faults
from app.core.parsing import Document, Path, read_document
from app.packages.model import replace_constants
from app.programs.points import NAME
from checkers.doors import N_

FOLDER = "generators/"
FILE = "generators/generators.yaml"
SHORT = "generators/cases.yaml"
SCRIPT = "generators/generate.py"
SEED = re.compile(r"\{seed(:[0-9]+)?\}")
RANGE = re.compile(r"(-?[0-9]{1,9})\.\.=(-?[0-9]{1,9})")
SEEDS = 2**31
MOST_COUNT = 100
MOST_RECIPES = 100_000
TEXTS = ("in", "ans", "out")
# The folders of `data/` in the order in which BAPCtools numbers their cases.
ROOMS = ("sample", "secret", "invalid_output", "invalid_answer", "invalid_input", "valid_output")
CASE_KEYS = frozenset({"copy", "generate", "count", "match", "in", "ans", "out", "in.statement", "ans.statement",
                       "in.download", "ans.download", "interaction", "hint", "desc", "yaml"})  # fmt: skip
SHORT_CASE = frozenset({"group", "name", "file", "seed", "params", "reference", "description"})

Constants = Mapping[str, Mapping[str, int | float | str]]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a test case's input is made.

    path     of the case below `data/`, without extension
    where    the place in the plan
    program  the generator's file, or its folder with `/` at the end; empty: `given` has the input
    beside   further files of the generator
    given    files that the plan has itself or copies, by extension
    """

    path: str
    where: str
    program: str = ""
    args: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    given: Mapping[str, bytes] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Plan:
    """The recipes of a package by their order, the file they stand in, and the solver it names (empty: none)."""

    file: str
    recipes: tuple[Recipe, ...]
    solution: str = ""


def read_plan(files: Mapping[str, bytes], constants: Constants, faults: Faults) -> Plan | None:
    """The plan of a package's test data; notes what does not fit. None where it has no plan."""
    if FILE in files:
        document = read_document(files[FILE], FILE, faults)
        return None if document is None else _Reader(files, constants, document, faults).plan()
    if SHORT in files:
        document = read_document(files[SHORT], SHORT, faults)
        return None if document is None else _short_plan(files, document, faults)
    return None


def _short_plan(files: Mapping[str, bytes], document: Document, faults: Faults) -> Plan:
    """Read `cases.yaml`: a list of cases, each a file or a seed with parameters."""
    value = document.value if isinstance(document.value, dict) else {}
    entries = value.get("cases")
    if not isinstance(entries, list):
        faults.expect(SHORT, "", N_("a list `cases`"), type(entries).__name__)
        return Plan(SHORT, ())
    recipes = []
    for at, entry in enumerate(entries):
        where = document.where(("cases", at))
        if not isinstance(entry, dict) or not {"group", "name"} <= entry.keys() or not entry.keys() <= SHORT_CASE:
            faults.expect(SHORT, where, N_("a map of %(keys)s"), repr(entry)[:80], keys=", ".join(sorted(SHORT_CASE)))
            continue
        path = f"{entry['group']}/{entry['name']}"
        if "file" in entry:
            name = f"{FOLDER}{entry['file']}"
            if name not in files:
                faults.expect(SHORT, where, N_("the file %(name)s"), NONE, name=name)
                continue
            recipes.append(Recipe(path, where, given={"in": files[name]}))
            continue
        params = entry.get("params") if isinstance(entry.get("params"), dict) else {}
        words = (
            "--seed",
            str(entry.get("seed")),
            *(f"{key}={each}" for key, each in cast(Mapping[str, object], params).items()),
        )
        recipes.append(Recipe(path, where, SCRIPT, words))
    return Plan(SHORT, tuple(recipes))


class _Reader:
    """Reads `generators.yaml` as BAPCtools does: numbered lists, counts, seeds by hashing the command."""

    def __init__(self, files: Mapping[str, bytes], constants: Constants, document: Document, faults: Faults) -> None:
        self._files, self._constants, self._document, self._faults = files, constants, document, faults
        self._recipes: list[Recipe] = []
        self._by_key: dict[str, list[tuple[str, Recipe]]] = {}
        self._programs: Mapping[str, object] = {}
        self._width = 1
        self._numbers = itertools.count(1)

    def plan(self) -> Plan:
        root = self._document.value
        if not isinstance(root, dict):
            self._faults.expect(FILE, "", N_("a map"), type(root).__name__)
            return Plan(FILE, ())
        programs = root.get("generators")
        self._programs = programs if isinstance(programs, dict) else {}
        self._width = len(str(self._count(root)))
        self._folder("", root, (), "")
        solution = root.get("solution")
        return Plan(FILE, tuple(self._recipes), solution.lstrip("/") if isinstance(solution, str) else "")

    def _count(self, folder: Mapping[object, object]) -> int:
        """The number of numbered cases, which gives numbers their width."""
        total = 0
        for _, _, entry, numbered in _entries(folder):
            if _is_case(entry):
                total += len(_counts(entry) or [1]) if numbered else 0
            elif isinstance(entry, dict):
                total += self._count(entry)
        return total

    def _folder(self, path: str, folder: Mapping[object, object], at: Path, salt: str) -> None:
        own = folder.get("random_salt", salt)
        salt = own if isinstance(own, str) else ""
        self._include(path, folder, at)
        rows = [*_entries(folder)]
        groups = sum(numbered and not _is_case(entry) for _, _, entry, numbered in rows)
        of_groups = itertools.count(1)
        for key, steps, entry, numbered in rows:
            here = (*at, "data", *steps)
            if _is_case(entry):
                self._case(path, key, entry, here, salt, numbered=numbered)
            elif isinstance(entry, dict):
                name = _numbered(key, next(of_groups), len(str(groups))) if numbered else key
                before = len(self._recipes)
                self._folder(f"{path}/{name}".lstrip("/"), entry, here, salt)
                self._by_key[key] = [(each.path.rpartition("/")[2], each) for each in self._recipes[before:]]
            else:
                self._faults.expect(FILE, self._document.where(here), N_("a test case or a folder"), repr(entry)[:60])

    def _include(self, path: str, folder: Mapping[object, object], at: Path) -> None:
        """Take cases that stand elsewhere in the plan into this folder too."""
        for key in cast(Sequence[object], folder.get("include") or ()):
            if str(key) not in self._by_key:
                self._faults.expect(FILE, self._document.where((*at, "include")), N_("a key above"), repr(key)[:60])
            for name, recipe in self._by_key.get(str(key), ()):
                self._recipes.append(replace(recipe, path=f"{path}/{name}"))

    def _case(self, folder: str, key: str, entry: object, at: Path, salt: str, *, numbered: bool) -> None:
        where = self._document.where(at)
        form = _form(entry)
        counts = _counts(entry)
        if counts is None:
            self._faults.expect(FILE, where, N_("a count of 1 to %(most)s"), repr(form.get("count")), most=MOST_COUNT)
            return
        width = max(len(str(each)) for each in counts) if max(counts) - min(counts) == len(counts) - 1 else 0
        rows = []
        for count in counts:
            name = _numbered(key, next(self._numbers), self._width) if numbered else key
            if "count" in form:
                name += f"-{count:0{width}}"
            recipe = self._recipe(f"{folder}/{name}", form, count, where, salt)
            if recipe is not None and len(self._recipes) < MOST_RECIPES:
                self._recipes.append(recipe)
                rows.append((name, recipe))
        self._by_key[key] = rows

    def _recipe(self, path: str, form: Mapping[str, object], count: int, where: str, salt: str) -> Recipe | None:
        for key in form.keys() - CASE_KEYS - {"solution", "random_salt", "retries", "visualizer", "type"}:
            self._faults.add(FILE, N_("unknown key %(key)r"), where, key=key[:60])
        given = {key: _line(str(form[key])) for key in TEXTS if isinstance(form.get(key), str | int | float)}
        if isinstance(copy := form.get("copy"), str):
            stem = f"{FOLDER}{copy}"
            given = {key: self._files[f"{stem}.{key}"] for key in TEXTS if f"{stem}.{key}" in self._files} | given
            if "in" not in given:
                self._faults.expect(FILE, where, N_("the file %(stem)s.in"), NONE, stem=stem)
        if not isinstance(command := form.get("generate"), str):
            return Recipe(path, where, given=given) if "in" in given else None
        command = replace_constants(command, self._constants)
        if "count" in form:
            command = command.replace("{count}", str(count))
        seed = _seed(str(form.get("random_salt", salt) or ""), count, command)
        try:
            words = shlex.split(command)
        except ValueError as error:
            self._faults.add(FILE, N_("not a command: %(error)s"), where, error=error)
            return None
        program, beside = self._program(words[0] if words else "", where)
        args = tuple(SEED.sub(str(seed), word.replace("{name}", NAME)) for word in words[1:])
        return Recipe(path, where, program, args, beside, given) if program else None

    def _program(self, name: str, where: str) -> tuple[str, tuple[str, ...]]:
        """The place of a generator and the files beside it; notes one that is not there."""
        named = self._programs.get(name)
        if isinstance(named, list) and named:
            files = tuple(f"{FOLDER}{each}" for each in named)
            missing = [each for each in files if each not in self._files]
            if not missing:
                return files[0], files[1:]
            self._faults.expect(FILE, where, N_("the file %(missing)s"), NONE, missing=missing[0])
            return "", ()
        place = f"{FOLDER}{name}"
        if place in self._files:
            return place, ()
        if any(each.startswith(f"{place}/") for each in self._files):
            return f"{place}/", ()
        self._faults.expect(FILE, where, N_("a generator at %(place)s"), NONE, place=place)
        return "", ()


def _entries(folder: Mapping[object, object]) -> Iterator[tuple[str, Path, object, bool]]:
    """The entries of a folder's `data`: key, steps below `data`, value, and whether its name gets a number."""
    data = folder.get("data")
    if isinstance(data, dict):
        for key in sorted(data, key=lambda each: (ROOMS.index(each) if each in ROOMS else len(ROOMS), str(each))):
            yield str(key), (cast(str, key),), data[key], False
    elif isinstance(data, list):
        for at, each in enumerate(data):
            for key, entry in (each if isinstance(each, dict) else {}).items():
                yield "" if key is None else str(key), (at, key), entry, True


def _is_case(entry: object) -> bool:
    return entry is None or isinstance(entry, str) or (isinstance(entry, dict) and bool(CASE_KEYS & entry.keys()))


def _form(entry: object) -> Mapping[str, object]:
    """A case's entry written out: a text is a command, or the path of an input."""
    if isinstance(entry, dict):
        return {str(key): value for key, value in entry.items()}
    if isinstance(entry, str):
        return {"copy": entry[:-3]} if entry.endswith(".in") else {"generate": entry}
    return {}


def _counts(entry: object) -> list[int] | None:
    """The numbers of a repeated case; None where they are none."""
    count = entry.get("count") if isinstance(entry, dict) else None
    if count is None:
        return [1]
    values: list[object] = []
    if isinstance(count, int) and 1 <= count <= MOST_COUNT:
        values = list(range(1, count + 1))
    elif isinstance(count, list):
        values = count
    elif isinstance(count, str) and (match := RANGE.fullmatch(count)):
        least, most = int(match[1]), int(match[2])
        values = list(range(least, most + 1)) if most - least < MOST_COUNT else []
    numbers = [each for each in values if isinstance(each, int)]
    return numbers if numbers and len(numbers) == len(values) <= MOST_COUNT else None


def _numbered(key: str, number: int, width: int) -> str:
    return f"{number:0{width}}-{key}" if key else f"{number:0{width}}"


def _seed(salt: str, count: int, command: str) -> int:
    """The seed of a command, as BAPCtools computes it."""
    text = salt + (f":{count - 1}" if count != 1 else "") + command.strip()
    return int(hashlib.sha512(text.encode()).hexdigest(), 16) % SEEDS


def _line(text: str) -> bytes:
    return (text if not text or text.endswith("\n") else f"{text}\n").encode()
