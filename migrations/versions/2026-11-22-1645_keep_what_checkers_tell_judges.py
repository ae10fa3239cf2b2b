"""keep what packages' own checkers tell judges alone, beside what the team may read."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "5d0c94e7a1b8"
down_revision = "b3a7f05c2e19"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("raw_scores", sa.Column("judge_message", sa.Text(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("raw_scores") as raw_scores:
        raw_scores.drop_column("judge_message")
