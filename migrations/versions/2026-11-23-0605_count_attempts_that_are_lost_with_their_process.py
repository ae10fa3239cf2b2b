"""count attempts that are lost with their process."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "a84d03f6b21c"
down_revision = "5c1a7e93d2f8"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("judgements", sa.Column("process_id", sa.String(length=36), nullable=True))
    op.add_column("judgements", sa.Column("lost", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("judgements", "lost")
    op.drop_column("judgements", "process_id")
