"""keep versions of problems; contests follow the newest, which has judged them, until another one supersedes it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "7c1e5b90d2fa"
down_revision = "7c41d9e2b6a3"
branch_labels = None
depends_on = None

COPY = """
INSERT INTO problem_versions (problem_id, number, created, note)
SELECT id, 1, updated, 'as it was before versions were kept' FROM problems
"""


def upgrade() -> None:
    op.add_column("problems", sa.Column("version", sa.Integer(), nullable=False, server_default="1"))
    op.add_column("contest_problems", sa.Column("version", sa.Integer(), nullable=True))
    op.create_table(
        "problem_versions",
        sa.Column("problem_id", sa.String(255), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("account_id", sa.String(36), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("manifest", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("fingerprint", sa.String(64), nullable=True),
        sa.ForeignKeyConstraint(
            ["problem_id"], ["problems.id"], name="fk_problem_versions_problem_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("problem_id", "number", name="pk_problem_versions"),
    )
    op.execute(COPY)


def downgrade() -> None:
    pinned = sa.text("SELECT count(*) FROM contest_problems WHERE version IS NOT NULL")
    if op.get_bind().scalar(pinned):
        raise NotImplementedError("older programs know no earlier versions of problems: let contests follow first")
    op.drop_table("problem_versions")
    with op.batch_alter_table("contest_problems") as contest_problems:
        contest_problems.drop_column("version")
    with op.batch_alter_table("problems") as problems:
        problems.drop_column("version")
