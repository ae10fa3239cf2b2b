"""keep the roles of accounts per contest and problem, the contests whose owners keep a team, and an audit log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.core.db import columns

revision = "c41f7a90d2e6"
down_revision = "5d0c94e7a1b8"
branch_labels = None
depends_on = None

REFUSAL = "the audit log is append-only"


def upgrade() -> None:
    op.create_table(
        "organisers",
        sa.Column("account_id", sa.String(36), nullable=False),
        sa.Column("granted_by", sa.String(36), nullable=True),
        sa.Column("granted", columns.Moment(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_organisers_account_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("account_id", name="pk_organisers"),
    )
    _create_roles("contest", sa.String(36))
    _create_roles("problem", sa.String(255))
    op.create_table(
        "audit_log",
        sa.Column("id", columns.BigId, autoincrement=True, nullable=False),
        sa.Column("time", columns.Moment(), nullable=False),
        sa.Column("account_id", sa.String(36), nullable=True),
        sa.Column("username", sa.Text(), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("credential", sa.Text(), nullable=False),
        sa.Column("operation", sa.String(64), nullable=False),
        sa.Column("method", sa.String(8), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("contest_id", sa.String(36), nullable=True),
        sa.Column("problem_id", sa.String(255), nullable=True),
        sa.Column("changes", columns.Json, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit_log"),
    )
    for column in ("account_id", "contest_id", "operation", "time"):
        op.create_index(f"ix_audit_log_{column}", "audit_log", [column])
    op.create_table(
        "kept_teams",
        sa.Column("team_id", sa.String(36), nullable=False),
        sa.Column("contest_id", sa.String(36), nullable=False),
        sa.ForeignKeyConstraint(["contest_id"], ["contests.id"], name="fk_kept_teams_contest_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name="fk_kept_teams_team_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("team_id", name="pk_kept_teams"),
    )
    op.create_index("ix_kept_teams_contest_id", "kept_teams", ["contest_id"])
    _forbid_changes()


def _create_roles(kind: str, id_type: sa.String) -> None:
    table = f"{kind}_roles"
    op.create_table(
        table,
        sa.Column(f"{kind}_id", id_type, nullable=False),
        sa.Column("account_id", sa.String(36), nullable=False),
        sa.Column("role", sa.String(8), nullable=False),
        sa.Column("granted_by", sa.String(36), nullable=True),
        sa.Column("granted", columns.Moment(), nullable=False),
        sa.ForeignKeyConstraint([f"{kind}_id"], [f"{kind}s.id"], name=f"fk_{table}_{kind}_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=f"fk_{table}_account_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint(f"{kind}_id", "account_id", name=f"pk_{table}"),
    )
    op.create_index(f"ix_{table}_account_id", table, ["account_id"])


def _forbid_changes() -> None:
    """Entries are added, and removed when they are too old; the database itself refuses to change one."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE TRIGGER audit_log_is_append_only BEFORE UPDATE ON audit_log "
            f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
        )
        return
    op.execute(
        "CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{REFUSAL}'; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_log_is_append_only BEFORE UPDATE ON audit_log "
        "FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()"
    )


def downgrade() -> None:
    op.drop_table("audit_log")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION refuse_audit_change()")
    for table in ("kept_teams", "problem_roles", "contest_roles", "organisers"):
        op.drop_table(table)
