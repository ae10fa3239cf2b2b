"""How often a team may still submit to a problem, and when."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


class QuotaView(BaseModel):
    """The limits, how many submissions count against them, how many are left and when the next one is taken.

    `bytes_used` are those of the team's answers and sources in the whole contest, `bytes_limit` what there may be
    (null: any number). `left` null: there is no limit to their number. `next_allowed` null: at
    once, or (where none is left) never.
    """

    problem_id: str
    team_id: str
    limits: dict[str, Any]
    used: int
    left: int | None
    next_allowed: str | None
    bytes_used: int
    bytes_limit: int | None
