"""A contest's problems and their statements, as contestants read them."""

from __future__ import annotations

import pytest

from app.packages.markdown import parser
from app.problems.service import problems
from app.problems.service.problems import Sample, choose_language, with_samples
from tests.builders.contests import HOUR, add_contest, add_problem
from tests.builders.examples import sqlite_first
from tests.builders.packages import PROBLEM
from tests.builders.service import Api

STATEMENT = "contests/c/problems/echo/statement"


@sqlite_first
def test_a_problem_says_what_clics_wants_and_how_it_is_scored(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service, rule={"kind": "relative", "max_points": 30})
    found = api.get("contests/c/problems").json()
    assert found == [api.get("contests/c/problems/echo").json()]
    assert {
        key: found[0][key] for key in ("id", "label", "name", "ordinal", "rgb", "test_data_count", "max_score")
    } == {
        "id": "echo",
        "label": "A",
        "name": "Echo",
        "ordinal": 1,
        "rgb": "#00f",
        "test_data_count": 3,
        "max_score": 30.0,
    }
    assert found[0]["rule"]["counting"] == "last"
    assert "color" not in found[0]
    assert "package" not in found[0]
    assert api.get("contests/c/problems", user="judge").json()[0]["package"][0]["href"] == "problems/echo/package.zip"
    assert api.get(found[0]["statement"][0]["href"]).status_code == 200


@sqlite_first
def test_a_problem_names_who_made_it_and_where_it_comes_from_without_their_addresses(api: Api) -> None:
    yaml = f"{PROBLEM}source: [An olympiad, {{name: A site, url: https://a.example}}]\n"
    add_problem(api.service, {"problem.yaml": yaml})
    add_contest(api.service)
    problem = api.get("contests/c/problems/echo").json()
    assert problem["credits"] == {"authors": ["A Writer"]}
    assert problem["sources"] == [{"name": "An olympiad"}, {"name": "A site", "url": "https://a.example"}]
    assert problem["license"] == "cc by-sa"
    assert "a@writer.example" not in api.get("contests/c/problems").text


@sqlite_first
def test_before_the_start_only_judges_see_problems(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service, started=-HOUR)
    for user in (None, "team"):
        assert api.get("contests/c/problems", user=user).json() == []
        for path in ("", "/statement", "/testcases", "/testcases/02/input", "/inputs.zip"):
            assert api.get(f"contests/c/problems/echo{path}", user=user).status_code == 404
    assert len(api.get("contests/c/problems", user="judge").json()) == 1
    assert api.get(STATEMENT, user="judge").status_code == 200


@sqlite_first
def test_a_problem_of_another_contest_is_not_found_here(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service, problem_id=None)
    assert api.get("contests/c/problems/echo", user="admin").status_code == 404


@sqlite_first
def test_the_statement_has_its_title_in_its_language_and_the_samples_at_its_end(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service)
    page = api.get(f"{STATEMENT}?lang=es")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-language"] == "es"
    assert "<h1>Eco</h1>" in page.text
    assert page.text.index("Dilo otra vez.") < page.text.index("Entrada de ejemplo 01")
    assert "<pre><code>1\n</code></pre>" in page.text
    markdown = api.get(f"{STATEMENT}?lang=es", headers={"Accept": "text/markdown"})
    assert markdown.headers["content-type"] == "text/markdown; charset=utf-8"
    assert markdown.text.startswith("# Eco\n\nDilo otra vez.\n")


@sqlite_first
def test_the_language_is_that_asked_for_or_accepted_or_english(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service)
    accepts = {"fr, es;q=0.5, en;q=0.4": "es", "en;q=0.1, es-MX": "es", "fr": "en", "": "en", "en;q=0, es;q=0.1": "es"}
    found = {a: api.get(STATEMENT, headers={"Accept-Language": a}).headers["content-language"] for a in accepts}
    assert found == accepts
    assert api.get(f"{STATEMENT}?lang=de", headers={"Accept-Language": "es"}).headers["content-language"] == "es"
    assert choose_language("pt", "", ["de", "fr"]) == "de"


