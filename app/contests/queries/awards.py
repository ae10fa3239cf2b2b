"""Awards made by hand."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.tables import AwardRow


def awards(session: Session, contest_id: str) -> dict[str, AwardRow]:
    """The awards made by hand, by id; also those that say that a computed one is not given."""
    query = select(AwardRow).where(AwardRow.contest_id == contest_id).order_by(AwardRow.id)
    return {row.id: row for row in session.scalars(query)}
