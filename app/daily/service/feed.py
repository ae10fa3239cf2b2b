"""The puzzles of the day as a feed (Atom, RFC 4287): an entry a day, the newest first, without solutions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from xml.etree import ElementTree

ATOM = "http://www.w3.org/2005/Atom"


def feed(base: str, days: Sequence[date]) -> bytes:
    """The feed of days, the newest first; `base` is the address of the service without a slash at its end."""
    root = ElementTree.Element("feed", {"xmlns": ATOM, "xml:lang": "en"})
    _add(root, "title", "Puzzles of the day")
    _add(root, "subtitle", "Optimiza, Comesolo and The Net Game: three sizes each, new at 00:00 UTC")
    _add(root, "id", f"{base}/daily")
    _add(root, "updated", _moment(days[0]))
    _add(ElementTree.SubElement(root, "author"), "name", "Jurado")
    _add(root, "generator", "Jurado")
    _link(root, "self", f"{base}/daily/feed.atom", "application/atom+xml")
    _link(root, "alternate", f"{base}/daily", "text/html")
    for day in days:
        root.append(_entry(base, day))
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _entry(base: str, day: date) -> ElementTree.Element:
    entry = ElementTree.Element("entry")
    _add(entry, "title", f"Puzzles of {day}")
    _add(entry, "id", f"{base}/daily/{day}")
    _add(entry, "published", _moment(day))
    _add(entry, "updated", _moment(day))
    _link(entry, "alternate", f"{base}/daily/{day}", "text/html")
    _link(entry, "related", f"{base}/daily/{day}/print", "text/html")
    _add(entry, "summary", f"Optimiza, Comesolo and The Net Game of {day}, to play or to print.")
    return entry


def _add(parent: ElementTree.Element, name: str, text: str) -> None:
    ElementTree.SubElement(parent, name).text = text


def _link(parent: ElementTree.Element, relation: str, address: str, kind: str) -> None:
    ElementTree.SubElement(parent, "link", {"rel": relation, "href": address, "type": kind})


def _moment(day: date) -> str:
    """The begin of a day."""
    return f"{day.isoformat()}T00:00:00Z"