@sqlite_first
def test_raw_html_in_a_statement_is_shown_and_not_obeyed(api: Api) -> None:
    hostile = '<script>alert(1)</script> [x](javascript:alert(1)) <img src=x onerror="alert(1)">\n'
    add_problem(api.service, {"statement/problem.en.md": hostile})
    add_contest(api.service)
    text = api.get(f"{STATEMENT}?lang=en").text
    assert "<script" not in text
    assert "<img" not in text
    assert 'href="javascript' not in text
    assert api.get(STATEMENT).headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (
            "$a_1 * b_2$ *c*",
            "<p><math><mrow><msub><mi>a</mi><mn>1</mn></msub><mo>*</mo><msub><mi>b</mi><mn>2</mn></msub>",
        ),
        ("$$x < 1$$", '<p><math display="block"><mrow><mi>x</mi><mo>&lt;</mo><mn>1</mn></mrow></math></p>\n'),
        ("$\\frac{a_1 * b_2 * <b>$", "<p>$\\frac{a_1 * b_2 * &lt;b&gt;$</p>\n"),
        ("costs $5 and *not* $6", "<p>costs $5 and <em>not</em> $6</p>\n"),
        ("a | b\n--- | ---\n1 | 2\n", "<table>"),
    ],
)
def test_formulas_are_mathml_or_their_source_and_the_rest_is_markdown(text: str, html: str) -> None:
    assert parser().render(text).startswith(html)


def test_samples_go_where_the_statement_wants_them_and_the_rest_to_its_end() -> None:
    samples = [Sample("1", "a\n", "b\n"), Sample("2", "c\n", "d\n"), Sample("3", "e\n", "```\n")]
    text = with_samples("First:\n\n{{nextsample}}\nThen:\n\n{{remainingsamples}}\nEnd.\n", samples, "en")
    assert text.index("Sample input 1") < text.index("Then:") < text.index("Sample input 2") < text.index("End.")
    assert "````\n```\n````" in text
    assert with_samples("Text.\n", samples[:1], "en").index("Text.") == 0


def test_a_statement_that_takes_too_long_to_render_is_shown_as_it_was_written() -> None:
    """Rendering is ended after its processor time, in a process of its own; nothing of the text is obeyed."""
    shown = problems.fragment("Slow", "<script>\n" + "[" * 20_000 + "\n", "images", seconds=0.001)
    assert shown.startswith(f"<p>{problems.UNRENDERED}</p>\n<pre>&lt;script&gt;\n[[[")
    assert problems.UNRENDERED not in problems.fragment("Next", "a " * problems.QUICK, "images"), "others are rendered"


@sqlite_first
def test_a_long_statement_is_rendered_as_a_short_one(api: Api) -> None:
    add_problem(api.service, {"statement/problem.en.md": "*a* " * (problems.QUICK // 3) + "\n"})
    add_contest(api.service)
    page = api.get(f"{STATEMENT}?lang=en").text
    assert page.count("<em>a</em>") == problems.QUICK // 3


@sqlite_first
def test_a_long_sample_scrolls_on_the_screen_and_is_whole_on_paper(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service)
    style = " ".join(api.get(STATEMENT).text.partition("</style>")[0].split())
    screen, paper = style.split("@media print {")
    assert " pre { overflow: auto; max-height: 40rem; padding: 0.75rem; } " in screen
    assert "pre { max-height: none; }" in paper


@sqlite_first
def test_a_page_is_readable_on_a_phone_and_in_the_dark_and_fetches_nothing_from_elsewhere(api: Api) -> None:
    add_problem(api.service, {"statement/problem.en.md": "$$x$$ [far](https://a.example)\n"})
    add_contest(api.service)
    page = api.get(f"{STATEMENT}?lang=en").text
    assert '<meta name="viewport" content="width=device-width,initial-scale=1">' in page
    assert "color-scheme: light dark" in page
    assert not any(word in page for word in ("src=", "@import", "url(", "<link", "<script"))
