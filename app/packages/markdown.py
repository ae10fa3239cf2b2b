"""Statements in Markdown: how they are parsed, and which images and formulas they show.

- Formulas of statements: LaTeX made into MathML, of which only known elements and attributes leave this module.
"""

import posixpath
import re
from collections.abc import Iterator, MutableMapping, Sequence
from html import escape
from urllib.parse import quote, unquote, urlsplit
from xml.etree.ElementTree import Element, ParseError, tostring

from defusedxml.ElementTree import fromstring
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

# Characters of one formula: a thousand of any kind are converted in 30 ms.
LONGEST = 1000
# Elements inside each other; browsers draw deeper ones as specks.
DEEPEST = 60
PARTS = (
    "math mrow mi mn mo mtext mspace mstyle mpadded mphantom mfrac msqrt mroot msub msup msubsup munder mover "
    "munderover mmultiscripts mprescripts none mtable mtr mtd menclose"
)
ELEMENTS = frozenset(PARTS.split())
VALUE = re.compile(r"-?\d{0,2}(\.\d{1,4})?(em|ex|px|pt|mu|cm|mm)?|[a-z][a-z -]{0,40}")
# Attributes that are shown: colours, styles, classes, ids and addresses are left out.
WORDS = (
    "accent accentunder columnalign columnlines columnspacing depth display displaystyle fence form height largeop "
    "linethickness lspace mathvariant maxsize minsize movablelimits notation rowlines rowspacing rspace scriptlevel "
    "separator stretchy symmetric voffset width"
)
ATTRIBUTES = frozenset(WORDS.split())
BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"


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
    try:
        root: Element = fromstring(made)
    except (ParseError, ValueError):
        raise BadFormula("expected a formula, found a character that none can hold") from None
    _filter(root)
    return tostring(root, encoding="unicode", short_empty_elements=False)


def _check_braces(source: str) -> None:
    """The library closes an open brace at the end, and shows one too many."""
    open_braces = 0
    for brace in BRACE.findall(source):
        open_braces += {"{": 1, "}": -1}.get(brace, 0)
        if open_braces < 0:
            raise BadFormula("expected no `}` without its `{`")
    if open_braces:
        raise BadFormula("expected `}`, found the end of the formula")


def _filter(element: Element, depth: int = 1) -> None:
    """Leave known elements and attributes with known values."""
    element.tag = element.tag.removeprefix(NAMESPACE)
    if element.tag not in ELEMENTS:
        raise BadFormula(f"expected no HTML in a formula, found `<{element.tag}>`")
    if depth > DEEPEST:
        raise BadFormula("expected a formula, found one that is too deeply nested")
    text = element.text or ""
    if text.startswith("\\") and element.tag != "mtext":
        raise BadFormula(f"expected known commands, found `{text}`")
    for key, value in list(element.items()):
        if key not in ATTRIBUTES or VALUE.fullmatch(value) is None or (key, value) == ("display", "inline"):
            del element.attrib[key]
    for child in element:
        _filter(child, depth + 1)


MATH = re.compile(r"(\$\$?)(?!\s)((?:\\.|[^$\\])+?)(?<!\s)\1")
# Code in a line (bounded, so that many lone ticks cost little), the beginning of an image or link with its address, or
# of the definition of an address for images.
SHOWN = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`++).{1,300}?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<before>!?\[[^\[\]\n]*+\]\(\s*+|^ {0,3}\[[^\]\n]++\]:\s*+)(?:<(?P<angled>[^<>\n]++)>|(?P<plain>[^\s()<>]++))"
)
TICKS = re.compile("`++")
FORMULA = "formula"
WORD_JOINER = "\N{WORD JOINER}"
# Characters of MathML in one page; further formulas stay as they were written.
MOST_MATHML = 2**20
CODE = {"fence", "code_block"}
FOLDER = "statement"
# The files that statements may show, by the lower-case ending of their names; tables are linked.
IMAGE_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
}


def parser() -> MarkdownIt:
    """CommonMark with tables and formulas, without raw HTML."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.inline.ruler.before("escape", FORMULA, _formula)
    markdown.add_render_rule(FORMULA, _render_formula)
    return markdown


def image_links(text: str) -> Iterator[tuple[int, str]]:
    """Yield the images and tables of a statement: the line of the paragraph, from 1, and the address as written."""
    for token in parser().parse(text):
        for child in token.children or ():
            address = child.attrs.get("src", "") if child.type == "image" else _linked_table(child)
            if address is not None:
                yield 1 + (token.map[0] if token.map else 0), str(address)


def _linked_table(token: Token) -> str | None:
    """Return the address of a table of the package that a link leads to; None for other tokens and links."""
    address = str(token.attrs.get("href", "")) if token.type == "link_open" else ""
    return address if (local_image(address) or "").lower().endswith(".csv") else None


def formula_faults(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the formulas of a statement that its page shows as they were written: line from 1, source, and reason."""
    shown: dict[str, int] = {}
    line = 1
    for token in parser().parse(text):
        line, seen = (1 + token.map[0] if token.map else line), 0  # the cells of a table have the line of their row
        for child in token.children or ():
            if child.type == FORMULA:
                line += token.content.count("\n", seen, child.meta["at"])
                seen = child.meta["at"]
                try:
                    _mathml(child, shown)
                except BadFormula as error:
                    yield line, child.content, str(error)


