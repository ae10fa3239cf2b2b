"""keep processes and the last backup."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.core.db.columns import Moment

revision = "5c1a7e93d2f8"
down_revision = "3b9e60c4d7a1"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "processes",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("version", sa.String(length=40), nullable=False),
        sa.Column("started", Moment(), nullable=False),
        sa.Column("seen", Moment(), nullable=False),
        sa.Column("graders", sa.Integer(), nullable=False),
        sa.Column("deaths", sa.Integer(), nullable=False),
        sa.Column("at_hand", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_processes")),
    )
    op.create_table(
        "last_backup",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("made", Moment(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("files", sa.Integer(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("faulty", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_last_backup")),
    )


def downgrade() -> None:
    op.drop_table("last_backup")
    op.drop_table("processes")
