"""keep who issued reset codes: older codes are revoked, as their issuers are unknown."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.core.db.columns import Moment

revision = "8c41d97be2f5"
down_revision = "5f0ac7d2913e"
branch_labels = None
depends_on = None


def _account(name: str) -> tuple[sa.Column[str], sa.ForeignKeyConstraint]:
    foreign_key = op.f(f"fk_password_resets_{name}")
    return (
        sa.Column(name, sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint([name], ["accounts.id"], name=foreign_key, ondelete="CASCADE"),
    )


def _columns() -> list[sa.Column[object]]:
    return [
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("created", Moment(), nullable=False),
        sa.Column("expires", Moment(), nullable=False),
    ]


def upgrade() -> None:
    op.drop_table("password_resets")
    key = sa.PrimaryKeyConstraint("account_id", name=op.f("pk_password_resets"))
    op.create_table("password_resets", *_account("account_id"), *_columns(), *_account("issued_by"), key)
    op.create_index(op.f("ix_password_resets_issued_by"), "password_resets", ["issued_by"])


def downgrade() -> None:
    op.drop_table("password_resets")
    key = sa.PrimaryKeyConstraint("account_id", name=op.f("pk_password_resets"))
    op.create_table("password_resets", *_account("account_id"), *_columns(), key)
