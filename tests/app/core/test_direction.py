"""Marks of writing direction in texts of others turn no word of a page round."""

from __future__ import annotations

import pytest
from markupsafe import Markup

from app.core.pages.pages import ENVIRONMENT, without_marks


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\u202eb", "b"),
        ("a\u202c\u2069b", "ab"),
        ("\u2068\u05d0\u2069 ok", "\u05d0 ok"),
        (Markup("<b>\u202eb</b>"), Markup("<b>b</b>")),
    ],
)
def test_a_text_is_shown_without_them(text: str, shown: str) -> None:
    assert without_marks(text) == shown
    assert isinstance(without_marks(text), Markup) == isinstance(text, Markup)


def test_a_template_removes_them_in_texts_alone_in_attributes_and_in_sentences() -> None:
    template = ENVIRONMENT.from_string(
        '<i title="{{ name }}">{{ name }}</i>{{ _("by %(name)s", name=name) }}{% trans %}to {{ name }}{% endtrans %}.'
    )
    html = template.render(name="\u202e<b>")
    assert html == '<i title="&lt;b&gt;">&lt;b&gt;</i>by &lt;b&gt;to &lt;b&gt;.'
