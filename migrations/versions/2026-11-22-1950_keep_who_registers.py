"""keep on what terms people register for contests, who has, and codes that set passwords once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.core.db.columns import Moment

revision = "8917cc3afbe1"
down_revision = "c41f7a90d2e6"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "registrations",
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.Column("code", sa.String(length=64), nullable=True),
        sa.Column("most", sa.Integer(), nullable=False),
        sa.Column("until", Moment(), nullable=True),
        sa.Column("team_size", sa.Integer(), nullable=False),
        sa.Column("group_id", sa.String(length=36), nullable=True),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_registrations_contest_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_registrations_group_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("contest_id", name=op.f("pk_registrations")),
    )
    op.create_table(
        "registered",
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("account_id", sa.String(length=36), nullable=False),
        sa.Column("team_code", sa.String(length=64), nullable=True),
        sa.Column("time", Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_registered_contest_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_registered_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("contest_id", "account_id", name=op.f("pk_registered")),
    )
    op.create_index(op.f("ix_registered_account_id"), "registered", ["account_id"])
    op.create_table(
        "password_resets",
        sa.Column("account_id", sa.String(length=36), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("created", Moment(), nullable=False),
        sa.Column("expires", Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_password_resets_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_password_resets")),
    )


def downgrade() -> None:
    op.drop_table("password_resets")
    op.drop_index(op.f("ix_registered_account_id"), "registered")
    op.drop_table("registered")
    op.drop_table("registrations")
