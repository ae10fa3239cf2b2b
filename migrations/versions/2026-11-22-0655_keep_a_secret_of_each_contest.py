"""keep a secret of each contest, which veils ids; that of its event feed, where it has one."""

from __future__ import annotations

from secrets import token_hex

import sqlalchemy as sa
from alembic import op

revision = "8e52b1d7c093"
down_revision = "7d2e90b4c6a1"
branch_labels = None
depends_on = None

OF_FEED = "feed_secret"
CONTESTS = sa.table(
    "contests", sa.column("id", sa.String()), sa.column("details", sa.JSON()), sa.column("secret", sa.String())
)


def upgrade() -> None:
    op.add_column("contests", sa.Column("secret", sa.String(64), nullable=False, server_default=""))
    connection = op.get_bind()
    for id_, details in connection.execute(sa.select(CONTESTS.c.id, CONTESTS.c.details)).all():
        left = dict(details or {})
        secret = left.pop(OF_FEED, None) or token_hex(16)
        mine = sa.update(CONTESTS).where(CONTESTS.c.id == id_)
        connection.execute(mine.values(secret=secret, details=left))


def downgrade() -> None:
    op.drop_column("contests", "secret")
