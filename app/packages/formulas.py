"""Formulas of statements: LaTeX made into MathML, of which only known elements and attributes leave this module."""

from __future__ import annotations

import re
from html import escape
from xml.parsers import expat

LONGEST = 1000
"""Characters of one formula: a thousand of any kind are converted in 30 ms."""
DEEPEST = 60
"""Elements inside each other; browsers draw deeper ones as specks."""
PARTS = (
    "math mrow mi mn mo mtext mspace mstyle mpadded mphantom mfrac msqrt mroot msub msup msubsup munder mover "
    "munderover mmultiscripts mprescripts none mtable mtr mtd menclose"
)
ELEMENTS = frozenset(PARTS.split())
LENGTH = re.compile(r"-?\d{0,2}(\.\d{1,4})?(em|ex|px|pt|mu|cm|mm)?")
WORD = re.compile(r"[a-z][a-z -]{0,40}")
WORDS = (
    "accent accentunder columnalign columnlines display displaystyle fence form largeop mathvariant movablelimits "
    "notation rowlines separator stretchy symmetric"
)
LENGTHS = "columnspacing depth height linethickness lspace maxsize minsize rowspacing rspace scriptlevel voffset width"
ATTRIBUTES = {**dict.fromkeys(WORDS.split(), WORD), **dict.fromkeys(LENGTHS.split(), LENGTH)}
"""Allowed values of each attribute: colours, styles, classes, ids and addresses are left out."""
BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
LEFT_OUT = {"xmlns", "xmlns:xlink"}


class BadFormula(Exception):
    """A formula that cannot be shown; the message says why."""


def mathml(source: str, *, display: bool) -> str:
    """The MathML of a formula between dollars; `display` gives it a line of its own. Raises BadFormula."""
    if len(source) > LONGEST:
        raise BadFormula(f"expected at most {LONGEST} characters, found {len(source)}")
    _check_braces(source)
    # Only texts with formulas load the library: every command and every start of a server would pay 0.06 s for it.
    from latex2mathml.converter import convert
    from latex2mathml.exceptions import NoAvailableTokensError

    try:
        made = convert(source, display="block" if display else "inline")
    except RecursionError:
        raise BadFormula("expected a formula, found one that is too deeply nested") from None
    except NoAvailableTokensError:
        raise BadFormula("expected an argument or `}`, found the end of the formula") from None
    except Exception as error:  # the library has an exception for each fault, and index errors for the rest
        raise BadFormula(f"expected a formula, found one that does not parse ({type(error).__name__})") from None
    return _Filter().filtered(made)


def _check_braces(source: str) -> None:
    """The library closes an open brace at the end, and shows one too many."""
    open_braces = 0
    for brace in BRACE.findall(source):
        open_braces += {"{": 1, "}": -1}.get(brace, 0)
        if open_braces < 0:
            raise BadFormula("expected no `}` without its `{`")
    if open_braces:
        raise BadFormula("expected `}`, found the end of the formula")


class _Filter:
    """Writes MathML anew from its parts: known elements, attributes with known values, and escaped text."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._open: list[str] = []

    def filtered(self, made: str) -> str:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        try:
            parser.Parse(made, True)
        except (expat.ExpatError, UnicodeError):
            raise BadFormula("expected a formula, found a character that none can hold") from None
        return "".join(self._parts)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name not in ELEMENTS:
            raise BadFormula(f"expected no HTML in a formula, found `<{name}>`")
        self._open.append(name)
        if len(self._open) > DEEPEST:
            raise BadFormula("expected a formula, found one that is too deeply nested")
        shown = [f' {key}="{escape(value)}"' for key, value in attributes.items() if _is_shown(name, key, value)]
        self._parts.append(f"<{name}{''.join(shown)}>")

    def _end(self, name: str) -> None:
        self._open.pop()
        self._parts.append(f"</{name}>")

    def _text(self, text: str) -> None:
        if text.startswith("\\") and self._open[-1] != "mtext":
            raise BadFormula(f"expected known commands, found `{text}`")
        self._parts.append(escape(text))


def _is_shown(element: str, key: str, value: str) -> bool:
    if key in LEFT_OUT or (key, value) == ("display", "inline"):
        return False
    pattern = ATTRIBUTES.get(key)
    if pattern is None or pattern.fullmatch(value) is None:
        raise BadFormula(f"expected no {key} of a formula's parts, found `{value[:40]}` ({element})")
    return True
