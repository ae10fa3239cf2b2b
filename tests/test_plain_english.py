"""Texts that users see have no phrases that read as translated."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
PHRASES = (
    r"(?:is|are|was|were|be|been|gets?) told",
    r"tells? of|told of",
    r"(?:take|takes|taken|taking|took) (?:\w+ ){0,3}back",
    r"(?:take|takes|taken|taking|took) up",
    r"(?:bring|brings|brought|bringing) (?:\w+ ){0,3}in",
    r"(?:give|gives|given|giving|gave) (?:\w+ ){0,3}up",
    r"given out|give out|laid aside|put right|mend(?:s|ed|ing)?|beside",
    r"nobody(?:'s)?|whoever|whatever|somebody|anybody|everybody",
    r"anew|afresh|meanwhile|by and by|for ever|at hand|in vain|lest|heeds?|heeded|dear",
    r"else (?:it|the|a|that|those|they|he)",
    r"(?:that|which|what|who) (?:is|are) (?:none|no [a-z]+)|are none|is none",
    r"that there (?:is|are)|what there is|there already|what (?:has |have )?bec(?:a|o)me of|of before",
    r"goes? on|went on|as (?:it|they) (?:is|are|come|comes|was|were)",
    r"of its own|of their own|by (?:itself|themselves)",
    r"those (?:that|who|which|whose)|one(?:'s)? that|ones that",
    r"what (?:is|was|are|were) [a-z]+ed|of which|as such|ticked|once more|no more|any more",
    r"holds? (?:\w+ ){0,3}against|held (?:\w+ ){0,3}against|without end",
)
ODD = re.compile(rf"\b(?:{'|'.join(PHRASES)})\b|[;,] else\b", re.IGNORECASE)
MARKERS = {"N_", "_", "ngettext", "Phrase", "gettext", "plural"}
KEYWORDS = {"help", "description", "summary"}
SAID = {"warning", "info", "error", "exception", "echo", "say", "Failure", "ValueError"}
PUBLIC = re.compile(r"router\w*\.(get|post|put|patch|delete)|command\(")
SHOWN = re.compile(r"Body|BaseModel|Sparse|View|Settings")
TEXT = re.compile(r"""_\(\s*"([^"]*)"|ngettext\(\s*"([^"]*)",\s*"([^"]*)\"""")


def of_python(path: Path) -> Iterator[str]:
    """Messages, help texts, descriptions, log messages, and docstrings that OpenAPI or --help shows."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            shown = [each.value for each in node.keywords if each.arg in KEYWORDS]
            shown += node.args[:2] if name in MARKERS else node.args[:1] if name in SAID else []
            for each in shown:
                yield from (
                    part.value
                    for part in ast.walk(each)
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                )
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            named = node.bases if isinstance(node, ast.ClassDef) else node.decorator_list
            pattern = SHOWN if isinstance(node, ast.ClassDef) else PUBLIC
            if any(pattern.search(ast.unparse(each)) for each in named):
                yield ast.get_docstring(node) or ""


def of_page(path: Path) -> Iterator[str]:
    """What a template says: messages, and text that is translated as a block."""
    source = path.read_text()
    yield from (text for match in TEXT.finditer(source) for text in match.groups() if text)
    if path.suffix == ".html":
        yield from re.findall(r"{%-? *trans[^%]*%}(.*?){%-? *endtrans", source, re.DOTALL)


def test_users_read_plain_english() -> None:
    odd: dict[str, list[str]] = {}
    for folder in ("app", "checkers", "games", "solvers", "client"):
        for path in (PROJECT / folder).rglob("*"):
            if path.suffix not in {".py", ".html", ".js"} or "swagger-ui" in path.parts:
                continue
            for text in of_python(path) if path.suffix == ".py" else of_page(path):
                found = [match[0] for match in ODD.finditer(text)]
                if found:
                    odd.setdefault(str(path.relative_to(PROJECT)), []).append(
                        f"{found}: {' '.join(text.split())[:120]}"
                    )
    assert odd == {}
