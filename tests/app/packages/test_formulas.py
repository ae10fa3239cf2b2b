"""Formulas: MathML made of known parts, or the source and a warning that says where."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from app.packages.arrivals import MOST_FORMULAS, check_rules
from app.packages.catalog import bundled
from app.packages.markdown import ATTRIBUTES, ELEMENTS, LONGEST, MOST_MATHML, BadFormula, formula_faults, mathml, render
from app.packages.read import read_archive, read_package
from tests.builders.packages import zip_package

GOLDEN = {
    r"A \to B": "<mi>A</mi><mo>→</mo><mi>B</mi>",
    r"10^{18}": "<msup><mn>10</mn><mrow><mn>18</mn></mrow></msup>",
    r"\frac{1}{2}": "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>",
    r"a_i \le b": "<msub><mi>a</mi><mi>i</mi></msub><mo>≤</mo><mi>b</mi>",
    r"\text{a}<b": "<mtext>a</mtext><mo>&lt;</mo><mi>b</mi>",
    r"\sqrt 5": "<msqrt><mn>5</mn></msqrt>",
}


@pytest.mark.parametrize("source", GOLDEN)
def test_a_formula_is_this_mathml(source: str) -> None:
    made = GOLDEN[source]
    assert mathml(source, display=False) == f"<math><mrow>{made}</mrow></math>"
    assert mathml(source, display=True) == f'<math display="block"><mrow>{made}</mrow></math>'


HOSTILE = {
    r"\text{<script>alert(1)</script>}": "found `<script>`",
    r"\text{<img src=x onerror=alert(1)>}": "expected a formula",
    r"\def\a{\a\a}\a": "expected",
    r"\newcommand{\a}{\a\a}\a": "expected",
    r"\unknown": r"expected known commands, found `\unknown`",
    r"\input{/etc/passwd}": "expected known commands",
    r"\frac": "found the end of the formula",
    r"{x": "expected `}`",
    r"x}": "expected no `}`",
    r"\left(x": "expected a formula",
    "x" * (LONGEST + 1): f"expected at most {LONGEST} characters, found {LONGEST + 1}",
    "{" * 400 + "x" + "}" * 400: "too deeply nested",
    r"\sqrt{" * 100 + "x" + "}" * 100: "too deeply nested",
    r"\begin{matrix}" * 30 + "x" + r"\end{matrix}" * 30: "expected",
    "x\x01": "expected a formula",
    "\ud800": "expected a formula",
}


LEFT_OUT = (
    r"\href{javascript:alert(1)}{x}",
    r"\style{background:url(//a.example)}{x}",
    r"\class{x}{y}",
    r"\id{x}{y}",
    r"\color{red}{x}",
    r"\hspace{-1000em}x",
    r"\rule{1em}{100000em}",
)
"""Shown without what would change the page around them."""


@pytest.mark.parametrize("source", HOSTILE)
def test_what_is_no_plain_formula_is_refused_with_its_reason(source: str) -> None:
    with pytest.raises(BadFormula) as refused:
        mathml(source, display=False)
    assert HOSTILE[source] in str(refused.value)


class Tags(HTMLParser):
    """The elements and attributes of a page, as a browser sees them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize(
    "source",
    [
        r"\text{<![CDATA[<img src=x onerror=alert(1)>]]>}",
        r"\text{<!-- --><mi>x</mi>}",
        r"\text{&lt;script>}",
        *HOSTILE,
        *LEFT_OUT,
    ],
)
def test_no_formula_brings_elements_or_attributes_of_its_own_into_a_page(source: str) -> None:
    for dollars in ("$", "$$"):
        page = render(f"a {dollars}{source}{dollars} b\n".replace("\ud800", ""), "statement")
        tags = Tags(page)
        assert tags.elements <= ELEMENTS | {"p"}
        assert tags.attributes <= set(ATTRIBUTES)


def test_a_page_has_so_much_mathml_and_the_rest_as_source() -> None:
    page = render("$x^{a+b+c+d+e+f+g+h}$\n" * (MOST_MATHML // 150), "statement")
    assert len(page) < 2 * MOST_MATHML
    assert page.endswith("$x^{a+b+c+d+e+f+g+h}$</p>\n")


def test_a_formula_that_does_not_parse_is_a_warning_with_its_line() -> None:
    text = r"""Good: $x$.

Two
$y$ lines, $\foo$ and
$\frac$.

| a | b |
|---|---|
| 1 | $x}$ |
"""
    assert [fault[:2] for fault in formula_faults(text)] == [
        (4, r"$\foo$"),
        (5, r"$\frac$"),
        (9, "$x}$"),
    ]
    faults = list(check_rules(read_archive(zip_package({"solution/solution.en.md": text, "statement/x.png": b""}))))
    assert [fault.severity for fault in faults] == ["warning"] * 3
    assert str(faults[0]) == (
        r"solution/solution.en.md, line 4: expected known commands, found `\foo`: `$\foo$` is shown unchanged"
    )


def test_only_the_first_of_many_bad_formulas_are_named() -> None:
    package = read_archive(zip_package({"statement/problem.en.md": "$\\foo$\n" * 1000}))
    assert len(list(check_rules(package))) == MOST_FORMULAS


def test_what_follows_a_formula_without_a_space_stays_on_its_line() -> None:
    page = render("($x$), $y$ and $z$.\n", "statement")
    assert page.count("</math>\N{WORD JOINER})") == page.count("</math>\N{WORD JOINER}.") == 1
    assert "</math> and" in page


def test_the_description_of_an_image_has_its_formulas_as_they_were_written() -> None:
    assert 'alt="a $x_1$ board"' in render("![a $x_1$ board](a.png)\n", "statement")


@pytest.mark.parametrize("slug", bundled())
def test_every_formula_of_the_bundled_texts_is_shown(slug: str) -> None:
    package = read_package(bundled()[slug])
    for text in (*package.statements.values(), *package.solutions.values()):
        assert list(formula_faults(text.text)) == []
        assert "$" not in render(text.text, "statement"), text.file.path
