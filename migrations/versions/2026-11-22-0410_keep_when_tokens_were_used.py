"""keep when tokens were used."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.core.db.columns import Moment

revision = "c41d0f7a2b68"
down_revision = "1c7f0e2a9b64"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tokens", sa.Column("last_used", Moment(), nullable=True))


def downgrade() -> None:
    op.drop_column("tokens", "last_used")
