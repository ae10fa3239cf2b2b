"""Strict reading of YAML files: known keys, each once, and anchors refused; a fault names its line and its key."""

import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn, TypeVar, cast

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from app.core.faults import Faults, mismatch
from checkers.doors import N_, Phrase

M = TypeVar("M", bound=BaseModel)
Path = tuple[str | int, ...]

NOT_KEPT = re.compile("[\0\ud800-\udfff]")
LARGEST_DOCUMENT = 256 * 1024
# PyYAML's exceptions: its own, and those its constructors trip over in `!!bool x`, `!!timestamp x`, `1:1:...:1.0`.
UNREADABLE = (yaml.YAMLError, ValueError, RecursionError, ArithmeticError, LookupError, AttributeError, TypeError)
LONGEST_QUOTE = 60
LONGEST_KEY = 500
DEEPEST_NOTED = 10
LONGEST_NUMBER = 400
# Lists and maps in each other: PyYAML looks at each open bracket for each token, and gives up at a thousand.
DEEPEST = 64
# Keys, values, lists and maps of a document: each takes PyYAML some hundred steps.
MOST_NODES = 100_000
# Longer ones can all be chosen to have one hash.
LONGEST_NUMBER_AS_KEY = 15
TOO_DEEP = f"expected values nested at most {DEEPEST} deep"
# Characters of a tag that a message repeats.
LONGEST_TAG = 80
MERGE = "tag:yaml.org,2002:merge"
NUMBERS = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})
KINDS: dict[type, str] = {bool: "true or false", int: "number", float: "number", str: "text", list: "list", dict: "map"}


class StrictLoader(yaml.SafeLoader):
    """PyYAML's safe loader without aliases and merge keys (they can blow up), repeated keys (the last would win),
    tag handles (each use of a short one writes out its long tag), deep nesting, very many values, and numbers so long
    that reading, hashing or showing them would take long.
    """

    def __init__(self, text: str, most_nodes: int = MOST_NODES) -> None:
        cast(Any, super()).__init__(text)
        self._most_nodes = most_nodes
        self._nodes = 0
        self._depth = 0

    def fetch_flow_collection_start(self, token_class: type[yaml.Token]) -> None:
        """Refuse brackets in too many others: the scanner slows down with each, before a node is composed."""
        scanner = cast(Any, self)  # the stubs leave the scanner untyped
        if scanner.flow_level >= DEEPEST:
            raise yaml.scanner.ScannerError(None, None, TOO_DEEP, scanner.get_mark())
        cast(Any, super()).fetch_flow_collection_start(token_class)

    def scan_tag_directive_value(self, start_mark: yaml.Mark) -> tuple[str, str]:
        """Refuse `%TAG`."""
        raise yaml.scanner.ScannerError(None, None, "expected no tag handles (`%TAG`)", start_mark)

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse `*alias` where it stands, what is nested too deep, and the first node of too many."""
        event = cast(Any, self).peek_event()
        mark: Any = event.start_mark  # one of two types, of which the stubs let errors have one
        self._nodes += 1
        if isinstance(event, yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "expected no aliases (`*name`)", mark)
        if self._nodes > self._most_nodes:
            expected = f"expected at most {self._most_nodes} keys and values"
            raise yaml.composer.ComposerError(None, None, expected, mark)
        if self._depth >= DEEPEST and not isinstance(event, yaml.ScalarEvent):
            raise yaml.composer.ComposerError(None, None, TOO_DEEP, mark)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> str:
        """Refuse text that no database keeps: an escaped NUL or half of a surrogate pair."""
        value = super().construct_scalar(node)
        if NOT_KEPT.search(value):
            raise yaml.constructor.ConstructorError(
                None, None, "expected text, found a NUL or a lone surrogate", node.start_mark
            )
        return value

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:
        """Refuse a key that stands twice."""
        seen: set[str] = set()
        for key, _ in node.value:
            if key.tag == MERGE:
                raise yaml.constructor.ConstructorError(None, None, "expected no merge keys (`<<`)", key.start_mark)
            if isinstance(key, yaml.ScalarNode) and len(key.value) > LONGEST_KEY:
                expected = f"expected keys of at most {LONGEST_KEY} characters"
                raise yaml.constructor.ConstructorError(None, None, expected, key.start_mark)
            if key.tag in NUMBERS and len(key.value) > LONGEST_NUMBER_AS_KEY:
                raise yaml.constructor.ConstructorError(None, None, "expected a shorter number", key.start_mark)
            if key.value in seen and isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, f"repeated key `{key.value}`", key.start_mark)
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else "")
        return super().construct_mapping(node, deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:
        """Refuse a number of more digits than any number here has."""
        if node.tag in NUMBERS and isinstance(node, yaml.ScalarNode) and len(node.value) > LONGEST_NUMBER:
            expected = f"expected a number of at most {LONGEST_NUMBER} characters"
            raise yaml.constructor.ConstructorError(None, None, expected, node.start_mark)
        return super().construct_object(node, deep)

    def construct_undefined(self, node: yaml.Node) -> NoReturn:
        """Refuse a tag that is none of YAML's own, and say what to write instead."""
        tag = node.tag if len(node.tag) <= LONGEST_TAG else f"{node.tag[:LONGEST_TAG]}..."
        expected = (
            f"expected no tag, found `{tag}`, which only some programs know: "
            "remove it, or put the value in quotes if `!` begins the text"
        )
        raise yaml.constructor.ConstructorError(None, None, expected, node.start_mark)


