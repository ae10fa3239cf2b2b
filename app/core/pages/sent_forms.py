"""Forms of a page that was rendered: what was sent is put back into one, with each fault next to its field.

One mechanism for every form: the page is rendered as for any reader, and this module fills it. No handler and no
template has to keep input or place messages.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from bs4 import BeautifulSoup, Tag
from bs4.dammit import EntitySubstitution
from bs4.formatter import HTMLFormatter
from markupsafe import Markup

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


class _AsTemplates(HTMLFormatter):
    """Writes HTML as templates do: attributes in their order, `checked` without a value."""

    def attributes(self, tag: Tag) -> Iterable[tuple[str, str | None]]:
        """The attributes of a tag, and their values."""
        return [(name, str(value) or None) for name, value in tag.attrs.items()]


WRITTEN = _AsTemplates(EntitySubstitution.substitute_xml, void_element_close_prefix="")


class FormOfPage:
    """A form of a page, and its controls by name (those outside of it by their attribute `form`)."""

    def __init__(self, page: BeautifulSoup, form: Tag) -> None:
        self._page = page
        self._form = form
        self.controls: dict[str, list[Tag]] = {}
        outside = page.find_all(CONTROLS, form=_of(form, "id")) if _of(form, "id") else []
        for control in (*form.find_all(CONTROLS), *outside):
            if name := _of(control, "name"):
                self.controls.setdefault(name, []).append(control)

    def html(self) -> str:
        """Write the whole page."""
        return self._page.decode(formatter=WRITTEN)

    def is_about(self, fields: Mapping[str, str]) -> bool:
        """Whether these fields can come from it: it has visible fields, and its hidden ones have the same values."""
        every = [(name, control) for name, controls in self.controls.items() for control in controls]
        hidden = [(name, _of(control, "value")) for name, control in every if _is_hidden(control)]
        return len(hidden) < len(every) and all(
            name in HIDDEN_STATE or fields.get(name, "") == value for name, value in hidden
        )

    def label(self, name: str) -> str:
        """The label of a field, as readers see it."""
        control = self.controls[name][0]
        label = control.find_parent("label")
        if (shown := _of(control, "aria-label")) or label is None:
            return shown or name
        texts = (text for text in label.find_all(string=True) if text.find_parent(("select", "textarea")) is None)
        return " ".join("".join(texts).split()) or name

    def shown_value(self, name: str, value: str) -> str:
        """A value as the form's reader knows it: the text of an option, a word for a check box."""
        control = self.controls[name][0]
        if _of(control, "type") == "checkbox":
            return _("yes") if value else _("no")
        options = (option for option in control.find_all("option") if _value_of(option) == value)
        option = next(options, None)
        return value or _("empty") if option is None else option.get_text(strip=True)

    def fill(self, fields: Mapping[str, str]) -> None:
        """Put the values that were sent into the controls."""
        for name, controls in self.controls.items():
            for control in controls:
                _fill(control, fields.get(name), keeps=name == SEEN_VERSION)
        for details in self._form.find_parents("details"):
            details["open"] = ""

    def mark(self, refusal: ServiceError) -> None:
        """Put the faults of a refusal next to their fields, and all others on top of the form."""
        others: list[str] = []
        wrong: dict[str, str] = {}
        for where, message in _faults_of(refusal):
            name = _field_of(where)
            if name in self.controls and not _is_hidden(self.controls[name][0]):
                wrong[name] = f"{wrong[name]} {message}" if name in wrong else message
            else:
                others.append(f"{field_words(name).capitalize()}: {message}" if name else message)
        labels = ", ".join(map(self.label, wrong))
        for name, message in wrong.items():
            self._say(name, message)
        if wrong:
            self.controls[next(iter(wrong))][0]["autofocus"] = ""
        others += [_("Please correct: %(fields)s.", fields=labels)] if labels else []
        text = " ".join([_("Nothing was saved."), *others])
        self._form.insert(0, _parsed('<div class="note bad" role="alert"><div>{}</div></div>', text))

    def _say(self, name: str, message: str) -> None:
        control = self.controls[name][0]
        control["aria-invalid"] = "true"
        control["aria-describedby"] = f"{_of(control, 'aria-describedby')} wrong-{name}".strip()
        control.insert_after(_parsed('<span class="wrong" id="wrong-{}">{}</span>', name, message))


def find_form(html: str, address: str, page: str, fields: Mapping[str, str]) -> FormOfPage | None:
    """The form that was sent from a page to an address; None if the page has none with a visible field."""
    parsed = _parsed(html)
    for form in parsed.find_all("form"):
        if _of(form, "method").lower() == "post" and (_of(form, "action") or page) == address:
            candidate = FormOfPage(parsed, form)
            if candidate.is_about(fields):
                return candidate
    return None


def _of(tag: Tag, attribute: str) -> str:
    return str(tag.get(attribute) or "")


def _parsed(html: str, *texts: str) -> BeautifulSoup:
    """Parse a page or a piece of one, with texts, which are escaped, in its places."""
    return BeautifulSoup(Markup(html).format(*texts) if texts else html, "html.parser", multi_valued_attributes=None)


def _is_hidden(control: Tag) -> bool:
    return _of(control, "type") == "hidden"


def _value_of(option: Tag) -> str:
    return _of(option, "value") if option.has_attr("value") else option.get_text(strip=True)


def _fill(control: Tag, sent: str | None, *, keeps: bool) -> None:
    """Put a value that was sent into a control; None: the form had none."""
    kind = _of(control, "type")
    if control.name == "input" and kind in {"checkbox", "radio"}:
        _switch(control, "checked", is_on=sent == (_of(control, "value") or "on"))
    elif sent is None or kind in NEVER_FILLED or keeps:
        return
    elif control.name == "input":
        control["value"] = sent
    elif control.name == "textarea":
        control.string = f"\n{sent}"  # the first line break of a text area is no part of its value
    else:
        for option in control.find_all("option"):
            _switch(option, "selected", is_on=_value_of(option) == sent)


def _switch(tag: Tag, attribute: str, *, is_on: bool) -> None:
    if is_on:
        tag[attribute] = ""
    else:
        del tag[attribute]


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
