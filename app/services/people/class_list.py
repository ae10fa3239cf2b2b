"""A class list: each row makes a person's account and links it with a team, an organization and a group."""

from __future__ import annotations

from app.services.people.account_import import Fault
from app.services.people.class_list_bodies import PersonRowBody


def nothing_more(_body: PersonRowBody, _where: str) -> list[Fault]:
    """No faults beyond those of the row itself."""
    return []