cast(Any, StrictLoader).add_constructor(None, StrictLoader.construct_undefined)


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML file's value, and the line (1-based) on which each of its keys and entries begins."""

    value: object
    lines: Mapping[Path, int]

    def where(self, path: Path) -> str:
        """Say where a key stands: `line 3, limits.memory`; a missing key is placed at its map."""
        shown = ".".join(str(part) for part in path)
        known = next((self.lines[path[:end]] for end in range(len(path), -1, -1) if path[:end] in self.lines), None)
        return ", ".join(part for part in (f"line {known}" if known else "", shown) if part)


def read_document(data: bytes, file: str, faults: Faults) -> Document | None:
    """Parse a YAML file; notes a fault with its line and returns None if it is none."""
    if len(data) > LARGEST_DOCUMENT:
        faults.expect(file, "", N_("at most %(most)s bytes of YAML"), str(len(data)), most=LARGEST_DOCUMENT)
        return None
    try:
        loader = StrictLoader(data.decode("utf-8"))
        node = loader.get_single_node()
        value = loader.construct_document(node) if node is not None else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}" if mark else ""
        faults.add(file, N_("not valid YAML: %(error)s"), where, error=error.problem or error.context)
    except UNREADABLE as error:
        faults.add(file, N_("not valid YAML: %(error)s"), error=_first_line(error))
    else:
        lines: dict[Path, int] = {}
        if node is not None:
            _note_lines(node, (), lines)
        return Document(value, lines)
    return None


def read_model(model: type[M], data: bytes, file: str, faults: Faults) -> M | None:
    """Parse a YAML map into `model`; notes every unknown key and wrong type and gives None if there was any."""
    document = read_document(data, file, faults)
    return check_model(model, document, file, faults) if document is not None else None


def check_model(model: type[M], document: Document, file: str, faults: Faults, at: Path = ()) -> M | None:
    """Hold the value at `at` of a document against `model`; an empty file counts as an empty map."""
    value = document.value
    for part in at:
        assert isinstance(value, dict), "the keys that lead there were read before"
        value = value[part]
    value = {} if value is None and not at else value
    if not isinstance(value, dict):
        faults.expect(file, document.where(at), N_("a map of keys to values"), show(value))
        return None
    try:
        return model.model_validate(value)
    except ValidationError as invalid:
        note_errors(invalid, file, faults, lambda keys: document.where((*at, *_keys(keys, value))))
    return None


def note_errors(
    invalid: ValidationError,
    file: str,
    faults: Faults,
    where: Callable[[Path], str] = lambda keys: ".".join(map(str, keys)),
) -> None:
    """Note what pydantic says against a document, each fault at its place."""
    for error in invalid.errors():
        faults.add(file, _sentence(error), where(error["loc"]))


def show(value: object) -> str:
    """Show a YAML value in a message, short, with its type where that is the point."""
    if value is None:
        return "nothing"
    text = value.isoformat() if isinstance(value, datetime) else repr(value)
    shown = text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}..."
    return f"{KINDS.get(type(value), type(value).__name__)} {shown}"


def _sentence(error: ErrorDetails) -> str:
    kind, message = error["type"], error["msg"]
    if kind == "extra_forbidden":
        return Phrase(N_("unknown key"))
    if kind == "json_invalid":
        return Phrase("not valid JSON: %(error)s", error=error["ctx"]["error"])
    if kind == "missing":
        return Phrase(N_("missing key"))
    if kind == "value_error":
        # The argument of the validator's error, which may be a phrase.
        return cast(str, error["ctx"]["error"].args[0])
    expected = message.removeprefix("Input should be ").removeprefix("String should ").replace("a valid ", "a ")
    expected = expected.replace("a integer", "an integer")
    return mismatch(expected, show(error["input"]))


def _keys(path: Path, value: object) -> Path:
    """Keep the parts of pydantic's path that are keys of the file; others name a branch of a union."""
    keys: list[str | int] = []
    for part in path:
        if isinstance(value, dict) and part not in value and keys and part != path[-1]:
            continue
        keys.append(part)
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            value = None
    return tuple(keys)


def _note_lines(node: yaml.Node, path: Path, lines: dict[Path, int]) -> None:
    """Note where a node and all below it begin; what is so deep that no model knows it is left out."""
    lines.setdefault(path, node.start_mark.line + 1)
    if len(path) >= DEEPEST_NOTED:
        return
    if isinstance(node, yaml.MappingNode):
        for key, entry in node.value:
            lines[*path, key.value] = key.start_mark.line + 1
            _note_lines(entry, (*path, key.value), lines)
    elif isinstance(node, yaml.SequenceNode):
        for index, entry in enumerate(node.value):
            _note_lines(entry, (*path, index), lines)


def _first_line(error: Exception) -> str:
    return "nested too deep" if isinstance(error, RecursionError) else (str(error).splitlines() or ["unreadable"])[0]


def place(files: Mapping[str, bytes], file: str, path: Path) -> str:
    """Say where a key stands in a YAML file of a package: `line 3, scoring.kind`."""
    document = read_document(files[file], file, Faults()) if file in files else None
    return (document or Document({}, {})).where(path)
