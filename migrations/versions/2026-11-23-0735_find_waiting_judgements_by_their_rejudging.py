"""find waiting judgements by their rejudging."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "c7f21e5a9b04"
down_revision = "a84d03f6b21c"
branch_labels = None
depends_on = None

NAME = "ix_judgements_waiting"
WAITING = sa.text("state != 'done'")


def upgrade() -> None:
    op.drop_index(NAME, "judgements")
    op.create_index(NAME, "judgements", ["rejudging_id", "id"], sqlite_where=WAITING, postgresql_where=WAITING)


def downgrade() -> None:
    op.drop_index(NAME, "judgements")
    op.create_index(NAME, "judgements", ["id"], sqlite_where=WAITING, postgresql_where=WAITING)
