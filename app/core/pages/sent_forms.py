"""Forms of a page that was rendered: what was sent is put back into one, with each fault next to its field.

One mechanism for every form: the page is rendered as for any reader, and this module fills it. No handler and no
template has to keep input or place messages.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser

from markupsafe import escape

from app.core.messages import A_VALUE, NOTHING, PreconditionFailed, ServiceError
from app.core.pages.languages import _, translate
from app.core.pages.pages import without_marks

Fault = Mapping[str, object]
# The hidden field with the version of a problem that a form was made for; a form that comes back has the newest.
SEEN_VERSION = "seen_version"
CONTROLS = ("input", "select", "textarea")
NEVER_FILLED = ("password", "file", "submit")
# Hidden fields that differ between two renderings of the same form.
HIDDEN_STATE = ("stored", "answers", SEEN_VERSION)
# Form fields whose names differ from the properties that refusals name.
FIELDS_OF = {
    "start_time": "start",
    "scoreboard_freeze_duration": "freeze",
    "personal_duration": "own",
    "to_team_ids": "team_id",
    "team_ids": "team_id",
    "account_id": "account",
}
PROPERTY = re.compile(r"(?:(?:settings|body)\.(?:\w+\.)*)?([A-Za-z_]+)")
WORD = re.compile(r"[A-Za-z_]+")


@dataclass(slots=True)
class Token:
    """A piece of a page: a start tag with its attributes, an end tag ("/form") or a text (no tag)."""

    raw: str
    tag: str = ""
    attributes: dict[str, str | None] = field(default_factory=dict)

    def set(self, **attributes: str | bool | None) -> None:
        """Set attributes of a start tag; True: without a value, None: remove. `_` stands for `-`."""
        for key, value in attributes.items():
            name = key.replace("_", "-")
            self.attributes.pop(name, None)
            if value is not None and value is not False:
                self.attributes[name] = None if value is True else str(value)
        shown = (
            f" {name}" if value is None else f' {name}="{escape(value)}"' for name, value in self.attributes.items()
        )
        self.raw = f"<{self.tag}{''.join(shown)}>"


class _Tokens(HTMLParser):
    """Cuts a page into tokens that, joined, are the page again."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.tokens: list[Token] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tokens.append(Token(self.get_starttag_text() or "", tag, dict(attrs)))

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag: str) -> None:
        self.tokens.append(Token(f"</{tag}>", f"/{tag}"))

    def handle_data(self, data: str) -> None:
        self.tokens.append(Token(data))

    def handle_entityref(self, name: str) -> None:
        self.tokens.append(Token(f"&{name};"))

    def handle_charref(self, name: str) -> None:
        self.tokens.append(Token(f"&#{name};"))

    def handle_comment(self, data: str) -> None:
        self.tokens.append(Token(f"<!--{data}-->"))

    def handle_decl(self, decl: str) -> None:
        self.tokens.append(Token(f"<!{decl}>"))


