"""Questions before a form is carried out: is this meant, and which of two values is to be kept.

A handler raises AskFirst before it changes anything. The reader gets a page with the question, which sends the same
form again with the answer: this needs no script, and every form can use it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.core.errors import BadRequest
from app.core.messages import N_
from app.core.pages.languages import _

SURE = "sure"
STORED = "stored"
"""The hidden field with the stored values that a form was filled with (`stored_values`)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A button of a question: its text, and the field that it sends."""

    text: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A field whose stored value has changed since the form was shown; `is_own`: its sender has changed it, too."""

    name: str
    stored: str
    sent: str
    is_own: bool


class AskFirst(Exception):
    """A form that is carried out only after an answer.

    replaced  hidden fields of the next form with other values than were sent
    texts     what others wrote in the meantime
    """

    def __init__(
        self,
        title: str,
        sentence: str,
        answers: Sequence[Answer],
        *,
        differences: Sequence[Difference] = (),
        replaced: Mapping[str, str] | None = None,
        texts: Sequence[str] = (),
        status: int = 200,
    ) -> None:
        super().__init__(title)
        self.title = title
        self.sentence = sentence
        self.answers = answers
        self.differences = differences
        self.replaced = replaced or {}
        self.texts = texts
        self.status = status

    def resent_fields(self, fields: Mapping[str, str]) -> dict[str, str]:
        """The fields that the next form sends again."""
        asked = {each.name for each in self.answers} | {each.name for each in self.differences}
        return {**{name: value for name, value in fields.items() if name not in asked}, **self.replaced}


def confirm(fields: Mapping[str, str], title: str, sentence: str, button: str) -> None:
    """Raise AskFirst unless the reader has confirmed this."""
    if fields.get(SURE) != "yes":
        raise AskFirst(title, sentence, [Answer(button, SURE, "yes")])


def stored_values(values: Mapping[str, str]) -> str:
    """The values that a form is filled with, as its hidden field `stored` carries them: the form's version."""
    return json.dumps(dict(values), sort_keys=True, ensure_ascii=False)


def refuse_outdated(fields: Mapping[str, str], stored: Mapping[str, str]) -> None:
    """Raise AskFirst, with both values of each field, if what is stored has changed since the form was shown.

    Call it in the transaction that writes, after its rows are locked. A program may leave `stored` out.
    """
    if STORED not in fields:
        return
    shown = _shown(fields[STORED])
    differences = [
        Difference(name, value, sent, is_own=sent != shown.get(name))
        for name, value in stored.items()
        if value != shown.get(name) and (sent := fields.get(name, "").strip()) != value
    ]
    if differences:
        raise AskFirst(
            _("Someone else has changed this"),
            _("Nothing was saved yet. Choose the value to keep for each field."),
            [Answer(_("Save"), SURE, "")],
            differences=differences,
            replaced={STORED: stored_values(stored)},
            status=409,
        )


def _shown(text: str) -> Mapping[str, str]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise BadRequest(N_("expected the values that the form was filled with, found other text"), where="stored")
    return values
