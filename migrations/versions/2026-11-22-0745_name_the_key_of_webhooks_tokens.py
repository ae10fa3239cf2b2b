"""name the key that encrypts a webhook's token; the service encrypts the tokens when it starts, as it has the key."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "b3a7f05c2e19"
down_revision = "8e52b1d7c093"
branch_labels = None
depends_on = None

WEBHOOKS = sa.table("webhooks", sa.column("key_id", sa.String()))


def upgrade() -> None:
    op.add_column("webhooks", sa.Column("key_id", sa.String(32), nullable=False, server_default=""))


def downgrade() -> None:
    encrypted = sa.select(sa.func.count()).select_from(WEBHOOKS).where(WEBHOOKS.c.key_id != "")
    if op.get_bind().scalar(encrypted):
        raise NotImplementedError("older versions cannot read encrypted tokens: delete the webhooks first")
    with op.batch_alter_table("webhooks") as webhooks:
        webhooks.drop_column("key_id")