class FormOfPage:
    """A form in the tokens of a page, and its controls by name (those outside of it by their attribute `form`)."""

    def __init__(self, tokens: list[Token], start: int) -> None:
        self._tokens = tokens
        self._start = start
        end = self._end_of(start)
        own_id = tokens[start].attributes.get("id")
        self.controls: dict[str, list[int]] = {}
        for at, token in enumerate(tokens):
            name = token.attributes.get("name")
            inside = start < at < end or (own_id is not None and token.attributes.get("form") == own_id)
            if name and inside and token.tag in CONTROLS:
                self.controls.setdefault(name, []).append(at)

    def is_about(self, fields: Mapping[str, str]) -> bool:
        """Whether these fields can come from it: it has visible fields, and its hidden ones have the same values."""
        places = [(name, at) for name, all_of_it in self.controls.items() for at in all_of_it]
        hidden = [(name, at) for name, at in places if self._is_hidden(at)]
        same = (fields.get(name) == (self._tokens[at].attributes.get("value") or "") for name, at in hidden)
        return len(hidden) < len(places) and all(
            is_same or name in HIDDEN_STATE for is_same, (name, _at) in zip(same, hidden, strict=True)
        )

    def label(self, name: str) -> str:
        """The label of a field, as readers see it."""
        at = self.controls[name][0]
        token = self._tokens[at]
        if shown := token.attributes.get("aria-label"):
            return shown
        begin = at
        while begin and self._tokens[begin].tag not in {"label", "/label"}:
            begin -= 1
        if self._tokens[begin].tag != "label":
            return name
        texts, left_out = [], 0
        for each in self._tokens[begin : self._end_of(begin)]:
            left_out += {"select": 1, "textarea": 1, "/select": -1, "/textarea": -1}.get(each.tag, 0)
            texts += [each.raw] if not each.tag and not left_out else []
        return " ".join(unescape("".join(texts)).split()) or name

    def shown_value(self, name: str, value: str) -> str:
        """A value as the form's reader knows it: the text of an option, a word for a check box."""
        token = self._tokens[self.controls[name][0]]
        if token.attributes.get("type") == "checkbox":
            return _("yes") if value else _("no")
        if token.tag == "select":
            for at in self._options(self.controls[name][0]):
                if self._value_of(at) == value:
                    return self._text_after(at)
        return value or _("empty")

    def fill(self, fields: Mapping[str, str]) -> None:
        """Put the values that were sent into the controls."""
        for name, places in self.controls.items():
            for at in places:
                self._fill(at, name, fields)
        for at in self._open_around(self._start):
            self._tokens[at].set(open=True)

    def mark(self, refusal: ServiceError) -> None:
        """Put the faults of a refusal next to their fields, and all others on top of the form."""
        others: list[str] = []
        wrong: dict[str, str] = {}
        for where, message in _faults_of(refusal):
            name = _field_of(where)
            if name in self.controls and not self._is_hidden(self.controls[name][0]):
                wrong[name] = f"{wrong[name]} {message}" if name in wrong else message
            else:
                others.append(f"{field_words(name).capitalize()}: {message}" if name else message)
        labels = ", ".join(map(self.label, wrong))
        for at, (name, message) in enumerate(wrong.items()):
            self._say(name, message, is_first=at == 0)
        others += [_("Please correct: %(fields)s.", fields=labels)] if labels else []
        text = " ".join([_("Nothing was saved."), *others])
        self._tokens[self._start].raw += f'<div class="note bad" role="alert"><div>{escape(text)}</div></div>'

    def _say(self, name: str, message: str, *, is_first: bool) -> None:
        at = self.controls[name][0]
        described = " ".join(filter(None, [self._tokens[at].attributes.get("aria-describedby"), f"wrong-{name}"]))
        self._tokens[at].set(aria_invalid="true", aria_describedby=described, autofocus=is_first)
        end = at if self._tokens[at].tag == "input" else self._end_of(at)
        self._tokens[end].raw += f'<span class="wrong" id="wrong-{escape(name)}">{escape(message)}</span>'

    def _fill(self, at: int, name: str, fields: Mapping[str, str]) -> None:
        token = self._tokens[at]
        kind = token.attributes.get("type") or "text"
        sent = fields.get(name)
        if token.tag == "input" and kind in {"checkbox", "radio"}:
            token.set(checked=(sent is not None and sent == (token.attributes.get("value") or "on")) or None)
        elif sent is None or kind in NEVER_FILLED or name == SEEN_VERSION:
            return
        elif token.tag == "input":
            token.set(value=sent)
        elif token.tag == "textarea":
            for each in self._tokens[at + 1 : self._end_of(at)]:
                each.raw = ""
            token.raw += f"\n{escape(sent)}"
        else:
            for option in self._options(at):
                self._tokens[option].set(selected=(self._value_of(option) == sent) or None)

    def _is_hidden(self, at: int) -> bool:
        return self._tokens[at].attributes.get("type") == "hidden"

    def _options(self, select: int) -> Iterator[int]:
        return (at for at in range(select, self._end_of(select)) if self._tokens[at].tag == "option")

    def _value_of(self, option: int) -> str:
        value = self._tokens[option].attributes.get("value")
        return self._text_after(option) if value is None else value

    def _text_after(self, at: int) -> str:
        texts = []
        for token in self._tokens[at + 1 :]:
            if token.tag:
                break
            texts.append(token.raw)
        return unescape("".join(texts)).strip()

    def _end_of(self, start: int) -> int:
        end = f"/{self._tokens[start].tag}"
        return next((at for at in range(start, len(self._tokens)) if self._tokens[at].tag == end), start)

    def _open_around(self, inner: int) -> list[int]:
        """The details around a place."""
        around: list[int] = []
        for at in range(inner):
            if self._tokens[at].tag == "details":
                around.append(at)
            elif self._tokens[at].tag == "/details":
                around.pop()
        return around


class PageOfForms:
    """A page that was rendered, in which the form that was sent can be found."""

    def __init__(self, html: str) -> None:
        parser = _Tokens()
        parser.feed(html)
        parser.close()
        self._tokens = parser.tokens

    def form(self, address: str, page: str, fields: Mapping[str, str]) -> FormOfPage | None:
        """The form that was sent from a page to an address; None if the page has none with a visible field."""
        for at, token in enumerate(self._tokens):
            is_post = token.tag == "form" and (token.attributes.get("method") or "").lower() == "post"
            if is_post and (token.attributes.get("action") or page) == address:
                form = FormOfPage(self._tokens, at)
                if form.is_about(fields):
                    return form
        return None

    def __str__(self) -> str:
        return "".join(token.raw for token in self._tokens)


def _faults_of(refusal: ServiceError) -> Sequence[tuple[str, str]]:
    """The faults of a refusal, each with the property it is about ("" for none) and its sentence."""
    if isinstance(refusal, PreconditionFailed):
        text = _("Someone else has changed the problem since you opened this page. Save again to replace that version.")
        return [("", text)]
    if refusal.errors:
        return [(str(each.get("where") or ""), _message(each)) for each in refusal.errors]
    return [(refusal.where or "", _sentence(translate(refusal.fault)))]


def _message(fault: Fault) -> str:
    """A fault as a sentence."""
    if not fault.get("expected"):
        return _sentence(translate(fault.get("message") or ""))
    expected, actual = fault["expected"], fault.get("found") or ""
    if actual not in {NOTHING, repr(""), ""}:
        return _sentence(
            _("expected %(expected)s, found %(found)s", expected=translate(expected), found=translate(actual))
        )
    if expected == A_VALUE:
        return _("Required.")
    return _("Required: %(expected)s.", expected=translate(expected))


def _sentence(text: str) -> str:
    return str(without_marks(f"{text[:1].upper()}{text[1:].rstrip('.')}."))


def field_words(where: str) -> str:
    """Return the name of a field, for readers, of a property such as settings.final_release; other places unchanged."""
    named = PROPERTY.fullmatch(where)
    return where if named is None else named[1].replace("_", " ")


def _field_of(where: str) -> str:
    """The name of the form field for a property such as settings.limits.max_submissions."""
    words = WORD.findall(where)
    return FIELDS_OF.get(words[-1], words[-1]) if words else ""
