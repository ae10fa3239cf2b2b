"""count waiting judgements by their team."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "e18b5c07d3fa"
down_revision = "d1b7f03c64ea"
branch_labels = None
depends_on = None

NAME = "ix_judgements_waiting"
WAITING = sa.text("state != 'done'")
TEAMS_OF_WAITING = (
    "UPDATE judgements SET team_id = (SELECT team_id FROM submissions WHERE submissions.id = judgements.submission_id)"
    " WHERE state != 'done' AND rejudging_id IS NULL"
)


def upgrade() -> None:
    op.add_column("judgements", sa.Column("team_id", sa.String(36), nullable=True))
    op.execute(TEAMS_OF_WAITING)
    op.drop_index(NAME, "judgements")
    op.create_index(NAME, "judgements", ["rejudging_id", "team_id"], sqlite_where=WAITING, postgresql_where=WAITING)


def downgrade() -> None:
    op.drop_index(NAME, "judgements")
    op.create_index(NAME, "judgements", ["rejudging_id", "id"], sqlite_where=WAITING, postgresql_where=WAITING)
    op.drop_column("judgements", "team_id")
