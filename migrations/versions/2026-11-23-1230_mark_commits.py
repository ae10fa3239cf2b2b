"""mark commits."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.core.db.columns import Moment

revision = "5f0ac7d2913e"
down_revision = "b92d6e41f07c"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "commit_marks",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("key", sa.BigInteger(), nullable=False),
        sa.Column("time", Moment(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_commit_marks")),
    )


def downgrade() -> None:
    op.drop_table("commit_marks")