def render(text: str, image_folder: str) -> str:
    """HTML of a statement, with its images looked for in `image_folder`, relative to the page.

    An image of another host is shown as its description: a page loads nothing from elsewhere.
    """
    markdown = parser()
    tokens, renderer = markdown.parse(text), markdown.renderer
    for token in tokens:
        for child in token.children or ():
            if child.type == "image":
                _write_out_formulas(child)
                name = local_image(str(child.attrs.get("src", "")))
                if name is None:
                    assert isinstance(renderer, RendererHTML), "the parser's own"
                    child.content = renderer.renderInlineAsText(child.children, markdown.options, {})
                    child.type = "text"
                else:
                    child.attrs["src"] = f"{image_folder}/{quote(name)}"
            elif (table := _linked_table(child)) is not None:
                child.attrs["href"] = f"{image_folder}/{quote(str(local_image(table)))}"
    return str(renderer.render(tokens, markdown.options, {}))


def _write_out_formulas(image: Token) -> None:
    """Make the formulas of an image's description text, as a description has no elements."""
    for child in image.children or ():
        if child.type == FORMULA:
            child.type = "text"
        _write_out_formulas(child)


def with_image_folder(text: str, folder: str) -> str:
    """The Markdown of a statement with its images looked for in `folder`; code is left as it is."""
    lines = text.split("\n")
    code = {line for token in parser().parse(text) if token.type in CODE and token.map for line in range(*token.map)}

    def moved(match: re.Match[str]) -> str:
        name = None if match["code"] else local_image(match["angled"] or match["plain"])
        moves = name is not None and image_type(name) is not None
        return f"{match['before']}{folder}/{quote(str(name))}" if moves else match[0]

    return "\n".join(line if at in code else SHOWN.sub(moved, line) for at, line in enumerate(lines))


def local_image(address: str) -> str | None:
    """The path below `statement/` that an address of an image means, or None where it leads elsewhere.

    `figures/a%20b.svg?x#y` is `figures/a b.svg`; a scheme, a host, an absolute path and `..` above the folder lead
    elsewhere.
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    path = posixpath.normpath(unquote(parts.path)) if parts.path else ""
    if parts.scheme or parts.netloc or path in {"", "."} or path.startswith(("/", "../")) or path == "..":
        return None
    return path


def image_type(name: str) -> str | None:
    """The media type of an image by its name; None for what statements do not show."""
    return IMAGE_TYPES.get(posixpath.splitext(name)[1].lower())


def _formula(state: StateInline, silent: bool) -> bool:
    """Read `$...$` and `$$...$$` as one piece, so that `_` and `*` in formulas stay what they are."""
    formula = MATH.match(state.src, state.pos)
    if formula is None:
        return False
    if not silent:
        token = state.push(FORMULA, "math", 0)
        token.content = formula[0]
        token.meta = {"at": state.pos}
    state.pos = formula.end()
    return True


def _render_formula(
    _renderer: RendererHTML, tokens: Sequence[Token], at: int, _options: OptionsDict, env: MutableMapping[str, int]
) -> str:
    try:
        return _mathml(tokens[at], env) + _joiner(tokens, at)
    except BadFormula:
        return escape(tokens[at].content, quote=False)


def _joiner(tokens: Sequence[Token], at: int) -> str:
    """The character that keeps a formula and the comma or bracket behind it on one line: browsers break lines there."""
    following = tokens[at + 1].content[:1] if at + 1 < len(tokens) and tokens[at + 1].type == "text" else ""
    return WORD_JOINER if following and not following.isspace() else ""


def _mathml(token: Token, shown: MutableMapping[str, int]) -> str:
    """The MathML of a formula; `shown` counts that of its page. Raises BadFormula."""
    dollars = 2 if token.content.startswith("$$") else 1
    if shown.get(FORMULA, 0) > MOST_MATHML:
        raise BadFormula(f"expected formulas that make at most {MOST_MATHML} characters of MathML in all")
    made = mathml(token.content[dollars:-dollars], display=dollars == 2)
    shown[FORMULA] = shown.get(FORMULA, 0) + len(made)
    return made
