"""Clarifications."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict


class Clarification(TypedDict):
    """A question of a team to the jury, or a message of the jury; without recipients it goes to everybody."""

    id: str
    from_team_id: str | None
    to_team_ids: NotRequired[list[str] | None]
    to_group_ids: NotRequired[list[str] | None]
    reply_to_id: str | None
    problem_id: str | None
    text: str
    contest_time: str
