"""keep images that packages' own checkers leave beside a score."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "7c41d9e2b6a3"
down_revision = "8917cc3afbe1"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("raw_scores", sa.Column("images", sa.JSON(none_as_null=True), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("raw_scores") as raw_scores:
        raw_scores.drop_column("images")
