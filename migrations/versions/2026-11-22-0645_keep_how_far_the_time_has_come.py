"""keep how far the time has come."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.core.db.columns import Moment

revision = "7d2e90b4c6a1"
down_revision = "c41d0f7a2b68"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "clock",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("time", Moment(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_clock")),
    )


def downgrade() -> None:
    op.drop_table("clock")
