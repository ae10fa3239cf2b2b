"""let test cases be removed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "5b0e6a1c9d27"
down_revision = "87afbf51d88b"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("test_cases", sa.Column("removed", sa.Boolean(), server_default=sa.false(), nullable=False))


def downgrade() -> None:
    op.drop_column("test_cases", "removed")
