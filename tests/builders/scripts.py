"""Runs the modules of pages in V8, without a page; what they import is put together as a bundler does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from py_mini_racer import JSUndefined, MiniRacer

IMPORT = re.compile(r'^import (?:\{ ([^}]*) \}|\* as (\w+)) from "([^"]+)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.MULTILINE)
TEXTS = Path(__file__).parents[2] / "app/core/pages/static/text.js"
"""What all pages load before their scripts: `_` and `ngettext`."""
Ask = Callable[[str], Any]


def bundled(path: Path) -> str:
    """The text of a module and of all that it imports, as one expression whose value has what it exports."""

    def replaced(match: re.Match[str]) -> str:
        names, whole, address = match.groups()
        value = bundled((path.parent / address).resolve())
        return f"const {whole or f'{{ {names} }}'} = {value};"

    source = path.read_text()
    names = ", ".join(EXPORT.findall(source))
    body = re.sub(r"^export ", "", IMPORT.sub(replaced, source), flags=re.MULTILINE)
    return f"(() => {{ {body}\nreturn {{ {names} }}; }})()"


def open_module(path: Path) -> Ask:
    """Load a module as `board`; the result evaluates an expression with it, and gives None for undefined."""
    context = MiniRacer()
    context.eval(TEXTS.read_text())
    context.eval(f"const board = {bundled(path)}; 0")

    def ask(expression: str) -> Any:
        value = context.eval(expression)
        return None if value is JSUndefined else value

    return ask


def opened_with(texts: str) -> Ask:
    """What scripts of pages say with the texts of a language, an empty text for English."""
    context = MiniRacer()
    context.eval(f"{texts}\n{TEXTS.read_text()}; 0")
    return context.eval


def written(data: bytes) -> str:
    """Bytes as a string of JavaScript with one character each."""
    return json.dumps(data.decode("latin-1"))
